// Gangs whose tasks want partitions of devices, told as stories.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SchedulerConfig Config() {
  SchedulerConfig config;
  config.partition_schemes = CommonPartitionSchemes();
  return config;
}

Node MigMachine(const std::string& key, uint32_t gpus) {
  Node node = Machine(key, gpus);
  for (Device& d : node.devices) {
    d.memory_bytes = 80'000;
    d.partition_scheme = "a100-80gb";
  }
  return node;
}

Gang Parts(const std::string& key, uint32_t tasks, const std::string& profile,
           const std::string& priority_class = "low") {
  Gang gang = Job(key, tasks, 1, priority_class);
  gang.roles[0].shape.devices.partition = profile;
  return gang;
}

// Node n1 with one device that is cut as tasks ask.
class PartitionStories : public ::testing::Test {
 protected:
  PartitionStories() {
    s.HasQueue("q");
    s.HasClasses();
    s.Happens(NodeChanged{MigMachine("n1", 1)});
  }
  // "device:first slice" of each of the gang's tasks.
  std::vector<std::string> Places(const std::string& gang) const {
    std::vector<std::string> places;
    for (const TaskState& t : s.Of(gang).tasks) {
      places.push_back(std::to_string(t.devices.first()) + ":" +
                       std::to_string(t.first_slice));
    }
    return places;
  }

  Story s{Config()};
};

