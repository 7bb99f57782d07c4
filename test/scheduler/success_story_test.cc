// Tasks that succeed, and when their gang is done.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/scheduler_fixture.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SuccessStories : public SchedulerTest {
 protected:
  // "a" has two tasks on n1 and n2, and is evicted for "boss", or suspended.
  void IsStopped(OnPreempted how = OnPreempted::kRequeue) {
    Capable({.suspend = true});
    Nodes({1, 1});
    Gang a = Job("a", 2, 1, "low");
    a.on_preempted = how;
    s.Submit(a);
    s.Pass();
    s.AllDone();
    s.Submit(Job("boss", 2, 1, "high"));
    s.Pass();
  }
  void Ends(uint32_t task, TaskOutcome how) { s.Answers("a", {0, task}, how); }
};

TEST_F(SuccessStories, AGangOfWhichAllSucceedWhileItIsStoppedIsDone) {
  IsStopped();
  Ends(0, TaskOutcome::kSucceeded);
  EXPECT_EQ(s.Phase("a"), "stopping");
  Ends(1, TaskOutcome::kSucceeded);
  EXPECT_EQ(s.Phase("a"), "gone");
  EXPECT_THAT(s.Pass(), ElementsAre("start boss: n1 n2"));
}

TEST_F(SuccessStories, WhatSucceededBeforeTheStopCounts) {
  Nodes({1, 1});
  s.Submit(Job("a", 2, 1, "low"));
  s.Pass();
  s.AllDone();
  Ends(0, TaskOutcome::kSucceeded);
  s.Submit(Job("boss", 2, 1, "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict a for boss", "nominate boss: n1 n2"));
  Ends(1, TaskOutcome::kSucceeded);
  EXPECT_EQ(s.Phase("a"), "gone");
}

// Whichever ends first.
TEST_F(SuccessStories, AGangOfWhichATaskWasStoppedStartsAnewWithAll) {
  for (const uint32_t first : {0u, 1u}) {
    for (const TaskOutcome other :
         {TaskOutcome::kReleased, TaskOutcome::kFailed, TaskOutcome::kYielded,
          TaskOutcome::kDone}) {
      SCOPED_TRACE(std::string(Name(other)) + " " + std::to_string(first));
      IsStopped();
      Ends(first, first == 0 ? TaskOutcome::kSucceeded : other);
      Ends(1 - first, first == 0 ? other : TaskOutcome::kSucceeded);
      EXPECT_EQ(s.Phase("a"), "waiting");
      EXPECT_FALSE(s.Of("a").interrupted);
      s.Pass();
      s.Happens(GangFinished{"boss"});
      EXPECT_THAT(s.Pass(), ElementsAre("start a: n1 n2"));
    }
  }
}

// With one task the gang would be content; but the other was cut short.
TEST_F(SuccessStories, AnElasticGangThatWasStoppedStartsAnew) {
  Nodes({1, 1});
  s.Submit(Elastic("a", 1, 2, "low"));
  s.Pass();
  s.AllDone();
  s.Happens(NodeDrained{"n1"});
  s.Happens(NodeDrained{"n2"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
  Ends(0, TaskOutcome::kReleased);
  EXPECT_TRUE(s.Of("a").interrupted);
  s.ExpectRestorable();
  Ends(1, TaskOutcome::kSucceeded);
  EXPECT_EQ(s.Phase("a"), "waiting");
}

TEST_F(SuccessStories, AGangThatIsRolledBackStartsAnew) {
  Nodes({1, 1});
  s.Submit(Job("a", 2));
  s.Pass();
  s.AllDone();
  s.HasNode("n2", 0);  // No other place for the task.
  Ends(1, TaskOutcome::kFailed);
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
  Ends(0, TaskOutcome::kSucceeded);
  EXPECT_EQ(s.Phase("a"), "waiting") << "its second task has not succeeded";
}

TEST_F(SuccessStories, ALostNodeIsWorkThatIsLost) {
  for (const bool before : {false, true}) {
    SCOPED_TRACE(before);
    s = Story();
    Nodes({1, 1});
    s.Submit(Elastic("a", 1, 2, "low"));
    s.Pass();
    s.AllDone();
    if (before) s.Happens(NodeDown{"n2"});
    s.Happens(NodeDrained{"n1"});
    s.Happens(NodeDrained{"n2"});
    EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
    if (!before) s.Happens(NodeDown{"n2"});
    Ends(0, TaskOutcome::kSucceeded);
    EXPECT_EQ(s.Phase("a"), "waiting");
  }
}

TEST_F(SuccessStories, AGangThatSucceedsBeforeItCouldBeAskedToLeaveIsDone) {
  Nodes({1});
  s.Submit(Job("a"));
  s.Pass();
  s.AllDone();
  s.Happens(NodeDrained{"n1"});
  Ends(0, TaskOutcome::kSucceeded);
  EXPECT_EQ(s.Phase("a"), "gone");
}

TEST_F(SuccessStories, AStopThatIsRefusedKeepsWhatSucceeded) {
  IsStopped();
  Ends(0, TaskOutcome::kSucceeded);
  s.Refused(DecisionKind::kEvict, "a");
  EXPECT_EQ(s.Phase("a"), "running");
  EXPECT_THAT(s.Pass(), IsEmpty()) << "it is not started a second time";
  Ends(1, TaskOutcome::kSucceeded);
  EXPECT_EQ(s.Phase("a"), "gone");
}

TEST_F(SuccessStories, ASuspendedGangThatIsStoppedMayHaveSucceeded) {
  IsStopped(OnPreempted::kSuspend);
  s.AllDone();
  EXPECT_EQ(s.Phase("a"), "suspended");
  s.Happens(NodeDown{"n1"});
  EXPECT_EQ(s.Pass().front(), "evict a");
  Ends(1, TaskOutcome::kSucceeded);
  EXPECT_EQ(s.Phase("a"), "waiting") << "the other one was lost with its node";
}

// One that is told not to run any more was stopped, whatever else is told.
TEST_F(SuccessStories, ReconcilingIsNoSuccess) {
  IsStopped();
  Ends(0, TaskOutcome::kSucceeded);
  s.Happens(Reconciled{.nodes = {Machine("n1", 1), Machine("n2", 1)}});
  EXPECT_EQ(s.Phase("a"), "waiting");
}

// For work of which each task counts by itself: what is done need not be done
// again, if the host knows that it is.
TEST_F(SuccessStories, AHostMayAnswerForWorkThatWasDoneInAnEarlierRun) {
  IsStopped();
  Ends(0, TaskOutcome::kSucceeded);
  Ends(1, TaskOutcome::kReleased);
  s.Pass();
  s.Happens(GangFinished{"boss"});
  s.Pass();
  EXPECT_EQ(s.Where("a"), "n1 n2");
  Ends(0, TaskOutcome::kSucceeded);
  EXPECT_EQ(s.FreeGpus("n1"), 1);
  Ends(1, TaskOutcome::kSucceeded);
  EXPECT_EQ(s.Phase("a"), "gone");
}

}  // namespace
}  // namespace muster
