// What a gang pays for one thing that is different about it: a taint on a node,
// a preference, a small role beside the large one, a shape that no other gang
// has. Cases BM_Cliff/CASE/gang:TASKSxDEVICES on 10,000 nodes of 8 devices,
// racks of 20, 25 racks a block, every rack filled to a degree of its own. A
// taint is kPreferNoSchedule, and the plain gang tolerates it. In turn the
// plain gang and the one of the case are submitted, placed by a pass, which is
// measured, and finish. Counters:
//   us, racks, blocks   of the case: the median of the passes; where the tasks
//                       of the large role lie
//   plain_us, plain_racks, plain_blocks   of the plain gang
//   ratio               us by plain_us
//   placed              tasks
// Unless the case says `lone`, a held gang keeps each of the two shapes alive.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/padded.h"
#include "benchmarks/random.h"
#include "benchmarks/scheduler_host.h"
#include "muster/partition.h"

namespace muster::bench {
namespace {

constexpr uint32_t kNodes = 10'000;
constexpr uint32_t kRack = 20;
constexpr uint32_t kBlock = 25 * kRack;
constexpr uint32_t kDevices = 8;
constexpr uint32_t kRounds = 15;

struct Size {
  uint32_t tasks = 0;
  uint32_t devices = 0;
};

// Nodes with a taint.
enum class Taints : uint8_t {
  kNone,
  kWanted,  // One of those that the plain gang would get.
  kFree,    // The last one on which it has slots.
  kHalf,
};

struct Case {
  std::string name{};
  std::function<void(Gang&)> gang{};  // Makes it of the plain gang.
  Taints taints = Taints::kNone;
  bool lone = false;
  bool prefers_free = false;  // The gang prefers the same node as kFree.
};

Node NodeOf(uint32_t number) {
  Node node;
  node.key = Padded("n", number);
  node.capacity = {192'000, int64_t{2} << 40};
  node.devices.assign(kDevices, {.model = "H100",
                                 .memory_bytes = int64_t{80} << 30,
                                 .partition_scheme = "h100-80gb"});
  node.labels = {{"block", Padded("b", number / kBlock)},
                 {"half", number % 2 == 1 ? "odd" : "even"},
                 {"number", std::to_string(number)},
                 {"rack", Padded("r", number / kRack)}};
  return node;
}

Gang GangOf(const std::string& key, Size size) {
  Gang gang = MakeGang(key, "q", size.tasks, size.devices);
  gang.roles[0].shape.resources = {8000, 1 << 20};
  return gang;
}

void Tolerate(Gang& gang) {
  gang.roles[0].tolerations = {{.op = TolerationOp::kExists}};
}

std::function<void(Gang&)> Prefer(const char* key, SelectorOp op,
                                  std::vector<std::string> values) {
  return [=](Gang& gang) {
    gang.roles[0].preferences = {
        {.weight = 1, .term = {{{.key = key, .op = op, .values = values}}}}};
  };
}

// Of the rack's nodes so many stay free: squeezed towards none.
uint32_t FreeOf(Random& random) {
  const uint64_t x = random.Below(1000);
  return static_cast<uint32_t>(21 * x * x * x / 1'000'000'000);
}

// The world of a case, and what is measured in it.
class CliffWorld {
 public:
  CliffWorld(const Case& c, Size size) : case_(c), size_(size) {
    host_.AddQueue("q");
    Fill();
    FindFree();
    Submit("twin", false, true);
    if (!case_.lone) Submit("twin-of-case", true, true);
    host_.Settle();
    Taint();
  }

  struct Placed {
    double us = 0;
    std::set<std::string> racks{};
    std::set<std::string> blocks{};
    uint32_t tasks = 0;
    NodeIndex first = 0;  // The first one's node.
  };
  Placed Measure(bool of_case) {
    const std::string key = Padded("g", gangs_++);
    Submit(key, of_case, false);
    Placed placed;
    placed.us = CpuOf([&] { host_.Pass(); }) * 1e6;
    for (const Decision& d : host_.plan.decisions) {
      for (const PlannedTask& task : host_.plan.TasksOf(d)) {
        ++placed.tasks;
        if (task.task.role != 0) continue;
        if (task.task.index == 0) placed.first = task.node.index;
        const Node& node = host_.scheduler.cluster().node(task.node.index);
        placed.blocks.insert(node.labels[0].value);
        placed.racks.insert(node.labels[3].value);
      }
    }
    host_.Answer();
    host_.Apply(GangFinished{key});
    host_.Settle();
    return placed;
  }

 private:
  static SchedulerConfig ConfigOf() {
    SchedulerConfig config = MakeConfig();
    config.partition_schemes = CommonPartitionSchemes();
    return config;
  }

  void Submit(const std::string& key, bool of_case, bool held) {
    Gang gang = GangOf(key, size_);
    gang.held = held;
    if (of_case && case_.gang) case_.gang(gang);
    if (of_case && case_.prefers_free) {
      const std::string& number =
          host_.scheduler.cluster().node(free_).labels[2].value;
      Prefer("number", SelectorOp::kIn, {number})(gang);
    }
    if (!of_case && case_.taints != Taints::kNone) Tolerate(gang);
    host_.Apply(GangSubmitted{std::move(gang)});
  }

  void FindFree() {
    const ClusterView cluster = host_.scheduler.cluster();
    for (const NodeIndex n : cluster.nodes()) {
      if (cluster.free_devices(n, Ledger::kNow) >= size_.devices) free_ = n;
    }
  }

  void Taint() {
    if (case_.taints == Taints::kNone) return;
    const ClusterView cluster = host_.scheduler.cluster();
    const NodeIndex wanted = Measure(false).first;
    for (const NodeIndex n : cluster.nodes()) {
      const bool taint = case_.taints == Taints::kWanted ? n == wanted
                         : case_.taints == Taints::kFree ? n == free_
                                                         : n % 2 == 1;
      if (!taint) continue;
      Node node = cluster.node(n);
      node.taints = {{"slow", "", TaintEffect::kPreferNoSchedule}};
      host_.Apply(NodeChanged{std::move(node)});
    }
    host_.Settle();
  }

  void Fill() {
    Random random(11);
    Reconciled whole;
    for (uint32_t n = 0; n < kNodes; ++n) {
      Node node = NodeOf(n);
      whole.nodes.push_back(node);
      host_.Apply(NodeChanged{std::move(node)});
    }
    for (uint32_t rack = 0; rack < kNodes / kRack; ++rack) {
      uint32_t left = kRack - FreeOf(random);
      for (uint32_t i = 0; i < kRack; ++i) {
        if (random.Below(kRack - i) >= left) continue;
        --left;
        Gang gang = GangOf(Padded("f", rack * kRack + i),
                           {1, random.Below(10) == 0 ? 4u : 8u});
        gang.roles[0].shape.resources = {1000 * (1 + random.Below(8)), 1 << 20};
        gang.roles[0].tolerations = {{.op = TolerationOp::kExists}};
        whole.tasks.push_back({.gang = gang.key,
                               .task = {0, 0},
                               .node = whole.nodes[rack * kRack + i].key});
        host_.Apply(GangSubmitted{std::move(gang)});
      }
    }
    host_.Apply(std::move(whole));
  }

  const Case& case_;
  const Size size_;
  uint32_t gangs_ = 0;
  NodeIndex free_ = 0;
  SchedulerHost host_{ConfigOf()};
};

void BM_Cliff(benchmark::State& state, const Case& c, Size size) {
  CliffWorld world(c, size);
  std::vector<double> us, plain_us;
  CliffWorld::Placed placed, plain;
  for (auto _ : state) {
    for (uint32_t i = 0; i < kRounds; ++i) {
      plain = world.Measure(false);
      plain_us.push_back(plain.us);
      placed = world.Measure(true);
      us.push_back(placed.us);
    }
  }
  Premise(state, plain.tasks == size.tasks, "no room for the plain gang");
  state.counters["us"] = Median(us);
  state.counters["plain_us"] = Median(plain_us);
  state.counters["ratio"] = Median(us) / Median(plain_us);
  state.counters["racks"] = static_cast<double>(placed.racks.size());
  state.counters["plain_racks"] = static_cast<double>(plain.racks.size());
  state.counters["blocks"] = static_cast<double>(placed.blocks.size());
  state.counters["plain_blocks"] = static_cast<double>(plain.blocks.size());
  state.counters["placed"] = placed.tasks;
}

std::function<void(Gang&)> Beside(uint32_t tasks, uint32_t devices,
                                  bool talks) {
  return [=](Gang& gang) {
    Role role;
    role.name = "small";
    role.min_tasks = role.desired_tasks = tasks;
    role.shape.resources = {1000, 1 << 20};
    role.shape.devices.count = devices;
    gang.roles.push_back(std::move(role));
    if (talks) gang.traffic = {{"worker", "small", 1}};
  };
}

std::vector<Case> Cases() {
  const std::vector<std::string> none;
  return {
      {"preference_of_no_node", Prefer("none", SelectorOp::kExists, none)},
      {"preference_of_all_nodes", Prefer("half", SelectorOp::kExists, none)},
      {.name = "preference_of_free_node", .prefers_free = true},
      {"preference_of_half", Prefer("half", SelectorOp::kIn, {"odd"})},
      {"taint_on_wanted_node", {}, Taints::kWanted},
      {"taint_on_free_node", {}, Taints::kFree},
      {"taint_on_half", {}, Taints::kHalf},
      {"launcher", Beside(1, 0, false)},
      {"launcher_with_device", Beside(1, 1, false)},
      {"servers", Beside(4, 1, false)},
      {"servers_that_talk", Beside(4, 1, true)},
      {.name = "lone",
       .gang = [](Gang& g) { g.roles[0].shape.resources.Set(0, 9000); },
       .lone = true},
  };
}

// Of one device, shared.
std::vector<Case> ShapeCases() {
  const auto ask = [](DeviceRequest request) {
    return [=](Gang& gang) { gang.roles[0].shape.devices = request; };
  };
  return {
      {"fraction", ask({.count = 1, .milli = 500})},
      {.name = "fraction_lone",
       .gang = ask({.count = 1, .milli = 500}),
       .lone = true},
      {"partition", ask({.count = 1, .partition = "1g.10gb"})},
      {.name = "partition_lone",
       .gang = ask({.count = 1, .partition = "1g.10gb"}),
       .lone = true},
  };
}

void Register(const Case& c, Size size) {
  RegisterOnce("BM_Cliff/" + c.name + "/gang:" + std::to_string(size.tasks) +
                   "x" + std::to_string(size.devices),
               BM_Cliff, c, size);
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const Size size : {Size{1, 1}, Size{400, 8}}) {
    for (const Case& c : Cases()) Register(c, size);
  }
  for (const Case& c : ShapeCases()) Register(c, {1, 1});
  return true;
}();

}  // namespace
}  // namespace muster::bench
