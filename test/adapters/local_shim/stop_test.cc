// Tasks that are stopped, by the daemon or for their time limit.
#include <gtest/gtest.h>

#include <csignal>

#include "absl/strings/str_cat.h"
#include "test/adapters/local_shim/shim_run.h"

namespace muster::local {
namespace {

constexpr Duration kLong = 3600 * kSecond;

TEST(ShimStopTest, ATaskThatHeedsSigtermHasItsGrace) {
  ShimRun run;
  Shim shim = run.Start(run.Script("exec $SHIM_TASK heed 7"));
  EXPECT_GT(run.Number(), 0);
  ASSERT_TRUE(shim.Stop(kLong).ok());
  const ShimExit exit = run.End(&shim);
  EXPECT_EQ(exit.code, 7);
  EXPECT_EQ(exit.reason, ShimReason::kStopped);
  EXPECT_EQ(run.Output(), "saved\n");
}

TEST(ShimStopTest, SigtermGoesToTheProcessGroup) {
  ShimRun run;
  Shim shim =
      run.Start(run.Script("$SHIM_TASK hear & setsid $SHIM_TASK heed 3 & "
                           "exec $SHIM_TASK hear"));
  for (int i = 0; i < 3; ++i) EXPECT_GT(run.Number(), 0);
  ASSERT_TRUE(shim.Stop(kLong).ok());
  EXPECT_EQ(run.Line(), "heard");
  EXPECT_EQ(run.Line(), "heard");
  ASSERT_TRUE(shim.Kill().ok());
  EXPECT_EQ(run.End(&shim).code, 128 + SIGKILL);
  EXPECT_EQ(run.Output(), "");  // Who left the group has not heard of it.
}

TEST(ShimStopTest, ATaskThatIgnoresSigtermIsKilledWhenItsGraceIsOver) {
  ShimRun run;
  ShimSpec spec = run.Script(
      "trap '' TERM; echo up > $SAY; while :; do read line < $HEAR; done");
  spec.grace = kLong;
  Shim shim = run.Start(spec);
  EXPECT_EQ(run.Line(), "up");
  constexpr Duration kGrace = 200 * kMillisecond;
  ASSERT_TRUE(shim.Stop(kGrace).ok());
  const ShimExit exit = run.End(&shim);
  EXPECT_EQ(exit.code, 128 + SIGKILL);
  EXPECT_EQ(exit.reason, ShimReason::kStopped);
  EXPECT_GE(exit.ran, kGrace);
}

TEST(ShimStopTest, ASecondStopCanLeaveLessTime) {
  ShimRun run;
  Shim shim = run.Start(run.Script("exec $SHIM_TASK hear"));
  EXPECT_GT(run.Number(), 0);
  ASSERT_TRUE(shim.Stop(kLong).ok());
  EXPECT_EQ(run.Line(), "heard");
  ASSERT_TRUE(shim.Stop(0).ok());
  EXPECT_EQ(run.End(&shim).code, 128 + SIGKILL);
}

TEST(ShimStopTest, KillLeavesNoGrace) {
  ShimRun run;
  Shim shim = run.Start(run.Script("exec $SHIM_TASK heed 0"));
  EXPECT_GT(run.Number(), 0);
  ASSERT_TRUE(shim.Kill().ok());
  const ShimExit exit = run.End(&shim);
  EXPECT_EQ(exit.code, 128 + SIGKILL);
  EXPECT_EQ(exit.reason, ShimReason::kStopped);
  EXPECT_EQ(run.Output(), "");
}

TEST(ShimStopTest, AStopRightAfterTheLaunchIsHeard) {
  ShimRun run;
  for (int attempt = 0; attempt < 20; ++attempt) {
    Shim shim =
        run.Start(run.Script("while :; do read line < $HEAR; done"), attempt);
    ASSERT_TRUE((attempt % 2 == 0 ? shim.Stop(kLong) : shim.Kill()).ok());
    const ShimExit exit = run.End(&shim);
    EXPECT_EQ(exit.reason, ShimReason::kStopped);
    EXPECT_EQ(exit.code, 128 + (attempt % 2 == 0 ? SIGTERM : SIGKILL));
  }
}

TEST(ShimStopTest, WhatHasEndedCanBeStopped) {
  ShimRun run;
  Shim shim = run.Start(run.Script("exit 3"));
  EXPECT_EQ(run.End(&shim).code, 3);
  EXPECT_TRUE(shim.Stop(kSecond).ok());
  EXPECT_TRUE(shim.Kill().ok());
  EXPECT_TRUE(shim.Suspend().ok());
  EXPECT_TRUE(shim.Resume().ok());
  EXPECT_EQ(run.End(&shim).code, 3);
}

TEST(ShimStopTest, WhatRunsHasNoExitYet) {
  ShimRun run;
  Shim shim = run.Start(run.Script("read line < $HEAR"));
  EXPECT_EQ(shim.Exit().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(shim.Stop(-1).code(), absl::StatusCode::kInvalidArgument);
  run.Tell("go");
  EXPECT_EQ(run.End(&shim).code, 0);
}

TEST(ShimStopTest, ATimeLimitStopsAsTheDaemonDoes) {
  ShimRun run;
  ShimSpec spec = run.Script("exec $SHIM_TASK heed 9");
  spec.time_limit = 500 * kMillisecond;
  ShimExit exit = run.Run(spec, 0);
  // Or it had not begun to heed it.
  EXPECT_TRUE(exit.code == 9 || exit.code == 128 + SIGTERM) << exit.code;
  EXPECT_EQ(exit.reason, ShimReason::kTimeLimit);
  EXPECT_GE(exit.ran, spec.time_limit);

  spec = run.Script("trap '' TERM; while :; do read line < $HEAR; done");
  spec.time_limit = 100 * kMillisecond;
  spec.grace = 100 * kMillisecond;
  exit = run.Run(spec, 1);
  EXPECT_EQ(exit.code, 128 + SIGKILL);
  EXPECT_EQ(exit.reason, ShimReason::kTimeLimit);
  EXPECT_GE(exit.ran, spec.time_limit + spec.grace);
}

TEST(ShimStopTest, OtherSignalsToTheShimChangeNothing) {
  ShimRun run;
  Shim shim =
      run.Start(run.Script("echo up > $SAY; read line < $HEAR; exit 5"));
  EXPECT_EQ(run.Line(), "up");
  for (const int signal : {SIGHUP, SIGINT, SIGPIPE, SIGALRM, SIGTSTP}) {
    ASSERT_EQ(kill(shim.pid(), signal), 0);
  }
  run.Tell("go");
  const ShimExit exit = run.End(&shim);
  EXPECT_EQ(exit.code, 5);
  EXPECT_EQ(exit.reason, ShimReason::kExited);
}

TEST(ShimStopTest, ASigkillOfATaskThatHadMoreMemoryThanItsLimitIsForThat) {
  ShimRun run;
  constexpr int64_t kMegabyte = 1 << 20;
  ShimSpec spec = run.Script("");
  spec.command = {SHIM_TASK, "memory", absl::StrCat(96 * kMegabyte)};
  spec.memory_limit = 64 * kMegabyte;
  EXPECT_EQ(run.Run(spec, 0).reason, ShimReason::kOutOfMemory);
  spec.memory_limit = 1024 * kMegabyte;
  EXPECT_EQ(run.Run(spec, 1).reason, ShimReason::kExited);
}

}  // namespace
}  // namespace muster::local
