// Which pod of muster-kube leads.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/client/transport.h"

namespace muster::kubernetes::plugin {

// The body of a GET, at once: polls until it is there. Errors as
// client::ToStatus and RequestEnd. Not to be called by a receiver.
absl::StatusOr<std::string> GetNow(client::Transport* transport,
                                   const std::string& path,
                                   client::Millis timeout);

// The pod that holds the Lease: the part of its holder's identity before the
// first '_', which is the host name of muster-kube. UNAVAILABLE: nobody holds
// it; NOT_FOUND: there is no such Lease; other errors as GetNow.
absl::StatusOr<std::string> LeaderPod(client::Transport* transport,
                                      const std::string& namespace_name,
                                      const std::string& lease);

}  // namespace muster::kubernetes::plugin
