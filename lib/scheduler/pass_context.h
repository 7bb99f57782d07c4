// What the phases of a pass work with.
#pragma once

#include <vector>

#include "lib/preempt/victim_search.h"
#include "lib/queue/queue_position.h"
#include "lib/scheduler/decisions.h"
#include "lib/scheduler/plan_writer.h"
#include "lib/scheduler/scheduler_tables.h"
#include "lib/scheduler/work_budget.h"
#include "lib/solver/gang_solver.h"

namespace muster {

// Phases share nothing but this; what a phase needs for itself it has itself,
// and keeps its memory between passes.
struct PassContext {
  SchedulerTables& tables;
  GangSolver& solver;
  VictimSearch& victim_search;
  PlanWriter plan{tables};
  Decisions decisions{tables, plan};
  WorkBudget budget = WorkBudget::ForQuestions(0);  // Of the pass under way.

  // What a search took, and the tasks that it placed.
  void Spend(const PlacementResult& found) {
    budget.Spend(found.steps);
    budget.Charge(found.tasks.size(), kTaskNs);
  }
};

class Phase {
 public:
  explicit Phase(PassContext& pass) : pass_(pass), tables_(pass.tables) {}

 protected:
  // Calls check(gang) with the gangs whose check is due (GangLists::check_due),
  // those that are nominated or those that are not, until it returns false.
  template <class Check>
  void CheckDue(bool nominated, Check check) {
    positions_.clear();
    for (const QueuePosition& position : tables_.lists.check_due()) {
      if (IsNominated(position) == nominated) positions_.push_back(position);
    }
    CheckRanks(check);
  }
  bool IsNominated(const QueuePosition& position) const {
    return muster::IsNominated(tables_.gangs.at(position.gang));
  }
  // With those in positions_ likewise, or until the budget is spent.
  template <class Check>
  void CheckRanks(Check check) {
    for (const QueuePosition& position : positions_) {
      if (pass_.budget.exhausted()) return;
      pass_.budget.Charge(1, kClassNs);
      pass_.plan.Checks(position.gang);
      if (!check(position.gang)) return;
    }
  }

  // Calls refresh(leaf) with each leaf that has changed, and with this one.
  template <class Refresh>
  static void RefreshChanged(GangClassList& list, QueueIndex leaf,
                             Refresh refresh) {
    bool refreshed = false;
    for (const QueueIndex changed : list.TakeChangedQueues()) {
      refresh(changed);
      refreshed |= changed == leaf;
    }
    if (!refreshed) refresh(leaf);
  }

  PassContext& pass_;
  SchedulerTables& tables_;
  std::vector<QueuePosition> positions_{};  // Gangs to check.
};

}  // namespace muster
