#include "adapters/kubernetes/plugin/token.h"

#include "absl/strings/ascii.h"
#include "adapters/kubernetes/api/paths.h"
#include "adapters/kubernetes/client/exec_credentials.h"
#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::plugin {
namespace {

using client::Concat;

absl::StatusOr<std::string> TokenOfAccount(const std::string& account,
                                           const Kubectl& kubectl) {
  const size_t slash = account.find('/');
  const std::string ns = account.substr(0, slash);
  const std::string name =
      slash == std::string::npos ? "" : account.substr(slash + 1);
  if (!api::IsPathSegment(ns) || !api::IsPathSegment(name) || ns[0] == '-' ||
      name[0] == '-') {
    return absl::InvalidArgumentError(
        Concat("--service-account ", account, ": expected NAMESPACE/NAME"));
  }
  client::ExecPlugin program{.command = kubectl.program,
                             .args = kubectl.flags,
                             .api_version = "client.authentication.k8s.io/v1"};
  for (const std::string& argument :
       {std::string("create"), std::string("token"), name,
        Concat("--namespace=", ns), std::string("--duration=10m")}) {
    program.args.push_back(argument);
  }
  const auto printed = client::RunPlugin(program);
  if (!printed.ok()) {
    return absl::UnauthenticatedError(Concat(
        "`", kubectl.program, " create token ", name, " -n ", ns,
        "` gives none: the account has to be there, and you have to be allowed "
        "to create its tokens"));
  }
  std::string token(absl::StripAsciiWhitespace(*printed));
  if (token.empty() || token.find_first_of(" \r\n") != std::string::npos) {
    return absl::UnauthenticatedError(
        Concat("`", kubectl.program, " create token`: prints no token"));
  }
  return token;
}

}  // namespace

absl::StatusOr<std::string> TokenFor(client::Credentials* credentials,
                                     const std::string& service_account,
                                     const Kubectl& kubectl) {
  if (!service_account.empty()) return TokenOfAccount(service_account, kubectl);
  const auto credential = credentials->Get(client::SteadyNow());
  if (!credential.ok()) return credential.status();
  if (!credential->token.empty()) return credential->token;
  return absl::UnauthenticatedError(
      "the kubeconfig's user has a certificate and no token: name an account "
      "by --service-account NAMESPACE/NAME, for which `kubectl create token` "
      "makes one");
}

}  // namespace muster::kubernetes::plugin
