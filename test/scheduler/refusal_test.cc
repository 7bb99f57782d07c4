// Every input that is refused: its kind of error, and the field it names.
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;
constexpr auto kExists = absl::StatusCode::kAlreadyExists;
constexpr auto kNotNow = absl::StatusCode::kFailedPrecondition;
constexpr auto kLater = absl::StatusCode::kUnimplemented;

struct Refusal {
  EventBody event{};
  absl::StatusCode code = kInvalid;
  std::string says{};
};

// A scheduler with node n1, queues "q" and "closed" below "parent", class
// "low" and gang "runs".
SchedulerConfig Config() {
  SchedulerConfig config;
  config.topologies = {{"net", {"block", "rack"}}};
  return config;
}

void World(Story& s) {
  s.HasNode("n1", 2);
  s.HasQueue("parent");
  s.HasQueue("q", {}, "parent");
  s.Happens(
      QueueChanged{{.key = "closed", .parent = "parent", .closed = true}});
  s.HasClasses();
  s.Submit(Job("runs", 1, 1, "low"));
  s.Pass();
}

void ExpectRefused(const std::vector<Refusal>& refusals) {
  Story s(Config());
  World(s);
  const uint64_t before = s.scheduler().StateHash();
  for (const Refusal& r : refusals) {
    const absl::Status status = s.Try(r.event);
    EXPECT_EQ(status.code(), r.code) << r.says << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(r.says));
    EXPECT_EQ(s.scheduler().StateHash(), before) << r.says;
  }
}

EventBody With(const std::function<void(Gang&)>& change) {
  Gang gang = Job("g");
  gang.roles[0].name = "worker";
  change(gang);
  return GangSubmitted{gang};
}

EventBody WithRole(const std::function<void(Role&)>& change) {
  return With([&](Gang& g) { change(g.roles[0]); });
}

EventBody WithShape(const std::function<void(TaskShape&)>& change) {
  return With([&](Gang& g) { change(g.roles[0].shape); });
}

EventBody WithTopology(const std::function<void(TopologyConstraint&)>& change) {
  return With([&](Gang& g) { change(g.roles[0].topology); });
}

TEST(Refusals, OfGangs) {
  ExpectRefused({
      {With([](Gang& g) { g.key.clear(); }), kInvalid, "gang.key"},
      {With([](Gang& g) { g.key.assign(513, 'x'); }), kInvalid, "gang.key"},
      {With([](Gang& g) { g.key = "runs"; }), kExists, "gang 'runs'"},
      {With([](Gang& g) { g.queue = "x"; }), kNotFound, "gang 'g'.queue: 'x'"},
      {With([](Gang& g) { g.queue = "parent"; }), kInvalid,
       "gang 'g'.queue: 'parent' has children"},
      {With([](Gang& g) { g.queue = "closed"; }), kNotNow,
       "gang 'g'.queue: 'closed' is closed"},
      {With([](Gang& g) { g.priority_class = "x"; }), kNotFound,
       "gang 'g'.priority_class: 'x'"},
      {With([](Gang& g) { g.roles.clear(); }), kInvalid, "gang 'g'.roles"},
      {With([](Gang& g) { g.roles.resize(1025, g.roles[0]); }), kInvalid,
       "gang 'g'.roles: has 1025"},
      {With([](Gang& g) { g.roles[0].min_tasks = 0; }), kInvalid,
       "gang 'g'.roles: no role needs any task"},
      {With([](Gang& g) { g.roles.push_back(g.roles[0]); }), kInvalid,
       "gang 'g'.roles[1].name: 'worker' twice"},
      {With([](Gang& g) { g.max_runtime = -1; }), kInvalid, ".max_runtime"},
      {With([](Gang& g) { g.expected_runtime = -1; }), kInvalid,
       ".expected_runtime"},
      {With([](Gang& g) { g.restart_cost = -1; }), kInvalid, ".restart_cost"},
      {With([](Gang& g) { g.traffic = {{"x", "worker"}}; }), kInvalid,
       "gang 'g'.traffic[0].from: there is no role 'x'"},
      {With([](Gang& g) { g.traffic = {{"worker", "x"}}; }), kInvalid,
       "gang 'g'.traffic[0].to"},
      {With([](Gang& g) { g.traffic = {{"worker", "worker", 0}}; }), kInvalid,
       "gang 'g'.traffic[0].weight"},
  });
}

