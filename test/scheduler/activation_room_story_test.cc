// What room that comes activates.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/activation_stage.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

using RoomThatComes = Activation;

// --- A node got room --------------------------------------------------------

TEST_F(RoomThatComes, IsForWhoFits) {
  Has("n1", 1);
  Runs(Job("a"));
  Waits(Job("b"));
  s.Happens(GangFinished{"a"});
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n1"));
}

TEST_F(RoomThatComes, MakesAVictimElsewhereSuffice) {
  Has("n1", 1);
  Has("n2", 1);
  Runs(On("n1", Job("gone", 1, 1, "high")));
  Runs(Job("l", 1, 1, "low"));
  Waits(Job("w", 2, 1, "high"));
  s.Happens(GangFinished{"gone"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict l for w", "nominate w: n1 n2"));
}

TEST_F(RoomThatComes, MakesWhatMayBeTakenBackElsewhereSuffice) {
  s.HasQueue("mine", {GpuQuota(2, {})});
  Has("n1", 1);
  Has("n2", 1);
  s.Happens(ExternalUses("n1", 1));
  Runs(Job("a"));
  Waits(In("mine", Job("w", 2, 1)));
  s.Happens(ExternalUses("n1", 0));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for w", "nominate w: n1 n2"));
}

TEST_F(RoomThatComes, MakesAVictimBesideItSuffice) {
  Has("n1", 2);
  Runs(Job("gone", 1, 1, "high"));
  Runs(Job("l", 1, 1, "low"));
  Waits(Job("w", 1, 2, "high"));
  s.Happens(GangFinished{"gone"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict l for w", "nominate w: n1"));
}

TEST_F(RoomThatComes, MakesTheSurplusOfAnEqualSuffice) {
  Has("n1", 3);
  Runs(Elastic("e", 1, 2, "mid"));
  Runs(Job("gone", 1, 1, "mid"));
  Waits(Job("w", 1, 2, "mid"));
  s.Happens(GangFinished{"gone"});
  EXPECT_THAT(s.Pass(), ElementsAre("shrink e for w: 0/1", "nominate w: n1"));
}

TEST_F(RoomThatComes, MakesANewerEqualSuffice) {
  s.Happens(QueueChanged{
      {.key = "q",
       .preemption = {.within = PreemptWithin::kLowerOrNewerEqual}}});
  Has("n1", 2);
  Runs(Job("gone", 1, 1, "high"));
  Gang newer = Job("newer", 1, 1, "mid");
  newer.submitted = 2;
  Runs(newer);
  Waits(Job("w", 1, 2, "mid"));
  s.Happens(GangFinished{"gone"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict newer for w", "nominate w: n1"));
}

// A queue that may take for what it borrows is owed nothing.
TEST_F(RoomThatComes, MakesWhatABorrowerMayTakeBesideItSuffice) {
  s.Happens(
      QueueChanged{{.key = "mine",
                    .quotas = {GpuQuota(0, {})},
                    .preemption = {.borrowing = PreemptBorrowing::kLower}}});
  Has("n1", 2);
  s.Happens(ExternalUses("n1", 1));
  Runs(Job("a", 1, 1, "low"));
  Waits(In("mine", Job("w", 1, 2, "high")));
  s.Happens(ExternalUses("n1", 0));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for w", "nominate w: n1"));
}

TEST_F(RoomThatComes, MakesWhatMayBeTakenBackBesideItSuffice) {
  s.HasQueue("mine", {GpuQuota(2, {})});
  Has("n1", 2);
  s.Happens(ExternalUses("n1", 1));
  Runs(Job("a"));
  Waits(In("mine", Job("w", 1, 2)));
  s.Happens(ExternalUses("n1", 0));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for w", "nominate w: n1"));
}

TEST_F(RoomThatComes, IsForWhoMayGrow) {
  Has("n1", 2);
  Runs(Job("gone"));
  Runs(Elastic("e", 1, 2));
  s.Happens(GangFinished{"gone"});
  EXPECT_THAT(s.Pass(), ElementsAre("grow e: n1"));
}

// There was room for it all along, and no need; where the task was there is
// none.
TEST_F(RoomThatComes, IsForAnotherTaskOfARoleThatWasWhole) {
  for (const char* node : {"n1", "n2", "n3"}) Has(node, 1);
  Gang e = Elastic("e", 1, 2);
  e.groups = {{.min_children = 1}};  // One role is enough.
  e.roles[0].name = "small";
  Role large = e.roles[0];
  large.name = "large";
  large.min_tasks = 2;
  large.shape.devices.count = 2;
  e.roles.push_back(large);
  Runs(e);
  ASSERT_EQ(s.Where("e"), "n1 n2");
  Node n1 = Named("n1", 1);
  n1.schedulable = false;
  s.Happens(NodeChanged{n1});
  Quiet();
  s.Answers("e", {0, 0}, TaskOutcome::kDone);
  EXPECT_THAT(s.Pass(), ElementsAre("grow e: n3"));
}

TEST_F(RoomThatComes, IsForWhoIsPromisedIt) {
  Has("n1", 1);
  Runs(Job("l", 1, 1, "low"));
  IsPromised(Job("w", 1, 1, "high"), "n1");
  s.Applied(DecisionKind::kEvict, "l");
  EXPECT_THAT(s.Pass(), ElementsAre("start w: n1"));
}

// The victim holds its place still, but no gang is nominated for it any more.
TEST_F(RoomThatComes, LaterIsForWhoWaits) {
  Has("n1", 1);
  Runs(Job("l", 1, 1, "low"));
  s.Submit(Job("gone", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict l for gone", "nominate gone: n1"));
  Waits(Job("w", 1, 1, "mid"));
  s.Happens(GangFinished{"gone"});
  EXPECT_THAT(s.Pass(), ElementsAre("nominate w: n1"));
}

TEST_F(RoomThatComes, IsForWhoIsSuspendedThere) {
  HasSuspended("n1");
  s.Happens(GangFinished{"b"});
  EXPECT_THAT(s.Pass(), ElementsAre("resume a: n1"));
}

// --- A gang below its minimum -----------------------------------------------

class RoomForWhatIsLacking : public Activation {
 protected:
  RoomForWhatIsLacking() {
    SchedulerConfig config;
    config.topologies = {{"net", {"zone"}}};
    config.replacement_timeout = 600 * kSecond;
    Begins(config);
    Has("n1", 2, {{"zone", "a"}});
    s.Happens(ExternalUses("n1", 1));
    Has("n2", 1, {{"zone", "b"}});
  }
  // "g", of two tasks, loses one.
  void Loses() {
    s.Answers("g", {0, 1}, TaskOutcome::kFailed);
    EXPECT_EQ(s.Where("g"), "n1");
  }
};

TEST_F(RoomForWhatIsLacking, IsTakenWhenItComes) {
  Runs(Job("g", 2));
  Loses();
  s.Happens(ExternalUses("n2", 1));
  Quiet();
  s.Happens(ExternalUses("n2", 0));
  EXPECT_THAT(s.Pass(), ElementsAre("grow g: n2"));
}

TEST_F(RoomForWhatIsLacking, IsTakenWhenTheQueueMayHaveIt) {
  s.HasQueue("q", {GpuQuota({}, 2)});
  s.HasQueue("other");
  Has("n3", 1);
  Runs(Job("g", 2));
  Runs(In("other", On("n3", Job("x"))));
  Loses();
  s.Happens(GangMoved{"x", "q"});
  Quiet();
  s.Happens(GangMoved{"x", "other"});
  EXPECT_THAT(s.Pass(), ElementsAre("grow g: n2"));
}

TEST_F(RoomForWhatIsLacking, IsTakenWhenTheQueueMayHaveMore) {
  Runs(Job("g", 2));
  Loses();
  s.HasQueue("q", {GpuQuota({}, 1)});
  Quiet();
  s.HasQueue("q", {GpuQuota({}, 2)});
  EXPECT_THAT(s.Pass(), ElementsAre("grow g: n2"));
}

// Its two tasks are to be in two zones, while there are two.
TEST_F(RoomForWhatIsLacking, IsTakenWhenNodesAreComparedOtherwise) {
  Gang g = Job("g", 2);
  g.roles[0].topology.spread = {.level = "zone", .max_skew = 1};
  Runs(g);
  Loses();
  s.Happens(ExternalUses("n1", 0));
  s.Happens(ExternalUses("n2", 1));
  Quiet();
  s.Happens(NodeDown{"n2"});
  EXPECT_THAT(s.Pass(), ElementsAre("grow g: n1"));
}

}  // namespace
}  // namespace muster
