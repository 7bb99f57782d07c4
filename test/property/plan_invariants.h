// What every plan keeps to, checked from the states before and after it.
#pragma once

#include <string>

#include "muster/plan.h"
#include "muster/state.h"

namespace muster {

// The first invariant that the plan breaks, as "name: details"; empty if none.
// `before` is the state the plan was made from (its time already `plan.now`),
// `after` the state with the decisions taken.
std::string BrokenInvariant(const SchedulerState& before,
                            const PlanRecord& plan, const Plan& raw,
                            const SchedulerState& after);

}  // namespace muster