TEST(Refusals, OfGroups) {
  const auto groups = [](std::vector<Group> all) {
    return With([&](Gang& g) {
      g.groups = all;
      g.roles[0].group = static_cast<uint32_t>(all.size() - 1);
    });
  };
  ExpectRefused({
      {groups({{}, {.name = "in", .parent = 1}}), kInvalid,
       "gang 'g'.groups[1].parent"},
      {groups({{}, {}, {}}), kInvalid, "gang 'g'.groups[1]: has no role"},
      {groups({{.min_children = 2}}), kInvalid,
       "groups[0].min_children: 2 of 1"},
      {groups({{.min_tasks = 2}}), kInvalid, "groups[0].min_tasks: 2 of 1"},
      {With([](Gang& g) {  // The inner group is content with nothing.
         g.groups = {{.min_children = 1}, {.name = "inner"}};
         g.roles.push_back(g.roles[0]);
         g.roles[0].group = 1;
         g.roles[0].min_tasks = 0;
         g.roles[1].name = "other";
       }),
       kInvalid, "gang 'g'.roles: no role needs any task"},
      {WithRole([](Role& r) { r.group = 7; }), kInvalid, "roles[0].group: 7"},
  });
}

TEST(Refusals, OfRoles) {
  ExpectRefused({
      {WithRole([](Role& r) { r.desired_tasks = 0; }), kInvalid,
       "gang 'g'.roles[0].desired_tasks: 0"},
      {WithRole([](Role& r) { r.min_tasks = 2; }), kInvalid,
       "gang 'g'.roles[0].min_tasks: 2"},
      {WithRole([](Role& r) { r.desired_tasks = 2'000'000; }), kInvalid,
       ".desired_tasks: 2000000"},
      {WithRole([](Role& r) { r.node_sets = {"x"}; }), kNotFound, "node_sets"},
      {WithRole([](Role& r) { r.start_after = {"x"}; }), kInvalid,
       "gang 'g'.roles[0].start_after: there is no role 'x'"},
      {WithRole([](Role& r) { r.start_after = {"worker"}; }), kInvalid,
       "start_after has a cycle: 'worker' after 'worker'"},
      {WithRole([](Role& r) { r.preferences = {{0, {}}}; }), kInvalid,
       "roles[0].preferences[0].weight: 0"},
      {WithRole([](Role& r) {
         r.tolerations = {{"a", TolerationOp::kExists, "", {}, -2}};
       }),
       kInvalid, "roles[0].tolerations[0].seconds: -2"},
      {WithRole([](Role& r) { r.tolerations = {{"", TolerationOp::kEqual}}; }),
       kInvalid, "roles[0].tolerations[0].key"},
      {WithRole([](Role& r) {
         r.alternatives.resize(1);
         r.alternatives[0].resources = {-1};
       }),
       kInvalid, "roles[0].alternatives[0].resources.cpu: -1"},
  });
}

