// What real hosts need told: taints that are borne for a time, nodes that
// choose devices themselves, another configuration, a restart.
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

class HostTest : public SchedulerTest {
 protected:
  void Configure(SchedulerConfig config) { s = Story(std::move(config)); }
  void Taint(const std::string& node, uint32_t gpus, Time since = 0) {
    Node tainted = Machine(node, gpus);
    tainted.taints = {{"broken", "", TaintEffect::kNoExecute, since}};
    s.Happens(NodeChanged{tainted});
  }
  static Gang Bears(Gang gang, int64_t seconds) {
    gang.roles[0].tolerations = {
        {"broken", TolerationOp::kExists, "", {}, seconds}};
    return gang;
  }
};

// --- Taints ------------------------------------------------------------------

TEST_F(HostTest, ATaintIsBorneForATime) {
  Nodes({1, 1});
  Runs(Bears(Job("a"), 30));
  s.now = 5 * kSecond;
  Taint("n1", 1);
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.NextWakeup(), 35 * kSecond);
  EXPECT_THAT(s.PassAfter(29), IsEmpty());
  EXPECT_THAT(s.PassAfter(1), ElementsAre("evict a"));
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n2"))
      << "where it would have to leave again it does not go";
}

TEST_F(HostTest, TheHostKnowsSinceWhenATaintIs) {
  Nodes({1});
  Runs(Bears(Job("a"), 30));
  s.now = 20 * kSecond;
  Taint("n1", 1, 3 * kSecond);
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.NextWakeup(), 33 * kSecond);
}

TEST_F(HostTest, ATaintToldAgainIsAsOldAsBefore) {
  Nodes({1});
  Runs(Bears(Job("a"), 30));
  s.now = 5 * kSecond;
  Taint("n1", 1);
  s.now = 25 * kSecond;
  const uint64_t before = s.scheduler().StateHash();
  Taint("n1", 1);
  EXPECT_EQ(s.scheduler().State().nodes[0].node.taints[0].since, 5 * kSecond);
  EXPECT_NE(s.scheduler().StateHash(), before) << "the time has gone on";
  s.Pass();
  EXPECT_EQ(s.NextWakeup(), 35 * kSecond);
}

TEST_F(HostTest, ATaintThatGoesInTimeIsForgotten) {
  Nodes({1});
  Runs(Bears(Job("a"), 30));
  Taint("n1", 1);
  s.Happens(NodeChanged{Machine("n1", 1)});
  EXPECT_THAT(s.PassAfter(60), IsEmpty());
}

TEST_F(HostTest, ARestoredSchedulerKnowsTheTime) {
  Nodes({1});
  Runs(Bears(Job("a"), 30));
  s.now = kSecond;
  Taint("n1", 1);
  s.Pass();
  absl::StatusOr<Scheduler> again = Scheduler::Restore(s.scheduler().State());
  ASSERT_TRUE(again.ok());
  Plan plan;
  again->Schedule(s.now, &plan);
  EXPECT_EQ(plan.next_wakeup, 31 * kSecond);
}

TEST_F(HostTest, AHostThatEvictsByItselfIsNotAskedTo) {
  Capable({.evicts_taints = false});
  Nodes({1, 1});
  Runs(Job("a"));
  Taint("n1", 1);
  EXPECT_THAT(s.PassAfter(600), IsEmpty());
  s.Answers("a", {0, 0}, TaskOutcome::kYielded);
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n2"));
}

TEST_F(HostTest, AnAlternativeHasTolerationsAndNodeSetsOfItsOwn) {
  Nodes({0, 1, 1});
  s.Happens(NodeSetChanged{{.key = "spare", .nodes = {"n2"}}});
  Node lent = Machine("n2", 1);
  lent.taints = {{"lent", "", TaintEffect::kNoSchedule}};
  s.Happens(NodeChanged{lent});
  s.Happens(NodeChanged{[] {
    Node old = Machine("n3", 1);
    old.devices[0].model = "old";
    return old;
  }()});
  Gang a = Job("a");
  a.roles[0].alternatives.push_back(a.roles[0].shape);
  a.roles[0].shape.devices.models = {"new"};
  a.roles[0].alternatives[0].node_sets = {"spare"};
  a.roles[0].alternatives[0].tolerations = {
      {"lent", TolerationOp::kExists, "", {}}};
  s.Submit(a);
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n2"));
  EXPECT_EQ(s.Of("a").tasks[0].alternative, 1u);
  EXPECT_EQ(s.Try(NodeSetRemoved{"spare"}).code(),
            absl::StatusCode::kFailedPrecondition);
}

