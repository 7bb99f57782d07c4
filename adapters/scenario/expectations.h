// Whether a run went as its scenario says.
#pragma once

#include <string>
#include <vector>

#include "adapters/inprocess/timeline.h"
#include "adapters/scenario/scenario.h"
#include "muster/scheduler.h"

namespace muster::inprocess {

struct CheckReport {
  int checked = 0;
  std::vector<std::string> failures{};  // One line each, with file and line.
};

// `scheduler` is as the run left it.
CheckReport Check(const Scenario& scenario, const Timeline& timeline,
                  const Scheduler& scheduler);

}  // namespace muster::inprocess
