// The tasks and places of one job while a step is taken: every change of a task
// goes through here, with its counts and its action.
#ifndef MUSTER_LIB_WORKLOAD_TASK_BOOK_H_
#define MUSTER_LIB_WORKLOAD_TASK_BOOK_H_

#include <cstdint>
#include <string_view>

#include "lib/workload/life_rules.h"
#include "muster/workload/life.h"

namespace muster::workload {

// Tasks are told by their position in LifeState::tasks.
class TaskBook {
 public:
  TaskBook(const LifeRules& rules, LifeState* state, LifeOutput* output)
      : rules_(rules), s_(*state), out_(*output) {}

  bool IsLive(uint32_t task) const;

  // --- Places ---
  // The place is held from now on; false: it was already. `grown`: the role has
  // become larger by it.
  bool TakePlace(TaskId place, bool* grown);
  // The task's place is given back.
  void FreePlace(uint32_t task, TaskOutcome outcome);
  // A place without a task, of a role whose tasks are pooled.
  void FreeSpare(uint32_t role, uint32_t slot, TaskOutcome outcome);
  // Its place is gone, and another one will come.
  void LosePlace(uint32_t task);
  // The place of a task that leaves goes back; if it moves, another will come.
  void Vacate(uint32_t task);
  // It belongs to the role no more.
  void Leave(uint32_t task);
  // All places of tasks that are not live.
  void FreeIdlePlaces(TaskOutcome outcome);
  // Whether tasks that are over could start again where they were: a place that
  // was taken from one of them does not come back.
  bool HavePlaces(uint32_t first, uint32_t count) const;
  // Of a pooled role: the task's place is for any task; the task waits for any
  // place, to start again.
  void Spare(uint32_t task);
  void Retry(uint32_t task);

  // --- Tasks ---
  void Start(uint32_t task);
  void Stop(uint32_t task, Duration grace);
  void StopAll(Duration grace);
  void Running(uint32_t task);
  void Ready(uint32_t task);
  // It is not live any more.
  void Ended(uint32_t task);
  void Succeeded(uint32_t task);
  void Failed(uint32_t task);
  // Succeeded or failed no more.
  void Reset(uint32_t task);
  // Of a pooled role: tasks into spare places, as many as there are; places
  // that no task needs are given back.
  void FillSpares(uint32_t role);
  void StartLater(uint32_t task, Time at);
  // The next task whose time has come, or false.
  bool NextDue(Time now, uint32_t* task);
  void ForgetTimers();

  // --- Counts ---
  // So many of the tasks of a role as a condition asks for have reached it.
  bool Holds(const StartAfter& after) const;
  bool RuleHolds(uint32_t rule) const;
  uint32_t RuleNeeds(uint32_t rule) const;
  // Whether a pooled role has tasks that wait for a place.
  bool HasPending(uint32_t role) const;
  // Its last task has been found: no more are started.
  bool IsClosing() const;

  void Act(const Action& action) { out_.actions.push_back(action); }
  void SetCondition(ConditionType type, bool status, std::string_view reason);

 private:
  // The task is neither running nor ready any more.
  void CountStopped(const TaskState& task, RoleState* role);
  // The place of a task that is over, where others need it.
  void EndPlace(uint32_t task);
  void CountRules(TaskId id, bool up);

  const LifeRules& rules_;
  LifeState& s_;
  LifeOutput& out_;
};

}  // namespace muster::workload

#endif  // MUSTER_LIB_WORKLOAD_TASK_BOOK_H_
