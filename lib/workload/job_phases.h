// The phases of a job while a step is taken: how it starts, stops and ends as a
// whole.
#ifndef MUSTER_LIB_WORKLOAD_JOB_PHASES_H_
#define MUSTER_LIB_WORKLOAD_JOB_PHASES_H_

#include <cstdint>
#include <string_view>

#include "lib/workload/life_rules.h"
#include "lib/workload/task_book.h"
#include "muster/workload/life.h"

namespace muster::workload {

// Tasks are told by their position in LifeState::tasks. All that it is given
// outlives it.
class JobPhases {
 public:
  JobPhases(const LifeRules& rules, LifeState* state, TaskBook* book)
      : rules_(rules), job_(rules.job), s_(*state), book_(*book) {}

  bool IsFinal() const { return s_.phase >= LifePhase::kSucceeded; }
  bool HoldsPlaces() const {
    return s_.phase >= LifePhase::kRunning && s_.phase <= LifePhase::kBackoff;
  }

  // --- Starting ---
  void Reserve();   // Asks for places.
  void TryBegin();  // All roles, if its time has come and its places are there.
  // Opens the roles that wait for this one, if all that they wait for is so.
  void CheckFollowers(uint32_t role);
  // If nothing is in its way.
  void StartTask(uint32_t task);
  // Again, after `delay`.
  void Restart(uint32_t task, Duration delay);
  // Before the n-th restart.
  Duration Delay(uint32_t restarts) const;

  // --- Standing still ---
  void Pause();
  void Continue();

  // --- Stopping ---
  // All tasks, after a checkpoint if the job makes them and `notice` is enough.
  void StopAll(AfterStop after, Duration notice, bool checkpoint);
  void StopNow(Duration grace);
  void Stopped();  // None is live any more: LifeState::after follows.
  // All places go back, and no task belongs to its role any more. What has
  // succeeded in a pool stays so.
  void GiveUpPlaces();

  // --- Ending ---
  void CheckSuccess();
  void Finish(LifePhase phase, std::string_view reason);
  void Drained();  // Nothing of a job that has ended is alive any more.
  void Forget();

 private:
  // Whether all that must be there has its place.
  bool IsComplete() const;
  void Begin();
  void Open(uint32_t role);
  void StopClock();

  const LifeRules& rules_;
  const Job& job_;
  LifeState& s_;
  TaskBook& book_;
};

}  // namespace muster::workload

#endif  // MUSTER_LIB_WORKLOAD_JOB_PHASES_H_
