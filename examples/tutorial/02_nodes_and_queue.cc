// Step 2: the scheduler learns of nodes and of a queue.
#include "host.h"

int main() {
  auto created = muster::Scheduler::Create({.resources = {"cpu", "gpu"}});
  Must(created.status());
  muster::Scheduler& scheduler = *created;

  // [nodes]
  for (const char* key : {"node-1", "node-2"}) {
    muster::Node node{.key = key};
    node.capacity = {64'000, 0};  // Thousandths of a core; GPUs are devices.
    node.devices.assign(4, {.model = "H100"});
    Must(scheduler.Apply({.at = 0, .what = muster::NodeChanged{node}}));
  }
  // [nodes]

  // [queue]
  Must(scheduler.Apply({0, muster::QueueChanged{{.key = "lab"}}}));
  // [queue]

  // [refused]
  muster::Node wrong{.key = "node-3", .capacity = {-1}};
  std::cout << scheduler.Apply({0, muster::NodeChanged{wrong}}).message()
            << "\n";
  // [refused]

  // [read]
  const muster::ClusterView cluster = scheduler.cluster();
  for (const muster::NodeIndex n : cluster.nodes()) {
    std::cout << cluster.node(n).key << ": "
              << cluster.free_devices(n, muster::Ledger::kNow)
              << " devices free\n";
  }
  // [read]
}
