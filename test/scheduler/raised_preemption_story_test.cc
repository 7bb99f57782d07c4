// A raised minimum for which there is no room: others give way, and the gang is
// nominated for what it lacks while it runs on.
#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/scheduler_fixture.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RaisedPreemption : public SchedulerTest {
 protected:
  // How many of its tasks are nominated.
  size_t Nominated(const std::string& gang) {
    const GangState state = s.Of(gang);
    return std::ranges::count(state.tasks, TaskPhase::kNominated,
                              &TaskState::phase);
  }
  // "a" runs with two tasks on n1, "low" with one on the last node, and "a" is
  // to have three: it is nominated for what "low" holds.
  void IsNominated(std::vector<uint32_t> gpus, const std::string& node) {
    Nodes(std::move(gpus));
    Runs(Job("a", 2, 1, "high"));
    Runs(Job("low", 1, 1, "low"));
    ASSERT_EQ(s.Where("low"), node);
    Resize("a", 3, 3);
    ASSERT_THAT(s.Pass(),
                ElementsAre("evict low for a", "nominate a: " + node));
    s.ExpectRestorable();
    ASSERT_EQ(s.Phase("a"), "running");
    ASSERT_EQ(Nominated("a"), 1u);
  }
};

TEST_F(RaisedPreemption, LowerPrioritiesGiveWay) {
  IsNominated({2, 1}, "n2");
  EXPECT_EQ(s.Of("a").runs_under.role_tasks, std::vector<uint32_t>{2});
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2"));
  s.AllDone();
  EXPECT_EQ(Nominated("a"), 0u);
  EXPECT_THAT(s.Of("a").runs_under.role_tasks, IsEmpty());
  EXPECT_THAT(s.Pass(), IsEmpty());
}

// Its own node has too little: it is stopped itself, and nobody for it.
TEST_F(RaisedPreemption, NobodyDoesForOneThatHasToGo) {
  Nodes({2, 1});
  Runs(Job("a", 2, 1, "high"));
  Runs(Job("low", 1, 1, "low"));
  Resize("a", 3, 3);
  s.Happens(ExternalUsageChanged{{.node = "n1", .unnamed_devices = 2}});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
}

// Its own node has too little, but it is not one that is stopped for that.
TEST_F(RaisedPreemption, TheyDoForOneThatIsNotPreemptible) {
  Nodes({2, 1});
  Gang a = Job("a", 2, 1, "high");
  a.preemptible = false;
  Runs(a);
  Runs(Job("low", 1, 1, "low"));
  Resize("a", 3, 3);
  s.Happens(ExternalUsageChanged{{.node = "n1", .unnamed_devices = 2}});
  EXPECT_THAT(s.Pass(), ElementsAre("evict low for a", "nominate a: n2"));
}

// It is another one that goes; then they give way to it.
TEST_F(RaisedPreemption, TheyDoWhereAnotherOneHasToGo) {
  Nodes({3, 1});
  Runs(Job("a", 2, 1, "high"));
  Runs(Job("last", 1, 1, "low"));
  Runs(Job("low", 1, 1, "low"));
  ASSERT_EQ(s.Where("last"), "n1");
  Resize("a", 3, 3);
  s.Happens(ExternalUsageChanged{{.node = "n1", .unnamed_devices = 1}});
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict low for a", "nominate a: n2", "evict last"));
}

TEST_F(RaisedPreemption, EqualsDoNot) {
  Nodes({2, 1});
  Runs(Job("a", 2, 1, "mid"));
  Runs(Job("b", 1, 1, "mid"));
  Resize("a", 3, 3);
  EXPECT_THAT(s.Pass(), IsEmpty());
}

TEST_F(RaisedPreemption, NobodyDoesWhereItsClassMayNotPreempt) {
  Nodes({2, 1});
  s.Happens(PriorityClassChanged{
      {.key = "polite", .value = 30, .may_preempt = false}});
  Runs(Job("a", 2, 1, "polite"));
  Runs(Job("low", 1, 1, "low"));
  Resize("a", 3, 3);
  EXPECT_THAT(s.Pass(), IsEmpty());
}

