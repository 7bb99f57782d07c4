#include "benchmarks/step_world.h"

#include "benchmarks/padded.h"
#include "benchmarks/random.h"

namespace muster::bench {
namespace {

constexpr uint32_t kRack = 20;
constexpr uint32_t kBlock = 25 * kRack;
constexpr uint32_t kZone = 20 * kBlock;

}  // namespace

Node StepNode(uint32_t n) {
  Node node;
  node.key = Padded("n", n);
  node.capacity = {128'000, int64_t{1} << 40, 0};
  for (uint32_t d = 0; d < kStepDevices; ++d) {
    Device& device = node.devices.emplace_back();
    device.model = n / kRack % 2 == 0 ? "A" : "B";
    device.memory_bytes = int64_t{80} << 30;
    device.island = device.numa = static_cast<int32_t>(d / 4);
    device.partition_scheme = "h100-80gb";
  }
  node.labels = {{"block", Padded("b", n / kBlock)},
                 {"pool", "p" + std::to_string(n % 8)},
                 {"rack", Padded("r", n / kRack)},
                 {"zone", Padded("z", n / kZone)}};
  return node;
}

Cluster StepCluster(uint32_t nodes, Load load) {
  Cluster cluster(3, kStepGpu, {{"net", {"zone", "block", "rack"}}},
                  CommonPartitionSchemes());
  Random random(1);
  for (uint32_t n = 0; n < nodes; ++n) {
    Node node = StepNode(n);
    if (load == Load::kReluctant && random.Below(10) == 0) {
      node.taints = {{"slow", "", TaintEffect::kPreferNoSchedule}};
    }
    cluster.Upsert(node);
  }
  const ShapeId one = cluster.Intern(StepRole("", 1, 1), 0);
  for (const NodeIndex n : cluster.nodes()) {
    if (load == Load::kEmpty) break;
    const bool free = load != Load::kFull && random.Below(5) == 0;
    for (uint32_t d = 0; d < kStepDevices && !free; ++d) {
      if (d > 0 && random.Below(4) == 0) continue;
      cluster.Charge({.node = n, .shape = one, .devices = {d}}, Ledger::kBoth);
    }
  }
  return cluster;
}

Role StepRole(const std::string& name, uint32_t tasks, uint32_t devices) {
  Role role;
  role.name = name;
  role.min_tasks = role.desired_tasks = tasks;
  role.shape.resources = {4'000, int64_t{16} << 30, 0};
  role.shape.devices.count = devices;
  return role;
}

Gang StepGang(uint32_t tasks, uint32_t devices) {
  Gang gang;
  gang.key = "gang";
  gang.groups.resize(1);
  gang.roles = {StepRole("worker", tasks, devices)};
  return gang;
}

}  // namespace muster::bench
