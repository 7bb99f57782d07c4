// Why a gang is where it is.
#ifndef MUSTER_LIB_SCHEDULER_EXPLAIN_H_
#define MUSTER_LIB_SCHEDULER_EXPLAIN_H_

#include "lib/scheduler/core.h"
#include "muster/placement_solver.h"
#include "muster/scheduler.h"

namespace muster {

// The reason of the last answer, with its numbers as they are now: the question
// is asked again, without any effect.
Explanation ExplainGang(Core& core, PlacementSolver& solver, GangIndex g);

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_EXPLAIN_H_
