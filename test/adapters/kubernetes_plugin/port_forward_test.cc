// kubectl, played by shell scripts.
#include "adapters/kubernetes/plugin/port_forward.h"

#include <signal.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::kubernetes::plugin {
namespace {

using ::testing::HasSubstr;

class KubectlTest : public testing::Test {
 protected:
  KubectlTest() {
    char pattern[] = "/tmp/muster-plugin-XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  ~KubectlTest() override { std::filesystem::remove_all(folder_); }

  // A kubectl that writes its arguments into a file and does this.
  Kubectl Plays(const std::string& script) {
    const std::string file = folder_ + "/kubectl";
    std::ofstream(file) << "#!/bin/sh\necho \"$@\" > " << folder_ << "/args\n"
                        << script << "\n";
    chmod(file.c_str(), 0755);
    return {.program = file, .flags = {"--context=c"}};
  }
  std::string Arguments() const {
    std::stringstream text;
    text << std::ifstream(folder_ + "/args").rdbuf();
    return text.str();
  }

  std::string folder_;
};

using PortForwardTest = KubectlTest;
using TokenTest = KubectlTest;

TEST_F(PortForwardTest, GivesThePortAndEndsKubectl) {
  const Kubectl kubectl =
      Plays("echo 'Forwarding from 127.0.0.1:43210 -> 8080'; exec sleep 60");
  auto forward = PortForward::Start(kubectl, "ns", "p", 8080, 20'000);
  ASSERT_TRUE(forward.ok()) << forward.status();
  EXPECT_EQ((*forward)->port(), 43210);
  EXPECT_EQ(Arguments(),
            "--context=c port-forward --address=127.0.0.1 --namespace=ns pod/p "
            ":8080\n");
  const pid_t pid = (*forward)->pid();
  EXPECT_EQ(kill(pid, 0), 0);
  forward->reset();
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST_F(PortForwardTest, AKubectlThatFailsIsSilentOrIsNotThereIsAnError) {
  EXPECT_TRUE(absl::IsUnavailable(
      PortForward::Start(Plays("exit 1"), "ns", "p", 1, 20'000).status()));
  EXPECT_TRUE(absl::IsUnavailable(
      PortForward::Start(Plays("exec sleep 60"), "ns", "p", 1, 200).status()));
  EXPECT_TRUE(absl::IsUnavailable(
      PortForward::Start({.program = folder_ + "/none"}, "ns", "p", 1, 200)
          .status()));
}

TEST(ForwardedPortTest, IsReadFromItsLineAlone) {
  EXPECT_EQ(ForwardedPort("Forwarding from 127.0.0.1:43210 -> 8080"), 43210);
  for (const char* line :
       {"", "Forwarding from [::1]:43210 -> 8080", "Handling connection",
        "Forwarding from 127.0.0.1:99999 -> 8080",
        "Forwarding from 127.0.0.1:1", "Forwarding from 127.0.0.1:x -> 1"}) {
    EXPECT_EQ(ForwardedPort(line), 0) << line;
  }
}

TEST_F(TokenTest, IsTheKubeconfigsWhereThatHasOne) {
  const auto credentials = client::FixedCredentials({.token = "mine"});
  const auto token = TokenFor(credentials.get(), "", Plays("echo other"));
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(*token, "mine");
}

TEST_F(TokenTest, IsMadeByKubectlForAnAccount) {
  const auto credentials =
      client::FixedCredentials({.certificate_pem = "c", .key_pem = "k"});
  const auto token =
      TokenFor(credentials.get(), "team/viewer", Plays("echo made"));
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(*token, "made");
  EXPECT_EQ(Arguments(),
            "--context=c create token viewer --namespace=team "
            "--duration=10m\n");
}

TEST_F(TokenTest, WithACertificateAloneItSaysWhatToDo) {
  const auto credentials =
      client::FixedCredentials({.certificate_pem = "c", .key_pem = "k"});
  const auto token = TokenFor(credentials.get(), "", Plays("echo made"));
  EXPECT_TRUE(absl::IsUnauthenticated(token.status()));
  EXPECT_THAT(token.status().ToString(), HasSubstr("--service-account"));
}

TEST_F(TokenTest, AnAccountThatIsNoneAndAKubectlThatFails) {
  const auto credentials = client::FixedCredentials({});
  for (const char* account :
       {"viewer", "/viewer", "team/", "-x/y", "a/--y", "team/vie/wer"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        TokenFor(credentials.get(), account, Plays("echo made")).status()))
        << account;
  }
  for (const char* script : {"exit 1", "true", "echo two words"}) {
    EXPECT_TRUE(absl::IsUnauthenticated(
        TokenFor(credentials.get(), "a/b", Plays(script)).status()))
        << script;
  }
}

}  // namespace
}  // namespace muster::kubernetes::plugin
