// Where queues stand: Scheduler::StandingOf.
#pragma once

#include "lib/queue/queue_tree.h"
#include "muster/queue_standing.h"

namespace muster {

struct SchedulerTables;

// O(kinds x (queues beside it + right below it)).
QueueStanding StandingOf(const SchedulerTables& tables, QueueIndex q);

}  // namespace muster
