#include "adapters/local/page/web_users.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

constexpr uint32_t kOwner = 500;
constexpr uint32_t kAlice = 1001;

class WebUsersTest : public ::testing::Test {
 protected:
  WebUsersTest() {
    char name[] = "/tmp/muster-users-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~WebUsersTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<WebUsers> Open() const {
    auto users = WebUsers::Open(folder_, kOwner, kOwner);
    EXPECT_TRUE(users.ok()) << users.status();
    return users.ok() ? *std::move(users) : nullptr;
  }
  std::string File() const { return folder_ + "/" + kUsersFile; }
  void Write(const std::string& text, mode_t mode) const {
    std::ofstream(File()) << text;
    ASSERT_EQ(chmod(File().c_str(), mode), 0);
  }

  std::string folder_{};
};

TEST_F(WebUsersTest, EachUserHasATokenOfTheirOwnWhichIsKept) {
  const auto users = Open();
  const std::string hers = *users->TokenOf(kAlice, 100);
  EXPECT_THAT(hers, MatchesRegex("[0-9a-f]{64}"));
  EXPECT_EQ(*users->TokenOf(kAlice, 100), hers);
  const std::string his = *users->TokenOf(1002, 100);
  const std::string owners = *users->TokenOf(kOwner, kOwner);
  EXPECT_NE(his, hers);
  EXPECT_NE(owners, hers);
  const auto again = Open();
  EXPECT_EQ(*again->TokenOf(kAlice, 100), hers);
  EXPECT_EQ(again->WithToken(hers)->uid, kAlice);
  EXPECT_EQ(again->WithToken(his)->uid, 1002u);
  EXPECT_EQ(again->WithToken(owners)->uid, kOwner);
  struct stat is{};
  ASSERT_EQ(stat(File().c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 0777u, 0600u);
}

TEST_F(WebUsersTest, ATokenIsNoSessionAndASessionNoToken) {
  const auto users = Open();
  const std::string token = *users->TokenOf(kAlice, 100);
  const std::string session = users->WithToken(token)->secrets.session;
  EXPECT_NE(token, session);
  EXPECT_EQ(users->WithSession(session)->uid, kAlice);
  EXPECT_FALSE(users->WithSession(token).has_value());
  EXPECT_FALSE(users->WithToken(session).has_value());
  EXPECT_FALSE(users->WithToken("").has_value());
  EXPECT_FALSE(users->WithSession("").has_value());
}

TEST_F(WebUsersTest, TheGroupIsThatOfTheLastTime) {
  const auto users = Open();
  const std::string token = *users->TokenOf(kAlice, 100);
  EXPECT_EQ(*users->TokenOf(kAlice, 200), token);
  EXPECT_EQ(users->WithToken(token)->gid, 200u);
  EXPECT_EQ(Open()->WithToken(token)->gid, 200u);
}

TEST_F(WebUsersTest, WhatWasForgottenIsNobodysAfterARestartToo) {
  const auto users = Open();
  const std::string hers = *users->TokenOf(kAlice, 100);
  const std::string his = *users->TokenOf(1002, 100);
  const std::string owners = *users->TokenOf(kOwner, kOwner);
  ASSERT_TRUE(users->Forget(kAlice).ok());
  ASSERT_TRUE(users->Forget(kAlice).ok());
  ASSERT_TRUE(users->Forget(kOwner).ok());
  const auto again = Open();
  for (const WebUsers* of : {users.get(), again.get()}) {
    EXPECT_FALSE(of->WithToken(hers).has_value());
    EXPECT_FALSE(of->WithToken(owners).has_value());
    EXPECT_EQ(of->WithToken(his)->uid, 1002u);
  }
  EXPECT_NE(*users->TokenOf(kAlice, 100), hers);
  EXPECT_EQ(*users->TokenOf(kOwner, kOwner), *again->TokenOf(kOwner, kOwner));
}

TEST_F(WebUsersTest, WhatCannotBeKeptIsNotGiven) {
  const auto users = Open();
  std::filesystem::create_directory(File());
  EXPECT_FALSE(users->TokenOf(kAlice, 100).ok());
  std::filesystem::remove(File());
  EXPECT_TRUE(users->TokenOf(kAlice, 100).ok());
}

TEST_F(WebUsersTest, AFileWithSomethingElseIsRefused) {
  const std::string a(64, 'a');
  const std::string b(64, 'b');
  Write("1001 100 " + a + " " + b + "\n", 0600);
  EXPECT_EQ(Open()->WithToken(a)->uid, kAlice);
  for (const std::string& text :
       {"1001 100 " + a + "\n", "x 100 " + a + " " + b,
        "1001 -1 " + a + " " + b, "1001 100 " + a + " " + b + " c",
        "1001 100 " + a + "a " + b, std::string("\0", 1)}) {
    Write(text, 0600);
    const auto users = WebUsers::Open(folder_, kOwner, kOwner);
    EXPECT_THAT(std::string(users.status().message()), HasSubstr("web-users"))
        << text;
  }
  Write("", 0644);
  EXPECT_THAT(
      std::string(WebUsers::Open(folder_, kOwner, kOwner).status().message()),
      HasSubstr("chmod 600"));
}

}  // namespace
}  // namespace muster::local
