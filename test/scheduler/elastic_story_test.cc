// Gangs that give what they can do without and take it again, told as stories.
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

class ElasticStories : public SchedulerTest {
 protected:
  // The gang runs with all it was given.
  void Runs(const Gang& gang) {
    s.Submit(gang);
    s.Pass();
    s.AllDone();
  }
  uint32_t Size(const std::string& gang) {
    return static_cast<uint32_t>(s.Of(gang).tasks.size());
  }
};

// A gang of groups with two tasks each, of which `needed` suffice.
Gang Replicas(const std::string& key, uint32_t groups, uint32_t needed) {
  Gang gang = Job(key, 2, 1, "low");
  gang.groups.resize(groups + 1);
  gang.groups[0].min_children = needed;
  gang.roles.resize(groups, gang.roles[0]);
  for (uint32_t g = 0; g < groups; ++g) {
    gang.groups[g + 1].name = "replica-" + std::to_string(g);
    gang.roles[g].name = "server-" + std::to_string(g);
    gang.roles[g].group = g + 1;
  }
  return gang;
}

// A replica that is done is enough; another one comes whole or not at all.
TEST_F(ElasticStories, ReplicasBeyondThoseThatAreDoneComeWhole) {
  Nodes({4});
  Runs(Replicas("r", 3, 1));
  ASSERT_EQ(Size("r"), 4u);
  for (const uint32_t index : {0u, 1u}) {
    s.Answers("r", {.role = 0, .index = index}, TaskOutcome::kSucceeded);
  }
  s.Submit(Job("x", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("start x: n1"));
  s.AllDone();
  s.ExpectRestorable();
}

// --- Shrinking -------------------------------------------------------------

TEST_F(ElasticStories, ItShrinksForAnotherAndGrowsBack) {
  Nodes({4});
  Runs(Elastic("e", 2, 4));
  s.Submit(Job("other", 2, 1));
  EXPECT_THAT(s.Pass(), ElementsAre("shrink e for other: 0/2 0/3",
                                    "nominate other: n1 n1"));
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("start other: n1 n1"));
  s.AllDone();
  EXPECT_THAT(s.Pass(), IsEmpty()) << "who shrank does not take it back";
  s.Happens(GangFinished{"other"});
  EXPECT_THAT(s.Pass(), ElementsAre("grow e: n1 n1"));
}

// It has nothing yet that its equal could take: nobody waits for that.
TEST_F(ElasticStories, ItGrowsAtOnceWhereItsEqualFindsNoVictim) {
  Nodes({4});
  s.Submit(Elastic("e", 1, 3));
  s.Submit(Job("large", 4, 1));
  EXPECT_THAT(s.Pass(), ElementsAre("start e: n1 n1 n1"));
  EXPECT_EQ(s.NextWakeup(), kForever);
  s.ExpectRestorable();
}

TEST_F(ElasticStories, WhatItNeedsIsNotTakenByItsEqual) {
  Nodes({4});
  Runs(Elastic("e", 2, 4));
  s.Submit(Job("large", 3, 1));
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.Why("large"), "insufficient: needs 3000 gpu, 0 available");
}

TEST_F(ElasticStories, LowerPriorityDoesNotAskForSurplus) {
  Nodes({4});
  Runs(Elastic("e", 2, 4, "high"));
  s.Submit(Job("low", 1, 1, "low"));
  EXPECT_THAT(s.Pass(), IsEmpty());
}

