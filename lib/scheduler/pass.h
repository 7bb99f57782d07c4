// One pass: mend what is broken, start what was promised, serve those who wait
// in order, then let elastic gangs grow.
#ifndef MUSTER_LIB_SCHEDULER_PASS_H_
#define MUSTER_LIB_SCHEDULER_PASS_H_

#include "lib/scheduler/decisions.h"
#include "lib/scheduler/grow.h"
#include "lib/scheduler/pass_context.h"
#include "lib/scheduler/plan_writer.h"
#include "lib/scheduler/promote.h"
#include "lib/scheduler/repair.h"
#include "lib/scheduler/serve.h"
#include "muster/plan.h"

namespace muster {

// Gangs whose time has come are looked at: what waits stands in line, what is
// in trouble asks. Questions that were to be tried again by now are open.
void Wake(Core& core);
// The round is over, when all open questions have been asked: what it placed
// may be a victim from now on, and what was put off for that is open.
void EndRound(Core& core, PlanWriter* plan);

// A *round* is the passes from the first that has something to ask to the one
// that leaves nothing open; without a work budget, one pass. What is placed in
// a round is nobody's victim in it, so that no plan starts what it stops.
class Pass {
 public:
  explicit Pass(PassContext& pass) : pass_(pass) {}

  // Makes a plan, at Core::now, and takes it as done.
  void Run(Plan* plan);

 private:
  static Time NextWakeup(const Core& core, bool at_once);

  PassContext& pass_;
  Repair repair_{pass_};
  Promote promote_{pass_};
  Serve serve_{pass_};
  Grow grow_{pass_};
};

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_PASS_H_
