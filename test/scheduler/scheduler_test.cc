// Who is served, where and at whose expense, told as stories.
#include "muster/scheduler.h"

#include <set>
#include <string>
#include <utility>
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

// --- All or nothing ----------------------------------------------------------

TEST_F(SchedulerTest, TwoGangsOfFourNeverSitAtTwoAndTwo) {
  Nodes({2, 2});
  s.Submit(Job("a", 4));
  s.Submit(Job("b", 4));
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1 n1 n2 n2"));
  EXPECT_EQ(s.Phase("b"), "waiting");
  EXPECT_TRUE(s.Of("b").tasks.empty());
  s.AllDone();
  s.Happens(GangFinished{"a"});
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n1 n1 n2 n2"));
}

TEST_F(SchedulerTest, AGangLargerThanTheClusterIsToldSo) {
  Nodes({2, 2});
  s.Submit(Job("big", 5));
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.Why("big"), HasSubstr("never-fits"));
}

// --- Order -------------------------------------------------------------------

TEST_F(SchedulerTest, OlderFirstThenByKey) {
  Nodes({1});
  Gang a = Job("a"), b = Job("b"), c = Job("c");
  a.submitted = 5;
  b.submitted = 4;
  c.submitted = 4;
  s.Submit(c);
  s.Submit(a);
  s.Submit(b);
  std::vector<std::string> order;
  for (int i = 0; i < 3; ++i) {
    for (const std::string& line : s.Pass()) order.push_back(line);
    s.Happens(GangFinished{order.back().substr(6, 1)});
  }
  EXPECT_THAT(order, ElementsAre("start b: n1", "start c: n1", "start a: n1"));
}

TEST_F(SchedulerTest, HigherPriorityFirst) {
  Nodes({1});
  Gang old = Job("old", 1, 1, "low"), urgent = Job("urgent", 1, 1, "high");
  urgent.submitted = 10;
  s.Submit(old);
  s.Submit(urgent);
  EXPECT_THAT(s.Pass(), ElementsAre("start urgent: n1"));
}

TEST_F(SchedulerTest, ABlockedHeadLetsOthersPass) {
  Nodes({2});
  s.Submit(Job("a", 4));
  s.Submit(Job("b", 2));
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n1 n1"));
}

TEST_F(SchedulerTest, ABlockedHeadOfAStrictQueueDoesNot) {
  Nodes({2});
  Queue strict;
  strict.key = "q";
  strict.ordering = QueueOrdering::kStrictFifo;
  s.Happens(QueueChanged{strict});
  s.Submit(Job("runs"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("a", 2));
  Gang b = Job("b");
  b.submitted = 1;
  s.Submit(b);
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.Why("b"), "behind-head (gang a)");
}

TEST_F(SchedulerTest, TheQueueWithTheSmallerShareIsServedFirst) {
  s.HasNode("n1", 4);
  s.HasQueue("rich");
  s.HasQueue("poor");
  Gang has = Job("has", 2);
  has.queue = "rich";
  s.Submit(has);
  s.Pass();
  Gang more = Job("a-more", 2), first = Job("z-first", 2);
  more.queue = "rich";
  first.queue = "poor";
  first.submitted = 9;  // Younger, and yet.
  s.Submit(more);
  s.Submit(first);
  EXPECT_THAT(s.Pass(), ElementsAre("start z-first: n1 n1"));
}

TEST_F(SchedulerTest, SharesAreWeighed) {
  s.HasNode("n1", 4);
  s.HasQueue("heavy", {}, "", 3);
  s.HasQueue("light", {}, "", 1);
  for (const char* queue : {"heavy", "light"}) {
    for (int i = 0; i < 4; ++i) {
      Gang gang = Job(queue + std::to_string(i));
      gang.queue = queue;
      s.Submit(gang);
    }
  }
  s.Pass();
  EXPECT_EQ(s.scheduler().QueueUsage("heavy")[2], 3000);
  EXPECT_EQ(s.scheduler().QueueUsage("light")[2], 1000);
}

