// One step of a job's life.
#ifndef MUSTER_LIB_WORKLOAD_STEPPER_H_
#define MUSTER_LIB_WORKLOAD_STEPPER_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "lib/workload/life_rules.h"
#include "lib/workload/task_book.h"
#include "muster/workload/life.h"

namespace muster::workload {

class Stepper {
 public:
  Stepper(const LifeRules& rules, LifeState* state, LifeOutput* output)
      : rules_(rules),
        job_(rules.job),
        s_(*state),
        out_(*output),
        book_(rules, state, output) {}

  // What the passing of time has made due; before any event.
  void PassTime();
  // One function an event.
  void On(const Submitted&);
  void On(const Placed& event);
  void On(const PlacesTaken& event);
  void On(const Preempted& event);
  void On(const TaskStarted& event);
  void On(const TaskReady& event);
  void On(const TaskExited& event);
  void On(const CheckpointDone& event);
  void On(const ResizeAsked& event);
  void On(const SuspendAsked&);
  void On(const ResumeAsked&);
  void On(const TimePassed&) {}
  void On(const DeletionAsked&);
  void On(const TasksListed& event);
  // What holds after any event.
  void Settle();
  Time WakeAt() const;

 private:
  bool IsFinal() const { return s_.phase >= LifePhase::kSucceeded; }
  bool HoldsPlaces() const {
    return s_.phase >= LifePhase::kRunning && s_.phase <= LifePhase::kBackoff;
  }
  // Whether all that must be there has its place.
  bool IsComplete() const;
  uint32_t TaskOf(TaskId id) const {
    return rules_.first_task[id.role] + id.index;
  }
  // The task of this attempt, if it is live.
  bool Current(TaskId id, uint32_t attempt, uint32_t* task) const;

  // --- Starting ---
  void Reserve();
  void Begin();     // All roles from the first.
  void TryBegin();  // ... if its time has come and its places are there.
  void Open(uint32_t role);
  void CheckFollowers(uint32_t role);
  void StartTask(uint32_t task);
  // Again, after `delay`.
  void Restart(uint32_t task, Duration delay);

  // --- Stopping ---
  // All tasks, after a checkpoint if the job makes them and `notice` is enough.
  void StopAll(AfterStop after, Duration notice, bool checkpoint);
  void StopNow(Duration grace);
  void Stopped();
  void GiveUpPlaces();
  void StopClock();

  // --- Exits ---
  void Exit(uint32_t task, int32_t code, ExitReason reason);
  void ExitWhenRunning(uint32_t task, bool asked, int32_t code,
                       ExitReason reason);
  void ExitWhenStopping(uint32_t task, ExitReason reason);
  void Succeed(uint32_t task);
  void FreeExit(uint32_t task, ExitReason reason);
  // A failure by the job's own doing.
  void Failure(uint32_t task, bool retryable, ExitReason reason);
  void CountFailure(uint32_t task);
  void FailIndex(uint32_t task);
  void FailGroup(TaskId id);
  void RestartGroup(TaskId id);
  bool ApplyExitRule(uint32_t task, int32_t code, ExitReason reason);
  Duration Delay(uint32_t restarts) const;

  // --- Ending ---
  void CheckSuccess();
  void Finish(LifePhase phase, std::string_view reason);
  void Drained();  // Nothing of a job that has ended is alive any more.
  void Forget();

  void TakePlaceBack(uint32_t task, const PlacesTaken& event);

  const LifeRules& rules_;
  const Job& job_;
  LifeState& s_;
  LifeOutput& out_;
  TaskBook book_;
};

}  // namespace muster::workload

#endif  // MUSTER_LIB_WORKLOAD_STEPPER_H_
