// What the phases of a pass work with.
#pragma once

#include "lib/scheduler/core.h"
#include "lib/scheduler/decisions.h"
#include "lib/scheduler/plan_writer.h"
#include "lib/scheduler/work_budget.h"
#include "muster/placement_solver.h"
#include "muster/preemptor.h"

namespace muster {

// Phases share nothing but this; what a phase needs for itself it has itself,
// and keeps its memory between passes.
struct PassContext {
  Core& core;
  PlacementSolver& solver;
  Preemptor& preemptor;
  PlanWriter plan{core};
  Decisions decisions{core, plan};
  WorkBudget budget = WorkBudget::ForQuestions(0);  // Of the pass under way.

  // What a search took, and the tasks that it placed.
  void Spend(const PlacementResult& found) {
    budget.Spend(found.steps);
    budget.Charge(found.tasks.size(), kTaskNs);
  }
};

class Phase {
 public:
  explicit Phase(PassContext& pass) : pass_(pass), core_(pass.core) {}

 protected:
  PassContext& pass_;
  Core& core_;
};

}  // namespace muster