// --- Preemption --------------------------------------------------------------

TEST_F(SchedulerTest, AVictimKeepsItsPlaceInTheQueue) {
  Nodes({1});
  Gang first = Job("first", 1, 1, "low"), second = Job("second", 1, 1, "low");
  second.submitted = 1;
  s.Submit(first);
  s.Submit(second);
  EXPECT_THAT(s.Pass(), ElementsAre("start first: n1"));
  s.AllDone();
  s.Submit(Job("urgent", 1, 1, "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict first for urgent", "nominate urgent: n1"));
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("start urgent: n1"));
  s.AllDone();
  s.Happens(GangFinished{"urgent"});
  EXPECT_THAT(s.Pass(), ElementsAre("start first: n1"));
}

TEST_F(SchedulerTest, ANominatedGangWaitsForTheLastRelease) {
  Nodes({1, 1});
  s.Submit(Job("a", 1, 1, "low"));
  s.Submit(Job("b", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("pair", 2, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for pair", "evict b for pair",
                                    "nominate pair: n1 n2"));
  EXPECT_EQ(s.Why("pair"), "waiting-for-release");
  s.Applied(DecisionKind::kEvict, "a");
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.FreeGpus("n1"), 1);
  EXPECT_EQ(s.FreeGpus("n1", Ledger::kLater), 0) << "it is nominated";
  s.Applied(DecisionKind::kEvict, "b");
  EXPECT_THAT(s.Pass(), ElementsAre("start pair: n1 n2"));
}

