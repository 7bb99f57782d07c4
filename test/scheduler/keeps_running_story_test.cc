// A host that keeps what runs: what exceeds a node is told, and keeps only new
// tasks away.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/scheduler_fixture.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class KeepsRunning : public SchedulerTest {
 protected:
  KeepsRunning() { Capable({.keeps_running = true}); }

  void OthersUse(uint32_t unnamed) {
    s.Happens(ExternalUsageChanged{{.node = "n1", .unnamed_devices = unnamed}});
  }
  // Of one device, by its number.
  void OthersHave(uint32_t device) {
    ExternalUsage usage{.node = "n1"};
    usage.devices.push_back({.device = device, .milli = 1000});
    s.Happens(ExternalUsageChanged{usage});
  }
  bool IsOver(const std::string& node) {
    const ClusterView cluster = s.scheduler().cluster();
    return cluster.overcommitted(cluster.Find(node).index, Ledger::kNow);
  }
  // With a kind that others can use any amount of.
  static ExternalUsage OthersTake(int64_t amount) {
    ExternalUsage usage{.node = "n1"};
    usage.amount.Set(0, amount);
    return usage;
  }
  static Gang WithCpu(Gang gang, int64_t cpu) {
    gang.roles[0].shape.resources.Set(0, cpu);
    return gang;
  }
  static Node WithCpu(Node node, int64_t cpu) {
    node.capacity.Set(0, cpu);
    return node;
  }
};

// Somebody puts more on the node than there is room for.
TEST_F(KeepsRunning, WhatOthersUseStopsNothingAndKeepsNewTasksAway) {
  Nodes({});
  s.Happens(NodeChanged{WithCpu(Machine("n1", 4), 10)});
  Runs(WithCpu(Job("a", 2, 1, "high"), 3));
  EXPECT_FALSE(IsOver("n1"));
  s.Happens(ExternalUsageChanged{OthersTake(9)});
  EXPECT_TRUE(IsOver("n1"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.Phase("a"), "running");
  s.Submit(WithCpu(Job("b"), 1));
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.Why("b"), "insufficient: needs 1 cpu, 0 available");
  s.Happens(ExternalUsageChanged{OthersTake(3)});
  EXPECT_FALSE(IsOver("n1"));
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n1"));
}

TEST_F(KeepsRunning, ACapacityThatFallsForAWhileStopsNothing) {
  Nodes({});
  s.Happens(NodeChanged{WithCpu(Machine("n1", 4), 8)});
  Runs(WithCpu(Job("a", 2), 4));
  s.Happens(NodeChanged{WithCpu(Machine("n1", 4), 2)});
  EXPECT_TRUE(IsOver("n1"));
  s.Submit(WithCpu(Job("b"), 1));
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.Where("a"), "n1 n1");
  s.Happens(NodeChanged{WithCpu(Machine("n1", 4), 9)});
  EXPECT_FALSE(IsOver("n1"));
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n1"));
}

TEST_F(KeepsRunning, DevicesThatAreNotThereForAWhileStopNothing) {
  Nodes({2});
  Runs(Job("a", 2));
  s.Happens(NodeChanged{Machine("n1", 0)});
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.Phase("a"), "running");
  s.Submit(Job("b"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Happens(NodeChanged{Machine("n1", 3)});
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n1"));
  EXPECT_EQ(s.Of("b").tasks[0].devices, DeviceSet{2});
}

TEST_F(KeepsRunning, ADeviceThatOthersHaveTooIsNotTakenBack) {
  Nodes({2});
  Runs(Job("a", 2));
  OthersHave(1);
  EXPECT_TRUE(IsOver("n1"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  OthersUse(2);
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.Where("a"), "n1 n1");
}

TEST_F(KeepsRunning, WhatAHostReportsMayBeMoreThanANodeHas) {
  Nodes({1});
  s.Submit(Job("a"));
  s.Submit(Job("b"));
  Reconciled whole;
  whole.nodes.push_back(Machine("n1", 1));
  whole.tasks = {{.gang = "a", .task = {0, 0}, .node = "n1"},
                 {.gang = "b", .task = {0, 0}, .node = "n1"}};
  s.Happens(whole);
  EXPECT_TRUE(IsOver("n1"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.Phase("a"), "running");
  EXPECT_EQ(s.Phase("b"), "running");
}

TEST_F(KeepsRunning, WhatIsNominatedMayGoElsewhere) {
  Nodes({2});
  Runs(Job("a", 1, 2, "low"));
  s.Submit(Job("b", 1, 2, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for b", "nominate b: n1"));
  OthersUse(1);
  s.HasNode("n2", 2);
  EXPECT_THAT(s.Pass(), ElementsAre("evict b", "start b: n2"));
}

// Nothing is asked of a pass that finds the same node over again.
TEST_F(KeepsRunning, APassThatCanDoNothingIsQuiet) {
  Nodes({2});
  Runs(Job("a", 2));
  OthersUse(1);
  s.Pass();
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.NextWakeup(), kForever);
  EXPECT_EQ(s.plan().steps, 0u);
}

// --- Preemption --------------------------------------------------------------

// What "low" leaves there is others' already.
TEST_F(KeepsRunning, NoVictimIsTakenInVainWhereOthersWouldHaveItsPlace) {
  Nodes({});
  s.Happens(NodeChanged{WithCpu(Machine("n1", 0), 8)});
  Gang low = WithCpu(Job("low", 1, 0, "low"), 4);
  Gang firm = WithCpu(Job("firm", 1, 0, "low"), 4);
  firm.preemptible = false;
  Runs(low);
  Runs(firm);
  s.Happens(ExternalUsageChanged{OthersTake(4)});
  s.Submit(WithCpu(Job("high", 1, 0, "high"), 1));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Happens(ExternalUsageChanged{OthersTake(3)});
  EXPECT_THAT(s.Pass(), ElementsAre("evict low for high", "nominate high: n1"));
}

TEST_F(KeepsRunning, NorForDevicesThatNobodyNames) {
  Nodes({2});
  Runs(Job("low", 1, 1, "low"));
  Runs(Job("other", 1, 1, "high"));
  OthersUse(1);
  s.Submit(Job("high", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.NextWakeup(), kForever);
  OthersUse(0);
  EXPECT_THAT(s.Pass(), ElementsAre("evict low for high", "nominate high: n1"));
}

TEST_F(KeepsRunning, AGangThatIsOverGivesItsPlaceToThoseThatExceeded) {
  Nodes({2});
  Runs(Job("a"));
  Runs(Job("b"));
  OthersUse(1);
  s.Submit(Job("c"));
  s.Answers("a", {0, 0}, TaskOutcome::kSucceeded);
  EXPECT_FALSE(IsOver("n1"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  OthersUse(0);
  EXPECT_THAT(s.Pass(), ElementsAre("start c: n1"));
}

// Other hosts repair as ever.
TEST_F(KeepsRunning, WithoutThatCapabilityTheLeastImportantIsStopped) {
  Capable({});
  Nodes({2});
  Runs(Job("a", 2));
  OthersHave(1);
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
}

}  // namespace
}  // namespace muster
