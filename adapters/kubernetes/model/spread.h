// topologySpreadConstraints of pods as the library's. Pure: any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/api/objects.h"
#include "muster/topology.h"

namespace muster::kubernetes {

// A constraint with DoNotSchedule.
struct PodSpread {
  // A topology of the constraint's node label alone.
  TopologyConstraint topology{};
  // Which pods count: labelSelector, with the values that matchLabelKeys takes
  // from the pod.
  api::LabelSelector selector{};

  friend bool operator==(const PodSpread&, const PodSpread&) = default;
};

// Each is a group of the gang's tree, which has a greatest depth.
inline constexpr size_t kMaxSpreads = 8;

// In the order of the pod's. Empty: nothing is required; ScheduleAnyway is a
// wish that the library does not have. UNIMPLEMENTED names what is set and not
// understood: a selector that does not select the pod, nodeAffinityPolicy:
// Ignore, more than kMaxSpreads of them. INVALID_ARGUMENT names a field that is
// none of Kubernetes' values. O(size of the constraints).
absl::StatusOr<std::vector<PodSpread>> SpreadsOf(const api::Pod& pod);

// What the pod asks there that SpreadsOf takes, and that decides nothing, with
// its fields; empty: nothing. O(constraints).
std::string UnusedSpreadsOf(const api::Pod& pod);

}  // namespace muster::kubernetes