TEST(Refusals, OfShapes) {
  const auto selector = [](Requirement r) {
    return WithShape([&](TaskShape& s) { s.selector.any_of = {{{r}}}; });
  };
  ExpectRefused({
      {WithShape([](TaskShape& s) { s.resources = {-1}; }), kInvalid,
       "gang 'g'.roles[0].shape.resources.cpu: -1"},
      {WithShape([](TaskShape& s) { s.resources = {int64_t{1} << 54}; }),
       kInvalid, "shape.resources.cpu"},
      {WithShape([](TaskShape& s) { s.resources = {0, 0, 1000}; }), kInvalid,
       "shape.resources.gpu: is counted by devices"},
      {WithShape([](TaskShape& s) { s.resources = {0, 0, 0, 1}; }), kInvalid,
       "shape.resources: has 4 kinds"},
      {WithShape([](TaskShape& s) { s.devices.count = 129; }), kInvalid,
       "shape.devices.count: 129"},
      {WithShape([](TaskShape& s) { s.devices.milli = 1001; }), kInvalid,
       "shape.devices.milli: 1001"},
      {WithShape([](TaskShape& s) { s.devices.milli = 0; }), kInvalid,
       "shape.devices.milli: 0"},
      {WithShape([](TaskShape& s) { s.devices.memory_bytes = 5; }), kInvalid,
       "shape.devices.milli: 1000"},
      {WithShape([](TaskShape& s) { s.devices.memory_bytes = -5; }), kInvalid,
       "shape.devices.memory_bytes: -5"},
      {selector({"", SelectorOp::kExists, {}}), kInvalid,
       ".all_of[0].key: has 0 bytes"},
      {selector({"a", SelectorOp::kIn, {}}), kInvalid, "all_of[0].values"},
      {selector({"a", SelectorOp::kExists, {"b"}}), kInvalid,
       "all_of[0].values"},
      {selector({"a", SelectorOp::kGt, {"b"}}), kInvalid,
       "'b' is not an integer"},
  });
}

TEST(Refusals, OfTopologyConstraints) {
  ExpectRefused({
      {WithTopology([](TopologyConstraint& c) { c.topology = "x"; }), kInvalid,
       "roles[0].topology.topology: there is no 'x'"},
      {WithTopology([](TopologyConstraint& c) { c.required = "x"; }), kInvalid,
       "roles[0].topology.required: there is no level 'x'"},
      {WithTopology([](TopologyConstraint& c) { c.preferred = "x"; }), kInvalid,
       "roles[0].topology.preferred"},
      {WithTopology([](TopologyConstraint& c) { c.slices = {{"x", 2}}; }),
       kInvalid, "slices[0].level"},
      {WithTopology([](TopologyConstraint& c) { c.slices = {{"rack", 0}}; }),
       kInvalid, "slices[0].size: 0"},
      {WithTopology([](TopologyConstraint& c) {
         c.slices = {{"block", 4}, {"rack", 3}};
       }),
       kInvalid, "slices[1].size: 3 does not divide"},
      {WithTopology([](TopologyConstraint& c) {
         c.slices = {{"rack", 4}, {"block", 2}};
       }),
       kInvalid, "slices[1].level: is wider"},
      {WithTopology([](TopologyConstraint& c) { c.spread = {"x", 1}; }),
       kInvalid, "roles[0].topology.spread.level: there is no level 'x'"},
      {WithTopology([](TopologyConstraint& c) { c.spread.max_skew = 1; }),
       kInvalid, "roles[0].topology.spread.level: is empty"},
      {WithTopology([](TopologyConstraint& c) { c.spread.level = "rack"; }),
       kInvalid, "roles[0].topology.spread.max_per_domain: is 0"},
      {WithTopology([](TopologyConstraint& c) {
         c.required = "rack";
         c.spread = {.level = "rack", .min_domains = 2};
       }),
       kInvalid, "spread.min_domains: 2 of level 'rack' cannot be used inside"},
      {WithTopology([](TopologyConstraint& c) {
         c.required = kHostLevel;
         c.spread = {.level = "block", .min_domains = 2};
       }),
       kInvalid, "spread.min_domains: 2 of level 'block'"},
  });
}

