// Executor: what the scheduler decides, as requests, and what becomes of these.
#pragma once

#include "adapters/kubernetes/controller/outbox.h"
#include "adapters/kubernetes/controller/reporter.h"
#include "adapters/kubernetes/controller/state.h"
#include "muster/plan.h"

namespace muster::kubernetes {

// Not synchronised.
class Executor {
 public:
  // Neither is owned.
  Executor(ControllerState* state, Reporter* reporter)
      : s_(*state), reporter_(*reporter) {}

  // O(tasks of the decision).
  void CarryOut(const DecisionRecord& decision);
  // The task has a place, and a pod that waits: its pod is bound, or, in a gang
  // with claims of volumes, when VolumeBinder has seen to these. O(log pods).
  void Place(GangRecord* gang, TaskId task, TaskSlot* slot);
  // Asks for the pod's binding. O(log pods).
  void Bind(TaskId task, TaskSlot* slot);
  // What became of a request.
  void Answer(const ApiAnswer& answer);
  // Reads that had no answer and evictions that were refused.
  void AskAgain();

 private:
  void Give(const DecisionRecord& decision, const PlannedTaskRecord& task,
            GangRecord* gang);
  void Stop(const DecisionRecord& decision, const PlannedTaskRecord& task,
            GangRecord* gang);
  // In the status of the gang's pods, as far as the decision is about it.
  void ShowNomination(const DecisionRecord& decision, GangRecord* gang);
  // A task that was to be stopped and is not.
  void GoOn(TaskSlot* slot);
  // The pod's task, if it is the one that the request is about and still waits
  // for its answer; else null. The pod is known. O(log pods).
  TaskSlot* BindingSlot(const AwaitedRequest& request);
  TaskSlot* StoppingSlot(const AwaitedRequest& request);
  void BindFailed(const AwaitedRequest& request, TaskSlot* slot);
  void BindAnswered(const ApiAnswer& answer, const AwaitedRequest& request);
  void EvictAnswered(const ApiAnswer& answer, const AwaitedRequest& request);
  void ReadAnswered(const ApiAnswer& answer, const AwaitedRequest& request);
  void ClaimAnswered(const ApiAnswer& answer, const AwaitedRequest& request,
                     const ObjectVersion& claim);

  ControllerState& s_;
  Reporter& reporter_;
};

}  // namespace muster::kubernetes
