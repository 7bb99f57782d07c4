// Exits of tasks: what follows for the task, its group and its job.
#ifndef MUSTER_LIB_WORKLOAD_TASK_EXITS_H_
#define MUSTER_LIB_WORKLOAD_TASK_EXITS_H_

#include <cstdint>

#include "lib/workload/job_phases.h"
#include "lib/workload/life_rules.h"
#include "lib/workload/task_book.h"
#include "muster/workload/life.h"

namespace muster::workload {

// Tasks are told by their position in LifeState::tasks. All that it is given
// outlives it.
class TaskExits {
 public:
  TaskExits(const LifeRules& rules, LifeState* state, TaskBook* book,
            JobPhases* phases)
      : rules_(rules),
        job_(rules.job),
        s_(*state),
        book_(*book),
        phases_(*phases) {}

  // A live task is so no more.
  void Exit(uint32_t task, int32_t code, ExitReason reason);

 private:
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

  const LifeRules& rules_;
  const Job& job_;
  LifeState& s_;
  TaskBook& book_;
  JobPhases& phases_;
};

}  // namespace muster::workload

#endif  // MUSTER_LIB_WORKLOAD_TASK_EXITS_H_
