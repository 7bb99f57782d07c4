// What suspended gangs keep, and who may take it.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/scheduler.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kGb = int64_t{1} << 30;
constexpr ResourceKind kMemory = 1;

SchedulerConfig KeepsMemory() {
  SchedulerConfig config;
  config.host.suspend = true;
  config.host.suspended_keeps = {"memory"};
  return config;
}

// One GPU and so much memory.
Gang Heavy(const std::string& key, int64_t gigabytes,
           const std::string& priority_class) {
  Gang gang = Job(key, 1, 1, priority_class);
  gang.roles[0].shape.resources.Set(kMemory, gigabytes * kGb);
  gang.on_preempted = OnPreempted::kSuspend;
  return gang;
}

// A node with one GPU and 100 GB.
class SuspendStories : public ::testing::Test {
 protected:
  SuspendStories() {
    HasNode("n1");
    s.HasQueue("q");
    s.HasClasses();
  }
  void HasNode(const std::string& key, int64_t gigabytes = 100) {
    Node node = Machine(key, 1);
    node.capacity.Set(kMemory, gigabytes * kGb);
    s.Happens(NodeChanged{node});
  }
  void Runs(const Gang& gang) {
    s.Submit(gang);
    s.Pass();
    s.AllDone();
    ASSERT_EQ(s.Phase(gang.key), "running");
  }
  int64_t FreeGb(Ledger ledger) {
    const ClusterView cluster = s.scheduler().cluster();
    return cluster.free(cluster.Find("n1").index, kMemory, ledger) / kGb;
  }
  // "a" is suspended for "b", which runs.
  void Suspend(int64_t kept, int64_t taken) {
    Runs(Heavy("a", kept, "low"));
    s.Submit(Heavy("b", taken, "mid"));
    EXPECT_THAT(s.Pass(), ElementsAre("suspend a for b", "nominate b: n1"));
    EXPECT_EQ(FreeGb(Ledger::kNow), 100 - kept);
    EXPECT_EQ(FreeGb(Ledger::kLater), 100 - kept - taken);
    s.AllDone();
    EXPECT_EQ(FreeGb(Ledger::kNow), 100 - kept);
    EXPECT_THAT(s.Pass(), ElementsAre("start b: n1"));
    s.AllDone();
    EXPECT_EQ(FreeGb(Ledger::kNow), 100 - kept - taken);
    EXPECT_EQ(s.Phase("a"), "suspended");
  }
  Story s{KeepsMemory()};
};

// Two tasks are being suspended.
class TwoToSuspend : public SuspendStories {
 protected:
  TwoToSuspend() {
    HasNode("n2");
    Gang a = Heavy("a", 10, "low");
    a.roles[0].min_tasks = a.roles[0].desired_tasks = 2;
    Runs(a);
    s.Submit(Heavy("b", 10, "mid"));
    s.Pass();
  }
};

// One of them fails meanwhile.
class HalfSuspended : public TwoToSuspend {
 protected:
  HalfSuspended() {
    s.Answers("a", {0, 1}, TaskOutcome::kFailed);
    EXPECT_EQ(s.Phase("a"), "suspending");
    s.now += kSecond;
  }
  // It runs, and lacks a task from now on.
  void ExpectLacking() {
    EXPECT_EQ(s.Phase("a"), "running");
    EXPECT_EQ(s.Of("a").since, s.now);
    s.ExpectRestorable();
  }
};

TEST_F(HalfSuspended, TheHostRefusesToSuspendTheOther) {
  s.Refused(DecisionKind::kSuspend, "a");
  ExpectLacking();
}

TEST_F(HalfSuspended, TheOtherIsFoundRunning) {
  Reconciled all;
  for (const NodeState& n : s.scheduler().State().nodes) {
    all.nodes.push_back(n.node);
  }
  all.tasks.push_back({.gang = "a", .task = {0, 0}, .node = "n1"});
  s.Happens(all);
  ExpectLacking();
}

