// Requests of the controller as writes to the API server.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/client/request_queue.h"
#include "adapters/kubernetes/controller/requests.h"

namespace muster::kubernetes {

struct WriterOptions {
  std::string instance{};  // Of this replica, in Events.
};

// The HTTP of a request: decisions before conditions before Events, those about
// one pod one after another. `wall` is written into conditions and Events, for
// people. Each Event's name has the request's number and `wall`. An error says
// that a name is none that the API server could have given. Pure.
absl::StatusOr<client::Write> ToWrite(const ApiRequest& request,
                                      const WriterOptions& options,
                                      client::Millis wall);

// What the controller is to hear of it. Pure.
ApiAnswer ToAnswer(uint64_t id, const client::Outcome& outcome);

}  // namespace muster::kubernetes
