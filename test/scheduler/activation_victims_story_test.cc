// What becomes active when a gang may be a victim from now on.
#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/activation_stage.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A node "n1" with a device.
class VictimsThatCome : public Activation {
 protected:
  VictimsThatCome() { Has("n1", 1); }
  void Class(const PriorityClass& cls) { s.Happens(PriorityClassChanged{cls}); }
  // "x" gives way to "w".
  void ExpectVictim() {
    EXPECT_THAT(s.Pass(), ElementsAre("evict x for w", "nominate w: n1"));
  }
};

// --- To whom ----------------------------------------------------------------

TEST_F(VictimsThatCome, AreThoseOfWhoeverIsAboveInTheQueue) {
  Runs(Job("x", 1, 1, "high"));
  Waits(Job("w", 1, 1, "mid"));
  s.Happens(GangReprioritized{"x", "low"});
  ExpectVictim();
}

TEST_F(VictimsThatCome, GiveSurplusToTheirEquals) {
  Has("n1", 2);
  Runs(Elastic("e", 1, 2, "high"));
  Waits(Job("w", 1, 1, "mid"));
  s.Happens(GangReprioritized{"e", "mid"});
  EXPECT_THAT(s.Pass(), ElementsAre("shrink e for w: 0/1", "nominate w: n1"));
}

TEST_F(VictimsThatCome, AreThoseOfWhoeverMayTakeBack) {
  s.HasQueue("mine", {GpuQuota(1, {})});
  Class({.key = "safe", .on_preempted = OnPreempted::kNever});
  Runs(Job("x", 1, 1, "safe"));
  Waits(In("mine", Job("w", 1, 1, "low")));
  s.Happens(GangReprioritized{"x", "high"});
  ExpectVictim();
}

// --- What the host says -----------------------------------------------------

TEST_F(VictimsThatCome, AreDescribedOtherwise) {
  Gang x = Job("x", 1, 1, "low");
  x.on_preempted = OnPreempted::kNever;
  Runs(x);
  Waits(Job("w", 1, 1, "high"));
  x.on_preempted = OnPreempted::kRequeue;
  s.Happens(GangChanged{x});
  ExpectVictim();
}

TEST_F(VictimsThatCome, AreMovedToTheQueue) {
  s.HasQueue("other");
  Runs(In("other", Job("x", 1, 1, "low")));
  Waits(Job("w", 1, 1, "high"));
  s.Happens(GangMoved{"x", "q"});
  ExpectVictim();
}

TEST_F(VictimsThatCome, AreOfAClassThatMayBeStopped) {
  Class({.key = "low", .on_preempted = OnPreempted::kNever});
  Runs(Job("x", 1, 1, "low"));
  Waits(Job("w", 1, 1, "high"));
  Class({.key = "low"});
  ExpectVictim();
}

TEST_F(VictimsThatCome, AreNoLongerKeptByABudget) {
  s.Happens(DisruptionBudgetChanged{{.key = "few", .gangs = {"x"}}});
  Runs(Job("x", 1, 1, "low"));
  Waits(Job("w", 1, 1, "high"));
  s.Happens(
      DisruptionBudgetChanged{{.key = "few", .gangs = {"x"}, .allowed = 1}});
  ExpectVictim();
}

// --- Answers ----------------------------------------------------------------

TEST_F(VictimsThatCome, HaveBegunToRun) {
  Class({.key = "low", .min_runtime = 10 * kSecond});
  s.Submit(Job("x", 1, 1, "low"));
  EXPECT_THAT(s.Pass(), ElementsAre("start x: n1"));
  Waits(Job("w", 1, 1, "high"));
  s.AllDone();
  s.now += 10 * kSecond;
  ExpectVictim();
}

TEST_F(VictimsThatCome, AreFoundToRun) {
  Class({.key = "low", .min_runtime = 10 * kSecond});
  s.now = 100 * kSecond;
  s.Submit(Job("x", 1, 1, "low"));
  EXPECT_THAT(s.Pass(), ElementsAre("start x: n1"));
  Waits(Job("w", 1, 1, "high"));
  s.Happens(Reconciled{
      .nodes = {Named("n1", 1)},
      .tasks = {{.gang = "x", .node = "n1", .started = 80 * kSecond}}});
  ExpectVictim();
}

TEST_F(VictimsThatCome, AreFoundToHaveBegunEarlier) {
  Class({.key = "low", .min_runtime = 10 * kSecond});
  s.now = 100 * kSecond;
  Runs(Job("x", 1, 1, "low"));
  Waits(Job("w", 1, 1, "high"));
  s.Happens(Reconciled{.nodes = {Named("n1", 1)},
                       .tasks = {{.gang = "x", .node = "n1"}},
                       .gangs = {{.gang = "x", .started = 80 * kSecond}}});
  ExpectVictim();
}