// One of two tasks is suspended, and the host refuses the other: no gang runs
// with a part of it suspended. The one is placed anew.
TEST_F(TwoToSuspend, OneIsSuspendedAndTheHostRefusesTheOther) {
  s.Answers("a", {0, 0}, TaskOutcome::kSuspended);
  EXPECT_EQ(s.Phase("a"), "suspending");
  s.Refused(DecisionKind::kSuspend, "a");
  EXPECT_EQ(s.Phase("a"), "running");
  ASSERT_EQ(s.Of("a").tasks.size(), 1u);
  EXPECT_EQ(s.Of("a").tasks[0].task, (TaskId{0, 1}));
  EXPECT_EQ(FreeGb(Ledger::kNow), 100);
  s.ExpectRestorable();
}

// The answer to the suspension comes again when the gang is to be stopped: it
// is not taken for the answer to that.
TEST_F(SuspendStories, TheAnswerOfASuspensionIsNoneToAnEviction) {
  Suspend(60, 30);
  s.PassAfter(601);
  EXPECT_EQ(s.Phase("a"), "stopping");
  s.Answers("a", {0, 0}, TaskOutcome::kSuspended, /*attempt=*/1);
  EXPECT_EQ(s.Phase("a"), "stopping");
  s.Refused(DecisionKind::kEvict, "a");
  EXPECT_EQ(s.Phase("a"), "suspended");
}

// The host stops what it was asked to suspend.
TEST_F(SuspendStories, ATaskThatIsReleasedIsNotSuspended) {
  Runs(Heavy("a", 60, "low"));
  s.Submit(Heavy("b", 30, "mid"));
  s.Pass();
  s.Answers("a", {0, 0}, TaskOutcome::kReleased);
  EXPECT_EQ(s.Phase("a"), "waiting");
  EXPECT_EQ(FreeGb(Ledger::kNow), 100);
}

TEST_F(SuspendStories, WhatItKeepsIsNotFree) {
  Suspend(60, 30);
  EXPECT_EQ(FreeGb(Ledger::kNow), 10);
  Gang other = Heavy("other", 20, "low");
  other.roles[0].shape.devices = {};
  s.Submit(other);
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.Why("other"), HasSubstr(" memory, "));
}

TEST_F(SuspendStories, ItComesBackToWhatItKept) {
  Suspend(60, 30);
  s.Happens(GangFinished{.gang = "b"});
  EXPECT_THAT(s.Pass(), ElementsAre("resume a: n1"));
  s.AllDone();
  EXPECT_EQ(FreeGb(Ledger::kNow), 40);
  s.Happens(GangFinished{.gang = "a"});
  EXPECT_EQ(FreeGb(Ledger::kNow), 100);
}

