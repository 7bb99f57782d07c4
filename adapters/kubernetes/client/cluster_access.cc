// From what a kubeconfig says, or a pod finds, to what a transport needs.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "adapters/kubernetes/client/file.h"
#include "adapters/kubernetes/client/kubeconfig.h"
#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::client {
namespace {

std::string Beside(const std::string& file, const std::string& name) {
  return std::filesystem::path(file).parent_path() / name;
}

// The PEM text of `data`, else of the file; "" if neither is given.
absl::StatusOr<std::string> Pem(const std::string& config,
                                std::string_view field, const std::string& file,
                                const std::string& data) {
  if (!data.empty() || file.empty()) return data;
  auto text = ReadFile(Beside(config, file));
  if (!text.ok()) {
    return absl::InvalidArgumentError(
        Concat(config, ": ", field, ": ", text.status().message()));
  }
  if (!absl::StrContains(*text, "-----BEGIN ")) {
    return absl::InvalidArgumentError(
        Concat(config, ": ", field, ": ", file, " is no PEM file"));
  }
  return text;
}

ExecPlugin Plugin(const std::string& file, const Kubeconfig& config,
                  const std::string& ca_pem) {
  ExecPlugin plugin = *config.exec;
  if (absl::StrContains(plugin.command, '/')) {
    plugin.command = Beside(file, plugin.command);
  }
  if (config.exec_wants_cluster) {
    nlohmann::json cluster = {{"server", config.server}};
    if (!config.tls_server_name.empty()) {
      cluster["tls-server-name"] = config.tls_server_name;
    }
    if (!ca_pem.empty()) {
      cluster["certificate-authority-data"] = absl::Base64Escape(ca_pem);
    }
    if (!config.proxy_url.empty()) cluster["proxy-url"] = config.proxy_url;
    plugin.cluster_json =
        cluster.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }
  return plugin;
}

}  // namespace

absl::StatusOr<ClusterAccess> LoadKubeconfig(const std::string& file,
                                             std::string_view context) {
  const auto text = ReadFile(file);
  if (!text.ok()) return text.status();
  auto config = ParseKubeconfig(*text, file, context);
  if (!config.ok()) return config.status();
  auto ca = Pem(file, "certificate-authority", config->certificate_authority,
                config->certificate_authority_data);
  if (!ca.ok()) return ca.status();
  auto certificate = Pem(file, "client-certificate", config->client_certificate,
                         config->client_certificate_data);
  if (!certificate.ok()) return certificate.status();
  auto key =
      Pem(file, "client-key", config->client_key, config->client_key_data);
  if (!key.ok()) return key.status();
  Credential credential{.token = config->token,
                        .certificate_pem = *std::move(certificate),
                        .key_pem = *std::move(key),
                        .generation = 1};
  ClusterAccess access{.server = config->server,
                       .ca_pem = *ca,
                       .tls_server_name = config->tls_server_name,
                       .proxy_url = config->proxy_url,
                       .namespace_name = config->namespace_name};
  if (config->exec) {
    access.credentials = ExecCredentials(Plugin(file, *config, *ca));
  } else if (!config->token_file.empty()) {
    access.credentials = TokenFileCredentials(Beside(file, config->token_file),
                                              std::move(credential));
  } else {
    access.credentials = FixedCredentials(std::move(credential));
  }
  return access;
}

absl::StatusOr<std::string> DefaultKubeconfig(const Environment& environment) {
  const char* named = environment("KUBECONFIG");
  if (named != nullptr && *named != '\0') {
    if (absl::StrContains(named, ':')) {
      return absl::InvalidArgumentError(
          "KUBECONFIG: names several files; expected one");
    }
    return std::string(named);
  }
  const char* home = environment("HOME");
  if (home == nullptr || *home == '\0') {
    return absl::InvalidArgumentError("KUBECONFIG, HOME: neither is set");
  }
  return Concat(home, "/.kube/config");
}

absl::StatusOr<ClusterAccess> InClusterAccess(const Environment& environment,
                                              const std::string& folder) {
  const auto variable = [&](const char* name) {
    const char* value = environment(name);
    return std::string(value == nullptr ? "" : value);
  };
  const std::string host = variable("KUBERNETES_SERVICE_HOST");
  const std::string port = variable("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    return absl::NotFoundError(
        "KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT: not set; this is no "
        "pod of a cluster");
  }
  int number = 0;
  if (!absl::SimpleAtoi(port, &number) || number < 1 || number > 65535) {
    return absl::InvalidArgumentError(
        "KUBERNETES_SERVICE_PORT: expected 1 .. 65535");
  }
  auto ca = ReadFile(folder + "/ca.crt");
  if (!ca.ok()) return ca.status();
  if (!absl::StrContains(*ca, "-----BEGIN ")) {
    return absl::InvalidArgumentError(folder + "/ca.crt: is no PEM file");
  }
  const bool six = absl::StrContains(host, ':');
  ClusterAccess access{.server = Concat("https://", six ? "[" : "", host,
                                        six ? "]" : "", ":", number),
                       .ca_pem = *std::move(ca)};
  access.credentials = TokenFileCredentials(folder + "/token", {});
  const auto token = access.credentials->Get(SteadyNow());
  if (!token.ok()) return token.status();
  auto name = ReadFile(folder + "/namespace");
  if (name.ok()) {
    access.namespace_name = std::string(absl::StripAsciiWhitespace(*name));
  }
  return access;
}

}  // namespace muster::kubernetes::client
