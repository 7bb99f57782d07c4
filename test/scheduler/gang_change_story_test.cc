// What hosts do to gangs that live: resize, move, take back, hold, give up.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/scheduler_fixture.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GangChangeTest : public SchedulerTest {
 protected:
  // With its description changed by f.
  static void Resize(Gang& gang, uint32_t min, uint32_t desired) {
    gang.roles[0].min_tasks = min;
    gang.roles[0].desired_tasks = desired;
  }
  void Configure(SchedulerConfig config) { s = Story(std::move(config)); }
};

// --- GangChanged -------------------------------------------------------------

TEST_F(GangChangeTest, AGangThatWantsMoreGrows) {
  Nodes({4});
  Runs(Elastic("a", 1, 2));
  Change("a", [](Gang& g) { Resize(g, 1, 4); });
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1 n1"));
}

TEST_F(GangChangeTest, AGangThatWantsLessIsShrunkFromTheBack) {
  Nodes({4});
  Runs(Elastic("a", 1, 4));
  Change("a", [](Gang& g) { Resize(g, 1, 2); });
  EXPECT_THAT(s.Pass(), ElementsAre("shrink a: 0/2 0/3"));
  s.AllDone();
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.Where("a"), "n1 n1");
}

// One that the gang does not want any more has done its work: it stands in for
// none that it wants.
TEST_F(GangChangeTest, WhatWasDoneBeyondWhatItWantsFillsNoGap) {
  Nodes({5});
  Gang a = Job("a", 3, 1);
  a.roles[0].name = "left";
  a.roles.push_back(Job("", 2, 1).roles[0]);
  Runs(a);
  s.Answers("a", {0, 2}, TaskOutcome::kSucceeded);
  Change("a", [](Gang& g) { Resize(g, 2, 2); });
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Answers("a", {1, 0}, TaskOutcome::kYielded);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1"));
}

TEST_F(GangChangeTest, AHostThatCannotShrinkEvictsIt) {
  Capable({.shrink = false});
  Nodes({4});
  Runs(Elastic("a", 1, 4));
  Change("a", [](Gang& g) { Resize(g, 1, 2); });
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1 n1"));
}

TEST_F(GangChangeTest, TheLastWordCounts) {
  Nodes({4});
  Runs(Elastic("a", 1, 4));
  Change("a", [](Gang& g) { Resize(g, 1, 2); });
  Change("a", [](Gang& g) { Resize(g, 1, 4); });
  EXPECT_THAT(s.Pass(), IsEmpty());
}

