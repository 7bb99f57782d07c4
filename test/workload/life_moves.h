// What can happen to a job next.
#pragma once

#include <vector>

#include "test/workload/life_host.h"

namespace muster::workload {

struct Move {
  LifeEvent event{};
  Time at = 0;  // The time is this by then.
};

// All that a scheduler, a node, a process or an owner might do now; `all`: also
// what differs little from something else that is there.
std::vector<Move> Moves(const LifeHost& host, bool all);

// Small jobs, one of each way of living.
std::vector<Job> SmallJobs();

}  // namespace muster::workload
