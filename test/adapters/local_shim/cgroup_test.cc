// Tasks in a cgroup, where this process may make one.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "adapters/local/shim/cgroup_limits.h"
#include "test/adapters/local_shim/cgroup_mount.h"
#include "test/adapters/local_shim/shim_run.h"

namespace muster::local {
namespace {

class ShimCgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = absl::StrCat(CgroupMount(), "/muster-test-", getpid());
    if (CgroupMount().empty() || mkdir(path_.c_str(), 0755) != 0) {
      GTEST_SKIP() << "no cgroup (version 2) can be made here";
    }
    if (access((path_ + "/cgroup.kill").c_str(), W_OK) != 0) {
      GTEST_SKIP() << "cgroups of this kernel cannot be killed";
    }
  }
  void TearDown() override { rmdir(path_.c_str()); }

  ShimSpec Script(const std::string& script) const {
    ShimSpec spec = run_.Script(script);
    spec.cgroup = path_ + "/task";
    return spec;
  }
  bool Has(const std::string& controller) const {
    return access((path_ + "/" + controller).c_str(), W_OK) == 0;
  }

  ShimRun run_;
  std::string path_;
};

TEST(CgroupLimitsTest, AFolderThatIsNoCgroupIsToldFromOneThatIsNotThere) {
  ShimRun run;
  EXPECT_EQ(CgroupLimitsIn(run.folder()).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(CgroupLimitsIn(run.folder() + "/nowhere").status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(ShimCgroupTest, LimitsAreThoseOfTheControllersThatAFolderGives) {
  // It gives none yet.
  const auto limits = CgroupLimitsIn(path_);
  ASSERT_TRUE(limits.ok()) << limits.status();
  EXPECT_EQ(*limits, CgroupLimits{});
  std::ofstream(path_ + "/cgroup.subtree_control") << "+memory";
  const auto given = CgroupLimitsIn(path_);
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_EQ(*given, CgroupLimits{.memory = Has("memory.max")});
}

TEST_F(ShimCgroupTest, ATaskIsInItsCgroupWhichGoesWithIt) {
  EXPECT_EQ(run_.Run(Script("grep ^0:: /proc/self/cgroup; sleep 1000 &")).code,
            0);
  EXPECT_TRUE(run_.Output().ends_with("/task\n")) << run_.Output();
  EXPECT_FALSE(std::filesystem::exists(path_ + "/task"));
}

TEST_F(ShimCgroupTest, OfALostShimADaemonOfItsOwnSessionIsKilledToo) {
  Shim shim = run_.Start(
      Script("(setsid sh -c 'echo $$ > $SAY; while :; do sleep 60; done' &); "
             "echo $$ > $SAY; read line < $HEAR"));
  const OpenFile one = PidfdOf(run_.Number());
  const OpenFile two = PidfdOf(run_.Number());
  ASSERT_EQ(kill(shim.pid(), SIGKILL), 0);
  ASSERT_TRUE(IsReadable(shim.fd()));
  EXPECT_EQ(shim.Exit().status().code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(IsReadable(one.fd()));
  EXPECT_TRUE(IsReadable(two.fd()));
}

TEST_F(ShimCgroupTest, ALimitThatTheKernelDoesNotTakeIsToldBeforeTheStart) {
  if (Has("memory.max")) GTEST_SKIP() << "it takes all of them here";
  ShimSpec spec = Script("echo ran");
  spec.memory_limit = 1 << 30;
  const ShimExit exit = run_.Run(spec);
  EXPECT_EQ(exit.reason, ShimReason::kNotStarted);
  EXPECT_EQ(exit.started, kForever);
  EXPECT_EQ(exit.message, absl::StrCat("cgroup: ", path_, "/task/memory.max: ",
                                       "No such file or directory"));
  EXPECT_EQ(run_.Output(), "");
}

TEST_F(ShimCgroupTest, MemoryBeyondTheLimitIsOutOfMemory) {
  if (!Has("memory.max")) GTEST_SKIP() << "no memory controller here";
  std::ofstream(path_ + "/cgroup.subtree_control") << "+memory";
  if (!CgroupLimitsIn(path_)->memory) GTEST_SKIP() << "it is not given on";
  ShimSpec spec = Script("");
  spec.command = {SHIM_TASK, "memory", absl::StrCat(256 << 20)};
  spec.memory_limit = 32 << 20;
  const ShimExit exit = run_.Run(spec);
  EXPECT_EQ(exit.code, 128 + SIGKILL);
  EXPECT_EQ(exit.reason, ShimReason::kOutOfMemory);
}

}  // namespace
}  // namespace muster::local
