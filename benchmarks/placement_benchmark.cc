// One gang that looks for its place: what a pass pays for each gang it tries.
//
// 5 zones of blocks of racks of 40 nodes with 8 devices; 85 % of the devices
// are in use: 8 of 10 nodes are full, 1 is half full. The placement is rolled
// back, so that every iteration meets the same state.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "muster/cluster.h"
#include "muster/placement_solver.h"

namespace muster {
namespace {

constexpr uint32_t kDevices = 8;
constexpr uint32_t kRack = 40;
constexpr uint32_t kRacksPerBlock = 5;
constexpr uint32_t kZones = 5;
constexpr ResourceKind kGpu = 1;

std::string Padded(const char* prefix, uint32_t number) {
  std::string digits = std::to_string(number);
  return prefix + std::string(6 - digits.size(), '0') + digits;
}

Role Workers(uint32_t tasks, uint32_t devices) {
  Role role;
  role.name = "w" + std::to_string(devices);
  role.min_tasks = role.desired_tasks = tasks;
  role.shape.resources = {1000, 0};
  role.shape.devices.count = devices;
  return role;
}

Cluster UsedCluster(uint32_t nodes) {
  Cluster cluster(2, kGpu, {{"net", {"zone", "block", "rack"}}});
  const uint32_t racks = (nodes + kRack - 1) / kRack;
  for (uint32_t n = 0; n < nodes; ++n) {
    const uint32_t rack = n / kRack;
    Node node;
    node.key = Padded("n", n);
    node.capacity = {128'000, 0};
    node.devices.assign(kDevices, {.model = "H100"});
    node.labels = {{"block", Padded("b", rack / kRacksPerBlock)},
                   {"rack", Padded("r", rack)},
                   {"zone", Padded("z", rack * kZones / racks)}};
    cluster.Upsert(node);
  }
  const ShapeId one = cluster.Intern(Workers(1, 1), 0);
  uint64_t random = 0x9e3779b97f4a7c15u;
  for (const NodeIndex n : cluster.nodes()) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const uint64_t dice = (random >> 33) % 10;
    const uint32_t used = dice < 8 ? 8 : dice == 8 ? 4 : 0;
    Allocation at;
    for (uint32_t i = 0; i < used; ++i) {
      cluster.Take(n, one, Ledger::kBoth, &at);
    }
  }
  return cluster;
}

void BM_Place(benchmark::State& state, uint32_t nodes, Gang gang) {
  Cluster cluster = UsedCluster(nodes);
  PreparedGang prepared;
  for (const Role& role : gang.roles) {
    prepared.shapes.push_back({cluster.Intern(role, 0)});
  }
  gang.groups.resize(1);
  prepared.gang = std::move(gang);
  PlacementRequest request;
  request.gang = &prepared;
  const std::unique_ptr<PlacementSolver> solver = NewPlacementSolver();
  PlacementResult result;
  for (auto _ : state) {
    const Cluster::Mark mark = cluster.Begin();
    solver->Place(cluster, request, &result);
    cluster.Rollback(mark);
  }
  state.counters["fits"] = result.fit == Fit::kFits ? 1 : 0;
  state.counters["steps"] = static_cast<double>(result.steps);
  state.counters["ns_per_node"] =
      benchmark::Counter(static_cast<double>(nodes) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate |
                             benchmark::Counter::kInvert);
}

Gang Identical(uint32_t tasks, uint32_t devices) {
  Gang gang;
  gang.roles = {Workers(tasks, devices)};
  return gang;
}

// A coordinator without devices, and workers of two sizes.
Gang Mixed() {
  Gang gang;
  gang.roles = {Workers(1, 0), Workers(16, 4), Workers(4, 8)};
  return gang;
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const uint32_t nodes : {100u, 1000u, 10000u}) {
    const std::string prefix = "BM_Place/nodes:" + std::to_string(nodes);
    const auto add = [&](const std::string& name, const Gang& gang) {
      benchmark::RegisterBenchmark((prefix + "/gang:" + name).c_str(), BM_Place,
                                   nodes, gang);
    };
    add("1x1", Identical(1, 1));
    add("8x8", Identical(8, 8));
    add("64x8", Identical(64, 8));
    add("mixed", Mixed());
  }
  return true;
}();

}  // namespace
}  // namespace muster
