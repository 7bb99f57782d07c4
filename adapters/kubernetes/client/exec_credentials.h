// Credentials from a kubeconfig's plug-in: a program that prints an
// ExecCredential.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/client/clock.h"
#include "adapters/kubernetes/client/credentials.h"

namespace muster::kubernetes::client {

struct ExecPlugin {
  std::string command{};  // A path, or a name to look for in PATH.
  std::vector<std::string> args{};
  std::vector<std::pair<std::string, std::string>> env{};  // Beside one's own.
  std::string api_version{};   // client.authentication.k8s.io/v1 or v1beta1
  std::string cluster_json{};  // For KUBERNETES_EXEC_INFO; "" for none.
  std::string install_hint{};  // Shown if the program is not there.
  Millis timeout = 30'000;
};

struct ExecAnswer {
  Credential credential{};
  // In milliseconds since 1970; 0: until it is refused.
  int64_t expires = 0;
};

// What a plug-in printed. UNAUTHENTICATED names the field; it never quotes.
absl::StatusOr<ExecAnswer> ReadExecCredential(std::string_view json,
                                              std::string_view api_version);

// Runs the program without a shell, without input and without a terminal; what
// it writes to its standard error is dropped, since it may be secret. It and
// its children are killed after the time-out. Blocks until it has ended.
absl::StatusOr<std::string> RunPlugin(const ExecPlugin& plugin);

// Runs it when a credential is asked for and there is none, the last one ends
// within a minute, or was refused. After a failure not again for ten seconds.
std::unique_ptr<Credentials> ExecCredentials(ExecPlugin plugin);

}  // namespace muster::kubernetes::client
