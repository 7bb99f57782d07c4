// A coordination.k8s.io/v1 Lease: the record that says who leads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/client/clock.h"

namespace muster::kubernetes::client {

struct Lease {
  std::string uid{};
  std::string resource_version{};
  std::string holder{};  // "": released.
  Millis duration = 0;   // 0: not given, or outside 1 second .. 1 day.
  int64_t transitions = 0;
  // spec.renewTime as it stands there: a change of it is a sign of life.
  std::string renew_time{};
  std::string acquire_time{};
  // The whole object as it was read, so that a write keeps what others put
  // there.
  std::string json{};
};

// INVALID_ARGUMENT names the field.
absl::StatusOr<Lease> ReadLease(std::string_view json);

// The object for a PUT (with metadata.resourceVersion, if `lease` has one) or a
// POST: `lease.json` with the other fields put into it. `duration` is rounded
// up to whole seconds.
std::string WriteLease(const Lease& lease, std::string_view namespace_name,
                       std::string_view name);

}  // namespace muster::kubernetes::client
