// How gangs grow, pause, break, end and wait, told as stories.
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/scheduler.h"
#include "test/scheduler/scheduler_fixture.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// --- Elastic gangs -----------------------------------------------------------

TEST_F(SchedulerTest, AnElasticGangStartsWithWhatThereIsAndGrows) {
  Nodes({3});
  s.Submit(Job("a"));
  s.Submit(Elastic("e", 1, 3));
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1", "start e: n1 n1"));
  s.AllDone();
  s.Happens(GangFinished{"a"});
  EXPECT_THAT(s.Pass(), ElementsAre("grow e: n1"));
  s.AllDone();
  EXPECT_EQ(s.Phase("e"), "running");
  EXPECT_EQ(s.Of("e").tasks.size(), 3u);
}

TEST_F(SchedulerTest, SurplusTasksMakeRoomFirst) {
  Nodes({3});
  s.Submit(Elastic("e", 1, 3, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("a", 2, 1, "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("shrink e for a: 0/1 0/2", "nominate a: n1 n1"));
  EXPECT_EQ(s.Phase("e"), "running");
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1 n1"));
}

TEST_F(SchedulerTest, AHostThatCannotShrinkIsNotAskedTo) {
  Capable({.shrink = false});
  Nodes({3});
  s.Submit(Elastic("e", 1, 3, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("a", 2, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict e for a", "nominate a: n1 n1"));
}

TEST_F(SchedulerTest, ASurplusTaskThatFailsIsNotTriedAgainAtOnce) {
  Nodes({2});
  s.Submit(Elastic("e", 1, 2));
  s.Pass();
  s.AllDone();
  s.Answers("e", {0, 1}, TaskOutcome::kFailed);
  EXPECT_EQ(s.Phase("e"), "running");
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.NextWakeup(), 10 * kSecond);
  s.now = s.NextWakeup();
  EXPECT_THAT(s.Pass(), ElementsAre("grow e: n1"));
}

// --- Suspending --------------------------------------------------------------

TEST_F(SchedulerTest, AVictimIsSuspendedAndResumedInPlace) {
  Capable({.suspend = true});
  Nodes({1, 1});
  s.Happens(PriorityClassChanged{
      {.key = "low", .value = 0, .on_preempted = OnPreempted::kSuspend}});
  s.Submit(Job("a", 2, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("urgent", 1, 1, "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("suspend a for urgent", "nominate urgent: n1"));
  s.AllDone();
  EXPECT_EQ(s.Phase("a"), "suspended");
  s.Pass();
  s.AllDone();
  EXPECT_EQ(s.Why("a"), "suspended-waits (node n1)");
  s.Happens(GangFinished{"urgent"});
  EXPECT_THAT(s.Pass(), ElementsAre("resume a: n1 n2"));
  s.AllDone();
  EXPECT_EQ(s.Phase("a"), "running");
}

TEST_F(SchedulerTest, AHostThatCannotSuspendIsAskedToEvict) {
  Nodes({1});
  s.Happens(PriorityClassChanged{
      {.key = "low", .value = 0, .on_preempted = OnPreempted::kSuspend}});
  s.Submit(Job("a", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("urgent", 1, 1, "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict a for urgent", "nominate urgent: n1"));
}

TEST_F(SchedulerTest, AGangCancelledWhileItIsBeingSuspendedGoes) {
  Capable({.suspend = true});
  Nodes({1});
  s.Happens(PriorityClassChanged{
      {.key = "low", .value = 0, .on_preempted = OnPreempted::kSuspend}});
  s.Submit(Job("a", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("urgent", 1, 1, "high"));
  s.Pass();
  s.Happens(GangCancelled{"a"});
  s.AllDone();
  EXPECT_EQ(s.Phase("a"), "suspended");
  EXPECT_THAT(s.Pass(), ElementsAre("cancel a", "start urgent: n1"));
  s.AllDone();
  EXPECT_EQ(s.Phase("a"), "gone");
}

// --- When things break -------------------------------------------------------

TEST_F(SchedulerTest, ALostNodeRestartsTheWholeGang) {
  Nodes({2, 2, 2});
  s.Submit(Job("a", 2, 2));
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1 n2"));
  s.AllDone();
  s.Happens(NodeDown{"n1"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n2 n3"));
}

TEST_F(SchedulerTest, ADrainedNodeIsEmptied) {
  Nodes({1, 1});
  s.Submit(Job("a"));
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1"));
  s.AllDone();
  s.Happens(NodeDrained{"n1", true});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n2"));
  s.Happens(NodeDrained{"n1", false});
  s.Submit(Job("b"));
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n1"));
}

TEST_F(SchedulerTest, AnElasticGangLosesOnlyWhatIsOnTheDrainedNode) {
  Nodes({1, 1});
  s.Submit(Elastic("e", 1, 2));
  s.Pass();
  s.AllDone();
  s.Happens(NodeDrained{"n2", true});
  EXPECT_THAT(s.Pass(), ElementsAre("shrink e: 0/1"));
}

TEST_F(SchedulerTest, ARefusedDrainIsAskedForAgainAfterAWhile) {
  Nodes({1});
  s.Submit(Job("a"));
  s.Pass();
  s.AllDone();
  s.Happens(NodeDrained{"n1", true});
  s.Pass();
  s.Refused(DecisionKind::kEvict, "a");
  EXPECT_EQ(s.Phase("a"), "running");
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.NextWakeup(), 10 * kSecond);
  s.now = s.NextWakeup();
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
}

// Of two tasks of "a" one is gone, and there is no room for it beside the
// other.
class BelowItsMinimum : public SchedulerTest {
 protected:
  BelowItsMinimum() {
    Nodes({1, 1});
    s.Submit(Job("a", 2));
    s.Pass();
    s.AllDone();
  }
  void NodeTakesNothingNew(const std::string& node) {
    Node cordoned = Machine(node, 1);
    cordoned.schedulable = false;
    s.Happens(NodeChanged{cordoned});
  }
  void ExpectLeftAloneForAWhile() {
    s.Refused(DecisionKind::kEvict, "a");
    EXPECT_EQ(s.Phase("a"), "running");
    EXPECT_THAT(s.Pass(), IsEmpty());
    EXPECT_EQ(s.NextWakeup(), s.now + 10 * kSecond);
    EXPECT_THAT(s.PassAfter(9), IsEmpty());
    s.ExpectRestorable();
    EXPECT_THAT(s.PassAfter(1), ElementsAre("evict a"));
  }
};

TEST_F(BelowItsMinimum, ARefusedStopOfAGangIsAskedForAgainAfterAWhile) {
  NodeTakesNothingNew("n2");
  s.Answers("a", {0, 1}, TaskOutcome::kYielded);
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
  ExpectLeftAloneForAWhile();
  ExpectLeftAloneForAWhile();
}

TEST_F(BelowItsMinimum, SoIsThatOfAGangThatLostANode) {
  s.Happens(NodeDown{"n2"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
  ExpectLeftAloneForAWhile();
}

TEST_F(BelowItsMinimum, AGangThatIsLeftAloneGetsWhatItLacks) {
  NodeTakesNothingNew("n2");
  s.Answers("a", {0, 1}, TaskOutcome::kYielded);
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
  s.Refused(DecisionKind::kEvict, "a");
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.HasNode("n3", 1);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n3"));
  s.AllDone();
  EXPECT_THAT(s.PassAfter(10), IsEmpty());
}

TEST_F(SchedulerTest, AFailedTaskIsReplacedThenTheGangIsRolledBack) {
  Nodes({4});
  s.Submit(Job("a", 2));
  s.Pass();
  s.Answers("a", {0, 0}, TaskOutcome::kStarted);
  for (int replacement = 1; replacement <= 3; ++replacement) {
    s.Answers("a", {0, 1}, TaskOutcome::kFailed);
    EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1")) << replacement;
  }
  s.Answers("a", {0, 1}, TaskOutcome::kFailed);
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
  s.AllDone();
  EXPECT_EQ(s.Phase("a"), "waiting");
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.Why("a"), HasSubstr("backoff"));
  EXPECT_GT(s.NextWakeup(), s.now);
  s.now = s.NextWakeup();
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1 n1"));
}

TEST_F(SchedulerTest, AGangThatFailsAsAWholeWaitsLongerEachTime) {
  Nodes({2});
  s.Submit(Job("a", 2));
  for (const int64_t wait : {10, 20, 40, 80, 160, 300, 300}) {
    EXPECT_THAT(s.Pass(), ElementsAre("start a: n1 n1"));
    s.Refused(DecisionKind::kStart, "a");
    EXPECT_THAT(s.Pass(), IsEmpty());
    EXPECT_EQ(s.NextWakeup() - s.now, wait * kSecond);
    s.now = s.NextWakeup();
  }
  s.Pass();
  s.AllDone();
  EXPECT_EQ(s.Of("a").failures, 0u) << "a success clears the count";
}

TEST_F(SchedulerTest, ATaskThatWasReplacedInTimeStartsTheCountAnew) {
  Nodes({4});
  s.Submit(Job("a", 2));
  s.Pass();
  s.AllDone();
  for (int day = 0; day < 10; ++day) {
    s.now += 24 * kHour;
    s.Answers("a", {0, 1}, TaskOutcome::kFailed);
    EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1")) << day;
    s.AllDone();
  }
}

TEST_F(SchedulerTest, ATaskMayStartElsewhereThanPlanned) {
  Nodes({1, 1});
  s.Submit(Job("a"));
  s.Pass();
  s.Happens(
      TasksAnswered{"a", {{{0, 0}, 0, TaskOutcome::kStarted, "n2", {0}}}});
  EXPECT_EQ(s.Where("a"), "n2");
  EXPECT_EQ(s.FreeGpus("n1"), 1);
  EXPECT_EQ(s.FreeGpus("n2"), 0);
}

// What a reconciliation says of pending decisions: done, or not.
TEST_F(SchedulerTest, AReconciliationAnswersWhatIsPending) {
  Nodes({1, 1, 1, 1});
  s.HasClasses();
  s.Submit(Job("stays", 1, 1, "low"));
  s.Submit(Job("goes", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("lost", 1, 1, "mid"));
  s.Submit(Job("starts", 1, 1, "mid"));
  s.Pass();
  s.Submit(Job("wide", 2, 1, "high"));
  s.Pass();  // Evicts both low ones.
  Reconciled whole;
  for (const char* n : {"n1", "n2", "n3", "n4"}) {
    whole.nodes.push_back(Machine(n, 1));
  }
  whole.tasks = {{"stays", {0, 0}, s.Where("stays"), {0}},
                 {"starts", {0, 0}, s.Where("starts"), {0}}};
  const absl::StatusOr<ReconcileReport> report =
      s.scheduler().Reconcile(s.now, whole);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->decisions_applied, 2u) << "goes stopped, starts runs";
  EXPECT_EQ(report->decisions_refused, 2u) << "stays runs on, lost is lost";
}

TEST_F(SchedulerTest, AnOvercommittedNodeIsRelieved) {
  Nodes({1});
  s.HasClasses();
  s.Submit(Job("a", 1, 1, "high"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("b", 1, 1, "low"));
  Reconciled whole;
  whole.nodes = {Machine("n1", 1)};
  whole.tasks = {{"a", {0, 0}, "n1", {0}}, {"b", {0, 0}, "n1", {0}}};
  const absl::StatusOr<ReconcileReport> report =
      s.scheduler().Reconcile(s.now, whole);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->tasks_confirmed, 1u);
  EXPECT_EQ(report->tasks_found, 1u);
  EXPECT_THAT(s.Pass(), ElementsAre("evict b"));
}

// Who takes nothing of what there is too little of stays.
TEST_F(SchedulerTest, OnlyWhoHoldsWhatIsOvercommittedHasToLeave) {
  Nodes({1});
  Gang innocent = Job("innocent", 1, 0, "low");
  innocent.roles[0].shape.resources = {1000};
  s.Submit(innocent);
  s.Submit(Job("a", 1, 1, "high"));
  s.Pass();
  s.AllDone();
  s.Happens(ExternalUsageChanged{{"n1", {}, {{0, 1000, 0}}}});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
}

// --- Time --------------------------------------------------------------------

TEST_F(SchedulerTest, AGangIsCancelledAfterItsMaximumRunTime) {
  Nodes({1});
  Gang a = Job("a");
  a.max_runtime = 100 * kSecond;
  s.Submit(a);
  s.Pass();
  s.now = 5 * kSecond;
  s.AllDone();
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.NextWakeup(), 105 * kSecond);
  s.now = s.NextWakeup();
  EXPECT_THAT(s.Pass(), ElementsAre("cancel a"));
  s.AllDone();
  EXPECT_EQ(s.Phase("a"), "gone");
}

TEST_F(SchedulerTest, ARefusedCancelIsAskedForAgainAfterAWhile) {
  Nodes({1});
  Gang a = Job("a");
  a.max_runtime = 100 * kSecond;
  s.Submit(a);
  s.Pass();
  s.AllDone();
  s.now = 100 * kSecond;
  s.Pass();
  s.Refused(DecisionKind::kCancel, "a");
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.NextWakeup(), 110 * kSecond);
  s.now = s.NextWakeup();
  EXPECT_THAT(s.Pass(), ElementsAre("cancel a"));
}

// A failure ends the time for which it is left alone.
TEST_F(SchedulerTest, ARefusedCancelIsAskedForAgainWhenATaskFails) {
  Nodes({2});
  Gang a = Elastic("a", 1, 2);
  a.max_runtime = 100 * kSecond;
  s.Submit(a);
  s.Pass();
  s.AllDone();
  s.now = 100 * kSecond;
  s.Pass();
  s.Refused(DecisionKind::kCancel, "a");
  s.now = 105 * kSecond;
  s.Answers("a", {0, 1}, TaskOutcome::kFailed);
  EXPECT_THAT(s.Pass(), ElementsAre("cancel a"));
}

TEST_F(SchedulerTest, HeldUntilReleased) {
  Nodes({1});
  Gang a = Job("a");
  a.held = true;
  s.Submit(a);
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.Why("a"), "held");
  s.Happens(GangHeld{"a", false});
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1"));
}

TEST_F(SchedulerTest, NotBeforeItsTime) {
  Nodes({1});
  Gang a = Job("a");
  a.not_before = 60 * kSecond;
  s.Submit(a);
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.Why("a"), HasSubstr("not-before"));
  EXPECT_EQ(s.NextWakeup(), 60 * kSecond);
  s.now = s.NextWakeup();
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1"));
}

TEST_F(SchedulerTest, AStepBackInTimeChangesNothing) {
  Nodes({1});
  Gang a = Job("a");
  a.not_before = 60 * kSecond;
  s.Submit(a);
  s.now = 50 * kSecond;
  s.Pass();
  s.now = 10 * kSecond;
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.scheduler().now(), 50 * kSecond);
}

// --- Reasons -----------------------------------------------------------------

TEST_F(SchedulerTest, EveryWaitHasAReasonWithOperands) {
  Nodes({2, 2});
  s.Submit(Job("runs", 3));
  s.Pass();
  s.AllDone();
  s.Submit(Job("more", 2));
  Gang picky = Job("picky");
  picky.roles[0].shape.selector.any_of = {
      {{Requirement{"disk", SelectorOp::kExists, {}}}}};
  s.Submit(picky);
  Gang model = Job("model");
  model.roles[0].shape.devices.models = {"H100"};
  s.Submit(model);
  Gang huge = Job("huge", 1, 3);
  s.Submit(huge);
  s.Pass();
  EXPECT_EQ(s.Why("more"), "insufficient: needs 2000 gpu, 1000 available");
  EXPECT_THAT(s.Why("picky"), HasSubstr("no-node-admits"));
  EXPECT_THAT(s.Why("model"), HasSubstr("no-node-admits"));
  EXPECT_THAT(s.Why("huge"), HasSubstr("never-fits"));
}

TEST_F(SchedulerTest, AGangKnowsHowManyAreBeforeIt) {
  Nodes({1});
  s.Submit(Job("runs"));
  s.Pass();
  for (const char* key : {"a", "b", "c"}) s.Submit(Job(key));
  s.Pass();
  EXPECT_EQ(s.scheduler().Explain("a")->ahead, 0u);
  EXPECT_EQ(s.scheduler().Explain("c")->ahead, 2u);
  const GangId c = s.scheduler().FindGang("c");
  EXPECT_EQ(s.scheduler().CountAhead(c), 2u);
  EXPECT_THAT(s.scheduler().RolesOf(c),
              ::testing::ElementsAreArray(s.Of("c").gang.roles));
  EXPECT_EQ(s.scheduler().CountAhead(GangId{}), 0u);
  EXPECT_TRUE(s.scheduler().RolesOf(GangId{}).empty());
  ASSERT_EQ(s.plan().waiting.size(), 1u) << "one class, one line";
  EXPECT_EQ(s.plan().waiting[0].count, 3u);
}

// --- What the host can do ----------------------------------------------------

TEST_F(SchedulerTest, AHostThatDoesNotNominateIsNotToldSo) {
  Capable({.nominate = false});
  Nodes({1});
  s.Submit(Job("a", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("b", 1, 1, "mid"));
  s.Pass();
  ASSERT_EQ(s.plan().decisions.size(), 1u);
  EXPECT_EQ(s.plan().decisions[0].kind, DecisionKind::kEvict);
  ASSERT_EQ(s.plan().unreported.size(), 1u);
  EXPECT_EQ(s.plan().unreported[0].kind, DecisionKind::kNominate);
  const auto told = s.scheduler().DecisionsOf(s.plan());
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].kind, DecisionKind::kEvict);
  EXPECT_EQ(told[0].gang, "a");
  EXPECT_EQ(told[0].tasks.size(), 1u);
  EXPECT_EQ(s.scheduler().Record(s.plan()).decisions.size(), 2u);
  s.Submit(Job("c", 1, 1, "high"));
  s.Pass();
  EXPECT_EQ(s.plan().decisions.size(), 0u)
      << "nor that a nomination is withdrawn";
}

TEST_F(SchedulerTest, AHostThatChoosesDevicesItselfIsToldNone) {
  Capable({.choose_devices = false});
  Nodes({4});
  s.Submit(Job("a", 1, 2));
  s.Pass();
  ASSERT_EQ(s.plan().tasks.size(), 1u);
  EXPECT_EQ(s.plan().tasks[0].devices, DeviceSet());
  EXPECT_EQ(s.plan().tasks[0].booked, DeviceSet({0, 1}));
  s.Happens(
      TasksAnswered{"a", {{{0, 0}, 1, TaskOutcome::kStarted, "", {1, 3}}}});
  EXPECT_EQ(s.Of("a").tasks[0].devices, DeviceSet({1, 3}));
}

TEST_F(SchedulerTest, GraceIsToldToHostsThatGiveIt) {
  for (const bool grace : {true, false}) {
    Capable({.grace = grace});
    Nodes({1});
    s.Happens(PriorityClassChanged{
        {.key = "low", .value = 0, .grace = 30 * kSecond}});
    s.Submit(Job("a", 1, 1, "low"));
    s.Pass();
    s.AllDone();
    s.Submit(Job("urgent", 1, 1, "high"));
    s.Pass();
    EXPECT_EQ(s.plan().decisions[0].grace, grace ? 30 * kSecond : 0);
  }
}

TEST_F(SchedulerTest, RolesStartInWaves) {
  Nodes({4});
  Gang a = Job("a");
  a.roles[0].name = "worker";
  a.roles[0].start_after = {"leader"};
  a.roles.push_back(a.roles[0]);
  a.roles[1].name = "leader";
  a.roles[1].start_after.clear();
  s.Submit(a);
  s.Pass();
  ASSERT_EQ(s.plan().tasks.size(), 2u);
  EXPECT_EQ(s.plan().tasks[0].wave, 1u);
  EXPECT_EQ(s.plan().tasks[1].wave, 0u);
}

// What refuses to stop before all of it has started runs from then on.
TEST_F(SchedulerTest, ARefusedStopOfAStartingGangIsItsStart) {
  Nodes({2});
  s.now = 1000 * kSecond;
  Gang a = Job("a", 2, 1, "low");
  a.max_runtime = 100 * kSecond;
  s.Submit(a);
  s.Pass();
  s.Answers("a", {0, 0}, TaskOutcome::kStarted);
  s.Submit(Job("b", 2, 1, "high"));
  s.Pass();
  s.Refused(DecisionKind::kEvict, "a");
  EXPECT_EQ(s.Phase("a"), "running");
  EXPECT_EQ(s.Of("a").started, 1000 * kSecond);
  EXPECT_THAT(s.PassAfter(5), ::testing::IsEmpty());
}

}  // namespace
}  // namespace muster
