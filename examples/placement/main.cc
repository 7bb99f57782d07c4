// Places gangs on two racks without a scheduler: for a host that has its own
// queues and asks where a gang could run.
#include <cstdio>
#include <string>

#include "muster/placement_solver.h"

namespace {

muster::Node NodeInRack(int number, const char* rack) {
  muster::Node node;
  node.key = "n" + std::to_string(number);
  node.labels = {{"rack", rack}};
  node.capacity = {64'000, 512'000, 0};  // Thousandths of cores, MiB.
  node.devices.assign(8, muster::Device{.model = "H100"});
  return node;
}

// Workers of four GPUs each, all in one rack.
muster::Gang Training(const std::string& key, uint32_t workers) {
  muster::Role role{
      .name = "worker", .min_tasks = workers, .desired_tasks = workers};
  role.shape.resources = {8'000, 64'000, 0};
  role.shape.devices.count = 4;
  role.topology.required = "rack";
  muster::Gang gang;
  gang.key = key;
  gang.roles = {role};
  return gang;
}

int Fail(const absl::Status& status) {
  std::printf("%s\n", std::string(status.message()).c_str());
  return 1;
}

}  // namespace

int main() {
  muster::SchedulerConfig config;  // Resources: cpu, memory, gpu.
  config.topologies = {{.key = "network", .levels = {"rack"}}};
  auto solver = muster::PlacementSolver::Create(config);
  if (!solver.ok()) return Fail(solver.status());
  for (int i = 1; i <= 4; ++i) {
    const absl::Status status =
        solver->SetNode(NodeInRack(i, i <= 2 ? "r1" : "r2"));
    if (!status.ok()) return Fail(status);
  }
  for (const auto& [key, workers] :
       {std::pair("train-1", 3u), {"train-2", 4u}, {"train-3", 2u}}) {
    const auto placement = solver->Place(Training(key, workers));
    if (!placement.ok()) return Fail(placement.status());
    std::printf(
        "%s: %s\n", key,
        placement->fit == muster::Fit::kFits
            ? (placement->certificate.optimal ? "placed, optimal" : "placed")
            : muster::ToText(placement->reason).c_str());
    for (const muster::PlacedTask& task : placement->tasks) {
      std::printf("  worker %u on %s, devices", task.task.index,
                  task.node.c_str());
      for (const uint32_t device : task.devices) std::printf(" %u", device);
      std::printf("\n");
    }
  }
  if (const absl::Status gone = solver->Release("train-1"); !gone.ok()) {
    return Fail(gone);
  }
  const auto again = solver->Find(Training("train-3", 2));
  if (!again.ok()) return Fail(again.status());
  std::printf("train-3, once train-1 is gone: %s\n",
              std::string(muster::Name(again->fit)).c_str());
  return 0;
}
