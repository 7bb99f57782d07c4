// Tasks that somebody else than the scheduler stops: a deleted pod, a job that
// is scaled down by another door. They leave, and their room is on the way.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/scheduler_fixture.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Leaving : public SchedulerTest {
 protected:
  void Leaves(const std::string& gang, uint32_t index) {
    s.Answers(gang, {0, index}, TaskOutcome::kLeaving);
  }
  void HasGone(const std::string& gang, uint32_t index,
               TaskOutcome how = TaskOutcome::kYielded) {
    s.Answers(gang, {0, index}, how);
  }
  // By all gangs of the queue, when all that is to go has gone.
  int64_t Used() { return s.scheduler().QueueUsage("q")[gpu_]; }
  template <class F>
  void Change(const std::string& gang, F&& f) {
    Gang changed = s.Of(gang).gang;
    f(changed);
    s.Happens(GangChanged{changed});
  }

  static Gang WithCpu(Gang gang, int64_t cpu) {
    gang.roles[0].shape.resources.Set(0, cpu);
    return gang;
  }
  static Node WithCpu(Node node, int64_t cpu) {
    node.capacity.Set(0, cpu);
    return node;
  }
  static ExternalUsage OthersTake(int64_t cpu) {
    ExternalUsage usage{.node = "n1"};
    usage.amount.Set(0, cpu);
    return usage;
  }

  const ResourceKind gpu_ = SchedulerConfig().KindOf("gpu");
};

// --- Its room ----------------------------------------------------------------

// "a" runs beyond its minimum; the host takes its last task from it.
TEST_F(Leaving, ItsRoomIsOnTheWay) {
  Nodes({2});
  Runs(Elastic("a", 1, 2));
  Leaves("a", 1);
  EXPECT_EQ(s.FreeGpus("n1", Ledger::kNow), 0);
  EXPECT_EQ(s.FreeGpus("n1", Ledger::kLater), 1);
  EXPECT_EQ(Used(), 1000);
  s.ExpectRestorable();
  s.Submit(Job("b"));
  EXPECT_THAT(s.Pass(), ElementsAre("nominate b: n1"));
  HasGone("a", 1);
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n1"));
}