TEST_F(GangChangeTest, ANominationIsMadeAnew) {
  Nodes({2, 2});
  Runs(Job("low", 2, 2, "low"));
  s.Submit(Job("a", 1, 2, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict low for a", "nominate a: n1"));
  Change("a", [](Gang& g) { g.roles[0].shape.devices.count = 1; });
  EXPECT_EQ(s.Phase("a"), "waiting");
  EXPECT_EQ(s.Pass().size(), 1u);
  EXPECT_EQ(s.Phase("a"), "nominated");
}

TEST_F(GangChangeTest, AWaitingGangIsAskedForAnew) {
  Nodes({1});
  s.Submit(Job("a", 2));
  EXPECT_THAT(s.Pass(), IsEmpty());
  Change("a", [](Gang& g) { Resize(g, 1, 1); });
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1"));
}

TEST_F(GangChangeTest, LabelsAndTimesChangeNothingElse) {
  Nodes({1});
  Runs(Job("a"));
  s.Submit(Job("b"));
  s.Pass();
  Change("a", [](Gang& g) { g.display = "training of the year"; });
  Change("a", [](Gang& g) { g.labels = {{"team", "blue"}}; });
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.plan().steps, 0u) << "no question is active";
  Change("a", [](Gang& g) { g.max_runtime = kSecond; });
  EXPECT_THAT(s.PassAfter(1), ElementsAre("cancel a", "nominate b: n1"));
}

TEST_F(GangChangeTest, AClassGivenUpIsAVictim) {
  Nodes({1});
  Runs(Job("a", 1, 1, "high"));
  s.Submit(Job("b", 1, 1, "mid"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  Change("a", [](Gang& g) { g.priority_class = "low"; });
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for b", "nominate b: n1"));
}

TEST_F(GangChangeTest, ItsOwnWordOnPreemptionGoesFirst) {
  Nodes({1});
  Runs(Job("a", 1, 1, "low"));
  Change("a", [](Gang& g) { g.on_preempted = OnPreempted::kCancel; });
  s.Submit(Job("b", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("cancel a for b", "nominate b: n1"));
}

TEST_F(GangChangeTest, ARunningTaskKeepsItsShape) {
  Nodes({2});
  Runs(Job("a"));
  Gang changed = s.Of("a").gang;
  changed.roles[0].shape.devices.count = 2;
  const absl::Status status = s.Try(GangChanged{changed});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("roles[0].shape"));
}

TEST_F(GangChangeTest, AQueueIsChangedByMoving) {
  Nodes({1});
  s.HasQueue("other");
  s.Submit(Job("a"));
  Gang changed = s.Of("a").gang;
  changed.queue = "other";
  EXPECT_THAT(std::string(s.Try(GangChanged{changed}).message()),
              HasSubstr("GangMoved"));
}

// --- GangMoved ---------------------------------------------------------------

TEST_F(GangChangeTest, WhatAGangHoldsMovesWithIt) {
  Nodes({2});
  s.HasQueue("small", {GpuQuota({}, 1)});
  s.Submit(Job("a"));
  s.Pass();
  s.AllDone();
  Gang b = Job("b");
  b.queue = "small";
  s.Happens(GangMoved{"a", "small"});
  EXPECT_EQ(s.scheduler().QueueUsage("small")[2], 1000);
  EXPECT_EQ(s.scheduler().QueueUsage("q")[2], 0);
  s.Submit(b);
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.Why("b"), HasSubstr("queue-limit"));
  s.Happens(GangMoved{"a", "q"});
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n1"));
}

// Its new queue is over its limit: who was nominated for room there has it no
// more.
TEST_F(GangChangeTest, AGangThatMovesInUndoesAPromise) {
  Nodes({2, 1});
  s.HasQueue("small", {GpuQuota({}, 2)});
  s.HasClasses();
  Gang victim = Job("victim", 1, 2, "low");
  Gang winner = Job("winner", 1, 2, "high");
  victim.queue = winner.queue = "small";
  s.Submit(victim);
  s.Submit(Job("guest", 1, 1, "high"));
  s.Pass();
  s.AllDone();
  s.Submit(winner);
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict victim for winner", "nominate winner: n1"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Happens(GangMoved{"guest", "small"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict winner"));
}

TEST_F(GangChangeTest, AClosedQueueTakesNobody) {
  Nodes({1});
  s.Happens(QueueChanged{{.key = "shut", .closed = true}});
  s.Submit(Job("a"));
  EXPECT_EQ(s.Try(GangMoved{"a", "shut"}).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(s.Of("a").gang.queue, "q");
}

// --- Stopped through no fault of their own ----------------------------------

TEST_F(GangChangeTest, WhoYieldsWaitsInItsOldPlace) {
  Nodes({1});
  Runs(Job("a"));
  s.now += kSecond;
  s.Submit(Job("b"));
  s.Pass();
  s.Happens(GangYielded{"a"});
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1")) << "older than b";
}

TEST_F(GangChangeTest, ATaskThatYieldedIsPlacedAgainAtOnce) {
  Nodes({1, 1, 1});
  Runs(Job("a", 2));
  for (uint32_t attempt = 1; attempt <= 5; ++attempt) {
    s.Answers("a", {0, 1}, TaskOutcome::kYielded);
    EXPECT_THAT(s.Pass(), testing::SizeIs(1)) << "never counted as failed";
    s.AllDone();
    EXPECT_EQ(s.Phase("a"), "running");
    EXPECT_EQ(s.Of("a").failures, 0u);
  }
}

TEST_F(GangChangeTest, APlaceThatIsDoneIsFreeForTheNextTask) {
  Nodes({2});
  Runs(Job("a", 2));
  s.Answers("a", {0, 0}, TaskOutcome::kDone);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1"));
  EXPECT_EQ(s.Of("a").failures, 0u);
}

TEST_F(GangChangeTest, AnUnaskedReleaseIsNoFailure) {
  Nodes({1});
  Runs(Job("a"));
  s.Answers("a", {0, 0}, TaskOutcome::kReleased);
  EXPECT_EQ(s.Of("a").failures, 0u);
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1"));
}

TEST_F(GangChangeTest, AFinishedTaskBlocksNoRepair) {
  Nodes({3});
  Runs(Job("a", 3));
  s.Answers("a", {0, 0}, TaskOutcome::kSucceeded);
  s.Answers("a", {0, 2}, TaskOutcome::kFailed);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1"));
  s.AllDone();
  EXPECT_EQ(s.Phase("a"), "running");
}

TEST_F(GangChangeTest, AFinishedTaskBlocksNoGrowth) {
  Nodes({3});
  s.Submit(Job("other"));
  s.Pass();
  s.AllDone();
  Runs(Elastic("a", 1, 3));
  s.Answers("a", {0, 0}, TaskOutcome::kSucceeded);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1"));
}

// --- Time --------------------------------------------------------------------

TEST_F(GangChangeTest, BelowItsMinimumItKeepsItsPlacesForATime) {
  SchedulerConfig config;
  config.replacement_timeout = 30 * kSecond;
  Configure(config);
  Nodes({2});
  Runs(Job("a", 2));
  s.Happens(ExternalUsageChanged{
      {.node = "n1", .amount = {}, .devices = {{.device = 1, .milli = 1000}}}});
  s.Answers("a", {0, 1}, TaskOutcome::kYielded);
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.NextWakeup(), 30 * kSecond);
  EXPECT_THAT(s.PassAfter(29), IsEmpty());
  EXPECT_THAT(s.PassAfter(1), ElementsAre("evict a"));
}

