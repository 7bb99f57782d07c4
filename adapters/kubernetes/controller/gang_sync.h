// GangSync: what the scheduler is told of groups and their pods.
#pragma once

#include <optional>

#include "adapters/kubernetes/controller/executor.h"
#include "adapters/kubernetes/controller/reporter.h"
#include "adapters/kubernetes/controller/state.h"
#include "adapters/kubernetes/controller/volume_binder.h"
#include "muster/event.h"

namespace muster::kubernetes {

// Not synchronised.
class GangSync {
 public:
  // None is owned.
  GangSync(ControllerState* state, Reporter* reporter, Executor* executor,
           VolumeBinder* volumes)
      : s_(*state),
        reporter_(*reporter),
        executor_(*executor),
        volumes_(*volumes) {}

  // Tells what is new of the group, and forgets it if nothing of it is left.
  // O(pods of the group x their logarithm).
  void Sync(GangRecord* gang);

  // At first: every gang with its pods, those that run too.
  void TellMembers();
  // Then: which of their pods run, on nodes that are known.
  void TakeOver(Reconciled* whole);

 private:
  void AnswerTasks(GangRecord* gang);
  std::optional<TaskAnswer> AnswerOf(TaskId task, TaskSlot* slot,
                                     GangRecord* gang);
  void TellGang(GangRecord* gang);
  // False: no pod of it, with `bound_too` those that run, has or needs a place.
  bool TellPods(GangRecord* gang, bool bound_too);
  void TellWanted(Gang&& wanted, GangRecord* gang);
  // The gang has no pod left that runs or could.
  void TellEmpty(GangRecord* gang);
  // The last checkpoint of what runs, if it is a later one.
  void TellCheckpoint(GangRecord* gang);
  // Its pods that run where the scheduler has no task of them.
  void UpdateUsage(const GangRecord& gang);
  // Its pods as its queue counts them.
  void UpdateTally(GangRecord* gang);
  // Its pods that run, for disruption budgets.
  void UpdateBudgets(const GangRecord& gang);

  ControllerState& s_;
  Reporter& reporter_;
  Executor& executor_;
  VolumeBinder& volumes_;
};

}  // namespace muster::kubernetes
