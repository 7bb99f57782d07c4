// The simulator's inside: shared by simulator.cc (time), carry_out.cc
// (decisions), world.cc (what happens to the cluster) and audit.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "adapters/inprocess/event_queue.h"
#include "adapters/inprocess/live_gangs.h"
#include "adapters/inprocess/real_usage.h"
#include "adapters/inprocess/simulator.h"
#include "adapters/inprocess/task_places.h"
#include "adapters/inprocess/waves.h"

namespace muster::inprocess {

// Something the host says. Late ones may come when the gang is gone.
struct Message {
  EventBody body{};
  uint32_t slot = 0;
  GangId gang{};
};

// Slots that are used again, so that indices stay small and memory bounded.
template <class T>
class Pool {
 public:
  uint32_t Add(T value) {
    if (free_.empty()) {
      items_.push_back(std::move(value));
      return static_cast<uint32_t>(items_.size() - 1);
    }
    const uint32_t i = free_.back();
    free_.pop_back();
    items_[i] = std::move(value);
    return i;
  }
  T Take(uint32_t i) {
    free_.push_back(i);
    return std::move(items_[i]);
  }
  bool empty() const { return free_.size() == items_.size(); }

 private:
  std::vector<T> items_;
  std::vector<uint32_t> free_;
};

// The host that is played: it says what happens, carries decisions out as late
// and as badly as HostModel has it, and answers, on a clock of its own. Of many
// functions, since each step of a job's life changes its tasks, the usage and
// the queue of what comes next together; grouped by the files that define them.
class Simulator::Impl {
 public:
  Impl(Scheduler scheduler, const SchedulerConfig& config, JobSource* jobs,
       std::vector<WorldEvent> world, SimulatorOptions options);

  absl::Status SetUp(const Setup& setup);
  absl::Status Run(Time until);
  absl::Status Audit() const;

  Scheduler scheduler_;
  RealUsage real_usage_;
  Metrics metrics_;
  WaitingMirror waiting_;
  std::vector<Refusal> refusals_;
  Time now_ = 0;
  LiveGangs live_;

 private:
  // --- simulator.cc: time ---------------------------------------------------
  Time NextTime() const;
  absl::Status HandleAllAt(Time t);
  absl::Status HandleDue(const Due& due);
  absl::Status SubmitNext();
  // The scheduler has taken the job: it lives from now on.
  absl::Status Admit(Job* job);
  void Refuse(Refusal refusal);
  absl::Status Pass();
  void OnProgress(uint32_t slot);
  // The work is done: nothing of the gang runs any more.
  void Finish(uint32_t slot);
  // To be called after any change of a gang's tasks.
  void UpdateRate(uint32_t slot, StopCause cause,
                  std::string_view on_behalf_of = {});
  void BeginsToWork(LiveGang& g);
  void StopsWorking(LiveGang& g, StopCause cause, std::string_view for_whom);
  void ScheduleProgress(uint32_t slot);

  uint32_t SlotOf(std::string_view key) const;
  // Frees the slot if the scheduler does not know the gang any more.
  void FreeIfGone(uint32_t slot);

  // Reports a gang's event to the scheduler, as late and as often as the host
  // does. `matters`: a decision could depend on it even if it is reported at
  // once.
  void Report(uint32_t slot, EventBody body, bool matters,
              Duration extra_delay = 0);
  void Deliver(const Message& message, bool matters, bool late);
  void Broken(std::string_view what, const absl::Status& status);

  // --- carry_out.cc: decisions ---------------------------------------------
  void CarryOut(const Decision& d);
  void BeginStart(const Decision& d, uint32_t slot);
  // Begins what waited for roles that run now.
  void OpenWaves(uint32_t slot);
  void BeginStop(const Decision& d, uint32_t slot);
  bool StartMatters(const LiveGang& g) const;
  void PlaceTask(const PlannedTask& t, LiveGang& g);
  void FinishAct(const Act& act);
  void FinishStart(const Act& act, LiveGang& g);
  void FinishStop(const Act& act, LiveGang& g);
  void FinishLeaving(const Act& act, LiveGang& g);
  std::optional<Lapse> NextLapse(const std::string& gang, bool on_stop);
  void Schedule(Act act, Time at);

  // --- world.cc -------------------------------------------------------------
  void Happen(const WorldEvent& e);
  void HappenTold(const EventBody& body, int line);
  void HappenTaskDies(const TaskDies& e, int line);
  void BeginLeaving(uint32_t slot, uint32_t flat);
  void Reconcile();
  void LoseTasksOn(uint32_t node);
  void ReportNode(uint32_t node);

  const SchedulerConfig config_;
  JobSource* jobs_;
  std::vector<WorldEvent> world_;
  size_t next_world_ = 0;
  SimulatorOptions options_;
  TaskPlaces places_;

  Job next_job_;  // The source's next, if has_next_.
  bool has_next_ = false;
  Time wake_ = kForever;
  bool pass_needed_ = false;
  bool protected_runtimes_ = false;  // Some class has a min_runtime.
  uint32_t passes_at_now_ = 0;
  absl::Status broken_ = absl::OkStatus();  // The first breach of contract.

  EventQueue queue_;
  std::vector<uint32_t> node_of_id_;  // RealUsage' node by NodeId::index.
  Pool<Act> acts_;
  Waves waves_;
  Pool<Message> messages_;
  uint64_t ended_ = 0;

  Plan plan_;
  Event event_;  // Keeps its capacity between submissions.
};

}  // namespace muster::inprocess
