#include "adapters/kubernetes/client/kubeconfig.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

namespace muster::kubernetes::client {
namespace {

// "-----BEGIN X-----" in base64.
constexpr char kPem[] = "LS0tLS1CRUdJTiBYLS0tLS0=";
constexpr char kPlainPem[] = "-----BEGIN X-----";
constexpr char kConfigSecret[] = "S3CRET-TOKEN";

std::string Config(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
         "contexts:\n- name: there\n  context: {cluster: none, user: none}\n"
         "- name: here\n  context: {cluster: c, user: u, namespace: n}\n"
         "clusters:\n- name: c\n  cluster: {" +
         cluster + "}\nusers:\n- name: u\n  user: {" + user + "}\n";
}

const std::string kServer = "server: 'https://127.0.0.1:6443'";

absl::StatusOr<Kubeconfig> Parse(const std::string& text,
                                 const std::string& context = "") {
  return ParseKubeconfig(text, "config", context);
}

TEST(KubeconfigTest, TheCurrentContextIsRead) {
  const auto config =
      Parse(Config(kServer + ", certificate-authority-data: " + kPem +
                       ", tls-server-name: api.test",
                   std::string("client-certificate-data: ") + kPem +
                       ", client-key-data: " + kPem + ", token: abc"));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->server, "https://127.0.0.1:6443");
  EXPECT_EQ(config->certificate_authority_data, kPlainPem);
  EXPECT_EQ(config->tls_server_name, "api.test");
  EXPECT_EQ(config->namespace_name, "n");
  EXPECT_EQ(config->client_certificate_data, kPlainPem);
  EXPECT_EQ(config->client_key_data, kPlainPem);
  EXPECT_EQ(config->token, "abc");
  EXPECT_FALSE(config->exec.has_value());
}

TEST(KubeconfigTest, APluginIsRead) {
  const auto config = Parse(Config(
      kServer,
      "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, "
      "args: [a, 'b c'], env: [{name: X, value: y}], "
      "interactiveMode: IfAvailable, provideClusterInfo: true}"));
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_TRUE(config->exec.has_value());
  EXPECT_EQ(config->exec->command, "./login");
  EXPECT_EQ(config->exec->args, (std::vector<std::string>{"a", "b c"}));
  EXPECT_EQ(config->exec->env.at(0).second, "y");
  EXPECT_TRUE(config->exec_wants_cluster);
}

TEST(KubeconfigTest, EachMistakeNamesItsFieldAndNoSecret) {
  const std::string secret = std::string("token: ") + kConfigSecret;
  const std::pair<std::string, const char*> cases[] = {
      {"", "config: expected a mapping"},
      {"a: [", "config:1:1: cannot be read as YAML"},
      {"[]", "config: expected a mapping"},
      {"current-context: x",
       "config:1:18: current-context: names nothing in "
       "contexts"},
      {"contexts: []", "config: current-context: is missing"},
      {"current-context: x\ncontexts: 7",
       "config:2:11: contexts: expected a list"},
      {Config("", secret), "clusters[0].cluster.server: is missing"},
      {Config("server: [x]", secret),
       "clusters[0].cluster.server: expected a string"},
      {Config("server: 'http://127.0.0.1:8001'", secret),
       "clusters[0].cluster.server: expected https://"},
      {Config(kServer + ", insecure-skip-tls-verify: true", secret),
       "clusters[0].cluster.insecure-skip-tls-verify: is refused"},
      {Config(kServer + ", insecure-skip-tls-verify: maybe", secret),
       "insecure-skip-tls-verify: expected true or false"},
      {Config(kServer + ", certificate-authority-data: '%%'", secret),
       "certificate-authority-data: is no base64"},
      {Config(kServer + ", certificate-authority-data: QUJD", secret),
       "certificate-authority-data: is no PEM"},
      {Config(kServer, std::string("client-key-data: ") + kConfigSecret),
       "users[0].user.client-key-data: is no base64"},
      {Config(kServer, std::string("username: x, password: ") + kConfigSecret),
       "users[0].user.username: is not supported"},
      {Config(kServer, std::string("password: ") + kConfigSecret),
       "users[0].user.password: is not supported"},
      {Config(kServer, "auth-provider: {name: gcp}"),
       "users[0].user.auth-provider: is not supported"},
      {Config(kServer, "as: root, " + secret),
       "users[0].user.as: is not supported"},
      {Config(kServer, std::string("token: \"") + kConfigSecret + "\\nX: y\""),
       "users[0].user.token: is more than one line"},
      {Config(kServer, std::string("client-certificate-data: ") + kPem),
       "users[0].user.client-key: is missing"},
      {Config(kServer, "client-key: k.pem"),
       "users[0].user.client-certificate: is missing"},
      {Config(kServer, "exec: {command: x}"),
       "users[0].user.exec.apiVersion: is missing"},
      {Config(kServer, "exec: {command: x, apiVersion: v9}"),
       "users[0].user.exec.apiVersion: expected client.authentication"},
      {Config(kServer,
              "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, "
              "interactiveMode: Always}"),
       "users[0].user.exec.interactiveMode: Always is refused"},
      {Config(kServer, "exec: 7"), "users[0].user.exec: expected a mapping"}};
  for (const auto& [text, what] : cases) {
    const auto config = Parse(text);
    ASSERT_TRUE(absl::IsInvalidArgument(config.status())) << text;
    const std::string message(config.status().message());
    EXPECT_NE(message.find(what), std::string::npos)
        << message << "\nin " << text;
    EXPECT_EQ(message.find(kConfigSecret), std::string::npos) << message;
  }
}

TEST(KubeconfigTest, AnotherContextCanBeAskedFor) {
  EXPECT_TRUE(Parse(Config(kServer, ""), "here").ok());
  const auto missing = Parse(Config(kServer, ""), "nowhere");
  EXPECT_NE(missing.status().message().find("names nothing in contexts"),
            std::string::npos);
  EXPECT_FALSE(Parse(Config(kServer, ""), "there").ok());
}

class FilesTest : public testing::Test {
 protected:
  FilesTest() {
    std::string name =
        (std::filesystem::temp_directory_path() / "muster-kube-XXXXXX")
            .string();
    folder_ = mkdtemp(name.data());
  }
  ~FilesTest() override { std::filesystem::remove_all(folder_); }
  std::string Write(const std::string& file, const std::string& text) {
    std::ofstream(folder_ + "/" + file) << text;
    return folder_ + "/" + file;
  }
  Environment Variables(std::map<std::string, std::string> values) {
    variables_ = std::move(values);
    return [this](const char* name) -> const char* {
      const auto it = variables_.find(name);
      return it == variables_.end() ? nullptr : it->second.c_str();
    };
  }

