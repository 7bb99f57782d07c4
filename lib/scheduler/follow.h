// Taking recorded decisions instead of making them.
#ifndef MUSTER_LIB_SCHEDULER_FOLLOW_H_
#define MUSTER_LIB_SCHEDULER_FOLLOW_H_

#include "absl/status/status.h"
#include "lib/scheduler/pass_context.h"
#include "muster/plan.h"

namespace muster {

// Does what a pass did, at the price of its decisions: nothing is asked. After
// an error (FAILED_PRECONDITION names the decision) part of the plan has been
// taken: the caller takes it back.
absl::Status FollowPlan(PassContext& pass, const PlanRecord& record);

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_FOLLOW_H_