// The rigid one is of less worth and cheaper to stop.
TEST_F(ElasticStories, NobodyIsStoppedWhereSurplusIsEnough) {
  Nodes({2, 2});
  Runs(Elastic("e", 1, 2, "mid"));
  Runs(Job("rigid", 2, 1, "low"));
  s.Submit(Job("urgent", 1, 1, "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("shrink e for urgent: 0/1", "nominate urgent: n1"));
}

TEST_F(ElasticStories, WhereItIsNotEnoughTheUsualVictimsGo) {
  Nodes({2, 2});
  Runs(Elastic("e", 1, 2, "mid"));
  Runs(Job("rigid", 2, 1, "low"));
  s.Submit(Job("urgent", 2, 1, "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict rigid for urgent", "nominate urgent: n2 n2"));
}

TEST_F(ElasticStories, AHostThatCannotShrinkKeepsItsSurplusFromEquals) {
  Capable({.shrink = false});
  Nodes({4});
  Runs(Elastic("e", 2, 4));
  s.Submit(Job("other", 2, 1));
  EXPECT_THAT(s.Pass(), IsEmpty());
}

TEST_F(ElasticStories, TheQueuesLimitIsFreedBySurplus) {
  Nodes({8});
  s.HasQueue("q", {GpuQuota({}, 4)});
  Runs(Elastic("e", 1, 6));
  ASSERT_EQ(Size("e"), 4u);
  s.Submit(Job("other", 1, 1));
  EXPECT_THAT(s.Pass(),
              ElementsAre("shrink e for other: 0/3", "nominate other: n1"));
}

TEST_F(ElasticStories, AQueueBelowItsGuaranteeTakesSurplusFirst) {
  Nodes({4, 2});
  s.HasQueue("mine", {GpuQuota(2, {})});
  Runs(Elastic("e", 1, 4));
  Runs(Job("rigid", 2, 1));
  Gang owner = Job("owner", 2, 1);
  owner.queue = "mine";
  s.Submit(owner);
  EXPECT_THAT(s.Pass(), ElementsAre("shrink e for owner: 0/2 0/3",
                                    "nominate owner: n1 n1"));
}

TEST_F(ElasticStories, ChildrenOfAGroupGoWhole) {
  Nodes({6});
  Runs(Replicas("r", 3, 1));
  ASSERT_EQ(Size("r"), 6u);
  s.Submit(Job("urgent", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("shrink r for urgent: 2/0 2/1",
                                    "nominate urgent: n1"));
}

TEST_F(ElasticStories, RolesOfLowOrderGiveFirst) {
  Nodes({6});
  Gang gang = Elastic("e", 1, 3, "low");
  gang.roles.push_back(gang.roles[0]);
  gang.roles[0].name = "cheap";
  gang.roles[1].name = "dear";
  gang.roles[0].order = -1;
  Runs(gang);
  s.Submit(Job("urgent", 3, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("shrink e for urgent: 1/2 0/1 0/2",
                                    "nominate urgent: n1 n1 n1"));
}

TEST_F(ElasticStories, RolesOfOneOrderGiveInProportion) {
  Nodes({8});
  Gang gang = Elastic("e", 1, 5, "low");
  gang.roles.push_back(gang.roles[0]);
  gang.roles[0].name = "worker";
  gang.roles[1].name = "server";
  gang.roles[1].desired_tasks = 3;
  Runs(gang);
  ASSERT_EQ(Size("e"), 8u);
  s.Submit(Job("urgent", 3, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("shrink e for urgent: 0/3 0/4 1/2",
                                    "nominate urgent: n1 n1 n1"));
}

// Two tasks ended well, which is all it must have; the third is no surplus that
// an equal could take, since the gang would be over without it.
TEST_F(ElasticStories, TheLastTaskThatRunsIsNoSurplus) {
  s.HasNode("n1", 4);
  s.HasQueue("q");
  s.Submit(Elastic("e", 1, 4));
  s.Pass();
  s.AllDone();
  s.Answers("e", {0, 0}, TaskOutcome::kSucceeded);
  s.Submit(Job("other", 4));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Answers("e", {0, 1}, TaskOutcome::kSucceeded);
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Answers("e", {0, 2}, TaskOutcome::kSucceeded);
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.Phase("e"), "running");
  s.Answers("e", {0, 3}, TaskOutcome::kSucceeded);
  EXPECT_THAT(s.Pass(), ElementsAre("start other: n1 n1 n1 n1"));
}

TEST_F(ElasticStories, ARefusedShrinkUndoesTheNomination) {
  Nodes({2});
  Runs(Elastic("e", 1, 2));
  s.Submit(Job("other", 1, 1));
  s.Pass();
  s.Refused(DecisionKind::kShrink, "e");
  EXPECT_EQ(s.Phase("other"), "waiting");
  EXPECT_EQ(s.Phase("e"), "running");
  EXPECT_THAT(s.Pass(), IsEmpty()) << "it is left alone for a while";
  EXPECT_THAT(s.PassAfter(10),
              ElementsAre("shrink e for other: 0/1", "nominate other: n1"));
}

// --- Growing -----------------------------------------------------------------

TEST_F(ElasticStories, ThreeShareWhatIsFreeInTurns) {
  Nodes({9});
  for (const char* key : {"a", "b", "c"}) s.Submit(Elastic(key, 1, 6));
  s.Pass();
  s.AllDone();
  EXPECT_EQ(Size("a"), 3u);
  EXPECT_EQ(Size("b"), 3u);
  EXPECT_EQ(Size("c"), 3u);
  s.Happens(GangFinished{"b"});
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1 n1", "grow c: n1"));
  EXPECT_EQ(s.plan().tasks[0].attempt, s.plan().tasks[1].attempt)
      << "all turns of a pass are one decision";
}

TEST_F(ElasticStories, WhoIsBehindCatchesUp) {
  Nodes({5, 3});
  s.Happens(NodeDrained{"n2", true});
  Runs(Elastic("old", 1, 8));
  ASSERT_EQ(Size("old"), 5u);
  s.Submit(Job("rest", 3, 1));
  s.Submit(Elastic("young", 1, 8));
  s.Happens(NodeDrained{"n2", false});
  s.Pass();
  s.AllDone();
  s.Pass();
  s.AllDone();
  ASSERT_EQ(Size("old"), 4u) << "one made room for the young one";
  s.Happens(GangFinished{"rest"});
  s.Pass();
  s.AllDone();
  EXPECT_EQ(Size("young"), 4u) << "all three turns are its own";
  EXPECT_EQ(Size("old"), 4u);
}

TEST_F(ElasticStories, HigherPriorityGrowsFirst) {
  Nodes({6});
  s.Submit(Elastic("low", 1, 6, "low"));
  s.Submit(Elastic("high", 1, 4, "high"));
  s.Pass();
  EXPECT_EQ(Size("high"), 4u);
  EXPECT_EQ(Size("low"), 2u);
}

TEST_F(ElasticStories, QueuesGrowByTheirWeights) {
  Nodes({9});
  s.HasQueue("light");
  s.HasQueue("heavy", {}, "", 2);
  for (const char* queue : {"light", "heavy"}) {
    Gang gang = Elastic(queue, 1, 9);
    gang.queue = queue;
    s.Submit(gang);
  }
  s.Pass();
  EXPECT_EQ(Size("light"), 3u);
  EXPECT_EQ(Size("heavy"), 6u);
}

TEST_F(ElasticStories, WhoWaitsIsServedBeforeAnybodyGrows) {
  Nodes({4});
  s.Submit(Elastic("e", 1, 4, "high"));
  s.Submit(Job("small", 2, 1, "low"));
  EXPECT_THAT(s.Pass(), ElementsAre("start e: n1 n1", "start small: n1 n1"));
}

TEST_F(ElasticStories, ANominationKeepsItsRoom) {
  Nodes({3});
  Runs(Job("old", 2, 1, "low"));
  Runs(Elastic("e", 1, 3, "high"));
  s.Submit(Job("urgent", 1, 1, "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict old for urgent", "nominate urgent: n1"));
  s.Applied(DecisionKind::kEvict, "old");
  EXPECT_THAT(s.Pass(), ElementsAre("start urgent: n1", "grow e: n1"));
}

TEST_F(ElasticStories, RolesGrowInProportion) {
  Nodes({8});
  Gang gang = Elastic("e", 1, 7);
  gang.roles.push_back(gang.roles[0]);
  gang.roles[0].name = "worker";
  gang.roles[1].name = "server";
  gang.roles[1].desired_tasks = 4;
  s.Submit(gang);
  s.Pass();
  // Six beyond the least: four of six workers, two of three servers.
  std::vector<uint32_t> counts(2);
  for (const PlannedTask& t : s.plan().tasks) ++counts[t.task.role];
  EXPECT_THAT(counts, ElementsAre(5, 3));
}

TEST_F(ElasticStories, TasksAreToldInOrderInWhateverTurnsTheyGrew) {
  Nodes({4, 3, 3});
  s.Happens(NodeDrained{"n3", true});
  Gang stuck = Elastic("stuck", 1, 3);  // There is never room for another:
  stuck.roles[0].shape.devices.count = 4;
  Runs(stuck);
  s.Happens(NodeDrained{"n3", false});  // But it will try.
  Gang gang = Elastic("e", 1, 3);
  gang.roles.push_back(gang.roles[0]);
  gang.roles[0].name = "worker";
  gang.roles[1].name = "server";
  gang.roles[1].order = 1;  // Grows first.
  gang.roles[1].desired_tasks = 2;
  s.Submit(gang);
  EXPECT_THAT(s.Pass(), ElementsAre("start e: n2 n3 n3 n2 n2"));
  const std::vector<PlannedTask>& tasks = s.plan().tasks;
  EXPECT_TRUE(std::is_sorted(
      tasks.begin(), tasks.end(),
      [](const auto& a, const auto& b) { return a.task < b.task; }));
}

TEST_F(ElasticStories, AHeldQueueDoesNotGrow) {
  Nodes({2});
  Runs(Job("a", 1, 1));
  Runs(Elastic("e", 1, 2));
  Queue held{.key = "q"};
  held.held = true;
  s.Happens(QueueChanged{held});
  s.Happens(GangFinished{"a"});
  EXPECT_THAT(s.Pass(), IsEmpty());
  held.held = false;
  s.Happens(QueueChanged{held});
  EXPECT_THAT(s.Pass(), ElementsAre("grow e: n1"));
}

}  // namespace
}  // namespace muster
