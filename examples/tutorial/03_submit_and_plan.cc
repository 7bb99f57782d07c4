// Step 3: a gang is submitted, and a plan says where it goes.
#include "host.h"

int main() {
  auto created = muster::Scheduler::Create({.resources = {"gpu"}});
  Must(created.status());
  muster::Scheduler& scheduler = *created;
  for (const char* key : {"node-1", "node-2"}) {
    Must(scheduler.Apply({0, muster::NodeChanged{NodeWith(key, 4)}}));
  }
  Must(scheduler.Apply({0, muster::QueueChanged{{.key = "lab"}}}));

  // [submit]
  muster::Gang train{.key = "train", .queue = "lab"};
  muster::Role& worker = train.roles.emplace_back();
  worker.name = "worker";
  worker.min_tasks = worker.desired_tasks = 3;
  worker.shape.devices.count = 2;
  Must(scheduler.Apply({0, muster::GangSubmitted{train}}));
  // [submit]

  // [plan]
  muster::Plan plan;
  scheduler.Schedule(0, &plan);
  for (const muster::Decision& decision : plan.decisions) {
    std::cout << Name(decision.kind) << " " << plan.Text(decision.gang_key)
              << ", decision " << decision.seq << "\n";
    for (const muster::PlannedTask& task : plan.TasksOf(decision)) {
      std::cout << "  worker " << task.task.index << " on "
                << plan.Text(task.node_key) << ", devices";
      for (const uint32_t device : task.devices) std::cout << " " << device;
      std::cout << "\n";
    }
  }
  // [plan]
}
