// Step 1: a host that has nothing yet.
// [all]
#include <iostream>

#include "muster/muster.h"

int main() {
  absl::StatusOr<muster::Scheduler> scheduler =
      muster::Scheduler::Create({.resources = {"cpu", "gpu"}});
  if (!scheduler.ok()) {
    std::cerr << scheduler.status() << "\n";
    return 1;
  }
  muster::Plan plan;
  scheduler->Schedule(0, &plan);
  std::cout << plan.decisions.size() << " decisions\n";
}
// [all]