TEST_F(SuspendStories, WhereWhatItKeepsIsInTheWayItIsEvicted) {
  Runs(Heavy("a", 60, "low"));
  s.Submit(Heavy("b", 50, "mid"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for b", "nominate b: n1"));
}

TEST_F(SuspendStories, OneOfTwoMayKeepItsMemory) {
  Node node = Machine("n1", 2);
  node.capacity.Set(kMemory, 100 * kGb);
  s.Happens(NodeChanged{node});
  Runs(Heavy("a", 40, "low"));
  Runs(Heavy("b", 40, "low"));
  Gang c = Heavy("c", 50, "mid");
  c.roles[0].shape.devices.count = 2;
  s.Submit(c);
  EXPECT_THAT(s.Pass(), ElementsAre("suspend a for c", "evict b for c",
                                    "nominate c: n1"));
}

// One of its tasks was to stop for good before.
TEST_F(SuspendStories, ATaskThatItCouldDoWithoutIsNotSuspendedWithIt) {
  HasNode("n2");
  Gang e = Heavy("e", 60, "low");
  e.roles[0].desired_tasks = 2;
  Runs(e);
  ASSERT_EQ(s.Where("e"), "n1 n2");
  s.Submit(Heavy("b", 60, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("shrink e for b: 0/1", "nominate b: n2"));
  s.Submit(Heavy("c", 30, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("suspend e for c", "nominate c: n1"));
  s.ExpectRestorable();
  EXPECT_THAT(s.Pass(), IsEmpty()) << "n2 has room for b";
  s.AllDone();
  EXPECT_EQ(s.Phase("e"), "suspended");
  EXPECT_EQ(s.Where("e"), "n1");
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n2", "start c: n1"));
  s.AllDone();
  s.Happens(GangFinished{"c"});
  EXPECT_THAT(s.Pass(), ElementsAre("resume e: n1"));
}

TEST_F(SuspendStories, AQueueIsChargedWithWhatItsGangsKeep) {
  s.Happens(QueueChanged{
      {.key = "q", .quotas = {{.resource = "memory", .limit = 100 * kGb}}}});
  Suspend(60, 30);
  HasNode("n2");
  s.Submit(Heavy("c", 20, "low"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.Why("c"), HasSubstr("memory"));
  s.Submit(Heavy("d", 10, "low"));
  EXPECT_THAT(s.Pass(), ElementsAre("start d: n2"));
}

TEST_F(SuspendStories, WhereTheLimitHasNoRoomForItItIsEvicted) {
  HasNode("n1", 200);
  s.Happens(QueueChanged{
      {.key = "q", .quotas = {{.resource = "memory", .limit = 100 * kGb}}}});
  Runs(Heavy("a", 60, "low"));
  s.Submit(Heavy("b", 50, "mid"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for b", "nominate b: n1"));
}

TEST_F(SuspendStories, ItMakesRoomOfWhatItKeeps) {
  Suspend(60, 30);
  Gang memory = Heavy("memory", 50, "high");
  memory.roles[0].shape.devices = {};
  s.Submit(memory);
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict a for memory", "nominate memory: n1"));
  EXPECT_EQ(FreeGb(Ledger::kNow), 10);
  s.AllDone();
  EXPECT_EQ(s.Phase("a"), "waiting");
  EXPECT_THAT(s.Pass(), ElementsAre("start memory: n1"));
}

TEST_F(SuspendStories, NotForLowerPriority) {
  Suspend(60, 30);
  Gang memory = Heavy("memory", 50, "low");
  memory.roles[0].shape.devices = {};
  s.Submit(memory);
  EXPECT_THAT(s.Pass(), IsEmpty());
}

TEST_F(SuspendStories, ARefusedEvictionLeavesItWhatItKeeps) {
  Suspend(60, 30);
  Gang memory = Heavy("memory", 50, "high");
  memory.roles[0].shape.devices = {};
  s.Submit(memory);
  s.Pass();
  s.Refused(DecisionKind::kEvict, "a");
  EXPECT_EQ(s.Phase("a"), "suspended");
  EXPECT_EQ(FreeGb(Ledger::kNow), 10);
}

TEST_F(SuspendStories, AfterItsTimeItGivesItUp) {
  Suspend(60, 30);
  EXPECT_THAT(s.PassAfter(600), ElementsAre("evict a"));
  s.AllDone();
  EXPECT_EQ(FreeGb(Ledger::kNow), 70);
}

TEST_F(SuspendStories, AnotherConfigurationDoesNotHideThatItsTimeHasCome) {
  Suspend(60, 30);
  s.now += 600 * kSecond;
  SchedulerConfig config = KeepsMemory();
  config.inbox_limit = 7;
  s.Happens(ConfigChanged{config});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
}

TEST_F(SuspendStories, ItsTimeHasComeByAnotherConfiguration) {
  Suspend(60, 30);
  EXPECT_THAT(s.PassAfter(100), IsEmpty());
  SchedulerConfig config = KeepsMemory();
  config.suspend_timeout = 60 * kSecond;
  s.Happens(ConfigChanged{config});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
}

TEST_F(SuspendStories, ItsNodeShrinks) {
  Suspend(60, 30);
  HasNode("n1", 80);
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
}

TEST_F(SuspendStories, ItIsCancelled) {
  Suspend(60, 30);
  s.Happens(GangCancelled{"a"});
  EXPECT_THAT(s.Pass(), ElementsAre("cancel a"));
  s.AllDone();
  EXPECT_EQ(s.Phase("a"), "gone");
  EXPECT_EQ(FreeGb(Ledger::kNow), 70);
}

TEST_F(SuspendStories, ItIsSoAfterARestartAndInAWhatIf) {
  Suspend(60, 30);
  const uint64_t hash = s.scheduler().StateHash();
  Plan plan;
  const std::vector<Event> events = {{s.now, GangFinished{.gang = "b"}}};
  ASSERT_TRUE(s.scheduler().WhatIf(s.now, events, &plan).ok());
  EXPECT_EQ(s.scheduler().StateHash(), hash);
  EXPECT_TRUE(s.scheduler().Validate().ok());
  const Scheduler restored = *Scheduler::Restore(s.scheduler().State());
  EXPECT_EQ(restored.StateHash(), hash);
  EXPECT_TRUE(restored.Validate().ok());
}

TEST_F(SuspendStories, AReconcileFindsWhatItKeeps) {
  Runs(Heavy("a", 60, "low"));
  Reconciled all;
  all.nodes = s.scheduler().State().nodes.empty()
                  ? std::vector<Node>()
                  : std::vector<Node>{s.scheduler().State().nodes[0].node};
  all.tasks = {{.gang = "a", .task = {}, .node = "n1", .suspended = true}};
  s.Happens(all);
  EXPECT_EQ(s.Phase("a"), "suspended");
  EXPECT_EQ(FreeGb(Ledger::kLater), 40);
}

// Of a suspension that was carried out in part the rest has refused: the gang
// runs without what is suspended, however often that is told.
TEST_F(SuspendStories, WhatIsSuspendedOfAGangThatRunsIsForgottenOnce) {
  HasNode("n2");
  Gang gang = Heavy("a", 10, "low");
  gang.roles[0].desired_tasks = 2;
  Runs(gang);
  Reconciled all;
  for (const NodeState& n : s.scheduler().State().nodes) {
    all.nodes.push_back(n.node);
  }
  all.tasks = {{.gang = "a", .task = {}, .node = "n1", .suspended = true},
               {.gang = "a", .task = {.index = 1}, .node = "n2"}};
  s.Happens(all);
  EXPECT_EQ(s.Where("a"), "n2");
  const GangState once = s.Of("a");
  s.Happens(all);
  EXPECT_EQ(once.attempts, 1);
  EXPECT_TRUE(s.Of("a") == once);
}

TEST_F(SuspendStories, ItKeepsWhatTheHostSaysNow) {
  Suspend(60, 30);
  SchedulerConfig config = KeepsMemory();
  config.host.suspended_keeps.clear();
  s.Happens(ConfigChanged{config});
  EXPECT_EQ(FreeGb(Ledger::kNow), 70);
  s.Happens(ConfigChanged{KeepsMemory()});
  EXPECT_EQ(FreeGb(Ledger::kNow), 10);
}

TEST_F(SuspendStories, ANodeIsNotWholeForItsMemoryAlone) {
  SchedulerConfig config = KeepsMemory();
  config.resources.push_back("node");
  config.node_kind = "node";
  s.Happens(ConfigChanged{config});
  Suspend(60, 30);
  s.Happens(GangHeld{"a", true});
  s.Happens(GangFinished{.gang = "b"});
  Gang alone = Heavy("alone", 30, "low");
  alone.roles[0].shape.whole_node = true;
  s.Submit(alone);
  EXPECT_THAT(s.Pass(), ElementsAre("start alone: n1"));
}

TEST_F(SuspendStories, WhatIsKeptIsAKind) {
  SchedulerConfig config = KeepsMemory();
  config.host.suspended_keeps = {"disk"};
  EXPECT_THAT(Scheduler::Create(config).status().message(),
              HasSubstr("config.host.suspended_keeps: 'disk' is not one of"));
  config.host.suspended_keeps = {"gpu"};
  EXPECT_THAT(Scheduler::Create(config).status().message(),
              HasSubstr("config.host.suspended_keeps: 'gpu' is counted by"));
  config.host.suspended_keeps = {"memory", "memory"};
  EXPECT_THAT(Scheduler::Create(config).status().message(), HasSubstr("twice"));
}

}  // namespace
}  // namespace muster