// Fields of the interface whose behaviour comes later: never ignored.
TEST(Refusals, OfWhatIsNotSupportedYet) {
  const auto quota = [](Quota q) {
    return QueueChanged{{.key = "q", .parent = "parent", .quotas = {q}}};
  };
  ExpectRefused({
      {With([](Gang& g) { g.affinity.resize(1); }), kLater,
       "gang 'g'.affinity: not supported yet"},
      {With([](Gang& g) { g.deadline = 5; }), kLater, "gang 'g'.deadline"},
      {With([](Gang& g) { g.depends_on = {"runs"}; }), kLater,
       "gang 'g'.depends_on"},
      {With([](Gang& g) { g.speed.resize(1); }), kLater, "gang 'g'.speed"},
      {quota({.resource = "gpu", .flavor = "spot"}), kLater,
       "queue 'q'.quotas[0].flavor"},
      {quota({.resource = "gpu", .lend_limit = 5}), kLater,
       "queue 'q'.quotas[0].lend_limit"},
  });
}

TEST(Refusals, OfNodes) {
  const auto with = [](const std::function<void(Node&)>& change) {
    Node node = Machine("n1", 2);
    change(node);
    return NodeChanged{node};
  };
  ExpectRefused({
      {with([](Node& n) { n.key.clear(); }), kInvalid, "node.key"},
      {with([](Node& n) { n.capacity = {-1}; }), kInvalid,
       "node 'n1'.capacity.cpu: -1"},
      {with([](Node& n) { n.capacity = {0, 0, 4}; }), kInvalid,
       "node 'n1'.capacity.gpu: is counted by devices"},
      {with([](Node& n) {
         n.taints = {{"a", "", TaintEffect::kNoExecute, kForever}};
       }),
       kInvalid, "node 'n1'.taints[0].since"},
      {DisruptionBudgetChanged{{"", {"a"}, 0}}, kInvalid, "budget.key"},
      {DisruptionBudgetChanged{{"b", {"a", "a"}, 0}}, kInvalid,
       "budget 'b'.gangs[1]: 'a'"},
      {DisruptionBudgetChanged{{"b", {"a"}, -1}}, kInvalid,
       "budget 'b'.allowed: -1"},
      {DisruptionBudgetChanged{{"b", {}, 0}}, kNotFound, "budget 'b'"},
      {with([](Node& n) { n.devices.resize(DeviceSet::kCapacity + 1); }),
       kInvalid, "node 'n1'.devices: has 129"},
      {with([](Node& n) { n.devices[1].memory_bytes = -1; }), kInvalid,
       "node 'n1'.devices[1].memory_bytes"},
      {with([](Node& n) { n.labels = {{"a", ""}, {"a", ""}}; }), kInvalid,
       "node 'n1'.labels[1].key: 'a' twice"},
      {with([](Node& n) { n.labels = {{"", ""}}; }), kInvalid,
       "node 'n1'.labels[0].key: has 0 bytes, not 1..512"},
      {NodeDown{"x"}, kNotFound, "node 'x'"},
      {NodeUp{"x"}, kNotFound, "node 'x'"},
      {NodeRemoved{"x"}, kNotFound, "node 'x'"},
      {NodeDrained{"x", true}, kNotFound, "node 'x'"},
      {SpotNotice{"x", 0}, kNotFound, "node 'x'"},
      {ExternalUsageChanged{{"x", {}, {}}}, kNotFound, "node 'x'"},
      {ExternalUsageChanged{{"n1", {-1}, {}}}, kInvalid,
       "usage of 'n1'.amount.cpu: -1"},
      {ExternalUsageChanged{{"n1", {}, {{2, 0, 0}}}}, kInvalid,
       "usage of 'n1': device 2 of 2"},
      {ExternalUsageChanged{{"n1", {}, {{0, 1001, 0}}}}, kInvalid, "milli"},
      {NodeSetChanged{{"", {}}}, kInvalid, "set.key"},
  });
}

