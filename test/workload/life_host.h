// A host of one job for tests: does what it is asked, and complains of what it
// must not be asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/workload/life.h"

namespace muster::workload {

class LifeHost {
 public:
  // The life outlives the host. `job` is life->job().
  explicit LifeHost(const Life* life);

  // Takes a step. Complaints are kept: problem().
  void Tell(const LifeEvent& event);
  void At(Time now) { now_ = now; }
  void Submit() { Tell(Submitted{}); }
  // All places that the gang desires and that it does not hold.
  std::vector<TaskId> MissingPlaces() const;
  void PlaceAll() { Tell(Placed{MissingPlaces()}); }
  // Every task that is live is told to run, and to be ready; again while that
  // starts others.
  void RunAll();
  void Started(TaskId id) { Tell(TaskStarted{id, attempt(id)}); }
  void IsReady(TaskId id) { Tell(TaskReady{id, attempt(id)}); }
  void Exits(TaskId id, int32_t code, ExitReason reason = ExitReason::kExited) {
    Tell(TaskExited{id, attempt(id), code, reason});
  }
  // All that were asked to stop do.
  void FinishStops();

  const Job& job() const { return life_->job(); }
  const LifeState& state() const { return state_; }
  LifePhase phase() const { return state_.phase; }
  const LifeOutput& output() const { return output_; }
  Time now() const { return now_; }
  uint32_t attempt(TaskId id) const {
    return state_.tasks[PositionOf(job(), id)].attempt;
  }
  // Tasks that really run, stopping or not; names of those are "role-index".
  std::vector<TaskId> Live() const;
  std::vector<std::string> LiveNames() const;
  bool IsStopping(TaskId id) const;
  // Actions of the last step of that kind, as names of tasks.
  std::vector<std::string> Acted(ActionKind kind) const;
  uint32_t places() const;
  const std::string& problem() const { return problem_; }
  // What decides how it goes on, as bytes: equal keys, equal futures.
  std::string Key() const;

 private:
  struct Task {
    bool live = false, stopping = false;
    bool running = false, ready = false, succeeded = false;
    uint32_t attempt = 0, slot = 0;

    void End() { live = stopping = running = ready = false; }
  };
  Task& At(TaskId id) { return tasks_[PositionOf(job(), id)]; }
  void Complain(const std::string& what);
  void DoAction(const Action& action, LifePhase before);
  void DoStart(const Action& action);
  // Whether a live task is in that place, and its index.
  std::optional<uint32_t> TaskIn(uint32_t role, uint32_t slot) const;
  bool MayStart(uint32_t role) const;
  void NoteOrder();
  void CheckAfter(const LifeEvent& event, const LifeState& before);
  void CheckCounts();
  void CheckPending();
  std::string NameOf(TaskId id) const;

  const Life* life_;
  LifeState state_{};
  LifeOutput output_{};
  Time now_ = 0;
  std::vector<Task> tasks_{};
  std::vector<std::vector<bool>> held_{};  // Places, by role.
  std::vector<bool> may_start_{};          // Roles, in this run.
  bool reserved_ = false;
  uint32_t checkpoint_ = 0;  // The last that was asked for.
  std::string problem_{};
};

}  // namespace muster::workload
