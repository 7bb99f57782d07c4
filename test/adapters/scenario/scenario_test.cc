#include "adapters/scenario/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/adapters/test_files.h"

namespace muster::inprocess {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr char kNodes[] = "nodes: [{key: n, capacity: {cpu: 4}, devices: 2}]\n";

// The message about a file with this content, its path replaced by FILE.
std::string MessageAbout(const std::string& yaml) {
  const TempFile file("bad.yaml", yaml);
  const auto s = LoadScenario(file.path());
  if (s.ok()) return "(no mistake found)";
  EXPECT_TRUE(absl::IsInvalidArgument(s.status()));
  std::string message(s.status().message());
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  const size_t at = message.find(file.path());
  if (at != std::string::npos) message.replace(at, file.path().size(), "FILE");
  return message;
}

TEST(ScenarioTest, ReadsEveryPart) {
  const TempFile file("good.yaml", R"(
title: all of it
resources: [cpu, memory, gpu, nic]
topologies: [{key: net, levels: [zone, rack]}]
scheduler: {work_budget: 1000, backoff_base: 5s, preemption: true}
placement:
  policy: fragmentation
  seed: 7
  typical_tasks:
    - {weight: 3, per_task: {cpu: 500m, gpu: 250m}}
    - {per_task: {gpu: 2}, devices: {models: [A]}, selector: {zone: z}}
  yardstick: {cpu: 8, gpu: 2}
host:
  capabilities: {suspend: true, choose_devices: false}
  start_time: 2s
  answers: 3
  lapses: [{gang: g, on: stop, what: late, delay: 5s, times: 2}]
node_sets: [{key: fast, nodes: [n-0]}]
nodes:
  - key: n
    count: 2
    capacity: {cpu: 8, memory: 16Gi, nic: 2}
    devices: [{count: 2, model: A, memory: 80Gi, island: 0}, {model: B}]
    labels: {zone: z, rack: r}
    taints: [{key: t, effect: NoExecute}]
queues:
  - {key: child, parent: top, weight: 2, ordering: strict-fifo}
  - {key: top, quotas: [{resource: gpu, guarantee: 2, limit: 4}]}
priority_classes: [{key: p, value: -5, on_preempted: suspend, grace: 10s}]
gangs:
  - key: g
    queue: child
    priority_class: p
    submit: 10s
    run: 1h
    copies: 2
    every: 30s
    groups: [{name: left, min_tasks: 1}]
    roles:
      - {name: a, group: left, min: 1, desired: 3, per_task: {cpu: 500m, gpu: 250m},
         selector: {zone: [z, y]}, tolerations: [{key: t, op: Exists}]}
      - {name: b, tasks: 2, per_task: {nic: 1, gpu: 2}, devices: {models: [A]},
         start_after: [a], node_sets: [fast]}
    traffic: [{from: a, to: b}]
    topology: {preferred: rack}
events:
  - {at: 20s, node_down: n-0}
  - {at: 30s, fail_task: {gang: g-0, role: 1, index: 1}}
expect:
  intervals: {g-0: [{from: 10s, end: node-lost}]}
  waiting: {g-1: held}
)");
  const auto loaded = LoadScenario(file.path());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Scenario& s = *loaded;
  EXPECT_EQ(s.setup.config.resources.size(), 4U);
  EXPECT_EQ(s.setup.config.backoff_base, 5 * kSecond);
  const PlacementOptions& placement = s.setup.config.placement;
  EXPECT_EQ(placement.policy, PlacementPolicy::kFragmentation);
  EXPECT_EQ(placement.seed, 7U);
  ASSERT_EQ(placement.typical_tasks.size(), 2U);
  EXPECT_EQ(placement.typical_tasks[0].weight, 3);
  EXPECT_EQ(placement.typical_tasks[0].shape.devices.milli, 250);
  EXPECT_EQ(placement.typical_tasks[1].shape.devices.models[0], "A");
  EXPECT_EQ(placement.yardstick, Resources({8000, 0, 2000}));
  EXPECT_EQ(placement.supply, (std::vector<ModelSupply>{{"A", 4}, {"B", 2}}))
      << "counted, where it is not given";
  EXPECT_TRUE(s.setup.config.host.suspend);
  EXPECT_EQ(s.host.lapses[0].times, 2U);
  ASSERT_EQ(s.setup.nodes.size(), 2U);
  EXPECT_EQ(s.setup.nodes[1].key, "n-1");
  EXPECT_EQ(s.setup.nodes[0].capacity[0], 8000);
  EXPECT_EQ(s.setup.nodes[0].devices.size(), 3U);
  EXPECT_EQ(s.setup.nodes[0].devices[2].model, "B");
  EXPECT_EQ(s.setup.queues[0].key, "top") << "parents come first";
  EXPECT_EQ(s.setup.queues[0].quotas[0].limit, 4000);
  EXPECT_EQ(s.setup.priority_classes[0].value, -5);
  ASSERT_EQ(s.jobs.size(), 2U);
  const Gang& g = s.jobs[1].gang;
  EXPECT_EQ(g.key, "g-1");
  EXPECT_EQ(g.submitted, 40 * kSecond);
  EXPECT_EQ(g.groups.size(), 2U);
  EXPECT_EQ(g.roles[0].group, 1U);
  EXPECT_EQ(g.roles[0].shape.devices.milli, 250);
  EXPECT_EQ(g.roles[1].shape.devices.count, 2U);
  EXPECT_EQ(g.roles[1].min_tasks, 2U);
  EXPECT_EQ(s.events.size(), 2U);
  EXPECT_EQ(s.expect.waiting[0].reason, ReasonCode::kHeld);
}

struct BadCase {
  const char* name;
  const char* yaml;  // Behind kNodes, unless it has nodes of its own.
  const char* message;
};

void PrintTo(const BadCase& c, std::ostream* out) { *out << c.yaml; }

class BadScenarioTest : public testing::TestWithParam<BadCase> {};

TEST_P(BadScenarioTest, IsToldWithLineAndField) {
  const std::string yaml = GetParam().yaml;
  const bool own = yaml.find("nodes:") != std::string::npos;
  EXPECT_THAT(MessageAbout((own ? "" : kNodes) + yaml),
              HasSubstr(GetParam().message));
}

constexpr BadCase kBadCases[] = {
    {"Syntax", "gangs: [{key: a", "FILE:2:"},
    {"Tab", "gangs:\n\t- x", "FILE:3:2: "},
    {"NotAMapping", "- nodes: 1", "FILE:1:1: expected a mapping"},
    {"NoNodes", "title: x\nqueues: []\n#nodes:", "lacks the key 'nodes'"},
    {"PolicyOfAnotherName", "placement: {policy: best}",
     "FILE:2:21: placement.policy: 'best' is none of: muster, binpack, "},
    {"WeightOfNothing", "placement: {typical_tasks: [{weight: 0}]}",
     "FILE:2:38: placement.typical_tasks[0].weight: "},
    {"SupplyOfAHalf", "placement: {supply: {A: 0.5}}",
     "FILE:2:25: placement.supply.A: "},
    {"UnknownTopKey", "gang: []", "FILE:2:1: unknown key 'gang' (known here: "},
    {"UnknownKeyDeepInside",
     "gangs:\n  - {key: a, run: 1s, roles: [{name: r, replicas: 3}]}",
     "FILE:3:41: gangs[0].roles[0]: unknown key 'replicas'"},
    {"KeyTwice", "queues:\n  - {key: a, weight: 1, weight: 2}",
     "FILE:3:25: queues[0].weight: appears twice"},
    {"UnknownResource", "gangs: [{key: a, run: 1s, per_task: {tpu: 1}}]",
     "gangs[0].per_task.tpu: unknown resource 'tpu' (known: cpu, memory, gpu)"},
    {"NegativeQuantity", "gangs: [{key: a, run: 1s, per_task: {cpu: -1}}]",
     "FILE:2:43: gangs[0].per_task.cpu: '-1' is negative"},
    {"OverflowingQuantity",
     "gangs: [{key: a, run: 1s, per_task: {cpu: 10000Pi}}]", "is too large"},
    {"HugeQuantity", "gangs: [{key: a, run: 1s, per_task: {memory: 16Pi}}]",
     "gangs[0].per_task.memory: is too large"},
    {"FractionOfAByte", "gangs: [{key: a, run: 1s, per_task: {memory: 1m}}]",
     "'1m' is not a whole number of the smallest unit"},
    {"GpuAndAHalf", "gangs: [{key: a, run: 1s, per_task: {gpu: 1500m}}]",
     "either a part of one device or whole devices"},
    {"NegativeTime", "gangs: [{key: a, run: -1s}]",
     "gangs[0].run: '-1s' is negative"},
    {"TimeWithoutUnit", "gangs: [{key: a, run: 100}]", "lacks a unit"},
    {"NegativeCount", "gangs: [{key: a, run: 1s, tasks: -4}]",
     "'-4' is not between 1 and"},
    {"NotANumber", "gangs: [{key: a, run: 1s, tasks: four}]",
     "gangs[0].tasks: 'four' is not an integer"},
    {"NoRun", "gangs:\n  - key: a", "FILE:3:5: gangs[0]: lacks the key 'run'"},
    {"TasksAndMin", "gangs: [{key: a, run: 1s, tasks: 4, min: 2}]",
     "has both 'tasks' and 'min' or 'desired'"},
    {"ListForText", "gangs: [{key: [a], run: 1s}]",
     "gangs[0].key: expected a single value"},
    {"TextForList", "gangs: a", "gangs: expected a list"},
    {"NotABool", "queues: [{key: a, held: maybe}]",
     "queues[0].held: 'maybe' is neither true nor false"},
    {"NotAnEnum", "priority_classes: [{key: a, on_preempted: kill}]",
     "'kill' is none of: requeue, suspend, cancel, never"},
    {"TwoGangs", "gangs:\n  - {key: a, run: 1s}\n  - {key: a, run: 1s}",
     "FILE:4:5: gangs[1]: there is a gang 'a' already, on line 3"},
    {"TwoNodes", "nodes:\n  - {key: n}\n  - {key: n}",
     "FILE:3:5: nodes[1]: there is a node 'n' already, on line 2"},
    {"TwoQueues", "queues: [{key: q}, {key: q}]",
     "queues[1]: there is a queue 'q' already, on line 2"},
    {"TwoClasses", "priority_classes: [{key: q}, {key: q}]",
     "there is a priority class 'q' already"},
    {"TwoRoles", "gangs: [{key: a, run: 1s, roles: [{name: r}, {name: r}]}]",
     "gangs[0].roles[1]: there are two roles named 'r'"},
    {"QueuesInACircle",
     "queues:\n  - {key: a, parent: b}\n  - {key: b, parent: a}",
     "FILE:3:5: queues[0]: the queues form a cycle: a below b below a"},
    {"QueueBelowItself", "queues:\n  - {key: a, parent: a}",
     "the queues form a cycle: a below a"},
    {"CircleAside",
     "queues: [{key: x, parent: a}, {key: a, parent: b}, {key: b, parent: a}]",
     "the queues form a cycle"},
    {"QueueWithoutParent", "queues: [{key: a, parent: b}]",
     "queues[0]: there is no queue 'b' to be its parent"},
    {"RolesInACircle",
     "gangs:\n  - {key: a, run: 1s, roles: [{name: x, start_after: [y]}, "
     "{name: y, start_after: [x]}]}",
     "FILE:3:5: gangs[0]: "},
    {"UnknownQueue", "gangs: [{key: a, queue: q, run: 1s}]",
     "FILE:2:9: gangs[0]: "},
    {"UnknownClass", "gangs: [{key: a, priority_class: q, run: 1s}]",
     "FILE:2:9: gangs[0]: "},
    {"NotSupportedYet", "gangs: [{key: a, run: 1s, deadline: 5s}]",
     "FILE:2:9: gangs[0]: "},
    {"NoSuchGroup", "gangs: [{key: a, run: 1s, roles: [{group: g}]}]",
     "there is no such group"},
    {"EventThatIsNone", "events:\n  - {at: 5s}",
     "FILE:3:5: events[0]: says nothing that happens"},
    {"MoreNodesThanMemory", "nodes: [{key: n, count: 1000000, devices: 64}]",
     "FILE:1:9: nodes[0]: 1000000 of these take "},
    {"CountBeyondAllBounds", "nodes: [{key: n, count: 4000000000}]",
     "FILE:1:25: nodes[0].count: '4000000000' is not between 1 and 1000000"},
    {"LapseWithoutNode", "host: {lapses: [{gang: a, what: elsewhere}]}",
     "host.lapses[0]: 'elsewhere' needs a node"},
};

INSTANTIATE_TEST_SUITE_P(All, BadScenarioTest, testing::ValuesIn(kBadCases),
                         [](const auto& tested) { return tested.param.name; });

TEST(ScenarioTest, DevicesAreCutIntoPartitions) {
  TempFile file("partitions.yaml", R"(
partition_schemes:
  - h100-80gb
  - key: odd
    slices: 4
    profiles: [{name: half, slices: 2, share: 500m, starts: [0, 2]}]
nodes:
  - key: n
    devices:
      - {memory: 80Gi, partition_scheme: h100-80gb, rail: 3}
      - {partition_scheme: odd, partitions: [{profile: half, start: 2}]}
queues: [{key: q}]
gangs:
  - {key: g, queue: q, run: 1h, roles: [{name: a, tasks: 3, devices: {partition: 1g.10gb}}]}
)");
  const auto loaded = LoadScenario(file.path());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const SchedulerConfig& config = loaded->setup.config;
  ASSERT_EQ(config.partition_schemes.size(), 2U);
  EXPECT_EQ(config.partition_schemes[0].key, "h100-80gb");
  EXPECT_EQ(config.partition_schemes[1].profiles[0],
            (PartitionProfile{"half", 2, 500, {0, 2}}));
  const std::vector<Device>& devices = loaded->setup.nodes[0].devices;
  EXPECT_EQ(devices[0].partition_scheme, "h100-80gb");
  EXPECT_EQ(devices[0].rail, 3);
  EXPECT_EQ(devices[1].partitions[0], (DevicePartition{"half", 2}));
  const DeviceRequest& request = loaded->jobs[0].gang.roles[0].shape.devices;
  EXPECT_EQ(request.partition, "1g.10gb");
  EXPECT_EQ(request.count, 1U);
}

// What a few bytes of a file can ask for is bounded.
std::string MessageWithin(const ScenarioLimits& limits,
                          const std::string& yaml) {
  const TempFile file("large.yaml", kNodes + yaml);
  return std::string(LoadScenario(file.path(), limits).status().message());
}

TEST(ScenarioLimitsTest, CopiesOfAllGangsTogetherAreBounded) {
  const std::string yaml =
      "gangs:\n"
      "  - {key: a, run: 1s, copies: 500}\n"
      "  - {key: b, run: 1s, copies: 500}\n";
  const std::string message = MessageWithin({.memory = 1 << 20}, yaml);
  EXPECT_THAT(message, HasSubstr(":4:5: gangs[1]: 500 of these take "));
  EXPECT_THAT(message,
              HasSubstr("all nodes and gangs of a file may take 1 MiB"));
  EXPECT_EQ(MessageWithin({.memory = 4 << 20}, yaml), "");
}

TEST(ScenarioLimitsTest, TheSameFileMayHaveLongTexts) {
  const std::string yaml = "gangs: [{key: a, run: 1s, copies: 400, user: " +
                           std::string(100'000, 'u') + "}]\n";
  EXPECT_THAT(MessageWithin({.memory = 4 << 20}, yaml),
              HasSubstr("gangs[0]: 400 of these take 38 MiB"));
}

TEST(ScenarioLimitsTest, TasksOfAllRolesAreBounded) {
  std::string yaml = "gangs: [{key: a, run: 1s, roles: [";
  for (int i = 0; i < 100; ++i) {
    yaml += "{name: r" + std::to_string(i) + ", tasks: 1000000}, ";
  }
  EXPECT_THAT(MessageWithin({}, yaml + "]}]\n"),
              HasSubstr("gangs[0]: 1 of these take 61"));
}

TEST(ScenarioLimitsTest, CheckpointsOfARunAreBounded) {
  EXPECT_THAT(
      MessageWithin({}, "gangs: [{key: a, run: 1h, checkpoint_every: 1us}]"),
      HasSubstr(":2:45: gangs[0].checkpoint_every: more than 1000000 "
                "checkpoints in one run"));
  EXPECT_EQ(MessageWithin({.checkpoints = 60},
                          "gangs: [{key: a, run: 1h, checkpoint_every: 1m}]"),
            "");
}

TEST(ScenarioLimitsTest, AliasesAreRead) {
  const TempFile file("alias.yaml", R"(
nodes: [{key: n, count: 2, labels: &where {zone: z}}]
gangs: [{key: a, run: 1s, selector: *where}]
)");
  const auto s = LoadScenario(file.path());
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(s->jobs[0].gang.roles[0].shape.selector.any_of.size(), 1U);
}

TEST(ScenarioLimitsTest, AliasesOfAliasesAreBounded) {
  std::string yaml = "story: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i <= 9; ++i) {
    const std::string below = "*a" + std::to_string(i - 1);
    yaml += "s" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + below;
    for (int k = 1; k < 10; ++k) yaml += ", " + below;
    yaml += "]\n";
  }
  EXPECT_THAT(MessageWithin({}, yaml),
              HasSubstr("aliases stand for more than 1000000 values"));
}

TEST(ScenarioLimitsTest, AnAliasOfItselfIsAMistake) {
  EXPECT_THAT(MessageAbout("nodes: [{key: n, devices: &d [*d]}]\n"),
              HasSubstr("FILE:1:27: is more than 64 levels deep"));
}

TEST(ScenarioTest, TellsTheMistakeThatStandsFirst) {
  EXPECT_THAT(MessageAbout("nodes: [{key: n, bad: 1}]\nworse: 2\n"),
              StartsWith("FILE:1:18: nodes[0]: unknown key 'bad'"));
}

TEST(ScenarioTest, SaysWhatIsWrongWithTheFileItself) {
  EXPECT_THAT(MessageAbout(""), HasSubstr("FILE: is empty"));
  EXPECT_THAT(MessageAbout("nodes: []\n---\nnodes: []\n"),
              HasSubstr("FILE: has several documents"));
  EXPECT_THAT(MessageAbout(","), HasSubstr("FILE: has several documents"))
      << "to the parser there is no end of them";
  EXPECT_THAT(
      std::string(LoadScenario("/proc/no-such.yaml").status().message()),
      HasSubstr("/proc/no-such.yaml: cannot be read"));
}

}  // namespace
}  // namespace muster::inprocess
