// Handles to keys and back: records of what a scheduler says.
#ifndef MUSTER_LIB_SCHEDULER_NAMES_H_
#define MUSTER_LIB_SCHEDULER_NAMES_H_

#include <string>
#include <string_view>

#include "lib/queue/class_list.h"
#include "lib/scheduler/core.h"
#include "muster/class_state.h"
#include "muster/plan.h"
#include "muster/reason.h"

namespace muster {

// The reason with its object named; `g` is the gang that it is about.
NamedReason Named(const Core& core, const Reason& reason, GangIndex g);
// The plan with keys instead of handles.
PlanRecord RecordOf(const Core& core, const Plan& plan);

// What is remembered of a class, of which `gang` is the first, as a value; and
// back.
ClassState ClassStateOf(const Core& core, std::string_view gang, bool grows,
                        const Questions& questions);
Questions QuestionsOf(const Core& core, const ClassState& state);

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_NAMES_H_
