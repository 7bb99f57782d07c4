// Step 10: what would be decided if?
#include "host.h"

int main() {
  Host host({.resources = {"gpu"}});
  host.Report(muster::NodeChanged{NodeWith("node-1", 4)});
  host.Report(muster::QueueChanged{{.key = "lab"}});
  host.Report(muster::GangSubmitted{Workers("runs", "lab", 1, 4)});
  host.Report(muster::GangSubmitted{Workers("waits", "lab", 2, 4)});
  host.Run();

  // [ask]
  const uint64_t before = host.scheduler().StateHash();
  const muster::Event events[] = {
      {host.now(), muster::NodeChanged{NodeWith("node-2", 4)}},
      {host.now(), muster::NodeChanged{NodeWith("node-3", 4)}}};
  muster::Plan plan;
  Must(host.scheduler().WhatIf(host.now(), events, &plan));
  std::cout << "with two nodes more:\n";
  for (const muster::Decision& d : plan.decisions) {
    std::cout << "  " << Name(d.kind) << " " << plan.Text(d.gang_key) << "\n";
  }
  std::cout << (host.scheduler().StateHash() == before ? "nothing changed\n"
                                                       : "changed!\n");
  // [ask]

  // [fork]
  muster::Scheduler copy = *host.scheduler().Fork();
  Must(copy.Apply({host.now(), muster::GangCancelled{"runs"}}));
  copy.Schedule(host.now(), &plan);
  std::cout << "in the copy: " << Name(plan.decisions[0].kind) << " "
            << plan.Text(plan.decisions[0].gang_key) << "\n";
  std::cout << "here, runs is " << Name(host.scheduler().Explain("runs")->phase)
            << "\n";
  // [fork]
}
