// Step 5: a gang of several roles starts whole or not at all.
#include "host.h"

// [gang]
static muster::Gang Launched(const char* key) {
  return {.key = key,
          .queue = "lab",
          .roles = {{.name = "worker",
                     .min_tasks = 2,
                     .desired_tasks = 3,
                     .shape = {.devices = {.count = 4}}},
                    {.name = "launcher",
                     .shape = {.resources = {2'000}},
                     .start_after = {"worker"}}}};
}
// [gang]

int main() {
  Host host({.resources = {"cpu", "gpu"}});
  // [run]
  for (const char* key : {"node-1", "node-2", "node-3"}) {
    muster::Node node = NodeWith(key, 4);
    node.capacity = {8'000};
    host.Report(muster::NodeChanged{node});
  }
  host.Report(muster::QueueChanged{{.key = "lab"}});

  host.Report(muster::GangSubmitted{Launched("first")});
  host.Run();
  host.At(1);
  host.Report(muster::GangSubmitted{Launched("second")});
  host.Run();
  std::cout << "second waits: "
            << ToText(host.scheduler().Explain("second")->reason) << "\n";
  host.At(600);
  host.Report(muster::GangFinished{"first"});
  host.Run();
  // [run]
}
