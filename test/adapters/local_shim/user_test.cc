// Tasks of other users: the shim is root's, its task is not.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "test/adapters/local_shim/shim_run.h"

namespace muster::local {
namespace {

constexpr uint32_t kNobodysId = 65534;

class ShimUserTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root runs tasks as others";
  }

  ShimSpec Script(const std::string& script) const {
    ShimSpec spec = run_.Script(script);
    spec.user =
        ShimUser{.uid = kNobodysId, .gid = kNobodysId, .groups = {5, 6}};
    return spec;
  }

  ShimRun run_;
};

TEST_F(ShimUserTest, ATaskIsTheUserAndNobodyElse) {
  EXPECT_EQ(
      run_.Run(Script("id -u; id -g; id -G; grep ^CapEff /proc/self/status"))
          .code,
      0);
  EXPECT_EQ(run_.Output(),
            "65534\n65534\n65534 5 6\nCapEff:\t0000000000000000\n");
}

TEST_F(ShimUserTest, ATaskHasItsOutputAndNothingElseOfTheFolder) {
  EXPECT_EQ(
      run_
          .Run(Script(
              "echo again > /dev/stdout; cd \"${SAY%said}job/worker-0/0\" &&"
              "for f in exit started lock grace new exit.new; do "
              "  (echo x > $f) 2> /dev/null && echo wrote $f; "
              "done; cat spec 2> /dev/null && echo read; "
              "rm -f exit.new 2> /dev/null && echo removed; "
              "mv output elsewhere 2> /dev/null && echo moved; "
              "kill -9 $PPID 2> /dev/null && echo killed; exit 3"))
          .code,
      3);
  EXPECT_EQ(run_.Output(), "again\n");
}

TEST_F(ShimUserTest, OtherFilesAreOpenedAsTheUser) {
  const std::string secret = run_.folder() + "/secret";
  std::ofstream(secret) << "secret";
  ASSERT_EQ(chmod(secret.c_str(), 0600), 0);
  ShimSpec spec = Script("true");
  spec.output = secret;
  const ShimExit exit = run_.Run(spec, 0);
  EXPECT_EQ(exit.reason, ShimReason::kNotStarted);
  EXPECT_EQ(exit.message, "output: " + secret + ": Permission denied");
  EXPECT_EQ(ReadText(secret), "secret");

  spec.output = run_.folder() + "/mine";
  EXPECT_EQ(run_.Run(spec, 1).code, 0);
  struct stat status{};
  ASSERT_EQ(stat(spec.output.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, kNobodysId);
}

TEST_F(ShimUserTest, LinksAreNotFollowed) {
  const std::string target = run_.folder() + "/target";
  std::ofstream(target) << "kept";
  ASSERT_EQ(chmod(target.c_str(), 0666), 0);
  ShimSpec spec = Script("echo lost");
  spec.output = run_.folder() + "/link";
  ASSERT_EQ(symlink(target.c_str(), spec.output.c_str()), 0);
  EXPECT_EQ(run_.Run(spec, 0).message,
            "output: " + spec.output + ": Too many levels of symbolic links");
  EXPECT_EQ(ReadText(target), "kept");

  // The same in the folder of the attempt.
  std::filesystem::create_directories(run_.AttemptFolder(1));
  const std::string link = run_.AttemptFolder(1) + "/output";
  ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
  EXPECT_EQ(run_.Run(Script("echo lost"), 1).message,
            "output: output: Too many levels of symbolic links");
  EXPECT_EQ(ReadText(target), "kept");
}

TEST_F(ShimUserTest, ADirectoryIsEnteredAsTheUser) {
  ShimSpec spec = Script("true");
  spec.directory = run_.folder() + "/private";
  ASSERT_EQ(mkdir(spec.directory.c_str(), 0700), 0);
  EXPECT_EQ(run_.Run(spec).message,
            "directory: " + spec.directory + ": Permission denied");
}

}  // namespace
}  // namespace muster::local
