// What becomes active when queues use less, or get other values.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/activation_stage.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Queue "other" beside "q".
class QuotaThatComes : public Activation {
 protected:
  QuotaThatComes() { s.HasQueue("other"); }
  void Leaves(const std::string& gang) { s.Happens(GangMoved{gang, "other"}); }
};

// --- A limit ----------------------------------------------------------------

TEST_F(QuotaThatComes, IsForWhomTheLimitStopped) {
  s.HasQueue("q", {GpuQuota({}, 1)});
  Has("n1", 2);
  Runs(Job("x"));
  Waits(Job("w"));
  Leaves("x");
  EXPECT_THAT(s.Pass(), ElementsAre("start w: n1"));
}

TEST_F(QuotaThatComes, IsTakenOnOtherNodes) {
  s.HasQueue("q", {GpuQuota({}, 1)});
  Has("n1", 1);
  Has("n2", 1);
  Runs(On("n1", Job("x")));
  Waits(On("n2", Job("w")));
  s.Happens(GangFinished{"x"});
  EXPECT_THAT(s.Pass(), ElementsAre("start w: n2"));
}

TEST_F(QuotaThatComes, IsForGrowth) {
  s.HasQueue("q", {GpuQuota({}, 2)});
  Has("n1", 3);
  Runs(Job("x"));
  Runs(Elastic("e", 1, 2));
  Leaves("x");
  EXPECT_THAT(s.Pass(), ElementsAre("grow e: n1"));
}

// Of its roles one has no room, and the other no quota.
TEST_F(QuotaThatComes, IsForGrowthOfAnyRole) {
  s.HasQueue("q", {GpuQuota({}, 6)});
  Has("n1", 1);
  Has("n2", 4);
  Has("n3", 2);
  Runs(On("n3", Job("x", 1, 2)));
  Gang e = On("n1", Elastic("e", 1, 2));
  e.roles.push_back(On("n2", Job("", 1, 2)).roles[0]);
  e.roles[0].name = "first";
  e.roles[0].order = 1;
  e.roles[1].name = "second";
  e.roles[1].desired_tasks = 2;
  Runs(e);
  ASSERT_EQ(s.Where("e"), "n1 n2");
  Leaves("x");
  EXPECT_THAT(s.Pass(), ElementsAre("grow e: n2"));
}

// Three hosts of the torus are no box, four are.
TEST_F(QuotaThatComes, IsForGrowthByMoreThanOne) {
  SchedulerConfig config;
  config.fabrics = {
      {"torus", "torus 2 2 1 1\nnode n1\nnode n2\nnode n3\nnode n4\n"}};
  Begins(config);
  s.HasQueue("other");
  s.HasQueue("q", {GpuQuota({}, 4)});
  for (const char* key : {"n1", "n2", "n3", "n4", "n5"}) Has(key, 1);
  Runs(On("n5", Job("x")));
  Gang e = Elastic("e", 2, 4);
  e.roles[0].topology = {.topology = "torus", .required = "box"};
  Runs(e);
  Leaves("x");
  EXPECT_THAT(s.Pass(), ElementsAre("grow e: n3 n4"));
}

// It is not known whether it has victims: the search is cut short.
TEST_F(QuotaThatComes, IsForWhoseVictimsWereNotFound) {
  SchedulerConfig config;
  config.search.victim_steps = 1;
  config.search.most_effort = 0;
  Begins(config);
  s.HasQueue("other");
  s.HasQueue("q", {GpuQuota({}, 4)});
  Has("n1", 4);
  Has("n2", 3);
  const auto all = {"a", "b", "c", "d"};
  for (const char* key : all) Runs(On("n1", Job(key, 1, 1, "low")));
  Waits(On("n2", Job("w", 1, 3, "high")));
  EXPECT_THAT(s.Why("w"), HasSubstr("not-found"));
  for (const char* key : all) Leaves(key);
  EXPECT_THAT(s.Pass(), ElementsAre("start w: n2"));
}

TEST_F(QuotaThatComes, IsThatOfTheQueueAbove) {
  s.HasQueue("top", {GpuQuota({}, 1)});
  s.HasQueue("below", {}, "top");
  s.HasQueue("beside", {}, "top");
  Has("n1", 2);
  Runs(In("beside", Job("x")));
  Waits(In("below", Job("w")));
  Leaves("x");
  EXPECT_THAT(s.Pass(), ElementsAre("start w: n1"));
}

