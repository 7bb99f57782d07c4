// How large what a host hands in may be: what is larger is refused with the
// field's name, wherever it comes in, and changes nothing.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/poke.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
constexpr int64_t kHigh = std::numeric_limits<int64_t>::max();

// A bit of everything that a host can say, each list with something in it.
Node RichNode() {
  Node node = Machine("n1", 2);
  node.devices[0] = {.model = "A",
                     .memory_bytes = int64_t{80} << 30,
                     .island = 0,
                     .numa = 0,
                     .partition_scheme = "cut",
                     .partitions = {{"half", 0}},
                     .rail = 1};
  node.labels = {{"block", "b"}, {"rack", "r"}};
  node.taints = {{"spot", "yes", TaintEffect::kPreferNoSchedule}};
  return node;
}

SchedulerConfig RichConfig() {
  SchedulerConfig config;
  config.topologies = {{"net", {"block", "rack"}}};
  config.partition_schemes = {{"cut", 2, {{"half", 1, 500, {0, 1}}}}};
  config.placement = {
      .typical_tasks = {{.shape = {.resources = {1}, .devices = {.count = 1}}}},
      .supply = {{"A", 1}},
      .yardstick = {1, 1, 1}};
  return config;
}

Gang RichGang() {
  const SelectorTerm term{{{"rack", SelectorOp::kIn, {"r"}}}};
  Gang gang = Job("rich", 2, 1, "low");
  gang.groups = {{}, {.name = "inner", .min_children = 1, .min_tasks = 1}};
  gang.roles.push_back(gang.roles[0]);
  gang.traffic = {{"a", "b", 2}};
  gang.labels = {{"team", "x"}};
  gang.user = "u";
  gang.account = "a";
  Role& a = gang.roles[0];
  a.name = "a";
  a.shape = {{1000, 1}, {.count = 1, .milli = 500, .models = {"A"}}, {{term}}};
  a.alternatives = {{{500}, {}, {}}};
  a.preferences = {{5, term}};
  a.tolerations = {
      {"spot", TolerationOp::kEqual, "yes", {TaintEffect::kNoExecute}}};
  a.node_sets = {"set"};
  a.topology = {.topology = "net", .required = "block"};
  Role& b = gang.roles[1];
  b.name = "b";
  b.group = 1;
  b.shape.devices = {.count = 1, .milli = 0, .memory_bytes = 5};
  b.topology = {.slices = {{"rack", 2}},
                .spread = {.level = "rack", .max_per_domain = 4}};
  b.start_after = {"a"};
  return gang;
}

std::vector<EventBody> RichEvents() {
  const ExternalUsage external{"n1", {5, 5}, {{1, 100, 10}}};
  Gang changed = RichGang();
  changed.key = "waits";
  return {
      NodeChanged{RichNode()},
      NodeDown{"n1"},
      NodeUp{"n1"},
      NodeRemoved{"n1"},
      NodeDrained{"n1"},
      SpotNotice{"n1", 5},
      ExternalUsageChanged{external},
      NodeSetChanged{{"set", {"n1"}}},
      QueueChanged{
          {.key = "q",
           .parent = "parent",
           .quotas = {{.resource = "gpu", .guarantee = 1000, .limit = 2000}}}},
      QueueRemoved{"idle"},
      PriorityClassChanged{{.key = "low", .min_runtime = 5, .grace = 5}},
      GangSubmitted{RichGang()},
      GangHeld{"runs"},
      GangReprioritized{"runs", "high"},
      GangCancelled{"runs"},
      GangFinished{"runs"},
      CheckpointTaken{"runs", 0},
      TasksAnswered{"runs",
                    {{{0, 0}, 1, TaskOutcome::kStarted, "n1", {1}, {}}}},
      DecisionApplied{1},
      DecisionRefused{1},
      Reconciled{.nodes = {RichNode()},
                 .external = {external},
                 .down = {},
                 .tasks = {{"runs", {0, 0}, "n1", {1}}},
                 .gangs = {{"runs", 0, 0}}},
      GangChanged{changed},
      GangMoved{"waits", "idle"},
      GangYielded{"runs"},
      NodeSetRemoved{"set"},
      PriorityClassRemoved{"high"},
      DisruptionBudgetChanged{{"b", {"runs"}, 1}},
      ConfigChanged{RichConfig()}};
}

