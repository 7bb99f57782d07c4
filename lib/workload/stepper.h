// One step of a job's life: what each event, and the passing of time, means to
// it in its present phase. What follows is done by those below: JobPhases for
// the job as a whole, TaskExits for tasks that have ended, TaskBook for each
// change of a task.
#ifndef MUSTER_LIB_WORKLOAD_STEPPER_H_
#define MUSTER_LIB_WORKLOAD_STEPPER_H_

#include <cstdint>

#include "lib/workload/job_phases.h"
#include "lib/workload/life_rules.h"
#include "lib/workload/task_book.h"
#include "lib/workload/task_exits.h"
#include "muster/workload/life.h"

namespace muster::workload {

class Stepper {
 public:
  Stepper(const LifeRules& rules, LifeState* state, LifeOutput* output)
      : rules_(rules),
        job_(rules.job),
        s_(*state),
        book_(rules, state, output),
        phases_(rules, state, &book_),
        exits_(rules, state, &book_, &phases_) {}

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
  void On(const Paused&);
  void On(const Continued&);
  void On(const LimitChanged& event) { s_.limit = event.limit; }
  void On(const TimePassed&) {}
  void On(const DeletionAsked&);
  void On(const TasksListed& event);
  // What holds after any event.
  void Settle();
  Time WakeAt() const;

 private:
  uint32_t TaskOf(TaskId id) const {
    return rules_.first_task[id.role] + id.index;
  }
  // The task of this attempt, if it is live.
  bool Current(TaskId id, uint32_t attempt, uint32_t* task) const;
  void TakePlaceBack(uint32_t task, const PlacesTaken& event);
  // When its time with places is over, and when it is to be forgotten;
  // kForever: not as it is now.
  Time Deadline() const;
  Time ForgetAt() const;

  const LifeRules& rules_;
  const Job& job_;
  LifeState& s_;
  TaskBook book_;
  JobPhases phases_;
  TaskExits exits_;
};

}  // namespace muster::workload

#endif  // MUSTER_LIB_WORKLOAD_STEPPER_H_
