// What is left of a task's processes when its main process has ended: nothing.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/adapters/local_shim/shim_run.h"

namespace muster::local {
namespace {

TEST(ShimTreeTest, ChildrenEndWithTheMainProcess) {
  ShimRun run;
  Shim shim = run.Start(
      run.Script("sh -c 'echo $$ > $SAY; while :; do sleep 60; done' & "
                 "read line < $HEAR; exit 11"));
  const OpenFile child = PidfdOf(run.Number());
  ASSERT_TRUE(child.ok());
  run.Tell("go");
  EXPECT_EQ(run.End(&shim).code, 11);
  EXPECT_TRUE(IsReadable(child.fd()));
}

TEST(ShimTreeTest, DaemonsOfSessionsOfTheirOwnEndWithIt) {
  ShimRun run;
  // Both forks, a session, and SIGTERM and SIGHUP ignored.
  Shim shim = run.Start(
      run.Script("(setsid sh -c \"trap '' TERM HUP; (echo \\$\\$ > $SAY; "
                 "while :; do sleep 60; done) & \" & ) ; "
                 "setsid sh -c 'trap \"\" TERM HUP; echo $$ > $SAY; "
                 "while :; do sleep 60; done' & "
                 "read line < $HEAR; exit 12"));
  // The first one's number is that of its parent, which may have ended.
  const std::vector<int32_t> said = {run.Number(), run.Number()};
  ASSERT_GT(said[1], 0);
  const std::vector<ProcessStat> tree = DescendantsOf(shim.pid());
  EXPECT_GE(tree.size(), 3);
  run.Tell("go");
  EXPECT_EQ(run.End(&shim).code, 12);
  for (const ProcessStat& process : tree) {
    const auto now = StatOf(process.id.pid);
    EXPECT_FALSE(now && now->id == process.id) << process.id.pid;
  }
}

TEST(ShimTreeTest, AStopLeavesNothingEither) {
  ShimRun run;
  Shim shim =
      run.Start(run.Script("setsid sh -c 'trap \"\" TERM; echo $$ > $SAY; "
                           "while :; do sleep 60; done' & "
                           "read line < $HEAR; exec $SHIM_TASK heed 13"));
  const OpenFile child = PidfdOf(run.Number());
  ASSERT_TRUE(child.ok());
  run.Tell("go");
  EXPECT_GT(run.Number(), 0);
  ASSERT_TRUE(shim.Stop(3600 * kSecond).ok());
  EXPECT_EQ(run.End(&shim).code, 13);
  EXPECT_TRUE(IsReadable(child.fd()));
}

TEST(ShimTreeTest, AForkBombIsKilled) {
  ShimRun run;
  ShimSpec spec = run.Script("");
  spec.command = {SHIM_TASK, "bomb", "200", run.said()};
  Shim shim = run.Start(spec);
  EXPECT_EQ(run.Line(), "full");
  EXPECT_GE(DescendantsOf(shim.pid()).size(), 100);
  ASSERT_TRUE(shim.Stop(0).ok());
  const ShimExit exit = run.End(&shim);
  EXPECT_EQ(exit.code, 128 + SIGKILL);
  EXPECT_EQ(exit.left, 0);
  EXPECT_EQ(ProcessesOfSession(shim.pid()).size(), 0);
}

TEST(ShimTreeTest, ABombThatIsSuspendedForksNoMore) {
  ShimRun run;
  ShimSpec spec = run.Script("");
  spec.command = {SHIM_TASK, "bomb", "50", run.said()};
  Shim shim = run.Start(spec);
  EXPECT_EQ(run.Line(), "full");
  ASSERT_TRUE(shim.Suspend().ok());
  const auto all_stopped = [&] {
    for (const ProcessStat& process : DescendantsOf(shim.pid())) {
      if (process.state != 'T' && process.state != 'Z') return false;
    }
    return true;
  };
  EXPECT_TRUE(Eventually(all_stopped));
  // A child that ends would be followed by another.
  const std::vector<ProcessStat> tree = DescendantsOf(shim.pid());
  ASSERT_FALSE(tree.empty());
  const OpenFile last = PidfdOf(tree.back().id.pid);
  ASSERT_EQ(kill(tree.back().id.pid, SIGKILL), 0);
  EXPECT_TRUE(IsReadable(last.fd()));
  EXPECT_LE(DescendantsOf(shim.pid()).size(), tree.size());
  ASSERT_TRUE(shim.Kill().ok());
  EXPECT_EQ(run.End(&shim).left, 0);
}

TEST(ShimTreeTest, ASignalIsNotForALaterProcessOfTheSameNumber) {
  ShimRun run;
  Shim shim =
      run.Start(run.Script("echo $$ > $SAY; read line < $HEAR; exit 2"));
  const auto stat = StatOf(run.Number());
  ASSERT_TRUE(stat);
  ProcessId earlier = stat->id;
  --earlier.start;
  EXPECT_FALSE(Signal(earlier, SIGKILL));
  EXPECT_EQ(errno, ESRCH);
  run.Tell("go");
  EXPECT_EQ(run.End(&shim).code, 2);
}

}  // namespace
}  // namespace muster::local