// What an elastic gang can do without goes first, also to an equal; never its
// own.
TEST_F(RaisedPreemption, WhatOthersCanDoWithoutIsEnough) {
  Nodes({2, 2});
  Runs(Job("a", 2, 1, "mid"));
  Runs(Elastic("b", 1, 2, "mid"));
  s.Pass();
  s.AllDone();
  Resize("a", 3, 3);
  EXPECT_THAT(s.Pass(), ElementsAre("shrink b for a: 0/1", "nominate a: n2"));
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2"));
}

TEST_F(RaisedPreemption, NobodyTakesThePlaceInBetween) {
  IsNominated({2, 1}, "n2");
  s.Submit(Job("b", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2"));
}

// Two of them, of which one takes longer.
TEST_F(RaisedPreemption, WhatItLacksStartsTogether) {
  Nodes({2, 1, 1});
  Runs(Job("a", 2, 1, "high"));
  Runs(Job("x", 1, 1, "low"));
  Runs(Job("y", 1, 1, "low"));
  Resize("a", 4, 4);
  EXPECT_THAT(s.Pass(), ElementsAre("evict x for a", "evict y for a",
                                    "nominate a: n2 n3"));
  s.Applied(DecisionKind::kEvict, "x");
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Submit(Job("b", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Applied(DecisionKind::kEvict, "y");
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2 n3"));
}

TEST_F(RaisedPreemption, WhatIsBeingReleasedIsItsPlace) {
  Nodes({2, 1});
  Runs(Job("a", 2, 1, "mid"));
  Runs(Job("b", 1, 1, "mid"));
  s.Happens(GangCancelled{"b"});
  EXPECT_THAT(s.Pass(), ElementsAre("cancel b"));
  Resize("a", 3, 3);
  s.Submit(Job("c", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("nominate a: n2"));
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2"));
}

TEST_F(RaisedPreemption, AVictimThatRefusesUndoesIt) {
  IsNominated({2, 1}, "n2");
  s.Refused(DecisionKind::kEvict, "low");
  EXPECT_EQ(Nominated("a"), 0u);
  EXPECT_EQ(s.Phase("low"), "running");
  EXPECT_EQ(s.Phase("a"), "running");
  s.ExpectRestorable();
  s.HasNode("n3", 1);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n3"));
}

TEST_F(RaisedPreemption, ALostNodeUndoesIt) {
  IsNominated({2, 1}, "n2");
  s.Happens(NodeDown{"n2"});
  EXPECT_EQ(Nominated("a"), 0u);
  EXPECT_EQ(s.Phase("a"), "running");
  s.ExpectRestorable();
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.HasNode("n3", 1);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n3"));
}

TEST_F(RaisedPreemption, SoDoesADrainedOne) {
  IsNominated({2, 1}, "n2");
  s.Happens(NodeDrained{"n2"});
  EXPECT_EQ(Nominated("a"), 0u);
  EXPECT_EQ(s.Phase("a"), "running");
  EXPECT_THAT(s.Pass(), IsEmpty());
}

TEST_F(RaisedPreemption, ATaskThatIsLostComesFirst) {
  IsNominated({2, 1}, "n2");
  s.Answers("a", {0, 1}, TaskOutcome::kFailed);
  EXPECT_EQ(Nominated("a"), 0u);
  s.ExpectRestorable();
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1", "nominate a: n2"));
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2"));
}

TEST_F(RaisedPreemption, LoweredAgainItLeavesThePlace) {
  IsNominated({2, 1}, "n2");
  Resize("a", 2, 2);
  EXPECT_EQ(Nominated("a"), 0u);
  s.Submit(Job("b", 1, 1, "mid"));
  EXPECT_THAT(s.Pass(), ElementsAre("nominate b: n2"));
}

TEST_F(RaisedPreemption, StoppedItLeavesThePlace) {
  IsNominated({2, 1}, "n2");
  s.Happens(GangCancelled{"a"});
  EXPECT_EQ(Nominated("a"), 0u);
  EXPECT_THAT(s.Pass(), ElementsAre("cancel a"));
  s.ExpectRestorable();
  s.AllDone();
  EXPECT_EQ(s.Phase("a"), "gone");
  EXPECT_EQ(s.FreeGpus("n2", Ledger::kLater), 1);
}

TEST_F(RaisedPreemption, DoneBeforeItLeavesThePlace) {
  IsNominated({2, 1}, "n2");
  s.Answers("a", {0, 0}, TaskOutcome::kSucceeded);
  s.Answers("a", {0, 1}, TaskOutcome::kSucceeded);
  EXPECT_EQ(s.Phase("a"), "gone");
  s.AllDone();
  EXPECT_EQ(s.FreeGpus("n2"), 1);
}

// The queue's limit is cut: the place is given up, and nobody is stopped.
TEST_F(RaisedPreemption, ALimitThatIsCutWithdrawsIt) {
  IsNominated({2, 1}, "n2");
  s.HasQueue("q", {GpuQuota({}, 2)});
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
  EXPECT_EQ(Nominated("a"), 0u);
  s.ExpectRestorable();
  s.HasQueue("q", {GpuQuota({}, 3)});
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2"));
}

// Others use what the victim held.
TEST_F(RaisedPreemption, APlaceThatIsTakenByOthersIsWithdrawn) {
  IsNominated({2, 1}, "n2");
  s.AllDone();
  s.Happens(ExternalUsageChanged{{.node = "n2", .unnamed_devices = 1}});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
  EXPECT_EQ(s.Phase("a"), "running");
  s.ExpectRestorable();
}

TEST_F(RaisedPreemption, ThePlaceIsNotTakenFromAGangThatRuns) {
  IsNominated({2, 1}, "n2");
  s.Happens(PriorityClassChanged{{.key = "top", .value = 99}});
  s.Submit(Job("x", 1, 1, "top"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for x", "nominate x: n1"))
      << "with the gang its place is free, too";
  EXPECT_EQ(Nominated("a"), 0u);
  s.ExpectRestorable();
}

TEST_F(RaisedPreemption, WhatIsFoundRunningUndoesIt) {
  IsNominated({2, 1}, "n2");
  Reconciled real;
  real.nodes = {Machine("n1", 2), Machine("n2", 1)};
  real.tasks = {{.gang = "a", .task = {0, 0}, .node = "n1", .devices = {0}},
                {.gang = "a", .task = {0, 1}, .node = "n1", .devices = {1}}};
  s.Happens(real);
  EXPECT_EQ(Nominated("a"), 1u) << "what does not run is not reported";
  s.ExpectRestorable();
  real.tasks.push_back(
      {.gang = "a", .task = {0, 2}, .node = "n2", .devices = {0}});
  s.Happens(real);
  EXPECT_EQ(Nominated("a"), 0u);
  EXPECT_EQ(s.Of("a").tasks.size(), 3u);
  s.ExpectRestorable();
}

// A gang that came in the same round is no victim before the next.
TEST_F(RaisedPreemption, ItIsAskedAgainWhenTheRoundIsOver) {
  Nodes({2, 1});
  Runs(Job("a", 2, 1, "high"));
  s.Submit(Job("low", 1, 1, "low"));
  EXPECT_THAT(s.Pass(), ElementsAre("start low: n2"));
  Resize("a", 3, 3);
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("evict low for a", "nominate a: n2"));
}

TEST_F(RaisedPreemption, AStateThatSaysWhatCannotBeIsRefused) {
  IsNominated({2, 1}, "n2");
  SchedulerState state = s.scheduler().State();
  ASSERT_EQ(state.gangs[0].gang.key, "a");
  state.gangs[0].runs_under = {};
  EXPECT_FALSE(Scheduler::Restore(state).ok());
}

}  // namespace
}  // namespace muster
