// Tasks that are suspended, and go on.
#include <gtest/gtest.h>

#include <csignal>
#include <vector>

#include "test/adapters/local_shim/shim_run.h"

namespace muster::local {
namespace {

// A main process, a child and a child of that in a session of its own; all say
// their number, then hear.
constexpr char kTree[] =
    "sh -c 'setsid -w sh -c \"echo \\$\\$ > $SAY; read line < $HEAR\" & "
    "echo $$ > $SAY; wait' & "
    "echo $$ > $SAY; wait; exit 4";

bool AllStopped(const std::vector<int32_t>& processes, bool stopped) {
  for (const int32_t pid : processes) {
    const auto stat = StatOf(pid);
    if (!stat || (stat->state == 'T') != stopped) return false;
  }
  return true;
}

TEST(ShimSuspendTest, TheWholeTreeStandsStillAndGoesOn) {
  ShimRun run;
  Shim shim = run.Start(run.Script(kTree));
  const std::vector<int32_t> tree = {run.Number(), run.Number(), run.Number()};
  EXPECT_TRUE(AllStopped(tree, false));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(shim.Suspend().ok());
    EXPECT_TRUE(Eventually([&] { return AllStopped(tree, true); }));
    ASSERT_TRUE(shim.Resume().ok());
    EXPECT_TRUE(Eventually([&] { return AllStopped(tree, false); }));
  }
  run.Tell("go");
  const ShimExit exit = run.End(&shim);
  EXPECT_EQ(exit.code, 4);
  EXPECT_EQ(exit.reason, ShimReason::kExited);
}

TEST(ShimSuspendTest, AStopResumesFirst) {
  ShimRun run;
  Shim shim =
      run.Start(run.Script("sh -c 'echo $$ > $SAY; read line < $HEAR' & "
                           "exec $SHIM_TASK heed 7"));
  const std::vector<int32_t> tree = {run.Number(), run.Number()};
  ASSERT_TRUE(shim.Suspend().ok());
  EXPECT_TRUE(Eventually([&] { return AllStopped(tree, true); }));
  ASSERT_TRUE(shim.Stop(3600 * kSecond).ok());
  EXPECT_EQ(run.End(&shim).code, 7);
}

TEST(ShimSuspendTest, WhatIsSuspendedCanBeKilled) {
  ShimRun run;
  Shim shim = run.Start(run.Script(kTree));
  const std::vector<int32_t> tree = {run.Number(), run.Number(), run.Number()};
  ASSERT_TRUE(shim.Suspend().ok());
  EXPECT_TRUE(Eventually([&] { return AllStopped(tree, true); }));
  ASSERT_TRUE(shim.Kill().ok());
  EXPECT_EQ(run.End(&shim).code, 128 + SIGKILL);
  for (const int32_t pid : tree) EXPECT_FALSE(StatOf(pid));
}

TEST(ShimSuspendTest, TheTimeLimitStandsStill) {
  ShimRun run;
  ShimSpec spec = run.Script("echo $$ > $SAY; read line < $HEAR; exit 6");
  constexpr Duration kLimit = 3 * kSecond;
  spec.time_limit = kLimit;
  Shim shim = run.Start(spec);
  const std::vector<int32_t> tree = {run.Number()};
  ASSERT_TRUE(shim.Suspend().ok());
  EXPECT_TRUE(Eventually([&] { return AllStopped(tree, true); }));
  // Its own timer, so that the time is over by the same clock.
  ShimSpec other = run.Script("while :; do sleep 60; done");
  other.time_limit = kLimit;
  EXPECT_EQ(run.Run(other, 1).reason, ShimReason::kTimeLimit);
  EXPECT_TRUE(AllStopped(tree, true));
  ASSERT_TRUE(shim.Resume().ok());
  run.Tell("go");
  const ShimExit exit = run.End(&shim);
  EXPECT_EQ(exit.code, 6);
  EXPECT_GE(exit.ran, kLimit);
}

}  // namespace
}  // namespace muster::local