// Two gangs, one of which runs, one device each.
void World(Story& s) {
  s.now = 10 * kSecond;
  s.HasQueue("parent");
  s.HasQueue("q", {}, "parent");
  s.HasQueue("idle");
  s.HasClasses();
  s.Happens(NodeChanged{RichNode()});
  s.Happens(NodeSetChanged{{"set", {"n1"}}});
  s.Submit(Job("runs", 1, 1, "low"));
  s.Pass();
  s.Submit(Job("waits", 3, 1, "mid"));
  s.Pass();
}

// What is taken leaves a scheduler that is sound, goes on, and can be
// restored; what is not changes nothing.
void ExpectSound(Scheduler& s) {
  Plan plan;
  for (int pass = 0; pass < 3; ++pass) {
    EXPECT_EQ(s.Validate(), absl::OkStatus());
    s.Schedule(s.now() + kSecond, &plan);
    EXPECT_EQ(s.WhatIf(s.now() + kHour, {}, &plan), absl::OkStatus());
  }
  const absl::StatusOr<Scheduler> again = s.Fork();
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->StateHash(), s.StateHash());
}

absl::Status TryPoked(const Story& base, const EventBody& what) {
  Scheduler s = *const_cast<Story&>(base).scheduler().Fork();
  const uint64_t before = s.StateHash();
  const absl::Status status = s.Apply({s.now(), what});
  if (!status.ok()) {
    EXPECT_EQ(s.StateHash(), before) << status;
  }
  ExpectSound(s);
  return status;
}

// Each member of the sort, in each event, set to `to`.
template <class F>
void ForEachPoke(Poke::Sort sort, int64_t to, F&& f) {
  Story s(RichConfig());
  World(s);
  for (const EventBody& good : RichEvents()) {
    EXPECT_EQ(TryPoked(s, good), absl::OkStatus()) << good.index();
    for (size_t nth = 0;; ++nth) {
      EventBody bad = good;
      Poke poke(sort, nth, to);
      if (!std::visit([&](auto& event) { return poke.At(&event); }, bad)) break;
      SCOPED_TRACE(testing::Message() << "event " << good.index() << ", '"
                                      << poke.name() << "' = " << to);
      f(TryPoked(s, bad), poke.name());
    }
  }
}

TEST(Bounds, NoEventBringsAnEnumThatIsNone) {
  size_t enums = 0;
  for (const int64_t to : {99, 255}) {
    ForEachPoke(Poke::Sort::kEnum, to,
                [&](const absl::Status& status, const std::string& name) {
                  ++enums;
                  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
                  EXPECT_THAT(
                      std::string(status.message()),
                      HasSubstr(name + (name == "effects" ? "[0]" : "")));
                });
  }
  EXPECT_GT(enums, 2 * 8u);
}

TEST(Bounds, NoNumberInAnEventDoesHarm) {
  size_t numbers = 0;
  for (const int64_t to :
       {kLow, kLow / 2, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{1} << 31,
        int64_t{1} << 42, int64_t{1} << 53, kHigh / 2, kHigh}) {
    ForEachPoke(Poke::Sort::kInteger, to,
                [&](const absl::Status&, const std::string&) { ++numbers; });
  }
  EXPECT_GT(numbers, 500u);
}

TEST(Bounds, NoEventBringsATextWithoutEnd) {
  size_t texts = 0;
  ForEachPoke(Poke::Sort::kText, 5000,
              [&](const absl::Status& status, const std::string& name) {
                ++texts;
                EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
                EXPECT_THAT(std::string(status.message()), HasSubstr(name));
                EXPECT_LT(status.message().size(), 1000u);
              });
  EXPECT_GT(texts, 60u);
}