TEST_F(QuotaThatComes, MakesVictimsSuffice) {
  s.HasQueue("q", {GpuQuota({}, 3)});
  Has("n1", 5);
  Runs(Job("l", 1, 1, "low"));
  Runs(Job("x", 1, 1, "high"));
  Runs(Job("h", 1, 1, "high"));
  Waits(Job("w", 1, 2, "high"));
  Leaves("x");
  EXPECT_THAT(s.Pass(), ElementsAre("evict l for w", "nominate w: n1"));
}

// The limit was not in the way when it asked for room, but when it asked for
// the victim.
TEST_F(QuotaThatComes, MakesAVictimOfAnotherQueueSuffice) {
  s.HasQueue("top", {GpuQuota({}, 2)});
  s.HasQueue("mine", {GpuQuota(1, {})}, "top");
  s.HasQueue("beside", {}, "top");
  s.Happens(PriorityClassChanged(
      {{.key = "safe", .on_preempted = OnPreempted::kNever}}));
  Has("n1", 1);
  Has("n2", 2);
  Runs(On("n1", Job("a", 1, 1, "safe")));
  Runs(In("beside", On("n2", Job("x", 1, 1, "safe"))));
  Waits(In("mine", On("n1", Job("w"))));
  Runs(In("beside", On("n2", Job("y", 1, 1, "safe"))));
  s.Happens(GangReprioritized{"a", "low"});
  Quiet();
  s.Happens(GangFinished{"y"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for w", "nominate w: n1"));
}

// All it may have elsewhere is being released, which is told before the limit.
TEST_F(QuotaThatComes, IsForWhoMayUseMoreThanItsLeast) {
  s.HasQueue("q", {GpuQuota({}, 2)});
  Has("n1", 2);
  Has("n2", 2);
  Runs(On("n2", Job("x", 1, 2)));
  Runs(In("other", On("n1", Job("gone", 1, 2))));
  s.Happens(GangCancelled{"gone"});
  EXPECT_THAT(s.Pass(), ElementsAre("cancel gone"));
  Gang w = Job("w", 2);
  TaskShape more = w.roles[0].shape;
  more.resources.Set(0, 2000);
  w.roles[0].alternatives = {more};
  Waits(w);
  EXPECT_THAT(s.Why("w"), HasSubstr("insufficient"));
  Leaves("x");
  EXPECT_THAT(s.Pass(), ElementsAre("nominate w: n1 n1"));
}

TEST_F(QuotaThatComes, IsForWhoIsPromisedAPlace) {
  s.HasQueue("q", {GpuQuota({}, 1)});
  Has("n1", 1);
  Has("n2", 1);
  Runs(On("n1", Job("l", 1, 1, "low")));
  IsPromised(On("n2", Job("w", 1, 1, "high")), "n2");
  s.Applied(DecisionKind::kEvict, "l");
  EXPECT_THAT(s.Pass(), ElementsAre("start w: n2"));
}

TEST_F(QuotaThatComes, GoesToAnotherWhileItIsPromised) {
  s.HasQueue("q", {GpuQuota({}, 1)});
  Has("n1", 2);
  Has("n2", 1);
  Runs(On("n1", Job("l", 1, 1, "low")));
  Runs(In("other", Job("x", 1, 1, "high")));
  IsPromised(On("n2", Job("w", 1, 1, "high")), "n2");
  s.Happens(GangMoved{"x", "q"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict w"));
}

// --- A guarantee ------------------------------------------------------------

// What is free on n2 is of no use to it.
TEST_F(QuotaThatComes, IsOwedAgain) {
  s.HasQueue("mine", {GpuQuota(2, {})});
  Has("n1", 2);
  Has("n2", 1);
  Runs(On("n1", Job("a", 1, 2)));
  Runs(In("mine", On("n2", Job("x"))));
  Waits(In("mine", Job("w", 1, 2)));
  s.Happens(GangFinished{"x"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for w", "nominate w: n1"));
}

// Its gang's resumption was noted as a fall, and a rise.
TEST_F(QuotaThatComes, IsOwedAgainWhateverWasUsedLongBefore) {
  SchedulerConfig config;
  config.host.suspend = true;
  config.host.suspended_keeps = {"memory"};
  Begins(config);
  s.HasQueue("mine", {GpuQuota(2, {})});
  Has("n1", 1);
  Has("n2", 2);
  Runs(On("n2", Job("a", 1, 2)));
  Gang x = In("mine", Job("x", 1, 1, "low"));
  x.roles[0].shape.resources.Set(1, 1000);
  x.on_preempted = OnPreempted::kSuspend;
  Runs(x);
  Runs(In("mine", Job("y", 1, 1, "high")));
  ASSERT_EQ(s.Phase("x"), "suspended");
  s.Happens(GangFinished{"y"});
  EXPECT_THAT(s.Pass(), ElementsAre("resume x: n1"));
  s.AllDone();
  Waits(In("mine", Job("w", 1, 2)));
  s.Happens(GangFinished{"x"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for w", "nominate w: n2"));
}

// By its least it was owed before, but the least fits nowhere.
TEST_F(QuotaThatComes, IsOwedAgainToWhoMayUseMoreThanItsLeast) {
  s.HasQueue("mine", {GpuQuota(3, {})});
  Has("n1", 2);
  Has("n2", 2);
  Has("n3", 1);
  s.Happens(ExternalUses("n3", 1));
  Runs(On("n1", Job("a", 1, 2)));
  Runs(In("mine", On("n2", Job("x", 1, 1))));
  Runs(In("mine", On("n2", Job("y", 1, 1))));
  Gang w = On("n3", In("mine", Job("w")));
  w.roles[0].alternatives = {On("n1", Job("", 1, 2)).roles[0].shape};
  Waits(w);
  s.Happens(GangFinished{"x"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for w", "nominate w: n1"));
}

TEST_F(QuotaThatComes, IsLostByWhoComesToUseMore) {
  s.HasQueue("mine", {GpuQuota(2, {})});
  s.HasQueue("q", {GpuQuota(2, {})});
  Has("n1", 2);
  Runs(Job("a", 1, 2));
  Waits(In("mine", Job("w", 1, 2)));
  Has("n2", 1);
  s.Submit(Job("b"));
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n2"));
  EXPECT_EQ(s.NextWakeup(), s.now) << "the next round is to ask";
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for w", "nominate w: n1"));
}

Gang Pair(Gang gang, const Gang& other) {
  gang.roles.push_back(other.roles[0]);
  gang.roles[0].name = "first";
  gang.roles[1].name = "second";
  return gang;
}

// Beyond its guarantee "q" could lose one of two before, and can lose both now.
TEST_F(QuotaThatComes, IsLostByWhoComesToUseEvenMore) {
  s.HasQueue("mine", {GpuQuota(4, {})});
  s.HasQueue("q", {GpuQuota(2, {})});
  Has("n1", 1);
  Has("n2", 2);
  Has("n3", 1);
  s.Happens(ExternalUses("n3", 1));
  Runs(On("n1", Job("a")));
  Runs(On("n2", Job("c", 1, 2)));
  Waits(In("mine", Pair(On("n1", Job("w")), On("n2", Job("", 1, 2)))));
  s.Submit(On("n3", Job("b")));
  s.Happens(ExternalUses("n3", 0));
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n3"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for w", "evict c for w",
                                    "nominate w: n1 n2"));
}

// --- Values -----------------------------------------------------------------

TEST_F(QuotaThatComes, IsAHigherLimit) {
  s.HasQueue("q", {GpuQuota({}, 1)});
  Has("n1", 2);
  Runs(Job("x"));
  Waits(Job("w"));
  s.HasQueue("q", {GpuQuota({}, 2)});
  EXPECT_THAT(s.Pass(), ElementsAre("start w: n1"));
}

TEST_F(QuotaThatComes, IsAHigherLimitForGrowth) {
  s.HasQueue("q", {GpuQuota({}, 1)});
  Has("n1", 2);
  Runs(Elastic("e", 1, 2));
  s.HasQueue("q", {GpuQuota({}, 2)});
  EXPECT_THAT(s.Pass(), ElementsAre("grow e: n1"));
}

TEST_F(QuotaThatComes, IsAnothersLowerGuarantee) {
  s.HasQueue("mine", {GpuQuota(1, {})});
  s.HasQueue("q", {GpuQuota(1, {})});
  Has("n1", 1);
  Runs(Job("a"));
  Waits(In("mine", Job("w")));
  s.HasQueue("q", {GpuQuota(0, {})});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for w", "nominate w: n1"));
}

TEST_F(QuotaThatComes, IsWhatAQueueThatMovesAwayUsed) {
  s.HasQueue("top", {GpuQuota({}, 1)});
  s.HasQueue("below", {}, "top");
  s.HasQueue("beside", {}, "top");
  Has("n1", 2);
  Runs(In("beside", Job("x")));
  Waits(In("below", Job("w")));
  s.HasQueue("beside");
  EXPECT_THAT(s.Pass(), ElementsAre("start w: n1"));
}

TEST_F(QuotaThatComes, IsWhatItsVictimsQueueTakesAlong) {
  s.HasQueue("top", {GpuQuota({}, 1)});
  s.HasQueue("below", {}, "top");
  s.HasQueue("beside", {}, "top");
  Has("n1", 1);
  Has("n2", 1);
  s.HasQueue("below", {GpuQuota(1, {})}, "top");
  Runs(In("beside", On("n1", Job("x"))));
  s.Submit(In("below", On("n2", Job("w"))));
  EXPECT_THAT(s.Pass(), ElementsAre("evict x for w", "nominate w: n2"));
  Quiet();
  s.HasQueue("beside");
  EXPECT_THAT(s.Pass(), ElementsAre("start w: n2"));
}

TEST_F(QuotaThatComes, GoesToAQueueThatMovesHere) {
  s.HasQueue("top", {GpuQuota({}, 1)});
  s.HasQueue("below", {}, "top");
  Has("n1", 2);
  Has("n2", 1);
  Runs(In("below", On("n1", Job("l", 1, 1, "low"))));
  Runs(In("other", Job("x", 1, 1, "high")));
  IsPromised(In("below", On("n2", Job("w", 1, 1, "high"))), "n2");
  s.HasQueue("other", {}, "top");
  EXPECT_THAT(s.Pass(), ElementsAre("evict w"));
}

TEST_F(QuotaThatComes, GoesWithAQueueThatIsHeld) {
  Has("n1", 1);
  Runs(Job("l", 1, 1, "low"));
  IsPromised(Job("w", 1, 1, "high"), "n1");
  s.Happens(QueueChanged{{.key = "q", .held = true}});
  EXPECT_THAT(s.Pass(), ElementsAre("evict w"));
}

// The order in which tasks came to the node is not in the state: a scheduler
// that was restored asks what this one asks.
TEST_F(QuotaThatComes, IsThatOfATaskWhoseNodeChangesWhateverCameFirst) {
  const auto job = [](const std::string& key, uint32_t gpus) {
    Gang gang = Job(key, 1, gpus);
    gang.roles[0].shape.resources = {1'000, 0};
    return On("n1", gang);
  };
  for (const bool gpu_first : {true, false}) {
    SCOPED_TRACE(gpu_first);
    Begins({});
    s.HasQueue("owed", {GpuQuota(5, {})});
    Has("n1", 1);
    Has("n2", 1);
    Runs(In("owed", On("n2", Job("own"))));
    if (gpu_first) Runs(job("b", 1));
    Runs(job(gpu_first ? "a" : "c", 0));
    if (!gpu_first) Runs(job("b", 1));
    Waits(In("owed", On("n2", Job("w"))));
    absl::StatusOr<Scheduler> again = Scheduler::Restore(s.scheduler().State());
    ASSERT_TRUE(again.ok()) << again.status();
    Node more = Named("n1", 1);
    more.capacity = {65'000, int64_t{1} << 38};
    s.Happens(NodeChanged{more});
    ASSERT_TRUE(again->Apply({s.now, NodeChanged{more}}).ok());
    EXPECT_EQ(again->StateHash(), s.scheduler().StateHash());
    Quiet();
  }
}

// Its queues borrow from each other alone: a queue that comes, or is guaranteed
// more, lets the others have more.
TEST_F(Activation, WhatAQueueIsGuaranteedLetsItsGroupHaveMore) {
  Quota closed = GpuQuota({}, {});
  closed.borrow_limit = 0;
  s.HasQueue("group", {closed});
  s.HasQueue("a", {GpuQuota(1, {})}, "group");
  Has("n1", 4);
  Runs(In("a", Job("first")));
  Waits(In("a", Job("second")));
  Waits(In("a", Job("third")));
  s.HasQueue("b", {GpuQuota(1, {})}, "group");
  EXPECT_THAT(s.Pass(), ElementsAre("start second: n1"));
  s.AllDone();
  Quiet();
  s.HasQueue("b", {GpuQuota(2, {})}, "group");
  EXPECT_THAT(s.Pass(), ElementsAre("start third: n1"));
}

}  // namespace
}  // namespace muster
