// The life of a gang: what becomes of it when its tasks change.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/scheduler/gang_table.h"
#include "muster/event.h"
#include "muster/reason.h"

namespace muster {

struct SchedulerTables;
class GangEdit;

// Until when the task may stay on its node, whose kNoExecute taints it may bear
// for a time; kForever if none drives it out.
Time BorneUntil(const Cluster& cluster, const TaskRecord& task);
// When the first of the gang's running tasks must leave because of that, where
// that is left to the scheduler.
Time BorneUntil(const SchedulerTables& tables, const GangRecord& r);

// The state machine of docs/state-machine.md, but for decisions. Code that
// changes tasks calls Update before the edit ends. Not synchronised. O(tasks) a
// call.
class Life {
 public:
  explicit Life(SchedulerTables& tables) : tables_(tables) {}

  // One task answered; true if that changed something.
  bool Answer(GangEdit& gang, TaskId id, uint32_t attempt, TaskOutcome outcome);
  // The task is nowhere any more.
  void Drop(GangEdit& gang, TaskId id);
  // The gang's phase, from what its tasks do; it may leave.
  void Update(GangEdit& gang);
  // What its tasks that stop keep for it: TaskRecord::keeps, keeps_place.
  void UpdateKeeps(GangEdit& gang);

  // All that was to be released has been, or nothing is left of it: it holds
  // nothing and waits.
  void Stop(GangEdit& gang);
  // All of it is suspended.
  void Rest(GangRecord& r);
  // It runs, though it was to stop, or not known to. A gang that runs keeps
  // nothing suspended.
  void GoOn(GangEdit& gang);
  // It loses the capacity that it was nominated for; what runs of it goes on,
  // and the next pass looks for other.
  void UndoNomination(GangIndex g);
  // The next pass must repair it; a lost node takes precedence.
  void Flag(GangIndex g, ReasonCode reason);
  // It lost tasks that it may need, for this reason.
  void Lack(GangRecord& r, ReasonCode reason);
  // A start failed: the gang waits longer each time before the next.
  void FailStart(GangRecord& r);

  // Whether the task must leave its node: it is drained, about to be taken
  // back, or tainted kNoExecute against it; or the gang asks for fewer tasks.
  bool MustLeave(const GangRecord& r, const TaskRecord& task) const;
  std::vector<TaskId> Leaving(const GangRecord& r) const;
  // Why some must; kNone if none does.
  ReasonCode WhyLeaves(const GangRecord& r) const;

 private:
  void AnswerLive(GangEdit& gang, TaskRecord& task, TaskOutcome outcome);
  void AnswerReleasing(GangEdit& gang, TaskRecord& task, TaskOutcome outcome);
  void ActivateVictimsOf(const GangRecord& r, TaskId task, bool done);
  void Succeed(GangEdit& gang, TaskRecord& task);
  void NoteMissing(GangRecord& r, const PhaseCounts& n);
  bool AllSucceeded(const GangRecord& r, const PhaseCounts& n) const;
  void UpdatePhase(GangEdit& gang, const PhaseCounts& n);
  void EndLive(GangEdit& gang, const PhaseCounts& n);
  std::vector<TaskId> NeedsAgain(const GangRecord& r) const;
  bool RestsWhole(const GangRecord& r, const TaskRecord& without) const;

  SchedulerTables& tables_;
};

}  // namespace muster
