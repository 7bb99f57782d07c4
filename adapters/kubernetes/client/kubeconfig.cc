#include "adapters/kubernetes/client/kubeconfig.h"

#include <yaml-cpp/yaml.h>

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::client {
namespace {

// A value of the file with its path; the first mistake is kept.
class Field {
 public:
  Field(const YAML::Node& node, std::string path, const std::string* file,
        absl::Status* status)
      : node_(node), path_(std::move(path)), file_(file), status_(status) {}

  bool there() const { return node_.IsDefined() && !node_.IsNull(); }

  void Wrong(std::string_view what) const {
    if (!status_->ok()) return;
    const YAML::Mark mark =
        node_.IsDefined() ? node_.Mark() : YAML::Mark::null_mark();
    *status_ = absl::InvalidArgumentError(
        mark.is_null() ? Concat(*file_, ": ", path_, ": ", what)
                       : Concat(*file_, ":", mark.line + 1, ":",
                                mark.column + 1, ": ", path_, ": ", what));
  }

  Field operator[](const char* key) const {
    const YAML::Node none(YAML::NodeType::Undefined);
    if (there() && !node_.IsMap()) Wrong("expected a mapping");
    return Field(there() && node_.IsMap() ? node_[key] : none,
                 path_.empty() ? key : Concat(path_, ".", key), file_, status_);
  }

  // "" if it is not there.
  std::string Text() const {
    if (!there()) return "";
    if (node_.IsScalar()) return node_.Scalar();
    Wrong("expected a string");
    return "";
  }

  std::string Required() const {
    const std::string text = Text();
    if (text.empty()) Wrong("is missing");
    return text;
  }

  bool Bool() const {
    const std::string text = Text();
    if (text == "true") return true;
    if (!text.empty() && text != "false") Wrong("expected true or false");
    return false;
  }

  // PEM behind base64.
  std::string Pem() const {
    std::string pem;
    const std::string text = Text();
    if (text.empty()) return "";
    if (!absl::Base64Unescape(text, &pem)) {
      Wrong("is no base64");
    } else if (!absl::StrContains(pem, "-----BEGIN ")) {
      Wrong("is no PEM behind its base64");
    }
    return pem;
  }

  void Refuse(std::string_view why) const {
    if (there()) Wrong(why);
  }

  template <class F>
  void Each(F f) const {
    if (!there()) return;
    if (!node_.IsSequence()) return Wrong("expected a list");
    for (size_t i = 0; i < node_.size(); ++i) {
      f(Field(node_[i], Concat(path_, "[", i, "]"), file_, status_));
    }
  }

  // The element of this list with that name, or nothing and a mistake.
  Field Named(const std::string& name, const Field& asked) const {
    std::optional<Field> found;
    Each([&](const Field& element) {
      if (!found && element["name"].Text() == name) found.emplace(element);
    });
    if (found) return *found;
    asked.Wrong(Concat("names nothing in ", path_));
    return Field(YAML::Node(YAML::NodeType::Undefined), path_, file_, status_);
  }

 private:
  YAML::Node node_;
  std::string path_;
  const std::string* file_;
  absl::Status* status_;
};

void ReadCluster(const Field& cluster, Kubeconfig* config) {
  config->server = cluster["server"].Required();
  if (!config->server.empty() && !config->server.starts_with("https://")) {
    cluster["server"].Wrong(
        "expected https://...: without TLS nothing is sent");
  }
  if (cluster["insecure-skip-tls-verify"].Bool()) {
    cluster["insecure-skip-tls-verify"].Wrong(
        "is refused: the server's certificate is always verified; give "
        "certificate-authority-data");
  }
  config->certificate_authority = cluster["certificate-authority"].Text();
  config->certificate_authority_data =
      cluster["certificate-authority-data"].Pem();
  config->tls_server_name = cluster["tls-server-name"].Text();
  config->proxy_url = cluster["proxy-url"].Text();
}

void ReadExec(const Field& exec, Kubeconfig* config) {
  ExecPlugin plugin;
  plugin.command = exec["command"].Required();
  plugin.api_version = exec["apiVersion"].Required();
  if (plugin.api_version != "client.authentication.k8s.io/v1" &&
      plugin.api_version != "client.authentication.k8s.io/v1beta1") {
    exec["apiVersion"].Wrong(
        "expected client.authentication.k8s.io/v1 or "
        "client.authentication.k8s.io/v1beta1");
  }
  exec["args"].Each(
      [&](const Field& arg) { plugin.args.push_back(arg.Text()); });
  exec["env"].Each([&](const Field& entry) {
    plugin.env.emplace_back(entry["name"].Required(), entry["value"].Text());
  });
  plugin.install_hint = exec["installHint"].Text();
  if (exec["interactiveMode"].Text() == "Always") {
    exec["interactiveMode"].Wrong("Always is refused: there is no terminal");
  }
  config->exec_wants_cluster = exec["provideClusterInfo"].Bool();
  config->exec = std::move(plugin);
}

void ReadUser(const Field& user, Kubeconfig* config) {
  for (const char* key : {"username", "password", "auth-provider"}) {
    user[key].Refuse("is not supported: use a token, a certificate or exec");
  }
  for (const char* key : {"as", "as-uid", "as-groups", "as-user-extra"}) {
    user[key].Refuse("is not supported: impersonation");
  }
  config->client_certificate = user["client-certificate"].Text();
  config->client_certificate_data = user["client-certificate-data"].Pem();
  config->client_key = user["client-key"].Text();
  config->client_key_data = user["client-key-data"].Pem();
  config->token = user["token"].Text();
  config->token_file = user["tokenFile"].Text();
  if (config->token.find_first_of("\r\n") != std::string::npos) {
    user["token"].Wrong("is more than one line");
  }
  const auto one = [](const std::string& a, const std::string& b) {
    return !a.empty() || !b.empty();
  };
  const bool certificate =
      one(config->client_certificate, config->client_certificate_data);
  const bool key = one(config->client_key, config->client_key_data);
  if (certificate && !key) user["client-key"].Wrong("is missing");
  if (key && !certificate) user["client-certificate"].Wrong("is missing");
  if (user["exec"].there()) ReadExec(user["exec"], config);
}

void ReadRoot(const Field& root, std::string_view asked, Kubeconfig* config) {
  const Field current = root["current-context"];
  const std::string name =
      asked.empty() ? current.Required() : std::string(asked);
  // A context that was asked for stands in no field.
  const Field contexts = root["contexts"];
  const Field context =
      contexts.Named(name, asked.empty() ? current : contexts)["context"];
  config->namespace_name = context["namespace"].Text();
  const std::string cluster = context["cluster"].Required();
  ReadCluster(root["clusters"].Named(cluster, context["cluster"])["cluster"],
              config);
  const std::string user = context["user"].Text();
  if (!user.empty()) {
    ReadUser(root["users"].Named(user, context["user"])["user"], config);
  }
}

}  // namespace

absl::StatusOr<Kubeconfig> ParseKubeconfig(std::string_view text,
                                           const std::string& file,
                                           std::string_view context) {
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    if (!root.IsMap()) {
      return absl::InvalidArgumentError(
          Concat(file,
                 ": expected a mapping with current-context, "
                 "contexts, clusters and users"));
    }
    Kubeconfig config;
    absl::Status status;
    ReadRoot(Field(root, "", &file, &status), context, &config);
    if (!status.ok()) return status;
    return config;
  } catch (const YAML::Exception& e) {
    // e.msg is one of yaml-cpp's own texts; e.what() is the same with a mark.
    return absl::InvalidArgumentError(Concat(file, ":", e.mark.line + 1, ":",
                                             e.mark.column + 1,
                                             ": cannot be read as YAML"));
  }
}

}  // namespace muster::kubernetes::client