// --- Devices -----------------------------------------------------------------

TEST_F(HostTest, ANodeMayChooseDevicesItself) {
  Nodes({2, 2});
  Node plugin = Machine("n1", 2);
  plugin.choose_devices = false;
  s.Happens(NodeChanged{plugin});
  s.Submit(Job("a", 4));
  s.Pass();
  for (const PlannedTask& task : s.plan().tasks) {
    EXPECT_EQ(task.devices.empty(), s.plan().Text(task.node_key) == "n1");
    EXPECT_FALSE(task.booked.empty());
  }
}

// --- Another configuration ---------------------------------------------------

TEST_F(HostTest, AKindIsAddedWhileGangsRun) {
  Nodes({2});
  Runs(Job("a"));
  SchedulerConfig config = s.scheduler().config();
  config.resources.emplace_back("licences");
  s.Happens(ConfigChanged{config});
  EXPECT_EQ(s.Phase("a"), "running");
  EXPECT_EQ(s.Where("a"), "n1");
  Gang b = Job("b");
  b.roles[0].shape.resources.Set(3, 1);
  s.Submit(b);
  EXPECT_THAT(s.Pass(), IsEmpty());
  Node with = Machine("n1", 2);
  with.capacity.Set(3, 5);
  s.Happens(NodeChanged{with});
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n1"));
}

TEST_F(HostTest, ATopologyIsPutInPlace) {
  Nodes({});
  for (const char* rack : {"r1", "r2"}) {
    for (const char* half : {"a", "b"}) {
      Node node = Machine(std::string(rack) + half, 1);
      node.labels = {{"rack", rack}};
      s.Happens(NodeChanged{node});
    }
  }
  Runs(Job("x"));
  SchedulerConfig config = s.scheduler().config();
  config.topologies = {{"net", {"rack"}}};
  s.Happens(ConfigChanged{config});
  Gang b = Job("b", 2);
  b.roles[0].topology.required = "rack";
  s.Submit(b);
  EXPECT_THAT(s.Pass(), ElementsAre("start b: r2a r2b"));
  config.topologies.clear();
  const absl::Status status = s.Try(ConfigChanged{config});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("rack"));
  EXPECT_EQ(s.scheduler().config().topologies.size(), 1u);
}