TEST_F(SchedulerTest, NobodyTakesWhatIsPromised) {
  Nodes({1, 1});
  s.Submit(Job("a", 1, 1, "low"));
  s.Submit(Job("b", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("pair", 2, 1, "high"));
  s.Pass();
  s.Applied(DecisionKind::kEvict, "a");
  s.Submit(Job("thief", 1, 1, "low"));
  EXPECT_THAT(s.Pass(), IsEmpty());
}

TEST_F(SchedulerTest, EqualsDoNotPreemptEachOther) {
  Nodes({1});
  s.Submit(Job("a", 1, 1, "mid"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("b", 1, 1, "mid"));
  EXPECT_THAT(s.Pass(), IsEmpty());
}

TEST_F(SchedulerTest, TheCheapestVictimIsTaken) {
  Nodes({1, 1});
  s.Submit(Job("old", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.now += 500 * kSecond;
  s.Submit(Job("new", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.now += 10 * kSecond;
  s.Submit(Job("urgent", 1, 1, "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict new for urgent", "nominate urgent: n2"));
}

TEST_F(SchedulerTest, ACheckpointMakesAVictimCheap) {
  Nodes({1, 1});
  s.Submit(Job("old", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.now += 500 * kSecond;
  s.Submit(Job("new", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.now += 10 * kSecond;
  s.Happens(CheckpointTaken{"old", s.now});
  s.Submit(Job("urgent", 1, 1, "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict old for urgent", "nominate urgent: n1"));
}

TEST_F(SchedulerTest, WhereAVictimHasDevicesItsCoresCostNothing) {
  Nodes({1, 1});
  Gang mixed = Job("mixed", 1, 1, "low");
  Role server{.name = "server"};
  server.shape.resources = Resources{32'000};
  mixed.roles[0].name = "worker";
  mixed.roles.insert(mixed.roles.begin(), server);
  s.Submit(mixed);
  s.Pass();
  s.AllDone();
  s.now += 10 * kSecond;
  s.Happens(CheckpointTaken{"mixed", s.now});
  s.Submit(Job("plain", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.now += 10 * kSecond;
  s.Happens(CheckpointTaken{"mixed", s.now - kSecond});
  s.Submit(Job("urgent", 1, 1, "high"));
  EXPECT_EQ(s.Pass()[0], "evict mixed for urgent");
}

TEST_F(SchedulerTest, AVictimIsProtectedForItsMinimumRunTime) {
  Nodes({1});
  s.Happens(PriorityClassChanged{
      {.key = "low", .value = 0, .min_runtime = 100 * kSecond}});
  s.Submit(Job("a", 1, 1, "low"));
  s.Pass();
  s.Submit(Job("urgent", 1, 1, "high"));
  EXPECT_THAT(s.PassAfter(1), IsEmpty());
  EXPECT_EQ(s.NextWakeup(), kForever) << "it has not even started";
  s.now = 10 * kSecond;
  s.AllDone();
  EXPECT_THAT(s.PassAfter(40), IsEmpty());
  EXPECT_EQ(s.NextWakeup(), 110 * kSecond);
  s.now = s.NextWakeup();
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict a for urgent", "nominate urgent: n1"));
}

TEST_F(SchedulerTest, SomeAreNeverVictims) {
  Nodes({1, 1, 1});
  s.Happens(PriorityClassChanged{
      {.key = "immune", .value = 0, .on_preempted = OnPreempted::kNever}});
  Gang firm = Job("firm", 1, 1, "low");
  firm.preemptible = false;
  s.Submit(Job("immune", 1, 1, "immune"));
  s.Submit(firm);
  s.Submit(Job("other", 1, 1, "high"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("urgent", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), IsEmpty());
}

// Binpack fills a node up before it takes the next one; spread does not.
TEST(SchedulerPolicyTest, TheConfigurationSaysWhichNodesAreTaken) {
  const auto places = [](PlacementPolicy policy) {
    SchedulerConfig config;
    config.placement.policy = policy;
    Story s(config);
    for (const char* n : {"n1", "n2"}) s.HasNode(n, 4);
    s.HasQueue("q");
    std::string where;
    for (const char* g : {"a", "b", "c", "d"}) {
      s.Submit(Job(g));
      s.Pass();
      where += s.Where(g) + " ";
    }
    return where;
  };
  EXPECT_EQ(places(PlacementPolicy::kMuster), "n1 n1 n1 n1 ");
  EXPECT_EQ(places(PlacementPolicy::kBinpack), "n1 n1 n1 n1 ");
  EXPECT_EQ(places(PlacementPolicy::kLeastAllocated), "n1 n2 n1 n2 ");
}

// The launcher is not to be preempted: its gang gives up workers, or nothing.
TEST_F(SchedulerTest, ATaskThatIsNotPreemptibleKeepsItsGangRunning) {
  Nodes({1, 1, 1});
  Gang firm = Job("firm", 1, 1, "low");
  firm.roles[0].name = "launcher";
  firm.roles[0].preemptible = false;
  firm.roles.push_back(firm.roles[0]);
  firm.roles[1].name = "worker";
  firm.roles[1].preemptible = true;
  firm.roles[1].desired_tasks = 2;
  s.Submit(firm);
  s.Pass();
  s.AllDone();
  s.Pass();
  s.AllDone();
  ASSERT_EQ(s.FreeGpus("n1") + s.FreeGpus("n2") + s.FreeGpus("n3"), 0);
  s.Submit(Job("wide", 2, 1, "high"));
  EXPECT_THAT(s.Pass(), IsEmpty()) << "one worker is not enough";
  s.Submit(Job("urgent", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("shrink firm for urgent: 1/1",
                                    "nominate urgent: n3"));
}

// Half of today's device was all of yesterday's: who asks by memory is within
// the guarantee now, and goes first.
TEST_F(SchedulerTest, ADemandByMemoryFollowsTheDevices) {
  Node n = Machine("n1", 1);
  n.devices[0].memory_bytes = 40;
  s.Happens(NodeChanged{n});
  s.HasQueue("sharing", {{.resource = "gpu", .guarantee = 500}});
  s.HasQueue("other");
  Gang early = Job("early");
  early.queue = "other";
  early.submitted = 1;
  Gang shares = WithMemory(Job("shares"), 40);
  shares.queue = "sharing";
  shares.submitted = 2;
  s.Submit(early);
  s.Submit(shares);
  n.devices[0].memory_bytes = 80;
  s.Happens(NodeChanged{n});
  EXPECT_THAT(s.Pass(), ElementsAre("start shares: n1"));
}

TEST_F(SchedulerTest, SomeMayNotPreempt) {
  Nodes({1});
  s.Happens(PriorityClassChanged{
      {.key = "polite", .value = 50, .may_preempt = false}});
  s.Submit(Job("a", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("b", 1, 1, "polite"));
  EXPECT_THAT(s.Pass(), IsEmpty());
}

TEST_F(SchedulerTest, AVictimMayBeCancelledByItsClass) {
  Nodes({1});
  s.Happens(PriorityClassChanged{
      {.key = "low", .value = 0, .on_preempted = OnPreempted::kCancel}});
  s.Submit(Job("a", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("urgent", 1, 1, "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("cancel a for urgent", "nominate urgent: n1"));
  s.AllDone();
  EXPECT_EQ(s.Phase("a"), "gone");
}

TEST_F(SchedulerTest, ARefusedEvictionUndoesTheNomination) {
  Nodes({1});
  s.Submit(Job("a", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("urgent", 1, 1, "high"));
  s.Pass();
  s.Refused(DecisionKind::kEvict, "a");
  EXPECT_EQ(s.Phase("a"), "running");
  EXPECT_EQ(s.Phase("urgent"), "waiting");
  EXPECT_THAT(s.Pass(), IsEmpty()) << "it is left alone for a while";
  s.now = s.NextWakeup();
  EXPECT_EQ(s.now, 10 * kSecond);
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict a for urgent", "nominate urgent: n1"));
}

TEST_F(SchedulerTest, ANominatedGangGivesWayToAHigherOne) {
  Nodes({1});
  s.Submit(Job("a", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("b", 1, 1, "mid"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for b", "nominate b: n1"));
  s.Submit(Job("c", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict b for c", "nominate c: n1"));
  EXPECT_EQ(s.Phase("b"), "waiting");
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("start c: n1"));
}

TEST_F(SchedulerTest, ANominatedVictimIsNotCancelledWhateverItsClass) {
  Nodes({1});
  s.Happens(PriorityClassChanged{
      {.key = "mid", .value = 10, .on_preempted = OnPreempted::kCancel}});
  s.Submit(Job("a", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("b", 1, 1, "mid"));
  s.Pass();
  s.Submit(Job("c", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict b for c", "nominate c: n1"));
  EXPECT_EQ(s.Phase("b"), "waiting");
}

TEST_F(SchedulerTest, PreemptionCanBeSwitchedOff) {
  SchedulerConfig config;
  config.preemption = false;
  s = Story(config);
  Nodes({1});
  s.Submit(Job("a", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("urgent", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), IsEmpty());
}

// --- Quotas ------------------------------------------------------------------

TEST_F(SchedulerTest, ALimitIsNeverExceeded) {
  s.HasNode("n1", 8);
  s.HasQueue("team", {GpuQuota({}, 3)});
  s.HasQueue("q", {}, "team");
  s.HasQueue("r", {}, "team");
  s.Submit(Job("a", 2));
  Gang b = Job("b", 2);
  b.queue = "r";
  s.Submit(b);
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1 n1"));
  EXPECT_EQ(s.Why("b"),
            "queue-limit (queue team): needs 2000 gpu, 1000 available");
  s.Submit(Job("c", 4));
  s.Pass();
  EXPECT_EQ(s.Why("c"),
            "over-limit-always (queue team): needs 4000 gpu, 3000 available");
}

TEST_F(SchedulerTest, AGuaranteeIsTakenBack) {
  s.HasNode("n1", 4);
  s.HasQueue("q", {GpuQuota(2, {})});
  s.HasQueue("r", {GpuQuota(2, {})});
  for (const char* key : {"r1", "r2", "r3", "r4"}) {
    Gang gang = Job(key);
    gang.queue = "r";
    s.Submit(gang);
  }
  EXPECT_EQ(s.Pass().size(), 4u) << "what is unused may be borrowed";
  s.AllDone();
  s.Submit(Job("a", 2));
  const std::vector<std::string> plan = s.Pass();
  ASSERT_EQ(plan.size(), 3u);
  EXPECT_THAT(plan[0], HasSubstr("for a"));
  EXPECT_THAT(plan[1], HasSubstr("for a"));
  EXPECT_EQ(plan[2], "nominate a: n1 n1");
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1 n1"));
  s.AllDone();
  s.Submit(Job("b"));
  EXPECT_THAT(s.Pass(), IsEmpty()) << "beyond its guarantee it takes nothing";
}

TEST_F(SchedulerTest, AQueueWithinItsGuaranteeLosesNothing) {
  s.HasNode("n1", 2);
  s.HasQueue("q", {GpuQuota(2, {})});
  s.HasQueue("r", {GpuQuota(1, {})});
  s.HasClasses();
  Gang r = Job("r1", 1, 1, "low");
  r.queue = "r";
  s.Submit(r);
  s.Submit(Job("a", 1, 1, "high"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("b", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), IsEmpty());
}

TEST_F(SchedulerTest, AHeldQueueStartsNothing) {
  Nodes({1});
  s.Happens(QueueChanged{{.key = "q", .held = true}});
  s.Submit(Job("a"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.Why("a"), "held");
  s.Happens(QueueChanged{{.key = "q"}});
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1"));
}

TEST_F(SchedulerTest, WhatIsHeldAfterItsNominationDoesNotStart) {
  Nodes({1});
  s.Submit(Job("a", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("urgent", 1, 1, "high"));
  s.Pass();
  s.Happens(GangHeld{"urgent", true});
  s.AllDone();
  for (const std::string& line : s.Pass()) {
    EXPECT_THAT(line, ::testing::Not(HasSubstr("start urgent")));
  }
}

TEST_F(SchedulerTest, ALoweredLimitStopsANomination) {
  Nodes({1});
  s.Submit(Job("a", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Job("urgent", 1, 1, "high"));
  s.Pass();
  s.Happens(QueueChanged{{.key = "q", .quotas = {GpuQuota({}, 0)}}});
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("evict urgent"));
  EXPECT_EQ(s.Phase("urgent"), "waiting");
}

// Equal gangs share one description in the scheduler; their keys still decide.
TEST(RandomPlacement, EqualGangsGoToDifferentNodes) {
  SchedulerConfig config;
  config.placement.policy = PlacementPolicy::kRandom;
  Story story(config);
  for (int n = 0; n < 8; ++n) story.HasNode("n" + std::to_string(n), 8);
  story.HasQueue("q");
  for (int g = 0; g < 8; ++g) story.Submit(Job("g" + std::to_string(g)));
  std::set<std::string> nodes;
  for (const std::string& line : story.Pass()) {
    nodes.insert(line.substr(line.find(": ") + 2));
  }
  // Eight into eight at random: 5.3 nodes on average.
  EXPECT_GE(nodes.size(), 4u);
  EXPECT_LE(nodes.size(), 7u);
}

// A decision that a host kept beyond the next pass means nothing any more.
TEST_F(SchedulerTest, AnOldDecisionReadInANewPlanDoesNoHarm) {
  Nodes({8});
  s.Submit(Job("a-gang-with-a-long-name", 8));
  s.Pass();
  const Decision kept = s.plan().decisions.at(0);
  EXPECT_EQ(s.plan().TasksOf(kept).size(), 8u);
  s.AllDone();
  s.Pass();
  EXPECT_EQ(s.plan().Text(kept.gang_key), "");
  EXPECT_EQ(s.plan().Text({1000, 5}), "");
  EXPECT_TRUE(s.plan().TasksOf(kept).empty());
}

}  // namespace
}  // namespace muster