TEST_F(PartitionStories, AGangOfPartitionsSharesADevice) {
  s.Submit(Parts("many", 7, "1g.10gb"));
  EXPECT_THAT(s.Pass(), ElementsAre("start many: n1 n1 n1 n1 n1 n1 n1"));
  EXPECT_THAT(Places("many"),
              ElementsAre("0:0", "0:1", "0:2", "0:3", "0:4", "0:5", "0:6"));
  EXPECT_EQ(s.plan().tasks[6].first_slice, 6u) << "the host is told";
  s.AllDone();
  s.Submit(Parts("more", 1, "1g.10gb"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Submit(Job("whole", 1, 1, "low"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.ExpectRestorable();
}

TEST_F(PartitionStories, AGangThatNeverFitsIsToldSo) {
  s.Submit(Parts("eight", 8, "1g.10gb"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.Why("eight"), HasSubstr("never"));
  EXPECT_THAT(s.Why("eight"), HasSubstr("needs 8 tasks, 7 available"));
  s.Submit(Parts("small", 1, "1g.5gb"));
  s.Pass();
  EXPECT_THAT(s.Why("small"), HasSubstr("no-node-admits"));
}

TEST_F(PartitionStories, RolesWithDifferentPartitionsArePlacedTogether) {
  // 3 + 2 + 2 of 8 slices, and one more: it fits only in one way.
  Gang gang = Parts("mixed", 1, "3g.40gb");
  gang.roles[0].name = "large";
  Role medium = gang.roles[0];
  medium.name = "medium";
  medium.shape.devices.partition = "2g.20gb";
  Role small = gang.roles[0];
  small.name = "small";
  small.shape.devices.partition = "1g.10gb";
  small.min_tasks = small.desired_tasks = 2;
  gang.roles = {small, medium, gang.roles[0]};
  s.Submit(gang);
  EXPECT_THAT(s.Pass(), ElementsAre("start mixed: n1 n1 n1 n1"));
  s.ExpectRestorable();
}

TEST_F(PartitionStories, AWholeDeviceTaskMakesWayForPartitions) {
  s.Submit(Job("train", 1, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Submit(Parts("serve", 2, "3g.40gb", "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict train for serve", "nominate serve: n1 n1"));
  EXPECT_THAT(Places("serve"), ElementsAre("0:0", "0:4"));
  s.ExpectRestorable();
  s.Applied(DecisionKind::kEvict, "train");
  EXPECT_THAT(s.Pass(), ElementsAre("start serve: n1 n1"));
}

TEST_F(PartitionStories, OnlyAsManyPartitionsAreEvictedAsTheNewOneNeeds) {
  for (const char* key : {"a", "b", "c"}) {
    s.Submit(Parts(key, 1, "2g.20gb"));
    s.Pass();
    s.AllDone();
  }
  s.Submit(Parts("serve", 1, "2g.20gb", "high"));
  const std::vector<std::string> lines = s.Pass();
  EXPECT_EQ(lines.size(), 2u) << "one victim is enough";
  s.ExpectRestorable();
}

TEST_F(PartitionStories, TheHostMayUseAnotherSlotThanPlanned) {
  s.Submit(Parts("a", 1, "2g.20gb"));
  s.Pass();
  ASSERT_THAT(Places("a"), ElementsAre("0:4"));
  s.Happens(TasksAnswered{
      "a",
      {{.task = {0, 0}, .outcome = TaskOutcome::kStarted, .first_slice = 0}}});
  EXPECT_THAT(Places("a"), ElementsAre("0:0"));
  s.Submit(Parts("b", 1, "4g.40gb"));
  EXPECT_THAT(s.Pass(), IsEmpty()) << "slice 0 is taken";
  s.Submit(Parts("c", 1, "3g.40gb"));
  EXPECT_THAT(s.Pass(), ElementsAre("start c: n1"));
  s.ExpectRestorable();
}

TEST_F(PartitionStories, TheSlotOfATaskFoundElsewhereIsGuessed) {
  s.Happens(NodeChanged{MigMachine("n2", 2)});
  s.Submit(Parts("a", 1, "2g.20gb"));
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1"));
  s.Happens(TasksAnswered{
      "a", {{.task = {0, 0}, .outcome = TaskOutcome::kStarted, .node = "n2"}}});
  EXPECT_THAT(Places("a"), ElementsAre("0:0"));
  s.Happens(Reconciled{
      .nodes = {MigMachine("n1", 1), MigMachine("n2", 2)},
      .tasks = {{.gang = "a", .task = {0, 0}, .node = "n2", .devices = {1}}}});
  EXPECT_THAT(Places("a"), ElementsAre("1:0"));
  s.ExpectRestorable();
}

TEST_F(PartitionStories, TwoTasksInOneSlotAreParted) {
  s.Submit(Parts("a", 1, "1g.10gb"));
  s.Pass();
  s.AllDone();
  s.Submit(Parts("b", 1, "1g.10gb"));
  s.Pass();
  s.Happens(TasksAnswered{
      "b",
      {{.task = {0, 0}, .outcome = TaskOutcome::kStarted, .first_slice = 6}}});
  EXPECT_THAT(s.Pass(), ElementsAre("evict b"));
  s.Applied(DecisionKind::kEvict, "b");
  EXPECT_THAT(s.PassAfter(60), ElementsAre("start b: n1"));
}

TEST_F(PartitionStories, ADeviceCutAnewUnderARunningTaskIsStillItsOwn) {
  s.Submit(Parts("a", 1, "2g.20gb"));
  s.Pass();
  s.AllDone();
  s.Happens(NodeChanged{Machine("n1", 1)});  // No partitions any more.
  EXPECT_EQ(s.FreeGpus("n1"), 0) << "it counts as the whole device";
  s.Happens(NodeChanged{MigMachine("n1", 1)});
  s.Submit(Parts("b", 1, "3g.40gb"));
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n1"));
  s.ExpectRestorable();
}

TEST_F(PartitionStories, WhatOthersHoldIsLeftAlone) {
  s.Happens(ExternalUsageChanged{
      {"n1", {}, {{.device = 0, .partition = "1g.10gb", .first_slice = 0}}}});
  s.Submit(Parts("a", 1, "4g.40gb"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Happens(ExternalUsageChanged{{"n1", {}, {}}});
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1"));
}

// --- What is refused ---------------------------------------------------------

TEST(PartitionRefusals, OfConfigurations) {
  using Change = std::function<void(PartitionScheme&)>;
  const std::pair<Change, std::string> bad[] = {
      {[](auto& p) { p.key = ""; }, "config.partition_schemes[0].key"},
      {[](auto& p) { p.key = "a100-80gb"; },
       "config.partition_schemes[1].key: 'a100-80gb' twice"},
      {[](auto& p) { p.memory_slices = 0; },
       "config.partition_schemes[0].memory_slices: 0 is not in 1..16"},
      {[](auto& p) { p.memory_slices = 17; }, "schemes[0].memory_slices: 17"},
      {[](auto& p) { p.profiles.clear(); }, "schemes[0].profiles: has 0"},
      {[](auto& p) { p.profiles[1].name = ""; }, "profiles[1].name"},
      {[](auto& p) { p.profiles[1].name = "1g.5gb"; },
       "profiles[1].name: '1g.5gb' twice"},
      {[](auto& p) { p.profiles[0].memory_slices = 9; },
       "profiles[0].memory_slices: 9 is not in 1..8"},
      {[](auto& p) { p.profiles[0].milli = 0; },
       "profiles[0].milli: 0 is not in 1..1000"},
      {[](auto& p) { p.profiles[0].starts.clear(); },
       "profiles[0].starts: has 0"},
      {[](auto& p) { p.profiles[2].starts = {0, 7}; },
       "profiles[2].starts[1]: 7 is not in 0..6"},
      {[](auto& p) { p.profiles[2].starts = {4, 2}; },
       "profiles[2].starts[1]: 2 does not come after 4"},
  };
  for (const auto& [change, says] : bad) {
    SchedulerConfig config = Config();
    change(config.partition_schemes[0]);
    const absl::Status status = Scheduler::Create(config).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << says;
    EXPECT_THAT(std::string(status.message()), HasSubstr(says));
  }
}

TEST_F(PartitionStories, BadInputIsNamed) {
  const auto node = [](const std::function<void(Device&)>& change) {
    Node n = MigMachine("n1", 1);
    change(n.devices[0]);
    return EventBody(NodeChanged{n});
  };
  const auto gang = [](const std::function<void(DeviceRequest&)>& change) {
    Gang g = Parts("g", 1, "1g.10gb");
    change(g.roles[0].shape.devices);
    return EventBody(GangSubmitted{g});
  };
  const auto external = [](DeviceShare share) {
    return EventBody(ExternalUsageChanged{{"n1", {}, {share}}});
  };
  const std::pair<EventBody, std::string> bad[] = {
      {node([](Device& d) { d.partition_scheme = "x"; }),
       "node 'n1'.devices[0].partition_scheme: 'x' is not one of"},
      {node([](Device& d) {
         d.partition_scheme = "";
         d.partitions = {{"1g.10gb", 0}};
       }),
       "devices[0].partition_scheme: is empty"},
      {node([](Device& d) { d.partitions = {{"1g.5gb", 0}}; }),
       "devices[0].partitions[0].profile: scheme 'a100-80gb' has no '1g.5gb'"},
      {node([](Device& d) { d.partitions = {{"2g.20gb", 1}}; }),
       "devices[0].partitions[0].start: 1 is not one of the starts"},
      {node([](Device& d) { d.partitions = {{"2g.20gb", 0}, {"1g.10gb", 1}}; }),
       "devices[0].partitions[1].start: overlaps"},
      {node([](Device& d) { d.rail = 64; }), "devices[0].rail: 64 is not in"},
      {node([](Device& d) { d.rail = -2; }), "devices[0].rail: -2"},
      {gang([](DeviceRequest& d) { d.partition = "8g"; }),
       "shape.devices.partition: no scheme of config.partition_schemes has "
       "'8g'"},
      {gang([](DeviceRequest& d) { d.count = 2; }),
       "shape.devices.partition: takes .count = 1"},
      {gang([](DeviceRequest& d) { d.milli = 500; }),
       "shape.devices.partition: takes .count = 1, .milli = 1000"},
      {external({.device = 0, .partition = "x"}),
       "usage of 'n1'.devices[0].partition: no scheme"},
      {external({.device = 0, .milli = 5, .partition = "1g.10gb"}),
       "must be 0 beside a partition"},
      {external({.device = 0, .first_slice = 5}),
       ".first_slice: must be 0 without"},
      {external({.device = 0, .partition = "1g.10gb", .first_slice = 16}),
       ".first_slice: 16 is not in 0..15"},
  };
  const uint64_t before = s.scheduler().StateHash();
  for (const auto& [event, says] : bad) {
    const absl::Status status = s.Try(event);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << says;
    EXPECT_THAT(std::string(status.message()), HasSubstr(says));
    EXPECT_EQ(s.scheduler().StateHash(), before) << says;
  }
}

TEST_F(PartitionStories, SlotsOfAnswersAreChecked) {
  s.Submit(Parts("part", 1, "1g.10gb"));
  s.Pass();
  const auto answer = [](const std::string& gang, uint32_t first_slice) {
    return EventBody(TasksAnswered{gang,
                                   {{.task = {0, 0},
                                     .outcome = TaskOutcome::kStarted,
                                     .first_slice = first_slice}}});
  };
  EXPECT_THAT(std::string(s.Try(answer("part", 16)).message()),
              HasSubstr(".first_slice: 16 is not in 0..15"));
  s.Happens(NodeChanged{Machine("n2", 1)});
  s.Submit(Job("whole", 1, 1, "low"));
  s.Pass();
  EXPECT_THAT(std::string(s.Try(answer("whole", 0)).message()),
              HasSubstr(".first_slice: the task has no partition"));
}

TEST(PartitionRefusals, OfWorkloads) {
  SchedulerConfig config = Config();
  config.placement.typical_tasks.resize(1);
  config.placement.typical_tasks[0].shape.devices = {.count = 1};
  config.placement.typical_tasks[0].shape.devices.partition = "1g.10gb";
  EXPECT_THAT(
      std::string(Scheduler::Create(config).status().message()),
      HasSubstr("config.placement.typical_tasks[0].shape.devices.partition: "
                "not supported yet"));
}

}  // namespace
}  // namespace muster
