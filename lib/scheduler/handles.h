// Handles across states: which are still good, and what is what.
#ifndef MUSTER_LIB_SCHEDULER_HANDLES_H_
#define MUSTER_LIB_SCHEDULER_HANDLES_H_

#include "lib/scheduler/core.h"
#include "muster/plan.h"

namespace muster {

// The plan's handles, made in another state, become those of `to`: handles of
// what is not there are invalid. That state was `from`, or (null) one of which
// `to` is what is left after taking back.
void MapHandles(const Core* from, const Core& to, Plan* plan);

// No handle of `next`, an empty core, will be one that `before` gave out.
void StartGenerationsAfter(const Core& before, Core& next);

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_HANDLES_H_