TEST_F(HostTest, WhatWasNoIsAskedAgain) {
  SchedulerConfig config;
  config.preemption = false;
  Configure(config);
  Nodes({1});
  Runs(Job("a", 1, 1, "low"));
  s.Submit(Job("b", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  config.preemption = true;
  s.Happens(ConfigChanged{config});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for b", "nominate b: n1"));
}

TEST_F(HostTest, NobodyWaitsForATaskLongerThanTheNewTime) {
  SchedulerConfig config;
  config.replacement_timeout = 60 * kSecond;
  Configure(config);
  Nodes({1, 1});
  Runs(Job("a", 2));
  Node cordoned = Machine("n2", 1);
  cordoned.schedulable = false;
  s.Happens(NodeChanged{cordoned});
  s.Answers("a", {0, 1}, TaskOutcome::kYielded);
  EXPECT_THAT(s.PassAfter(10), IsEmpty());
  config.replacement_timeout = 5 * kSecond;
  s.Happens(ConfigChanged{config});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
}

// The nomination is void, as its node is overcommitted.
TEST_F(HostTest, WhatAPromiseGivesBackIsForWhoLacksATaskFirst) {
  SchedulerConfig config;
  config.replacement_timeout = 60 * kSecond;
  Configure(config);
  Nodes({1, 1, 1, 1});
  Runs(Job("a", 2));
  Runs(Job("old"));
  ASSERT_EQ(s.Where("old"), "n3");
  s.Happens(GangCancelled{"old"});
  s.Submit(Job("promised", 2));
  s.Pass();
  EXPECT_EQ(s.Where("promised"), "n3 n4");
  Node cordoned = Machine("n2", 1);
  cordoned.schedulable = false;
  s.Happens(NodeChanged{cordoned});
  s.Answers("a", {0, 1}, TaskOutcome::kYielded);
  s.Submit(Job("waits"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Happens(ExternalUsageChanged{
      {.node = "n3", .devices = {{.device = 0, .milli = kWholeDevice}}}});
  EXPECT_THAT(s.Pass(), ElementsAre("evict promised", "grow a: n4"));
}

TEST_F(HostTest, HandlesFromBeforeAreVoid) {
  Nodes({1});
  Runs(Job("a"));
  const GangId gang = s.scheduler().FindGang("a");
  const QueueId queue = s.scheduler().FindQueue("q");
  const NodeId node = s.scheduler().FindNode("n1");
  SchedulerConfig config = s.scheduler().config();
  config.preemption = false;
  s.Happens(ConfigChanged{config});
  EXPECT_EQ(s.scheduler().gang_key(gang), "");
  EXPECT_EQ(s.scheduler().queue_key(queue), "");
  EXPECT_EQ(s.scheduler().node_key(node), "");
  EXPECT_EQ(s.scheduler().gang_key(s.scheduler().FindGang("a")), "a");
}

TEST_F(HostTest, AWhatIfWithAnotherConfigurationLeavesThisOne) {
  SchedulerConfig config;
  config.preemption = false;
  Configure(config);
  Nodes({1});
  Runs(Job("a", 1, 1, "low"));
  s.Submit(Job("b", 1, 1, "high"));
  s.Pass();
  const uint64_t before = s.scheduler().StateHash();
  config.preemption = true;
  const std::vector<Event> events = {{s.now, ConfigChanged{config}},
                                     {s.now, GangSubmitted{Job("c")}}};
  Plan plan;
  ASSERT_TRUE(s.scheduler().WhatIf(s.now, events, &plan).ok());
  EXPECT_EQ(s.scheduler().StateHash(), before);
  ASSERT_EQ(plan.decisions.size(), 2u);
  EXPECT_EQ(plan.decisions[0].gang, s.scheduler().FindGang("a"));
  EXPECT_EQ(plan.decisions[1].gang, s.scheduler().FindGang("b"));
  EXPECT_EQ(plan.tasks[0].node, s.scheduler().FindNode("n1"));
  EXPECT_THAT(s.Pass(), IsEmpty());
}

TEST_F(HostTest, KindsStayWhereTheyAre) {
  Nodes({1});
  SchedulerConfig config = s.scheduler().config();
  std::swap(config.resources[0], config.resources[1]);
  EXPECT_THAT(std::string(s.Try(ConfigChanged{config}).message()),
              HasSubstr("config.resources"));
  config = s.scheduler().config();
  config.device_kind = "cpu";
  EXPECT_THAT(std::string(s.Try(ConfigChanged{config}).message()),
              HasSubstr("config.device_kind"));
}

// --- A restart ---------------------------------------------------------------

TEST_F(HostTest, AnEventDoesNotHideThatAGangsTimeHasCome) {
  for (const bool config : {false, true}) {
    Story t;
    t.HasNode("n1", 1);
    t.HasQueue("q");
    t.HasClasses();
    t.Submit(Job("a", 1, 1, "low"));
    t.Pass();
    t.AllDone();
    t.Happens(SpotNotice{"n1", 5 * kSecond});
    EXPECT_THAT(t.Pass(), ElementsAre("evict a"));
    t.Refused(DecisionKind::kEvict, "a");
    EXPECT_THAT(t.Pass(), IsEmpty());
    ASSERT_NE(t.NextWakeup(), kForever);
    // The first that happens after it is about the gang.
    t.now = t.NextWakeup() + kSecond;
    if (config) {
      SchedulerConfig other = t.scheduler().config();
      other.inbox_limit = 7;
      t.Happens(ConfigChanged{other});
    } else {
      t.Happens(GangReprioritized{"a", "mid"});
    }
    EXPECT_THAT(t.Pass(), ElementsAre("evict a"));
  }
}

// A gang's time has come, and the only other one of its class is cancelled: in
// either order it takes the other's answer over.
TEST_F(HostTest, WhatIsDueComesBeforeTheEvent) {
  Story t;
  t.HasNode("n1", 1);
  t.HasQueue("q");
  Gang late = Job("late", 1, 2);
  late.not_before = 5 * kSecond;
  t.Submit(late);
  t.Submit(Job("alone", 1, 2));
  EXPECT_THAT(t.Pass(), IsEmpty());
  t.now = 6 * kSecond;
  const uint64_t before = t.scheduler().StateHash();
  EXPECT_FALSE(t.Try(GangCancelled{"nobody"}).ok());
  EXPECT_EQ(t.scheduler().StateHash(), before);
  t.Happens(GangCancelled{"alone"});
  const SchedulerState state = t.scheduler().State();
  ASSERT_EQ(state.gang_classes.size(), 1);
  EXPECT_EQ(state.gang_classes[0].gang, "late");
  EXPECT_EQ(state.gang_classes[0].code, ReasonCode::kNeverFits);
}

TEST_F(HostTest, AReconcileKeepsTheTimes) {
  Nodes({1});
  Runs(Job("a"));
  const Time started = s.Of("a").started;
  s.now = 100 * kSecond;
  s.Happens(Reconciled{.nodes = {Machine("n1", 1)},
                       .tasks = {{.gang = "a", .node = "n1"}}});
  EXPECT_EQ(s.Of("a").started, started);
}

TEST_F(HostTest, TheHostTellsWhatTheSchedulerCannotKnow) {
  Nodes({1});
  s.Submit(Job("a"));
  s.now = 100 * kSecond;
  s.Happens(Reconciled{.nodes = {Machine("n1", 1)},
                       .tasks = {{.gang = "a", .node = "n1"}},
                       .gangs = {{"a", 40 * kSecond, 90 * kSecond}}});
  EXPECT_EQ(s.Phase("a"), "running");
  EXPECT_EQ(s.Of("a").started, 40 * kSecond);
  EXPECT_EQ(s.Of("a").checkpoint, 90 * kSecond);
}

TEST_F(HostTest, AGangHasRunSinceTheLastOfItsTasks) {
  Nodes({3});
  s.Submit(Job("a", 3));
  s.now = 100 * kSecond;
  const auto task = [](uint32_t index, Time started) {
    return RealTask{
        .gang = "a", .task = {0, index}, .node = "n1", .started = started};
  };
  s.Happens(Reconciled{
      .nodes = {Machine("n1", 3)},
      .tasks = {task(0, 20 * kSecond), task(1, 50 * kSecond), task(2, 7)}});
  EXPECT_EQ(s.Of("a").started, 50 * kSecond);
  // It is known now, and what is said no more stays.
  s.now = 200 * kSecond;
  s.Happens(Reconciled{
      .nodes = {Machine("n1", 3)},
      .tasks = {task(0, kForever), task(1, kForever), task(2, kForever)}});
  EXPECT_EQ(s.Of("a").started, 50 * kSecond);
}

TEST_F(HostTest, TheHostTellsWhatAGangHasServed) {
  Nodes({1});
  s.Submit(Job("a"));
  s.now = 100 * kSecond;
  s.Happens(Reconciled{
      .nodes = {Machine("n1", 1)},
      .gangs = {
          {.gang = "a", .run_time = 80 * kSecond, .saved = 60 * kSecond}}});
  EXPECT_EQ(s.Of("a").run_time, 80 * kSecond);
  EXPECT_EQ(s.Of("a").saved, 60 * kSecond);
  const absl::Status more =
      s.Try(Reconciled{.nodes = {Machine("n1", 1)},
                       .gangs = {{.gang = "a", .saved = 81 * kSecond}}});
  EXPECT_THAT(std::string(more.message()), HasSubstr("gangs[0].saved: 81"));
}

// A device fell off the bus, a device plugin announces none: what runs with
// them goes on, whatever the scheduler knew of it.
TEST_F(HostTest, AReconcileFindsTasksWithDevicesThatTheirNodeHasLost) {
  Nodes({2});
  Runs(Job("a", 1, 2));
  s.Submit(Job("b", 1, 2));
  s.Happens(Reconciled{.nodes = {Machine("n1", 1), Machine("n2", 0)},
                       .tasks = {{.gang = "a", .node = "n1", .devices = {0, 1}},
                                 {.gang = "b", .node = "n2"}}});
  EXPECT_EQ(s.Of("a").tasks[0].devices, (DeviceSet{0, 1}));
  EXPECT_EQ(s.Of("b").tasks[0].devices.size(), 2u);
  EXPECT_EQ(s.FreeGpus("n1"), 0);
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.ExpectRestorable();
  s.Happens(NodeChanged{Machine("n1", 2)});
  s.Happens(NodeChanged{Machine("n2", 2)});
  EXPECT_EQ(s.FreeGpus("n1"), 0);
  EXPECT_EQ(s.FreeGpus("n2"), 0);
  s.Happens(GangFinished{"a"});
  s.Happens(GangFinished{"b"});
  EXPECT_EQ(s.FreeGpus("n1"), 2);
  EXPECT_EQ(s.FreeGpus("n2"), 2);
}

TEST_F(HostTest, ADeviceThatNeverWasIsNotTheTruth) {
  Nodes({2});
  Runs(Job("a", 1, 1));
  const absl::Status refused =
      s.Try(Reconciled{.nodes = {Machine("n1", 2)},
                       .tasks = {{.gang = "a", .node = "n1", .devices = {2}}}});
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("tasks[0].devices: 2 is not one of node 'n1'"));
}

// --- What others use ---------------------------------------------------------

// Devices that others use, as a device plugin tells: so many, not which.
TEST_F(HostTest, DevicesThatNobodyNamesAreTheLastThatAreFree) {
  Nodes({4});
  Runs(Job("a", 1, 1));
  s.Happens(ExternalUsageChanged{{.node = "n1", .unnamed_devices = 2}});
  EXPECT_EQ(s.FreeGpus("n1"), 1);
  s.Submit(Job("b", 1, 2));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Happens(ExternalUsageChanged{{.node = "n1", .unnamed_devices = 1}});
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n1"));
  EXPECT_EQ(s.FreeGpus("n1"), 0);
}

TEST_F(HostTest, ADeviceThatATaskTurnsOutToHaveIsNotTheirs) {
  Nodes({2});
  s.Happens(ExternalUsageChanged{{.node = "n1", .unnamed_devices = 1}});
  s.Submit(Job("a"));
  s.Pass();
  // Planned for the first; the plugin gave it the other one.
  s.Happens(TasksAnswered{"a", {{.node = "n1", .devices = {1}}}});
  EXPECT_EQ(s.Of("a").tasks[0].devices, DeviceSet{1});
  EXPECT_EQ(s.scheduler().State().nodes[0].unnamed, DeviceSet{0});
  EXPECT_EQ(s.FreeGpus("n1"), 0);
  EXPECT_THAT(s.Pass(), IsEmpty()) << "no node is overcommitted";
  s.Happens(GangFinished{"a"});
  EXPECT_EQ(s.FreeGpus("n1"), 1);
}

TEST_F(HostTest, OthersCannotHaveMoreDevicesThanThereAre) {
  Nodes({2});
  const absl::Status more = s.Try(ExternalUsageChanged{
      {.node = "n1", .devices = {{0, 500}}, .unnamed_devices = 2}});
  EXPECT_THAT(std::string(more.message()),
              HasSubstr("unnamed_devices: 2 is not in 0..1"));
  s.Happens(ExternalUsageChanged{{.node = "n1", .unnamed_devices = 2}});
  s.HasNode("n1", 1);  // One is gone, whosever it was.
  EXPECT_EQ(s.scheduler().State().nodes[0].external.unnamed_devices, 1u);
}

// What is lost on a node that others take over is mended like any other.
TEST_F(HostTest, WhereOthersTakeWhatATaskHasItMustLeave) {
  Nodes({1, 1});
  Runs(Job("a"));
  EXPECT_EQ(s.Where("a"), "n1");
  s.Happens(ExternalUsageChanged{{.node = "n1", .unnamed_devices = 1}});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n2"));
}

// --- A restart ---------------------------------------------------------------

// One of two was told to stop when the scheduler went down: it is being
// stopped, the other one runs on, and the gang is decided about anew.
TEST_F(HostTest, AGangThatWasStoppedInPartRunsOn) {
  Nodes({2, 2});
  Runs(Job("a", 2));
  s.Happens(NodeDrained{"n1"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
  const RealTask stopping{
      .gang = "a", .task = {0, 0}, .node = "n1", .releasing = true};
  const RealTask runs{.gang = "a", .task = {0, 1}, .node = "n1"};
  s.Happens(Reconciled{.nodes = {Machine("n1", 2), Machine("n2", 2)},
                       .tasks = {stopping, runs}});
  EXPECT_EQ(s.Phase("a"), "running");
  EXPECT_EQ(s.FreeGpus("n1"), 0) << "both are still there";
  EXPECT_EQ(s.FreeGpus("n1", Ledger::kLater), 1);
  EXPECT_TRUE(Scheduler::Restore(s.scheduler().State()).ok());
  EXPECT_TRUE(s.scheduler().Fork().ok());
  // What asks and what follows goes on like any other gang's.
  const std::vector<Event> events = {{s.now, GangCancelled{"a"}}};
  Plan plan;
  EXPECT_TRUE(s.scheduler().WhatIf(s.now, events, &plan).ok());
  absl::StatusOr<Scheduler> follower =
      Scheduler::Restore(s.scheduler().State());
  s.Submit(Job("b", 1));
  s.Pass();
  ASSERT_TRUE(follower->Apply({s.now, GangSubmitted{Job("b", 1)}}).ok());
  EXPECT_TRUE(follower->Follow(s.scheduler().Record(s.plan())).ok());
  EXPECT_TRUE(follower->Validate().ok());
  s.AllDone();
  EXPECT_EQ(s.Where("b"), "n2") << "nothing is given twice";
}

TEST_F(HostTest, AGangThatIsSuspendedIsFoundSo) {
  Capable({.suspend = true});
  Nodes({1});
  s.Submit(Job("a"));
  s.Happens(
      Reconciled{.nodes = {Machine("n1", 1)},
                 .tasks = {{.gang = "a", .node = "n1", .suspended = true}}});
  EXPECT_EQ(s.Phase("a"), "suspended");
  EXPECT_THAT(s.Pass(), ElementsAre("resume a: n1"));
}

TEST_F(HostTest, WhatIsToldOfAGangMustBePossible) {
  Nodes({1});
  s.Submit(Job("a"));
  const auto told = [&](RealGang gang) {
    return std::string(
        s.Try(Reconciled{.nodes = {Machine("n1", 1)}, .gangs = {gang}})
            .message());
  };
  EXPECT_THAT(told({"b"}), HasSubstr("gangs[0].gang"));
  EXPECT_THAT(told({"a", kSecond}), HasSubstr("gangs[0].started"));
  EXPECT_THAT(told({"a", kForever, -1}), HasSubstr("gangs[0].checkpoint"));
  EXPECT_THAT(
      std::string(
          s.Try(Reconciled{
                    .nodes = {Machine("n1", 1)},
                    .tasks = {{.gang = "a", .node = "n1", .suspended = true}}})
              .message()),
      HasSubstr("tasks[0].suspended"));
}

}  // namespace
}  // namespace muster
