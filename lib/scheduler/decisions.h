// What a decision does to the state, whether it was just made or is replayed.
#pragma once

#include <span>

#include "lib/scheduler/plan_writer.h"
#include "lib/scheduler/scheduler_tables.h"
#include "lib/solver/gang_solver.h"
#include "muster/reason.h"

namespace muster {

// Each call makes one decision and takes it as done: the state after it is the
// one in which the host does as asked, and the questions that it concerns are
// active; of what makes room for a gang, when the gang has got it. Not
// synchronised. O(tasks of the gang).
class Decisions {
 public:
  Decisions(SchedulerTables& tables, PlanWriter& plan)
      : tables_(tables), plan_(plan) {}

  // kStart or kNominate. The assignments are charged in the cluster already: to
  // both ledgers, or to kLater. A gang that runs is nominated for these
  // besides.
  void Place(GangIndex g, DecisionKind kind, std::span<const Assignment> tasks,
             const Reason& reason);
  // Joins the decision that started or grew the gang in this plan. Tasks that
  // take the place of failed ones (kTaskFailed) are a decision of their own.
  void Grow(GangIndex g, std::span<const Assignment> tasks,
            const Reason& reason);
  // Nominated tasks become starting ones; of a gang that runs it is kGrow.
  void StartNominated(GangIndex g);
  // A gang that runs is not nominated for more any longer: a kEvict without
  // tasks.
  void Withdraw(GangIndex g, const Reason& reason);
  // All tasks begin to be released; a nomination is withdrawn. `kind`: kEvict,
  // kCancel or kSuspend.
  void Stop(GangIndex g, DecisionKind kind, const Reason& reason,
            GangIndex on_behalf_of = kNoGang);
  void Shrink(GangIndex g, std::span<const TaskId> tasks, const Reason& reason,
              GangIndex on_behalf_of = kNoGang);
  void Resume(GangIndex g);

 private:
  using Draft = PlanWriter::Draft;

  // The gang starts, or is nominated; its tasks come next.
  Draft Begin(GangEdit& gang, DecisionKind kind, const Reason& reason);
  void AddTasks(GangEdit& gang, std::span<const Assignment> tasks,
                TaskPhase phase, Draft draft);
  // Its tasks of that phase, held already, start.
  void StartTasks(GangIndex g, DecisionKind kind, ReasonCode why,
                  TaskPhase from);
  void Release(GangEdit& gang, TaskRecord& task, Draft draft);
  void Report(GangEdit& gang, TaskRecord& task, Draft draft);
  // It was placed by this decision, in the round under way.
  void NotePlaced(GangEdit& gang, Draft draft);
  void NoteMadeRoom(GangEdit& gang);

  SchedulerTables& tables_;
  PlanWriter& plan_;
  // The gang for which others have given way last, and by which decision: it is
  // placed next.
  struct MakesRoom {
    GangIndex gang = kNoGang;
    uint64_t seq = 0;
  };
  MakesRoom makes_room_{};
};

}  // namespace muster
