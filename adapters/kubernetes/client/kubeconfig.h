// kubeconfig files, and what a pod finds in its cluster.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/client/credentials.h"
#include "adapters/kubernetes/client/exec_credentials.h"

namespace muster::kubernetes::client {

// What a file says of one context, as it stands there: no other file was read.
struct Kubeconfig {
  std::string server{};  // "https://..."; nothing else is accepted.
  std::string certificate_authority{};       // A file; "" for none.
  std::string certificate_authority_data{};  // PEM, decoded.
  std::string tls_server_name{};
  std::string proxy_url{};
  std::string namespace_name{};
  std::string client_certificate{};
  std::string client_certificate_data{};
  std::string client_key{};
  std::string client_key_data{};
  std::string token{};
  std::string token_file{};
  std::optional<ExecPlugin> exec{};
  bool exec_wants_cluster = false;  // provideClusterInfo
};

// Reads a kubeconfig (YAML). `file` is its name in messages; `context` is one
// of its contexts, or "" for current-context. INVALID_ARGUMENT is
// "file:line:column: field: what is wrong", and quotes no value of a user.
// Refused, since it would be less safe or somebody else: http, no check of the
// server's certificate, user names with passwords, auth-provider,
// impersonation, plug-ins that must have a terminal. O(size).
absl::StatusOr<Kubeconfig> ParseKubeconfig(std::string_view text,
                                           const std::string& file,
                                           std::string_view context);

// How to reach an API server, and as whom.
struct ClusterAccess {
  std::string server{};  // "https://10.0.0.1:443", perhaps with a path.
  std::string ca_pem{};  // "": the authorities that the system trusts.
  std::string tls_server_name{};  // Of its certificate; "": as in `server`.
  std::string proxy_url{};        // "": none, whatever the environment says.
  std::string namespace_name{};   // The default one; "": none is named.
  std::unique_ptr<Credentials> credentials{};
};

// The same with the files that it names; those with relative names are beside
// `file`. Errors as above.
absl::StatusOr<ClusterAccess> LoadKubeconfig(const std::string& file,
                                             std::string_view context);

using Environment = std::function<const char*(const char* name)>;  // getenv

// $KUBECONFIG, else ~/.kube/config. INVALID_ARGUMENT if it names several files
// or there is no home.
absl::StatusOr<std::string> DefaultKubeconfig(const Environment& environment);

// What a pod gets: KUBERNETES_SERVICE_HOST and _PORT; token, ca.crt and
// namespace in `folder`. The token is read again when it is rotated. NOT_FOUND
// outside a cluster.
absl::StatusOr<ClusterAccess> InClusterAccess(
    const Environment& environment,
    const std::string& folder =
        "/var/run/secrets/kubernetes.io/serviceaccount");

}  // namespace muster::kubernetes::client