TEST(Refusals, OfQueuesAndClasses) {
  const auto quotas = [](std::vector<Quota> q) {
    return QueueChanged{{.key = "q", .parent = "parent", .quotas = q}};
  };
  ExpectRefused({
      {QueueChanged{{.key = ""}}, kInvalid, "queue.key"},
      {QueueChanged{{.key = "new", .parent = "x"}}, kNotFound,
       "queue 'new'.parent: 'x' is not known"},
      {QueueChanged{{.key = "new", .parent = "new"}}, kInvalid,
       "queue 'new'.parent: 'new' is the queue itself"},
      {QueueChanged{{.key = "new", .parent = "q"}}, kNotNow,
       "queue 'new'.parent: 'q' holds gangs"},
      {QueueChanged{{.key = "parent", .parent = "q"}}, kInvalid,
       "queue 'parent'.parent: 'q' is the queue itself, or below it"},
      {QueueChanged{{.key = "q", .parent = "parent", .weight = 0}}, kInvalid,
       "queue 'q'.weight: 0"},
      {quotas({{.resource = "x"}}), kInvalid,
       "queue 'q'.quotas[0].resource: 'x'"},
      {quotas({{.resource = "cpu"}, {.resource = "cpu"}}), kInvalid,
       "queue 'q'.quotas[1].resource: 'cpu' twice"},
      {quotas({{.resource = "cpu", .limit = -1}}), kInvalid,
       "queue 'q'.quotas[0].limit: -1"},
      {quotas({{.resource = "gpu", .borrow_limit = -1}}), kInvalid,
       "queue 'q'.quotas[0].borrow_limit: -1"},
      {QueueChanged{{.key = "q",
                     .parent = "parent",
                     .preemption = {.within = static_cast<PreemptWithin>(3)}}},
       kInvalid, "queue 'q'.preemption.within"},
      {quotas({{.resource = "cpu", .guarantee = 5, .limit = 4}}), kInvalid,
       "queue 'q'.quotas[0].guarantee: 5 exceeds the limit 4"},
      {QueueRemoved{"x"}, kNotFound, "queue 'x'"},
      {QueueRemoved{"q"}, kNotNow, "queue 'q' has children or gangs"},
      {QueueRemoved{"parent"}, kNotNow, "queue 'parent' has children"},
      {PriorityClassChanged{{.key = ""}}, kInvalid, "priority_class.key"},
      {PriorityClassChanged{{.key = "low", .min_runtime = -1}}, kInvalid,
       "priority_class 'low'.min_runtime"},
      {PriorityClassChanged{{.key = "low", .grace = -1}}, kInvalid, ".grace"},
  });
}

TEST(Refusals, OfAnswers) {
  ExpectRefused({
      {GangHeld{"x", true}, kNotFound, "gang 'x'"},
      {GangCancelled{"x"}, kNotFound, "gang 'x'"},
      {GangFinished{"x"}, kNotFound, "gang 'x'"},
      {GangReprioritized{"x", "low"}, kNotFound, "gang 'x'"},
      {GangReprioritized{"runs", "x"}, kNotFound,
       "gang 'runs'.priority_class: 'x'"},
      {CheckpointTaken{"runs", 5}, kInvalid, "gang 'runs'.at: 5"},
      {CheckpointTaken{"x", 0}, kNotFound, "gang 'x'"},
      {DecisionApplied{0}, kInvalid, "decision 0"},
      {DecisionApplied{99}, kInvalid, "decision 99 was never made"},
      {DecisionRefused{99}, kInvalid, "decision 99 was never made"},
      {TasksAnswered{"runs", {{{0, 1}}}}, kInvalid, "tasks[0].task"},
      {TasksAnswered{"runs", {{{1, 0}}}}, kInvalid, "tasks[0].task"},
      {TasksAnswered{"runs", {{{0, 0}, 9}}}, kInvalid, "tasks[0].attempt: 9"},
      {TasksAnswered{"runs", {{{0, 0}, 0, TaskOutcome::kStarted, "x", {}}}},
       kNotFound, "node 'x'"},
      {TasksAnswered{"runs", {{{0, 0}, 0, TaskOutcome::kStarted, "n1", {7}}}},
       kInvalid, "gang 'runs'.devices: 7 is not one of node 'n1'"},
  });
}