TEST(Bounds, NoEventBringsAListWithoutEnd) {
  size_t lists = 0;
  ForEachPoke(Poke::Sort::kList, 5000,
              [&](const absl::Status& status, const std::string& name) {
                // Of a cluster, or of the tasks that run.
                if (name == "nodes" || name == "tasks" || name == "down" ||
                    name == "external") {
                  return;
                }
                ++lists;
                EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
                if (name == "amount") return;
                EXPECT_THAT(std::string(status.message()), HasSubstr(name));
              });
  EXPECT_GT(lists, 20u);
}

// --- States, configurations and plans ----------------------------------------

// Each member of the sort, set to `to`, one after the other.
template <class T, class F>
void ForEachPokeOf(const T& good, Poke::Sort sort, int64_t to, F&& f) {
  for (size_t nth = 0;; ++nth) {
    T bad = good;
    Poke poke(sort, nth, to);
    if (!poke.At(&bad)) return;
    SCOPED_TRACE(testing::Message() << "'" << poke.name() << "' = " << to);
    f(bad, poke.name());
  }
}

SchedulerState RichState() {
  Story s(RichConfig());
  World(s);
  s.Submit(RichGang());
  s.Happens(ExternalUsageChanged{{"n1", {5, 5}, {{1, 100, 10}}}});
  s.Happens(DisruptionBudgetChanged{{"b", {"runs"}, 1}});
  s.Pass();
  return s.scheduler().State();
}

TEST(Bounds, NoStateBringsAnEnumThatIsNone) {
  const SchedulerState good = RichState();
  size_t enums = 0;
  ForEachPokeOf(good, Poke::Sort::kEnum, 99,
                [&](const SchedulerState& bad, const std::string& name) {
                  ++enums;
                  const auto status = Scheduler::Restore(bad).status();
                  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
                  EXPECT_THAT(std::string(status.message()), HasSubstr(name));
                });
  EXPECT_GT(enums, 15u);
}

TEST(Bounds, NoNumberInAStateDoesHarm) {
  const SchedulerState good = RichState();
  size_t taken = 0;
  size_t refused = 0;
  for (const int64_t to :
       {kLow, int64_t{-1}, int64_t{0}, int64_t{1} << 31, int64_t{1} << 53,
        int64_t{1} << 62, kHigh - 5, kHigh}) {
    ForEachPokeOf(good, Poke::Sort::kInteger, to,
                  [&](const SchedulerState& bad, const std::string&) {
                    auto s = Scheduler::Restore(bad);
                    ++(s.ok() ? taken : refused);
                    if (s.ok()) ExpectSound(*s);
                  });
  }
  EXPECT_GT(taken, 100u);
  EXPECT_GT(refused, 500u);
}

TEST(Bounds, NoStateBringsATextOrAListWithoutEnd) {
  const SchedulerState good = RichState();
  for (const Poke::Sort sort : {Poke::Sort::kText, Poke::Sort::kList}) {
    ForEachPokeOf(good, sort, 5000,
                  [&](const SchedulerState& bad, const std::string& name) {
                    if (name == "nodes" || name == "gang_classes") return;
                    const auto status = Scheduler::Restore(bad).status();
                    EXPECT_FALSE(status.ok()) << name;
                    EXPECT_LT(status.message().size(), 1000u);
                  });
  }
}

TEST(Bounds, NoConfigurationDoesHarm) {
  for (const Poke::Sort sort : {Poke::Sort::kEnum, Poke::Sort::kInteger,
                                Poke::Sort::kText, Poke::Sort::kList}) {
    for (const int64_t to : {kLow, int64_t{-1}, int64_t{5000}, kHigh}) {
      const bool length =
          sort == Poke::Sort::kText || sort == Poke::Sort::kList;
      if (length && to != 5000) continue;
      ForEachPokeOf(
          RichConfig(), sort, to,
          [&](const SchedulerConfig& bad, const std::string& name) {
            auto s = Scheduler::Create(bad);
            if (s.ok()) return ExpectSound(*s);
            EXPECT_THAT(std::string(s.status().message()), HasSubstr("config."))
                << name;
          });
    }
  }
}