TEST_F(Leaving, NoSecondVictimIsStoppedWhileOneIsLeaving) {
  Nodes({3});
  Runs(Elastic("a", 1, 2, "low"));
  Runs(Job("c", 1, 1, "low"));
  Leaves("a", 1);
  s.Submit(Job("b", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("nominate b: n1"));
  EXPECT_THAT(s.PassAfter(60), IsEmpty());
  HasGone("a", 1);
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n1"));
}

// A nominee waited for a victim; what leaves by itself serves the next.
TEST_F(Leaving, WhoWaitsForAPlaceOfAGangThatGoesHasIt) {
  Nodes({2});
  Runs(Job("a", 2));
  s.Submit(Job("b", 2));
  EXPECT_THAT(s.Pass(), IsEmpty());
  Leaves("a", 0);
  EXPECT_THAT(s.Pass(), IsEmpty()) << "one is needed, and comes back";
  Leaves("a", 1);
  EXPECT_EQ(s.Phase("a"), "stopping");
  EXPECT_EQ(s.FreeGpus("n1", Ledger::kLater), 2);
  EXPECT_THAT(s.Pass(), ElementsAre("nominate b: n1 n1"));
  HasGone("a", 0);
  EXPECT_EQ(s.Phase("a"), "stopping");
  HasGone("a", 1);
  EXPECT_EQ(s.Phase("a"), "waiting");
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n1 n1"));
}

// --- It is nobody's member ---------------------------------------------------

// Of four two leave: the two that stay are the minimum, not surplus.
TEST_F(Leaving, ItCountsForNoMinimum) {
  Nodes({4});
  Runs(Elastic("a", 2, 4));
  Leaves("a", 0);
  Leaves("a", 1);
  s.Submit(Job("b", 3));
  EXPECT_THAT(s.Pass(), IsEmpty()) << "none of those that stay is taken";
  HasGone("a", 0);
  HasGone("a", 1);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1 n1"));
}

TEST_F(Leaving, AGangAllOfWhoseTasksLeaveIsNoVictim) {
  Nodes({2, 2});
  Runs(Job("a", 2, 1, "low"));
  Leaves("a", 0);
  Leaves("a", 1);
  EXPECT_EQ(Used(), 0);
  s.Submit(Job("b", 4, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("nominate b: n1 n1 n2 n2"));
}

TEST_F(Leaving, AGangThatIsSuspendedDoesNotBringItBack) {
  Capable({.suspend = true});
  Nodes({2});
  Gang a = Elastic("a", 1, 2, "low");
  a.on_preempted = OnPreempted::kSuspend;
  Runs(a);
  Leaves("a", 1);
  s.Submit(Job("b", 2, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("suspend a for b", "nominate b: n1 n1"));
  s.Answers("a", {0, 0}, TaskOutcome::kSuspended);
  EXPECT_EQ(s.Phase("a"), "suspending");
  HasGone("a", 1);
  EXPECT_EQ(s.Phase("a"), "suspended");
  s.Pass();
  s.AllDone();
  s.Happens(GangFinished{"b"});
  EXPECT_THAT(s.Pass(), ElementsAre("resume a: n1", "grow a: n1"));
}

// --- Its place in the gang ---------------------------------------------------

// A pod is deleted that its controller makes again: the gang goes on, and
// nobody takes the place in between.
TEST_F(Leaving, WhereItIsNeededItsPlaceIsKeptForAnother) {
  Nodes({2});
  Runs(Job("a", 2, 1, "mid"));
  s.Submit(Job("b", 1, 1, "mid"));
  Leaves("a", 1);
  EXPECT_EQ(s.FreeGpus("n1", Ledger::kLater), 0);
  EXPECT_EQ(Used(), 2000);
  s.ExpectRestorable();
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.PassAfter(60), IsEmpty()) << "it is not given up meanwhile";
  HasGone("a", 1);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1"));
  s.AllDone();
  EXPECT_EQ(s.Phase("a"), "running");
  EXPECT_EQ(s.Phase("b"), "waiting");
}

TEST_F(Leaving, OnlyAsManyPlacesAreKeptAsAreNeeded) {
  Nodes({4});
  Runs(Elastic("a", 3, 4));
  Leaves("a", 2);
  Leaves("a", 3);
  EXPECT_EQ(s.FreeGpus("n1", Ledger::kLater), 1);
  s.Submit(Job("b"));
  EXPECT_THAT(s.Pass(), ElementsAre("nominate b: n1"));
}

// What runs goes before what waits: the place of the one that left first was
// promised already.
TEST_F(Leaving, WhoIsNominatedForAPlaceThatIsNeededAgainHasAnother) {
  Nodes({3});
  Runs(Elastic("a", 2, 3));
  Leaves("a", 1);
  s.Submit(Job("b"));
  EXPECT_THAT(s.Pass(), ElementsAre("nominate b: n1"));
  Leaves("a", 0);
  EXPECT_THAT(s.Pass(), ElementsAre("evict b", "nominate b: n1"));
  HasGone("a", 0);
  HasGone("a", 1);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1", "start b: n1"));
}

TEST_F(Leaving, AKeptPlaceThatOthersTakeStopsNothing) {
  Nodes({});
  s.Happens(NodeChanged{WithCpu(Machine("n1", 0), 4)});
  Runs(WithCpu(Job("a", 2, 0), 1));
  Runs(WithCpu(Job("low", 2, 0, "low"), 1));
  Leaves("a", 1);
  s.Happens(ExternalUsageChanged{OthersTake(1)});
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.Phase("low"), "running");
}

// The one that it needs may go anywhere.
TEST_F(Leaving, ItsSuccessorIsPlacedWhereThereIsRoom) {
  Nodes({2});
  Runs(Job("a", 2));
  Leaves("a", 1);
  s.Happens(ExternalUsageChanged{{.node = "n1", .unnamed_devices = 1}});
  s.HasNode("n2", 1);
  HasGone("a", 1);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2"));
}

TEST_F(Leaving, ThatItFailsInGoingIsNoFailure) {
  Nodes({2});
  Runs(Job("a", 2));
  Leaves("a", 1);
  HasGone("a", 1, TaskOutcome::kFailed);
  EXPECT_EQ(s.Of("a").failures, 0u);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1"));
}

TEST_F(Leaving, WhatIsDoneBeforeItIsStoppedIsDone) {
  Nodes({2});
  Runs(Job("a", 2));
  Leaves("a", 1);
  HasGone("a", 1, TaskOutcome::kSucceeded);
  EXPECT_THAT(s.Pass(), IsEmpty());
  HasGone("a", 0, TaskOutcome::kSucceeded);
  EXPECT_EQ(s.Phase("a"), "gone");
}

TEST_F(Leaving, ATaskThatStartsMayLeave) {
  Nodes({2});
  s.Submit(Elastic("a", 1, 2));
  s.Pass();
  Leaves("a", 1);
  EXPECT_EQ(s.Phase("a"), "starting");
  s.Answers("a", {0, 0}, TaskOutcome::kStarted);
  EXPECT_EQ(s.Phase("a"), "running");
  EXPECT_THAT(s.Of("a").pending, IsEmpty());
  EXPECT_EQ(s.FreeGpus("n1", Ledger::kLater), 1);
}

TEST_F(Leaving, WhatIsToldTwiceOrTooLateChangesNothing) {
  Nodes({2});
  Runs(Elastic("a", 1, 2));
  Leaves("a", 1);
  const uint64_t once = s.scheduler().StateHash();
  Leaves("a", 1);
  s.Answers("a", {0, 1}, TaskOutcome::kStarted);
  EXPECT_EQ(s.Of("a").tasks[1].phase, TaskPhase::kReleasing);
  HasGone("a", 1);
  EXPECT_NE(s.scheduler().StateHash(), once);
  Leaves("a", 1);
  EXPECT_EQ(s.Of("a").tasks.size(), 1u);
}

// --- With other things that happen -------------------------------------------

TEST_F(Leaving, WhatIsToStopAnywayIsStoppedAsPlanned) {
  Nodes({2});
  Runs(Job("a", 2, 1, "low"));
  s.Submit(Job("b", 2, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for b", "nominate b: n1 n1"));
  Leaves("a", 0);
  s.Applied(DecisionKind::kEvict, "a");
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n1 n1"));
}

TEST_F(Leaving, AStopThatIsRefusedDoesNotBringItBack) {
  Nodes({2});
  Runs(Elastic("a", 1, 2, "low"));
  Leaves("a", 1);
  s.Submit(Job("b", 2, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for b", "nominate b: n1 n1"));
  s.Refused(DecisionKind::kEvict, "a");
  EXPECT_EQ(s.Phase("a"), "running");
  EXPECT_EQ(s.Of("a").tasks[1].phase, TaskPhase::kReleasing);
}

// The host asks for fewer while some leave: those are the fewer.
TEST_F(Leaving, AGangThatWantsLessHasWhatStays) {
  Nodes({3});
  Runs(Job("a", 3));
  Leaves("a", 2);
  EXPECT_EQ(s.FreeGpus("n1", Ledger::kLater), 0);
  Change("a",
         [](Gang& g) { g.roles[0].min_tasks = g.roles[0].desired_tasks = 2; });
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.FreeGpus("n1", Ledger::kLater), 1);
  HasGone("a", 2);
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.Where("a"), "n1 n1");
}

TEST_F(Leaving, ACancelledGangKeepsNoPlace) {
  Nodes({2});
  Runs(Job("a", 2));
  Leaves("a", 1);
  s.Happens(GangCancelled{"a"});
  EXPECT_EQ(s.FreeGpus("n1", Ledger::kLater), 1);
  EXPECT_THAT(s.Pass(), ElementsAre("cancel a"));
  s.Answers("a", {0, 0}, TaskOutcome::kReleased);
  HasGone("a", 1);
  EXPECT_EQ(s.Phase("a"), "gone");
}

TEST_F(Leaving, ALostNodeEndsIt) {
  Nodes({1, 1});
  Runs(Elastic("a", 1, 2));
  Leaves("a", 1);
  s.Happens(NodeDown{"n2"});
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.Where("a"), "n1");
}

}  // namespace
}  // namespace muster
