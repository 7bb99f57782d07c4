#include "adapters/kubernetes/client/credentials.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "adapters/kubernetes/client/exec_credentials.h"

namespace muster::kubernetes::client {
namespace {

constexpr char kSecret[] = "S3CRET-TOKEN";
constexpr char kV1[] = "client.authentication.k8s.io/v1";

class CredentialsTest : public testing::Test {
 protected:
  CredentialsTest() {
    std::string name =
        (std::filesystem::temp_directory_path() / "muster-cred-XXXXXX")
            .string();
    folder_ = mkdtemp(name.data());
  }
  ~CredentialsTest() override { std::filesystem::remove_all(folder_); }
  std::string Write(const std::string& file, const std::string& text) {
    std::ofstream(folder_ + "/" + file) << text;
    return folder_ + "/" + file;
  }
  // A plug-in that is a shell script.
  ExecPlugin Script(const std::string& text) {
    const std::string file = Write("plugin", "#!/bin/sh\n" + text);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return {.command = file, .api_version = kV1};
  }
  static std::string Answer(const std::string& status) {
    return std::string(R"({"kind":"ExecCredential","apiVersion":")") + kV1 +
           R"(","status":{)" + status + "}}";
  }

  std::string folder_;
};

TEST_F(CredentialsTest, ATokenFileIsReadAgainEachMinute) {
  const std::string file = Write("token", "one\n");
  const auto credentials = TokenFileCredentials(file, {.key_pem = "k"});
  EXPECT_EQ(credentials->Get(0)->token, "one");
  EXPECT_EQ(credentials->Get(0)->key_pem, "k");
  const uint64_t generation = credentials->Get(0)->generation;
  Write("token", "two\n");
  EXPECT_EQ(credentials->Get(59'999)->token, "one");
  EXPECT_EQ(credentials->Get(60'000)->token, "two");
  EXPECT_NE(credentials->Get(60'000)->generation, generation);
}

TEST_F(CredentialsTest, ARefusedTokenIsReadAgainAtOnce) {
  const std::string file = Write("token", "one");
  const auto credentials = TokenFileCredentials(file, {});
  const uint64_t generation = credentials->Get(0)->generation;
  Write("token", "two");
  credentials->Refused(generation + 7);  // Of another one.
  EXPECT_EQ(credentials->Get(1)->token, "one");
  credentials->Refused(generation);
  EXPECT_EQ(credentials->Get(1)->token, "two");
  credentials->Refused(credentials->Get(1)->generation);
  EXPECT_EQ(credentials->Get(1)->generation, generation + 1);  // The same.
}

TEST_F(CredentialsTest, ATokenOutlivesItsFileAndNoFileIsAnError) {
  const std::string file = Write("token", "one");
  const auto credentials = TokenFileCredentials(file, {});
  EXPECT_TRUE(credentials->Get(0).ok());
  std::filesystem::remove(file);
  EXPECT_EQ(credentials->Get(600'000)->token, "one");
  const auto none = TokenFileCredentials(file, {});
  EXPECT_TRUE(absl::IsUnauthenticated(none->Get(0).status()));
  Write("token", std::string(kSecret) + "\nX-Evil: 1");
  const absl::Status two_lines = none->Get(0).status();
  EXPECT_TRUE(absl::IsUnauthenticated(two_lines));
  EXPECT_EQ(two_lines.message().find(kSecret), std::string::npos);
}

TEST_F(CredentialsTest, APluginsAnswerIsRead) {
  const auto answer = ReadExecCredential(
      Answer(R"("token":"t","clientCertificateData":"c","clientKeyData":"k",)"
             R"("expirationTimestamp":"2026-01-31T12:00:00Z")"),
      kV1);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->credential.token, "t");
  EXPECT_EQ(answer->credential.certificate_pem, "c");
  EXPECT_EQ(answer->credential.key_pem, "k");
  EXPECT_EQ(answer->expires, 1'769'860'800'000);
}

TEST_F(CredentialsTest, APluginsMistakesNameTheFieldAndNoSecret) {
  const std::string secret = std::string(R"("token":")") + kSecret + "\"";
  const std::pair<std::string, const char*> cases[] = {
      {kSecret, "is no JSON object"},
      {R"({"kind":"Secret"})", "kind: expected ExecCredential"},
      {R"({"kind":"ExecCredential","apiVersion":"v0"})",
       "apiVersion: expected"},
      {std::string(R"({"kind":"ExecCredential","apiVersion":")") + kV1 + "\"}",
       "status: expected an object"},
      {Answer(""), "status: has neither"},
      {Answer(R"("token":7)"), "status.token: expected a string"},
      {Answer(secret + R"(,"clientKeyData":"k")"), "one without the other"},
      {Answer(secret + R"(,"expirationTimestamp":"soon")"),
       "status.expirationTimestamp"},
      {Answer(std::string(R"("token":")") + kSecret + R"(\nX: y")"),
       "status.token: is more than one line"}};
  for (const auto& [json, what] : cases) {
    const absl::Status status = ReadExecCredential(json, kV1).status();
    ASSERT_TRUE(absl::IsUnauthenticated(status)) << json;
    EXPECT_NE(status.message().find(what), std::string::npos) << status;
    EXPECT_EQ(status.message().find(kSecret), std::string::npos) << status;
  }
}

TEST_F(CredentialsTest, APluginIsRunWithItsArgumentsAndAnEnvironment) {
  ExecPlugin plugin =
      Script(R"(echo "$1|$X|$KUBERNETES_EXEC_INFO"; echo noise >&2; cat)");
  plugin.args = {"a b"};
  plugin.env = {{"X", "y"}};
  plugin.cluster_json = R"({"server":"https://s"})";
  const auto printed = RunPlugin(plugin);
  ASSERT_TRUE(printed.ok()) << printed.status();
  EXPECT_EQ(*printed,
            std::string(R"(a b|y|{"apiVersion":")") + kV1 +
                R"(","kind":"ExecCredential","spec":{"cluster":{"server":)"
                R"("https://s"},"interactive":false}})"
                "\n");
}

TEST_F(CredentialsTest, APluginThatFailsHangsOrFloodsIsToldWithoutItsOutput) {
  const std::string print = std::string("echo ") + kSecret + "; ";
  const std::pair<std::string, const char*> cases[] = {
      {print + "exit 3", "ended with 3"},
      {print + "kill -9 $$", "was ended by a signal"},
      {print + "sleep 20", "took longer than"},
      // Its output stays open in a child.
      {print + "sleep 20 & exit 0", "took longer than"},
      {print + "yes", "prints more than"}};
  for (const auto& [text, what] : cases) {
    ExecPlugin plugin = Script(text);
    plugin.timeout = 2'000;
    const Millis begin = SteadyNow();
    const absl::Status status = RunPlugin(plugin).status();
    EXPECT_LT(SteadyNow() - begin, 15'000);
    ASSERT_TRUE(absl::IsUnauthenticated(status)) << text;
    EXPECT_NE(status.message().find(what), std::string::npos) << status;
    EXPECT_EQ(status.message().find(kSecret), std::string::npos) << status;
  }
  const absl::Status none =
      RunPlugin({.command = folder_ + "/none", .install_hint = "install it"})
          .status();
  EXPECT_NE(none.message().find("cannot be started"), std::string::npos);
  EXPECT_NE(none.message().find("install it"), std::string::npos);
}

TEST_F(CredentialsTest, APluginRunsOnlyWhenItMust) {
  const std::string runs = folder_ + "/runs";
  const auto lines = [&] {
    std::ifstream in(runs);
    return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
  };
  const auto credentials = ExecCredentials(Script(
      "echo x >> " + runs + "\necho '" +
      Answer(R"("token":"t","expirationTimestamp":"2999-01-01T00:00:00Z")") +
      "'"));
  const auto first = credentials->Get(1'000);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(credentials->Get(500'000)->generation, first->generation);
  EXPECT_EQ(lines(), 1);
  credentials->Refused(first->generation);
  EXPECT_NE(credentials->Get(500'000)->generation, first->generation);
  EXPECT_EQ(lines(), 2);
}

TEST_F(CredentialsTest, APluginThatFailedRestsForTenSeconds) {
  const std::string runs = folder_ + "/runs";
  const auto credentials =
      ExecCredentials(Script("echo x >> " + runs + "\nexit 1"));
  EXPECT_FALSE(credentials->Get(1'000).ok());
  EXPECT_FALSE(credentials->Get(10'999).ok());
  EXPECT_EQ(std::filesystem::file_size(runs), 2u);
  EXPECT_FALSE(credentials->Get(11'000).ok());
  EXPECT_EQ(std::filesystem::file_size(runs), 4u);
}

}  // namespace
}  // namespace muster::kubernetes::client