TEST(Refusals, OfReconciling) {
  const std::vector<Node> nodes = {Machine("n1", 2)};
  const auto task = [&](RealTask t) {
    return Reconciled{.nodes = nodes, .tasks = {t}};
  };
  ExpectRefused({
      {Reconciled{.nodes = {nodes[0], nodes[0]}}, kInvalid,
       "reconciled.nodes: 'n1' twice"},
      {Reconciled{.nodes = nodes, .external = {{"x", {}, {}}}}, kInvalid,
       "reconciled.external: 'x'"},
      {Reconciled{.nodes = nodes, .external = {{"n1", {}, {{2, 0, 0}}}}},
       kInvalid, "reconciled.external 'n1'"},
      {Reconciled{.nodes = nodes, .down = {"x"}}, kInvalid,
       "reconciled.down: 'x'"},
      {task({"x", {0, 0}, "n1"}), kNotFound, "reconciled.tasks[0].gang: 'x'"},
      {task({"runs", {0, Gang::kMaxTasks}, "n1"}), kInvalid,
       "reconciled.tasks[0].task"},
      {task({"runs", {0, 0}, "n1", {}, 3}), kInvalid, "alternative 3"},
      {task({"runs", {0, 0}, "x"}), kInvalid, "reconciled.tasks[0].node: 'x'"},
      {task({"runs", {0, 0}, "n1", {9}}), kInvalid,
       "reconciled.tasks[0].devices: 9"},
      {Reconciled{.nodes = nodes,
                  .tasks = {{"runs", {0, 0}, "n1"}, {"runs", {0, 0}, "n1"}}},
       kInvalid, "reconciled.tasks[1].task: is there twice"},
  });
}

TEST(Refusals, OfConfigurations) {
  using Change = std::function<void(SchedulerConfig&)>;
  const std::pair<Change, std::string> bad[] = {
      {[](auto& c) { c.resources.push_back("cpu"); },
       "config.resources[3]: 'cpu' twice"},
      {[](auto& c) {
         c.queue_order = {QueueOrderKey::kShare, QueueOrderKey::kAge,
                          QueueOrderKey::kShare};
       },
       "config.queue_order[2]: 'share' twice"},
      {[](auto& c) { c.queue_order = {static_cast<QueueOrderKey>(5)}; },
       "config.queue_order[0]"},
      {[](auto& c) { c.resources.push_back(""); },
       "config.resources[3]: has 0 bytes"},
      {[](auto& c) { c.device_kind = "tpu"; },
       "config.device_kind: 'tpu' is not one of config.resources; empty: "
       "none is"},
      {[](auto& c) { c.topologies.push_back({"", {"rack"}}); },
       "config.topologies[1].key"},
      {[](auto& c) { c.topologies.push_back({"net", {"rack"}}); },
       "config.topologies[1].key: 'net' twice"},
      {[](auto& c) { c.topologies.push_back({"t", {}}); },
       "config.topologies[1].levels: has 0"},
      {[](auto& c) { c.topologies.push_back({"t", {"host"}}); },
       "config.topologies[1].levels"},
      {[](auto& c) { c.topologies.push_back({"t", {"a", "a"}}); },
       "config.topologies[1].levels[1]: 'a' twice"},
      {[](auto& c) { c.host.migrate = true; },
       "config.host.migrate: not supported yet"},
      {[](auto& c) { c.backoff_base = -1; }, "config.backoff_base"},
      {[](auto& c) { c.backoff_max = 1; }, "config.backoff_base"},
      {[](auto& c) { c.replacement_timeout = -1; },
       "config.replacement_timeout: -1"},
      {[](auto& c) { c.suspend_timeout = kForever; }, "config.suspend_timeout"},
      {[](auto& c) { c.placement.typical_tasks.resize(257); },
       "config.placement.typical_tasks: has 257, not 0..256"},
      {[](auto& c) { c.placement.typical_tasks = {{}, {.weight = 0}}; },
       "config.placement.typical_tasks[1].weight: 0"},
      {[](auto& c) {
         c.placement.typical_tasks.resize(1);
         c.placement.typical_tasks[0].shape.resources = {1, 1, 1};
       },
       "config.placement.typical_tasks[0].shape.resources.gpu"},
      {[](auto& c) {
         c.placement.typical_tasks.resize(1);
         c.placement.typical_tasks[0].shape.devices = {.count = 1,
                                                       .milli = 1001};
       },
       "config.placement.typical_tasks[0].shape.devices.milli"},
      {[](auto& c) {
         c.placement.typical_tasks.resize(1);
         c.placement.typical_tasks[0].shape.selector.any_of = {{{{.key = ""}}}};
       },
       "config.placement.typical_tasks[0].shape.selector.any_of[0].all_of[0]."
       "key"},
      {[](auto& c) { c.search.victim_steps = uint64_t{1} << 41; },
       "config.search.victim_steps: 2199023255552 is not in 0.."},
      {[](auto& c) { c.placement.supply = {{"A", -1}}; },
       "config.placement.supply[0].devices: -1"},
      {[](auto& c) { c.placement.supply = {{"A", 1}, {"A", 2}}; },
       "config.placement.supply[1].model: 'A' twice"},
      {[](auto& c) { c.placement.yardstick = {1, -1}; },
       "config.placement.yardstick.memory: -1"},
  };
  for (const auto& [change, says] : bad) {
    SchedulerConfig config = Config();
    change(config);
    const absl::StatusOr<Scheduler> s = Scheduler::Create(config);
    ASSERT_FALSE(s.ok()) << says;
    EXPECT_THAT(std::string(s.status().message()), HasSubstr(says));
  }
}