TEST_F(GangChangeTest, RoomThatComesInTimeMendsIt) {
  SchedulerConfig config;
  config.replacement_timeout = 30 * kSecond;
  Configure(config);
  Nodes({2});
  Runs(Job("a", 2));
  s.Happens(ExternalUsageChanged{
      {.node = "n1", .amount = {}, .devices = {{.device = 1, .milli = 1000}}}});
  s.Answers("a", {0, 1}, TaskOutcome::kYielded);
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.HasNode("n2", 1);
  EXPECT_THAT(s.PassAfter(10), ElementsAre("grow a: n2"));
}

TEST_F(GangChangeTest, ASuspendedGangDoesNotStarve) {
  SchedulerConfig config;
  config.host.suspend = true;
  config.suspend_timeout = 60 * kSecond;
  Configure(config);
  Nodes({1, 1});
  s.Happens(PriorityClassChanged{
      {.key = "low", .value = 0, .on_preempted = OnPreempted::kSuspend}});
  s.Submit(Job("fills", 1, 1, "high"));
  s.Pass();
  s.AllDone();
  Runs(Job("a", 1, 1, "low"));
  s.Submit(Job("urgent", 1, 1, "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("suspend a for urgent", "nominate urgent: n2"));
  s.AllDone();
  s.Pass();
  s.AllDone();
  s.Happens(GangFinished{"fills"});
  EXPECT_THAT(s.Pass(), IsEmpty()) << "it waits for its own place";
  EXPECT_EQ(s.NextWakeup(), 60 * kSecond);
  EXPECT_THAT(s.PassAfter(60), ElementsAre("evict a"));
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1"));
}

TEST_F(GangChangeTest, WhoeverHoldsAGangSaysWhy) {
  Nodes({1});
  s.Submit(Job("a"));
  s.Happens(GangHeld{"a", true, "until the data is there"});
  s.Pass();
  EXPECT_EQ(s.scheduler().Explain("a")->held_why, "until the data is there");
  s.Happens(GangHeld{"a", false});
  EXPECT_EQ(s.scheduler().Explain("a")->held_why, "");
}

// --- What is named cannot go -------------------------------------------------

TEST_F(GangChangeTest, ANodeSetGoesWhenNobodyNamesIt) {
  Nodes({1});
  s.Happens(NodeSetChanged{{.key = "near", .nodes = {"n1"}}});
  Gang a = Job("a");
  a.roles[0].node_sets = {"near"};
  s.Submit(a);
  const absl::Status status = s.Try(NodeSetRemoved{"near"});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("gang 'a'"));
  s.Happens(GangFinished{"a"});
  s.Happens(NodeSetRemoved{"near"});
  EXPECT_THAT(s.scheduler().State().node_sets, IsEmpty());
  EXPECT_EQ(s.Try(NodeSetRemoved{"near"}).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(s.Try(GangSubmitted{a}).code(), absl::StatusCode::kNotFound);
}

TEST_F(GangChangeTest, APriorityClassGoesWhenNobodyIsOfIt) {
  Nodes({1});
  s.Submit(Job("a", 1, 1, "low"));
  EXPECT_EQ(s.Try(PriorityClassRemoved{"low"}).code(),
            absl::StatusCode::kFailedPrecondition);
  s.Happens(GangReprioritized{"a", "mid"});
  s.Happens(PriorityClassRemoved{"low"});
  EXPECT_EQ(s.Try(PriorityClassRemoved{"low"}).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(s.Try(PriorityClassRemoved{""}).code(), absl::StatusCode::kNotFound)
      << "the default stays";
}

// --- Disruption budgets ------------------------------------------------------

class BudgetTest : public GangChangeTest {
 protected:
  // "a" and "b" run on one device each; "c" is more important.
  void Stage(std::vector<std::string> gangs, int64_t allowed) {
    Nodes({2});
    s.Happens(DisruptionBudgetChanged{{"web", std::move(gangs), allowed}});
    s.Submit(Job("a", 1, 1, "low"));
    s.Submit(Job("b", 1, 1, "low"));
    s.Pass();
    s.AllDone();
  }
  int64_t Left() {
    return s.scheduler().State().disruption_budgets.at(0).allowed;
  }
};

TEST_F(BudgetTest, AGangWithoutBudgetGoesInItsPlace) {
  Stage({"a"}, 0);
  s.Submit(Job("c", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict b for c", "nominate c: n1"));
}

TEST_F(BudgetTest, NoMoreGoThanAllowed) {
  Stage({"a", "b"}, 1);
  s.Submit(Job("c", 2, 1, "high"));
  EXPECT_THAT(s.Pass(), IsEmpty()) << "it would take both";
  s.Submit(Job("d", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for d", "nominate d: n1"));
  EXPECT_EQ(Left(), 0);
  s.Submit(Job("e", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Happens(DisruptionBudgetChanged{{"web", {"a", "b"}, 1}});
  EXPECT_THAT(s.Pass(), ElementsAre("evict b for e", "nominate e: n1"));
}

TEST_F(BudgetTest, ARefusedStopGivesItsShareBack) {
  Stage({"a", "b"}, 1);
  s.Submit(Job("c", 1, 1, "high"));
  s.Pass();
  EXPECT_EQ(Left(), 0);
  s.Refused(DecisionKind::kEvict, "a");
  EXPECT_EQ(Left(), 1);
  EXPECT_THAT(s.Pass(), ElementsAre("evict b for c", "nominate c: n1"));
}

TEST_F(BudgetTest, DrainsDoNotAsk) {
  Stage({"a", "b"}, 0);
  s.Happens(NodeDrained{"n1", true});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a", "evict b"));
  EXPECT_EQ(Left(), 0);
}

TEST_F(BudgetTest, SurplusIsNoDisruption) {
  Nodes({2});
  s.Happens(DisruptionBudgetChanged{{"web", {"a"}, 0}});
  Runs(Elastic("a", 1, 2, "low"));
  s.Submit(Job("c", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("shrink a for c: 0/1", "nominate c: n1"));
}

TEST_F(BudgetTest, AWhatIfSpendsNothing) {
  Stage({"a", "b"}, 1);
  Plan plan;
  const Event event{s.now, GangSubmitted{Job("c", 1, 1, "high")}};
  ASSERT_TRUE(s.scheduler().WhatIf(s.now, {&event, 1}, &plan).ok());
  EXPECT_EQ(plan.decisions.size(), 2u);
  EXPECT_EQ(Left(), 1);
}

TEST_F(BudgetTest, WithoutGangsItIsGone) {
  Stage({"a", "b"}, 0);
  s.Happens(DisruptionBudgetChanged{{"web", {}, 0}});
  EXPECT_THAT(s.scheduler().State().disruption_budgets, IsEmpty());
  s.Submit(Job("c", 2, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for c", "evict b for c",
                                    "nominate c: n1 n1"));
}

}  // namespace
}  // namespace muster