TEST(Bounds, NoRecordedPlanDoesHarm) {
  Story s(RichConfig());
  World(s);
  s.Submit(Job("next", 1, 0));
  const Scheduler before = *s.scheduler().Fork();
  s.Pass();
  const PlanRecord good = s.scheduler().Record(s.plan());
  ASSERT_FALSE(good.decisions.empty());
  for (const int64_t to : {int64_t{99}, kLow, int64_t{-1}, int64_t{5000},
                           int64_t{1} << 31, kHigh}) {
    for (const Poke::Sort sort : {Poke::Sort::kEnum, Poke::Sort::kInteger}) {
      ForEachPokeOf(
          good, sort, to, [&](const PlanRecord& bad, const std::string& name) {
            Scheduler copy = *before.Fork();
            const absl::Status status = copy.Follow(bad);
            if (sort == Poke::Sort::kEnum && (to == 99 || to == -1)) {
              EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
              EXPECT_THAT(std::string(status.message()), HasSubstr(name));
            }
            if (!status.ok()) {
              EXPECT_EQ(copy.StateHash(), before.StateHash());
            }
            ExpectSound(copy);
          });
    }
  }
}

// --- Sizes of a gang ---------------------------------------------------------

absl::Status TrySubmit(const Gang& gang) {
  Story s;
  s.HasNode("n1", 2);
  s.HasQueue("q");
  return s.Try(GangSubmitted{gang});
}

void IsRefused(const absl::Status& status, const std::string& says) {
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(says));
}

// Groups one inside the other, the role in the last.
Gang Chain(uint32_t groups) {
  Gang gang = Job("g", 1, 1);
  for (uint32_t g = 0; g < groups; ++g) {
    gang.groups.push_back({.parent = g == 0 ? 0 : g - 1});
  }
  gang.roles[0].group = groups - 1;
  return gang;
}

TEST(Bounds, GroupsAreNestedSoDeepAndNoDeeper) {
  EXPECT_EQ(TrySubmit(Chain(Gang::kMaxDepth + 1)), absl::OkStatus());
  IsRefused(TrySubmit(Chain(Gang::kMaxDepth + 2)),
            "gang 'g'.groups[33].parent: has 32 groups above it");
  IsRefused(TrySubmit(Chain(Gang::kMaxGroups + 1)),
            "gang 'g'.groups: has 1025, not 0..1024");
}

TEST(Bounds, AGangOfTheMostGroupsIsPlaced) {
  Gang gang = Job("g", 1, 0);
  gang.groups.resize(1);
  gang.roles.clear();
  for (uint32_t g = 1; g < Gang::kMaxGroups; ++g) {
    gang.groups.push_back({.parent = (g - 1) / 2});
    gang.roles.push_back({.name = std::to_string(g), .group = g});
  }
  Story s;
  s.HasNode("n1", 2);
  s.HasQueue("q");
  s.Submit(gang);
  s.Pass();
  EXPECT_EQ(s.Phase("g"), "starting");
}

TEST(Bounds, AGangHasSoManyTasksAndNoMore) {
  Gang gang = Job("g", 1, 1);
  gang.roles.assign(4, gang.roles[0]);
  for (size_t r = 0; r < 4; ++r) {
    gang.roles[r].name = std::to_string(r);
    gang.roles[r].desired_tasks = Gang::kMaxTasks / 4;
  }
  EXPECT_EQ(TrySubmit(gang), absl::OkStatus());
  ++gang.roles[3].desired_tasks;
  IsRefused(TrySubmit(gang),
            "gang 'g'.roles: desire 1048577 tasks together; at most 1048576");
  gang.roles.resize(1);
  gang.roles[0].desired_tasks = Gang::kMaxTasks + 1;
  IsRefused(TrySubmit(gang), "roles[0].desired_tasks: 1048577 is not in 1..");
}

TEST(Bounds, AGangHasSoManyShapesAndNoMore) {
  Gang gang = Job("g", 1, 1);
  gang.roles[0].alternatives.assign(Role::kMaxAlternatives, {});
  gang.roles.assign(64, gang.roles[0]);
  for (size_t r = 0; r < gang.roles.size(); ++r) {
    gang.roles[r].name = std::to_string(r);
  }
  IsRefused(TrySubmit(gang), "gang 'g'.roles: have 4160 shapes together");
  for (Role& role : gang.roles) role.alternatives.pop_back();
  EXPECT_EQ(TrySubmit(gang), absl::OkStatus());
}