// Who wanted its place is gone.
TEST_F(VictimsThatCome, HaveRefusedToStop) {
  Runs(Job("x", 1, 1, "low"));
  s.Submit(Job("gone", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict x for gone", "nominate gone: n1"));
  Waits(Job("w", 1, 1, "mid"));
  s.Happens(GangFinished{"gone"});
  s.Refused(DecisionKind::kEvict, "x");
  EXPECT_THAT(s.Pass(), IsEmpty()) << "it is spared for a while";
  s.now += 10 * kSecond;
  ExpectVictim();
}

TEST_F(VictimsThatCome, HaveRunLongEnough) {
  Class({.key = "low", .min_runtime = 10 * kSecond});
  Runs(Job("x", 1, 1, "low"));
  Waits(Job("w", 1, 1, "high"));
  EXPECT_EQ(s.NextWakeup(), s.now + 10 * kSecond);
  s.now += 10 * kSecond;
  ExpectVictim();
}

// A task that must not be stopped has succeeded elsewhere.
TEST_F(VictimsThatCome, HaveNothingFirmAnyMore) {
  Has("n1", 1);
  Has("n2", 1);
  Gang x = On("n1", Job("x", 1, 1, "low"));
  x.roles.push_back(On("n2", Job("x")).roles[0]);
  x.roles[0].name = "firm";
  x.roles[0].preemptible = false;
  x.roles[1].name = "soft";
  Runs(x);
  Waits(On("n2", Job("w", 1, 1, "high")));
  s.Answers("x", {0, 0}, TaskOutcome::kSucceeded);
  EXPECT_THAT(s.Pass(), ElementsAre("evict x for w", "nominate w: n2"));
}

TEST_F(VictimsThatCome, CountOnATaskThatSucceeded) {
  for (const char* key : {"n1", "n2", "n3"}) Has(key, 1);
  Runs(Elastic("e", 2, 3, "mid"));
  ASSERT_EQ(s.Where("e"), "n1 n2 n3");
  Waits(On("n2", Job("w", 1, 1, "mid")));
  s.Answers("e", {0, 2}, TaskOutcome::kSucceeded);
  EXPECT_THAT(s.Pass(), ElementsAre("shrink e for w: 0/1", "nominate w: n2"));
}

// Of two groups one is needed: the second could go before, and what is left of
// the first can now.
TEST_F(VictimsThatCome, HaveAGroupThatIsNotWhole) {
  Gang x = Job("x", 2, 1, "mid");
  x.groups.resize(3);
  x.groups[0].min_children = 1;
  x.roles.resize(2, x.roles[0]);
  for (uint32_t g = 0; g < 2; ++g) {
    Has("n" + std::to_string(2 * g), 1);
    Has("n" + std::to_string(2 * g + 1), 1);
    x.groups[g + 1].name = "group" + std::to_string(g);
    x.roles[g].name = "role" + std::to_string(g);
    x.roles[g].group = g + 1;
  }
  Runs(x);
  ASSERT_EQ(s.Where("x"), "n0 n1 n2 n3");
  Waits(On("n0", Job("w", 1, 1, "mid")));
  s.Happens(ExternalUses("n1", 1));
  s.Answers("x", {0, 1}, TaskOutcome::kYielded);
  s.Happens(ExternalUses("n1", 1));
  EXPECT_THAT(s.Pass(), ElementsAre("shrink x for w: 0/0", "nominate w: n0"));
}

// The budget is free again for another queue's.
TEST_F(VictimsThatCome, AreInABudgetWithOneThatRefused) {
  s.HasQueue("other");
  Has("n2", 1);
  Runs(On("n2", Job("stays", 1, 1, "low")));
  Runs(In("other", On("n1", Job("x", 1, 1, "low"))));
  s.Happens(DisruptionBudgetChanged{{"few", {"stays", "x"}, 1}});
  s.Submit(On("n2", Job("first", 1, 1, "high")));
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict stays for first", "nominate first: n2"));
  Waits(In("other", On("n1", Job("w", 1, 1, "high"))));
  s.Refused(DecisionKind::kEvict, "stays");
  ExpectVictim();
}

// It could not leave its node, and need not any more.
TEST_F(VictimsThatCome, AreInTroubleNoLonger) {
  Runs(Job("x", 1, 1, "low"));
  s.Happens(NodeDrained{"n1"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict x"));
  s.Refused(DecisionKind::kEvict, "x");
  Quiet();
  s.Happens(NodeDrained{"n1", false});
  Waits(Job("w", 1, 1, "high"));
  s.now += 10 * kSecond;
  ExpectVictim();
}

TEST_F(VictimsThatCome, HaveShedWhatHadToLeave) {
  Has("n1", 1);
  Has("n2", 1);
  Runs(Elastic("x", 1, 2, "low"));
  ASSERT_EQ(s.Where("x"), "n1 n2");
  s.Happens(NodeDrained{"n2"});
  EXPECT_THAT(s.Pass(), ElementsAre("shrink x: 0/1"));
  s.Refused(DecisionKind::kShrink, "x");
  Waits(On("n1", Job("w", 1, 1, "high")));
  s.now += 10 * kSecond;
  EXPECT_THAT(s.Pass(),
              ElementsAre("shrink x: 0/1", "evict x for w", "nominate w: n1"));
}

// --- What the scheduler does ------------------------------------------------

// Its task 1 is gone, and none of the two others can be taken. When there are
// three again, the last one can.
TEST_F(VictimsThatCome, GrewIntoAGap) {
  Has("n2", 1);
  Has("n3", 1);
  Runs(Elastic("e", 2, 3, "mid"));
  ASSERT_EQ(s.Where("e"), "n1 n2 n3");
  s.Answers("e", {0, 1}, TaskOutcome::kFailed);
  s.Happens(ExternalUses("n2", 1));
  Quiet();
  s.now += 10 * kSecond;
  Quiet();
  Waits(On("n3", Job("w", 1, 1, "mid")));
  s.Happens(ExternalUses("n2", 0));
  EXPECT_THAT(s.Pass(), ElementsAre("grow e: n2"));
  EXPECT_EQ(s.NextWakeup(), s.now) << "the next round is to ask";
  EXPECT_THAT(s.Pass(), ElementsAre("shrink e for w: 0/2", "nominate w: n3"));
}

// Of two groups one will do. It starts with the smaller one and grows into the
// other, without which it could not be that one's task that it gives.
TEST_F(VictimsThatCome, GrewAtOnceIntoAnotherGroup) {
  Has("n2", 2);
  Gang e = On("n2", Elastic("e", 2, 2, "mid"));
  e.roles.push_back(On("n1", Job("")).roles[0]);
  e.roles[1].name = "b";
  e.groups = {{.min_children = 1}, {.name = "large"}, {.name = "small"}};
  e.roles[0].group = 1;
  e.roles[1].group = 2;
  Runs(Job("x", 3, 1, "high"));
  Waits(e);
  Waits(On("n1", Job("w", 1, 1, "mid")));
  s.Happens(GangFinished{"x"});
  EXPECT_THAT(s.Pass(), ElementsAre("start e: n2 n2 n1"));
  EXPECT_EQ(s.NextWakeup(), s.now) << "the next round is to ask";
  EXPECT_THAT(s.Pass(), ElementsAre("shrink e for w: 1/0", "nominate w: n1"));
}

// While it lacks a task no gang stops it.
TEST_F(VictimsThatCome, AreWholeAgain) {
  SchedulerConfig config;
  config.replacement_timeout = 600 * kSecond;
  Begins(config);
  Has("n1", 1);
  Has("n2", 1);
  Runs(Job("x", 2, 1, "low"));
  s.Answers("x", {0, 1}, TaskOutcome::kFailed);
  s.Happens(ExternalUses("n2", 1));
  Waits(On("n1", Job("w", 1, 1, "high")));
  s.Happens(ExternalUses("n2", 0));
  EXPECT_THAT(s.Pass(),
              ElementsAre("grow x: n2", "evict x for w", "nominate w: n1"));
}

// --- What is nominated ------------------------------------------------------

// "w" is nominated for the place of "x".
class PromisesThatEnd : public VictimsThatCome {
 protected:
  PromisesThatEnd() {
    Runs(Job("x", 1, 1, "low"));
    s.Submit(Winner());
    ExpectVictim();
    Quiet();
  }
  static Gang Winner() { return Job("w", 1, 1, "high"); }
};

TEST_F(PromisesThatEnd, WhenItsGangIsHeld) {
  s.Happens(GangHeld{"w"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict w"));
}

TEST_F(PromisesThatEnd, WhenItsGangIsToStartLater) {
  Gang later = Winner();
  later.not_before = s.now + 100 * kSecond;
  s.Happens(GangChanged{later});
  EXPECT_THAT(s.Pass(), ElementsAre("evict w"));
}

TEST_F(PromisesThatEnd, WhenItsGangIsMovedToAQueueThatIsHeld) {
  s.Happens(QueueChanged{{.key = "other", .held = true}});
  s.Happens(GangMoved{"w", "other"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict w"));
}

// --- What is suspended ------------------------------------------------------

constexpr int64_t kGb = int64_t{1} << 30;

Gang Heavy(Gang gang, int64_t gigabytes) {
  gang.roles[0].shape.resources.Set(1, gigabytes * kGb);
  return gang;
}

TEST_F(VictimsThatCome, AreSuspendedAndKeepSomething) {
  SchedulerConfig config;
  config.host.suspend = true;
  config.host.suspended_keeps = {"memory"};
  Begins(config);
  Node node = Named("n1", 1);
  node.capacity.Set(1, 100 * kGb);
  s.Happens(NodeChanged{node});
  Gang x = Heavy(Job("x", 1, 1, "low"), 60);
  x.on_preempted = OnPreempted::kSuspend;
  Runs(x);
  s.Submit(Heavy(Job("b", 1, 1, "high"), 30));
  EXPECT_THAT(s.Pass(), ElementsAre("suspend x for b", "nominate b: n1"));
  Waits(Heavy(Job("w", 1, 0, "high"), 50));
  s.Applied(DecisionKind::kSuspend, "x");
  EXPECT_THAT(s.Pass(),
              ElementsAre("start b: n1", "evict x for w", "nominate w: n1"));
}

}  // namespace
}  // namespace muster
