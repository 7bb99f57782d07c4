// Step 8: tasks that talk sit in one rack.
#include "host.h"

int main() {
  // [config]
  muster::SchedulerConfig config{.resources = {"gpu"}};
  config.topologies = {{.key = "network", .levels = {"block", "rack"}}};
  Host host(config);
  const std::pair<const char*, const char*> places[] = {
      {"node-1", "rack-1"}, {"node-2", "rack-1"}, {"node-3", "rack-2"},
      {"node-4", "rack-2"}, {"node-5", "rack-2"}, {"node-6", "rack-3"}};
  for (const auto& [key, rack] : places) {
    host.Report(muster::NodeChanged{
        NodeWith(key, 4, {{"block", "block-1"}, {"rack", rack}})});
  }
  // [config]
  host.Report(muster::QueueChanged{{.key = "lab"}});
  // [required]
  muster::Gang three = Workers("three", "lab", 3, 4);
  three.roles[0].topology.required = "rack";
  host.Report(muster::GangSubmitted{three});
  host.Run();

  muster::Gang again = Workers("again", "lab", 3, 4);
  again.roles[0].topology.required = "rack";
  host.Report(muster::GangSubmitted{again});
  host.Run();
  std::cout << "again waits: "
            << ToText(host.scheduler().Explain("again")->reason) << "\n";
  // [required]
  // [spread]
  muster::Gang replicas = Workers("replicas", "lab", 2, 1);
  replicas.roles[0].topology.spread = {.level = muster::kHostLevel,
                                       .max_per_domain = 1};
  host.Report(muster::GangSubmitted{replicas});
  host.Run();
  // [spread]
}