TEST(Bounds, AGangIsNoLargerThanItMayBe) {
  Gang gang = Job("g", 1, 1);
  gang.labels.assign(2048, {.value = std::string(kMaxTextLength, 'x')});
  for (size_t i = 0; i < gang.labels.size(); ++i) {
    gang.labels[i].key = std::to_string(i);
  }
  IsRefused(TrySubmit(gang), "bytes; at most 4194304");
}

TEST(Bounds, KeysHaveSoManyBytesAndNoMore) {
  Gang gang = Job(std::string(kMaxKeyLength, 'x'), 1, 1);
  EXPECT_EQ(TrySubmit(gang), absl::OkStatus());
  gang.key += 'x';
  IsRefused(TrySubmit(gang), "gang.key: has 513 bytes, not 1..512");
}

TEST(Bounds, ThereAreSoManyKindsAndNoMore) {
  SchedulerConfig config{.resources = {}, .device_kind = ""};
  for (uint32_t k = 0; k < Resources::kMaxKinds; ++k) {
    config.resources.push_back(std::to_string(k));
  }
  EXPECT_TRUE(Scheduler::Create(config).ok());
  config.resources.push_back("one more");
  IsRefused(Scheduler::Create(config).status(),
            "config.resources: has 65, not 0..64");
}

// --- Sums --------------------------------------------------------------------

// A gang that desires 2^62 of the first kind.
Gang Greedy(const std::string& key) {
  Gang gang = Job(key, 1, 0);
  gang.roles[0].min_tasks = 0;
  gang.roles[0].desired_tasks = 512;
  gang.roles[0].shape = {.resources = {Resources::kMaxQuantity}};
  gang.roles.push_back({.name = "small"});
  return gang;
}

TEST(Bounds, WhatOneGangCouldUseIsInRange) {
  Gang gang = Greedy("g");
  EXPECT_EQ(TrySubmit(gang), absl::OkStatus());
  gang.roles[1].shape = {.resources = {1}};
  IsRefused(TrySubmit(gang),
            "gang 'g'.roles: could use more than 2^62 cpu together");
  // Far beyond what 64 bits hold.
  gang.roles[0].desired_tasks = Gang::kMaxTasks - 1;
  IsRefused(TrySubmit(gang),
            "gang 'g'.roles: could use more than 2^62 cpu together");
  // The alternative that asks most counts.
  gang = Greedy("g");
  gang.roles[1].alternatives = {{.resources = {1}}};
  IsRefused(TrySubmit(gang), "gang 'g'.roles: could use more than 2^62 cpu");
}

TEST(Bounds, WhatAllGangsCouldUseIsInRange) {
  Story s;
  s.HasQueue("q");
  s.HasQueue("other");
  s.Submit(Greedy("first"));
  Gang small = Job("small", 1, 0);
  small.queue = "other";
  small.roles[0].shape = {.resources = {1}};
  IsRefused(s.Try(GangSubmitted{small}),
            "gang 'small'.roles: all gangs could use more than 2^62 cpu");
  s.Happens(GangCancelled{"first"});
  s.Submit(small);
}

TEST(Bounds, WhatTheClusterHasIsInRange) {
  Story s;
  Node node{.key = "0", .capacity = {Resources::kMaxQuantity}};
  for (int n = 0; n < 512; ++n) {
    node.key = std::to_string(n);
    EXPECT_EQ(s.Try(NodeChanged{node}), absl::OkStatus());
  }
  node = {.key = "one more", .capacity = {1}};
  IsRefused(s.Try(NodeChanged{node}),
            "node 'one more'.capacity.cpu: the cluster has more than 2^62");
  s.HasQueue("q");
  s.Submit(Greedy("g"));
  s.Pass();
  s.Pass();
  EXPECT_EQ(s.Of("g").tasks.size(), 513u);
  EXPECT_EQ(s.scheduler().QueueUsage("q")[0], Resources::kMaxTotal);
}

