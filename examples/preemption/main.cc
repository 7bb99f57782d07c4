// Chooses victims without a scheduler: for a host that has its own queues and
// asks whom to stop so that an urgent gang can run.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "muster/placement_solver.h"
#include "muster/preemptor.h"

namespace {

// Tasks of four GPUs each.
muster::Gang Tasks(const std::string& key, uint32_t least, uint32_t desired) {
  muster::Role role{
      .name = "worker", .min_tasks = least, .desired_tasks = desired};
  role.shape.devices.count = 4;
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
  auto solver = muster::PlacementSolver::Create({});
  if (!solver.ok()) return Fail(solver.status());
  for (const char* key : {"n1", "n2", "n3"}) {
    muster::Node node;
    node.key = key;
    node.devices.assign(8, muster::Device{});
    if (const absl::Status s = solver->SetNode(node); !s.ok()) return Fail(s);
  }
  // Six places for two tasks of "steady", three of "elastic", which needs one,
  // and one of "cheap".
  for (const muster::Gang& gang :
       {Tasks("steady", 2, 2), Tasks("elastic", 1, 3), Tasks("cheap", 1, 1)}) {
    const auto placed = solver->Place(gang);
    if (!placed.ok()) return Fail(placed.status());
  }
  const auto grown = solver->Grow("elastic");
  if (!grown.ok()) return Fail(grown.status());

  // Costs: seconds of work that would be lost.
  const std::vector<muster::PreemptibleGang> running = {
      {.gang = "steady", .priority = 10, .cost = 90},
      {.gang = "elastic", .priority = 0, .cost = 3'000},
      {.gang = "cheap", .priority = 0, .cost = 600},
  };
  muster::Preemptor preemptor;
  const muster::Gang urgent = Tasks("urgent", 2, 2);
  const auto choice = preemptor.Choose(*solver, urgent, running);
  if (!choice.ok()) return Fail(choice.status());
  std::printf("cost %lld, no choice costs less than %lld\n",
              static_cast<long long>(choice->cost),
              static_cast<long long>(choice->bound));
  for (const auto& victim : choice->victims) {
    const std::string& key = running[victim.candidate].gang;
    std::printf("%s: %s, %zu task(s)\n", key.c_str(),
                victim.whole ? "stop" : "shrink", victim.tasks.size());
    const absl::Status released = solver->Release(key, victim.tasks);
    if (!released.ok()) return Fail(released);
  }
  if (const absl::Status held = solver->Hold(urgent, choice->tasks);
      !held.ok()) {
    return Fail(held);
  }
  for (const muster::PlacedTask& task : solver->TasksOf("urgent")) {
    std::printf("urgent: worker %u on %s\n", task.task.index,
                task.node.c_str());
  }
  return 0;
}
