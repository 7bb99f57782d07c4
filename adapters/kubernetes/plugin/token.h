// As whom the plug-in asks.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/client/credentials.h"

namespace muster::kubernetes::plugin {

// How to call kubectl.
struct Kubectl {
  std::string program = "kubectl";   // A path, or a name to look for in PATH.
  std::vector<std::string> flags{};  // "--kubeconfig=FILE", "--context=NAME".
};

// The bearer token of the kubeconfig's user. With `service_account`
// ("NAMESPACE/NAME"; "": none is named) instead one that `kubectl create token`
// makes for that account, for ten minutes. UNAUTHENTICATED: the user has a
// certificate alone, which cannot be shown to muster-kube, and no account is
// named, or kubectl gives no token; INVALID_ARGUMENT: the account is not of
// that form. Blocks.
absl::StatusOr<std::string> TokenFor(client::Credentials* credentials,
                                     const std::string& service_account,
                                     const Kubectl& kubectl);

}  // namespace muster::kubernetes::plugin