  std::string folder_;
  std::map<std::string, std::string> variables_;
};

TEST_F(FilesTest, FilesBesideTheKubeconfigAreRead) {
  Write("ca.pem", std::string(kPlainPem) + "ca");
  Write("c.pem", std::string(kPlainPem) + "c");
  Write("k.pem", std::string(kPlainPem) + "k");
  Write("token", std::string(kConfigSecret) + "\n");
  const std::string file =
      Write("config", Config(kServer + ", certificate-authority: ca.pem",
                             "client-certificate: c.pem, client-key: k.pem, "
                             "tokenFile: token"));
  auto access = LoadKubeconfig(file, "");
  ASSERT_TRUE(access.ok()) << access.status();
  EXPECT_EQ(access->ca_pem, std::string(kPlainPem) + "ca");
  const auto credential = access->credentials->Get(0);
  ASSERT_TRUE(credential.ok());
  EXPECT_EQ(credential->token, kConfigSecret);
  EXPECT_EQ(credential->certificate_pem, std::string(kPlainPem) + "c");
  EXPECT_EQ(credential->key_pem, std::string(kPlainPem) + "k");
}

TEST_F(FilesTest, AFileThatIsMissingOrNoPemIsNamed) {
  const std::string file =
      Write("config", Config(kServer + ", certificate-authority: ca.pem", ""));
  EXPECT_NE(LoadKubeconfig(file, "").status().message().find(
                "certificate-authority: " + folder_ + "/ca.pem"),
            std::string::npos);
  Write("ca.pem", kConfigSecret);
  const absl::Status status = LoadKubeconfig(file, "").status();
  EXPECT_NE(status.message().find("ca.pem is no PEM file"), std::string::npos);
  EXPECT_EQ(status.message().find(kConfigSecret), std::string::npos);
  EXPECT_TRUE(absl::IsNotFound(LoadKubeconfig(folder_ + "/no", "").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(LoadKubeconfig(folder_, "").status()));
}

TEST_F(FilesTest, ThePlaceOfTheKubeconfigIsThatOfKubectl) {
  EXPECT_EQ(*DefaultKubeconfig(Variables({{"HOME", "/h"}})), "/h/.kube/config");
  EXPECT_EQ(
      *DefaultKubeconfig(Variables({{"HOME", "/h"}, {"KUBECONFIG", "/k"}})),
      "/k");
  EXPECT_FALSE(DefaultKubeconfig(Variables({})).ok());
  EXPECT_FALSE(DefaultKubeconfig(Variables({{"KUBECONFIG", "/a:/b"}})).ok());
}

TEST_F(FilesTest, APodFindsItsCluster) {
  Write("ca.crt", kPlainPem);
  Write("token", std::string(kConfigSecret) + "\n");
  Write("namespace", "muster\n");
  auto access =
      InClusterAccess(Variables({{"KUBERNETES_SERVICE_HOST", "fd00::1"},
                                 {"KUBERNETES_SERVICE_PORT", "443"}}),
                      folder_);
  ASSERT_TRUE(access.ok()) << access.status();
  EXPECT_EQ(access->server, "https://[fd00::1]:443");
  EXPECT_EQ(access->ca_pem, kPlainPem);
  EXPECT_EQ(access->namespace_name, "muster");
  EXPECT_EQ(access->credentials->Get(0)->token, kConfigSecret);
}

TEST_F(FilesTest, OutsideAPodIsToldApart) {
  EXPECT_TRUE(
      absl::IsNotFound(InClusterAccess(Variables({}), folder_).status()));
  const auto environment = Variables({{"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
                                      {"KUBERNETES_SERVICE_PORT", "x"}});
  EXPECT_TRUE(
      absl::IsInvalidArgument(InClusterAccess(environment, folder_).status()));
  variables_["KUBERNETES_SERVICE_PORT"] = "443";
  EXPECT_TRUE(absl::IsNotFound(InClusterAccess(environment, folder_).status()));
  Write("ca.crt", kPlainPem);
  EXPECT_TRUE(
      absl::IsUnauthenticated(InClusterAccess(environment, folder_).status()));
}

}  // namespace
}  // namespace muster::kubernetes::client
