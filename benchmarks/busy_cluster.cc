#include "benchmarks/busy_cluster.h"

#include <map>
#include <memory>
#include <random>
#include <tuple>
#include <utility>

#include "benchmarks/padded.h"

namespace muster::bench {
namespace {

constexpr double kUsed = 0.85;
// Replacements of jobs by others, for 100,000 nodes.
constexpr uint64_t kReplacementsPerNode = 3;

Resources Capacity(Kinds kinds) {
  if (kinds == Kinds::kOne) return {0};
  return {128'000, int64_t{2} << 40, int64_t{8} << 40, 0};
}

ResourceKind DeviceKind(Kinds kinds) { return kinds == Kinds::kOne ? 0 : 3; }

Node MakeNode(uint32_t n, Kinds kinds) {
  const uint32_t rack = n / kRackNodes;
  const uint32_t block = rack / kBlockRacks;
  Node node;
  node.key = Padded("n", n);
  node.capacity = Capacity(kinds);
  for (uint32_t d = 0; d < kDevices; ++d) {
    Device device{.model = "H100"};
    if (kinds == Kinds::kFour) {
      device.island = device.numa = static_cast<int32_t>(d / 4);
    }
    node.devices.push_back(device);
  }
  node.labels = {{"block", Padded("b", block)},
                 {"pool", "p" + std::to_string(n % 8)},
                 {"rack", Padded("r", rack)},
                 {"zone", Padded("z", block / kZoneBlocks)}};
  return node;
}

// Shape i of those that live at a time.
Role Workers(Kinds kinds, uint32_t tasks, uint32_t devices, uint32_t i) {
  Role role;
  role.min_tasks = role.desired_tasks = tasks;
  role.shape.devices.count = devices;
  if (kinds == Kinds::kOne) return role;
  role.shape.resources = {1000 + 10 * i, int64_t{16} << 30, int64_t{1} << 30,
                          0};
  // All but one of the pools.
  role.shape.selector.any_of = {
      {{{"pool", SelectorOp::kNotIn, {"p" + std::to_string(i % 8)}}}}};
  return role;
}

// Fills the cluster with jobs of all sizes and replaces them, many times.
void Churn(BusyCluster& busy, uint32_t nodes, std::mt19937_64& random) {
  static constexpr std::pair<uint32_t, uint32_t> kJobs[] = {
      {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 2}, {1, 2}, {1, 4},
      {1, 4}, {1, 8}, {1, 8}, {2, 8}, {4, 8}, {8, 8}, {16, 8}};
  std::vector<std::vector<PreparedGang>> gangs;
  for (const auto& [tasks, devices] : kJobs) {
    gangs.push_back(busy.Gangs(tasks, devices, ""));
  }
  const std::unique_ptr<GangSolver> solver = NewGangSolver();
  PlacementResult result;
  std::vector<std::vector<Assignment>> jobs;
  const uint64_t full = uint64_t{nodes} * kDevices;
  const auto limit = static_cast<uint64_t>(static_cast<double>(full) * kUsed);
  uint64_t used = 0;
  uint64_t placed = 0;
  const uint64_t wanted = nodes * kReplacementsPerNode;
  for (uint64_t tries = 0; placed < wanted && tries < 4 * wanted; ++tries) {
    while (used > limit && !jobs.empty()) {
      std::swap(jobs[random() % jobs.size()], jobs.back());
      for (const Assignment& a : jobs.back()) {
        used -= a.at.devices.size();
        busy.cluster.Credit(a.at, Ledger::kBoth);
      }
      jobs.pop_back();
    }
    const auto& shapes = gangs[random() % gangs.size()];
    PlacementRequest request;
    request.gang = &shapes[random() % shapes.size()];
    solver->Place(busy.cluster, request, &result);
    if (result.fit != Fit::kFits) continue;
    ++placed;
    for (const Assignment& a : result.tasks) {
      used += a.at.devices.size();
    }
    jobs.push_back(result.tasks);
  }
}

void Scatter(BusyCluster& busy, State state, std::mt19937_64& random) {
  const ShapeId one = busy.cluster.Intern(Workers(busy.kinds, 1, 1, 0), 0);
  uint32_t share = 0;
  uint32_t i = 0;
  for (const NodeIndex n : busy.cluster.nodes()) {
    uint32_t used = 0;
    if (state == State::kUneven) {
      if (i++ % kRackNodes == 0) share = 70 + random() % 31;
      used = random() % 100 < share ? kDevices : 0;
    } else {
      // One node in ten is free; of the others' devices, one in eighteen.
      const bool free = random() % 10 == 0;
      for (uint32_t d = 0; d < kDevices; ++d) {
        used += !free && random() % 18 > 0;
      }
    }
    Allocation at{.node = n, .shape = one};
    for (uint32_t d = 0; d < used; ++d) {
      at.devices = {d};
      busy.cluster.Charge(at, Ledger::kBoth);
    }
  }
}

}  // namespace

BusyCluster::BusyCluster(uint32_t nodes, State state, Kinds with_kinds,
                         uint64_t seed)
    : kinds(with_kinds),
      cluster(static_cast<uint32_t>(Capacity(with_kinds).size()),
              DeviceKind(with_kinds), {{"net", {"zone", "block", "rack"}}}) {
  for (uint32_t n = 0; n < nodes; ++n) cluster.Upsert(MakeNode(n, kinds));
  std::mt19937_64 random(seed);
  if (state == State::kSteady) {
    Churn(*this, nodes, random);
  } else {
    Scatter(*this, state, random);
  }
}

std::vector<PreparedGang> BusyCluster::Gangs(uint32_t tasks, uint32_t devices,
                                             const std::string& required) {
  std::vector<PreparedGang> all;
  const uint32_t shapes = kinds == Kinds::kOne ? 1 : 64;
  for (uint32_t i = 0; i < shapes; ++i) {
    PreparedGang& gang = all.emplace_back();
    gang.gang.key = "gang";
    gang.gang.groups.resize(1);
    gang.gang.groups[0].topology.required = required;
    gang.gang.roles = {Workers(kinds, tasks, devices, i)};
    gang.shapes = {{cluster.Intern(gang.gang.roles[0], 0)}};
  }
  return all;
}

BusyCluster& Busy(uint32_t nodes, State state, Kinds kinds) {
  using Key = std::tuple<uint32_t, State, Kinds>;
  static std::map<Key, std::unique_ptr<BusyCluster>> all;
  std::unique_ptr<BusyCluster>& busy = all[{nodes, state, kinds}];
  if (busy == nullptr) {
    busy = std::make_unique<BusyCluster>(nodes, state, kinds, 1);
  }
  return *busy;
}

}  // namespace muster::bench
