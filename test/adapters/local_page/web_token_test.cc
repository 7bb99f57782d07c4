#include "adapters/local/page/web_token.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// Characters, and an end.
std::string Line(size_t count, char c, const char* end = "") {
  std::string line(count, c);
  line.append(end);
  return line;
}

class WebTokenTest : public ::testing::Test {
 protected:
  WebTokenTest() {
    char name[] = "/tmp/muster-token-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~WebTokenTest() override { std::filesystem::remove_all(folder_); }

  std::string File(const char* name) const { return folder_ + "/" + name; }
  void Write(const char* name, const std::string& text, mode_t mode) const {
    std::ofstream(File(name)) << text;
    ASSERT_EQ(chmod(File(name).c_str(), mode), 0);
  }

  std::string folder_{};
};

TEST_F(WebTokenTest, SecretsAreMadeOnceForTheirOwnerAlone) {
  const auto made = ReadOrMakeSecrets(folder_);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT(made->token, MatchesRegex("[0-9a-f]{64}"));
  EXPECT_THAT(made->session, MatchesRegex("[0-9a-f]{64}"));
  EXPECT_NE(made->token, made->session);
  for (const char* name : {kTokenFile, kSessionFile}) {
    struct stat is{};
    ASSERT_EQ(stat(File(name).c_str(), &is), 0);
    EXPECT_EQ(is.st_mode & 0777, 0600u) << name;
  }
  const auto again = ReadOrMakeSecrets(folder_);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->token, made->token);
  EXPECT_EQ(again->session, made->session);
}

TEST_F(WebTokenTest, ANewTokenIsMadeWhereTheOldOneWasRemoved) {
  const auto made = ReadOrMakeSecrets(folder_);
  ASSERT_TRUE(made.ok());
  std::filesystem::remove(File(kTokenFile));
  const auto again = ReadOrMakeSecrets(folder_);
  ASSERT_TRUE(again.ok());
  EXPECT_NE(again->token, made->token);
  EXPECT_EQ(again->session, made->session);
}

TEST_F(WebTokenTest, AFileThatOthersMayReadIsRefused) {
  Write(kTokenFile, Line(64, 'a', "\n"), 0600);
  EXPECT_TRUE(ReadOrMakeSecrets(folder_).ok());
  for (const mode_t mode : {0640, 0604, 0620}) {
    ASSERT_EQ(chmod(File(kTokenFile).c_str(), mode), 0);
    EXPECT_THAT(ReadOrMakeSecrets(folder_).status().message(),
                HasSubstr("chmod 600"));
  }
}

TEST_F(WebTokenTest, AFileWithSomethingElseIsRefused) {
  for (const std::string& text :
       {Line(0, 'a'), Line(0, 'a', "\n"), Line(63, 'a'), Line(65, 'a'),
        Line(64, 'A'), Line(64, '\0'), Line(64, 'a', "\n\n")}) {
    Write(kTokenFile, text, 0600);
    EXPECT_THAT(ReadOrMakeSecrets(folder_).status().message(),
                HasSubstr("64 hexadecimal digits"))
        << text;
  }
}

TEST_F(WebTokenTest, NeitherLinksNorFoldersAreFollowed) {
  Write("mine", std::string(64, 'a'), 0600);
  std::filesystem::create_symlink(File("mine"), File(kTokenFile));
  EXPECT_FALSE(ReadOrMakeSecrets(folder_).ok());
  std::filesystem::remove(File(kTokenFile));
  std::filesystem::create_directory(File(kTokenFile));
  EXPECT_FALSE(ReadOrMakeSecrets(folder_).ok());
  EXPECT_FALSE(ReadOrMakeSecrets(folder_ + "/none").ok());
}

TEST_F(WebTokenTest, AnothersFileIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  Write(kTokenFile, std::string(64, 'a'), 0600);
  ASSERT_EQ(chown(File(kTokenFile).c_str(), 65'534, 65'534), 0);
  EXPECT_FALSE(ReadOrMakeSecrets(folder_).ok());
}

TEST(IsSecretTest, OnlyTheWholeSecretIsIt) {
  const std::string secret(64, 'a');
  EXPECT_TRUE(IsSecret(secret, secret));
  for (size_t i = 0; i < secret.size(); ++i) {
    std::string other = secret;
    other[i] = 'b';
    EXPECT_FALSE(IsSecret(other, secret)) << i;
  }
  EXPECT_FALSE(IsSecret(secret.substr(1), secret));
  EXPECT_FALSE(IsSecret(secret + "a", secret));
  EXPECT_FALSE(IsSecret("", secret));
  EXPECT_FALSE(IsSecret("", ""));
}

}  // namespace
}  // namespace muster::local