TEST(Refusals, OfStatesThatContradictThemselves) {
  Story s(Config());
  World(s);
  const SchedulerState good = s.scheduler().State();
  using Change = std::function<void(SchedulerState&)>;
  const std::pair<Change, std::string> bad[] = {
      {[](auto& x) { x.nodes.push_back(x.nodes[0]); }, "'n1' twice"},
      {[](auto& x) { x.queues.push_back(x.queues[0]); }, "twice"},
      {[](auto& x) { x.queues.erase(x.queues.begin() + 1); }, "queues"},
      {[](auto& x) { x.gangs.push_back(x.gangs[0]); }, "gang 'runs'"},
      {[](auto& x) { x.gangs[0].gang.queue = "x"; }, "gang 'runs'.queue"},
      {[](auto& x) { x.gangs[0].tasks[0].node = "x"; }, "node 'x'"},
      {[](auto& x) { x.gangs[0].tasks[0].task.role = 5; },
       "state.gangs 'runs'.tasks (5, 0)"},
      {[](auto& x) { x.gangs[0].tasks[0].alternative = 5; },
       "state.gangs 'runs'.tasks"},
      {[](auto& x) { x.gangs[0].pending[0].seq = 999; },
       "state.gangs 'runs'.pending: decision 999"},
      {[](auto& x) { x.gangs[0].pending[0].tasks.clear(); },
       "state.gangs[0].pending[0].tasks: has 0"},
      {[](auto& x) { x.gangs[0].phase = GangPhase::kWaiting; }, "'runs'"},
      {[](auto& x) { x.gangs[0].phase = GangPhase::kNominated; }, "'runs'"},
      {[](auto& x) { x.gangs[0].phase = GangPhase::kStopping; }, "'runs'"},
      {[](auto& x) { x.gangs[0].phase = GangPhase::kSuspended; }, "'runs'"},
      {[](auto& x) { x.gangs[0].tasks.clear(); }, "'runs'"},
      {[](auto& x) { x.gangs[0].tasks[0].phase = TaskPhase::kNominated; },
       "'runs'"},
  };
  for (const auto& [change, says] : bad) {
    SchedulerState state = good;
    change(state);
    const absl::StatusOr<Scheduler> restored = Scheduler::Restore(state);
    ASSERT_FALSE(restored.ok()) << says;
    EXPECT_THAT(std::string(restored.status().message()), HasSubstr(says));
  }
}

}  // namespace
}  // namespace muster