TEST(Bounds, WhatReallyRunsIsInRange) {
  Story s;
  s.HasNode("n1", 0);
  s.HasQueue("q");
  Gang gang = Greedy("g");
  s.Submit(gang);
  Reconciled all{.nodes = {Machine("n1", 0)}};
  for (uint32_t i = 0; i < 512; ++i) {
    all.tasks.push_back({.gang = "g", .task = {0, i}, .node = "n1"});
  }
  EXPECT_EQ(s.Try(all), absl::OkStatus());
  EXPECT_EQ(s.scheduler().Validate(), absl::OkStatus());
  EXPECT_EQ(s.scheduler().QueueUsage("q")[0], Resources::kMaxTotal);
  SchedulerState state = s.scheduler().State();
  // The gang desired more before.
  all.tasks.push_back({.gang = "g", .task = {0, 512}, .node = "n1"});
  IsRefused(s.Try(all), "reconciled.tasks[512]: all tasks use more than 2^62");
  state.gangs[0].tasks.push_back(state.gangs[0].tasks.back());
  ++state.gangs[0].tasks.back().task.index;
  IsRefused(Scheduler::Restore(state).status(),
            "state.gangs 'g'.tasks (0, 512): all tasks use more than 2^62");
}

TEST(Bounds, WhatOthersUseOfADeviceIsInRange) {
  Story s;
  s.HasNode("n1", 1);
  ExternalUsage usage{.node = "n1"};
  usage.devices.assign(kMaxListLength, {0, kWholeDevice, kMaxDeviceMemory});
  s.Happens(ExternalUsageChanged{usage});
  EXPECT_EQ(s.scheduler().Validate(), absl::OkStatus());
  s.Happens(ExternalUsageChanged{{.node = "n1"}});
  EXPECT_EQ(s.FreeGpus("n1"), 1);
}

TEST(Bounds, WhatRolesSayToEachOtherIsInRange) {
  Gang gang = Job("g", 1, 0);
  gang.roles[0].name = "a";
  gang.roles.push_back(gang.roles[0]);
  gang.roles[1].name = "b";
  for (Role& role : gang.roles) role.desired_tasks = Gang::kMaxTasks / 2;
  gang.traffic = {{"a", "b", Traffic::kMaxWeight}};
  IsRefused(TrySubmit(gang), "gang 'g'.traffic[0].weight: all pairs");
}

// Each of the tasks that give way costs as much as it can.
TEST(Bounds, WhatVictimsCostIsInRange) {
  Story s;
  s.HasClasses();
  s.HasQueue("q");
  s.Happens(NodeChanged{{.key = "n1", .capacity = {Resources::kMaxQuantity}}});
  Gang gang = Elastic("wide", 1, 8192, "low");
  gang.restart_cost = kMaxDuration;
  gang.roles[0].shape = {.resources = {Resources::kMaxQuantity / 8192}};
  s.Submit(gang);
  s.Pass();
  s.AllDone();
  s.Pass();
  s.AllDone();
  EXPECT_EQ(s.Of("wide").tasks.size(), 8192u);
  gang = Job("large", 1, 0, "high");
  gang.roles[0].shape = {.resources = {Resources::kMaxQuantity / 8192 * 8191}};
  s.Submit(gang);
  s.Pass();
  EXPECT_EQ(s.Phase("large"), "nominated");
}

// --- Times -------------------------------------------------------------------

TEST(Bounds, TimesAreTold) {
  Story s;
  for (const Time at : {Time{-1}, kMaxTime + 1, kForever}) {
    IsRefused(s.scheduler().Apply({at, NodeChanged{Machine("n", 1)}}),
              "event.at: ");
  }
  Plan plan;
  s.scheduler().Schedule(kForever, &plan);  // As if no time were told.
  EXPECT_EQ(s.scheduler().now(), 0);
  s.HasNode("n", 1);
  IsRefused(s.Try(SpotNotice{"n", kForever}), "spot_notice.at: ");
  IsRefused(s.Try(SpotNotice{"n", -5}), "spot_notice.at: -5 is not in 0..");
}

}  // namespace
}  // namespace muster
