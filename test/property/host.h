// A host of a scheduler, for tests: it carries decisions out in a world of its
// own, faithfully or not, and can tell what really runs.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "muster/state.h"

namespace muster {

class Host {
 public:
  // A task as it really is.
  struct Real {
    std::string node{};
    std::vector<uint32_t> devices{};
    uint32_t alternative = 0;
    uint32_t attempt = 0;
    std::optional<uint32_t> first_slice{};
    bool leaving = false;  // Somebody else stops it.
  };
  using Key = std::pair<std::string, TaskId>;

  // What the plan asks is to be done from now on.
  void Take(const PlanRecord& plan);
  const std::deque<DecisionRecord>& pending() const { return pending_; }
  const std::map<Key, Real>& real() const { return real_; }
  // Whether something runs there, is suspended or shall start or stop.
  bool Uses(const std::string& node) const;

  // Carries out pending decision `i` for its tasks from `first` on; `done` of
  // them, the others stay pending. Started tasks land where planned, or on
  // `elsewhere` if that is not empty. Returns the answer.
  TasksAnswered Do(size_t i, size_t done, const std::string& elsewhere);
  // The same for the whole decision, answered by its number.
  DecisionApplied DoAll(size_t i);
  // Carries out what may be done of decision `i`: of a start, the tasks whose
  // gang has no task of a lower wave still to be started.
  bool Ready(size_t i) const;
  EventBody DoReady(size_t i);
  // Does nothing for the decision's tasks: a start's fail; a stop's do not
  // happen.
  TasksAnswered FailAll(size_t i);
  DecisionRefused Refuse(size_t i);

  // Something happened in the world.
  void LoseNode(const std::string& node);
  void Forget(const std::string& gang);
  void DropPending(const std::string& gang);
  // The task runs there, though it was not asked to.
  void Move(const Key& key, const Real& to) { real_.at(key) = to; }
  // Somebody else begins to stop the task, which runs.
  TasksAnswered Leave(const Key& key);
  // The task ended by itself.
  TasksAnswered End(Key key, TaskOutcome outcome);

  // What really runs, of gangs that the state knows, on nodes it knows. Tasks
  // of pending stops are named as being released where `releasing`; those that
  // are suspended, where the host says that it can.
  std::vector<RealTask> Tasks(const SchedulerState& state,
                              bool releasing) const;
  // Forgets what it was asked: the scheduler has been told the whole truth.
  void ClearPending() { pending_.clear(); }
  void KeepOnly(const std::vector<RealTask>& tasks);

 private:
  bool IsStop(const DecisionRecord& d) const;
  bool MayStart(const std::string& gang, uint32_t wave) const;

  std::deque<DecisionRecord> pending_;
  std::map<Key, Real> real_;
  std::map<Key, Real> suspended_;
};

// As events tell them.
std::vector<uint32_t> NumbersOf(DeviceSet devices);

}  // namespace muster
