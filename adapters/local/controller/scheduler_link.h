// The scheduler with its journal, and what it has been told since it last
// decided.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/controller/options.h"
#include "adapters/local/model/turn_save.h"
#include "muster/event.h"
#include "muster/ids.h"
#include "muster/plan.h"
#include "muster/queue.h"
#include "muster/scheduler.h"
#include "muster/wire/journal.h"

namespace muster::local {

// Those of the configuration, or its only one. O(queues).
std::vector<Queue> QueuesOf(const ControllerConfig& config);

// Not synchronised.
class SchedulerLink {
 public:
  // A new one, with the node, queues and classes of the configuration.
  static absl::StatusOr<std::unique_ptr<SchedulerLink>> Begin(
      const ControllerConfig& config, Time now);
  // As the journal left it, with what is other in the configuration.
  static absl::StatusOr<std::unique_ptr<SchedulerLink>> Restore(
      const ControllerConfig& config, std::string_view journal, Time now);
  ~SchedulerLink();

  // Of what is told from here on. It never goes back.
  void SetNow(Time now);
  Time now() const { return now_; }

  // Scheduler::Apply.
  absl::Status Tell(EventBody what);
  // It must not be refused: if it is, that is a defect.
  void MustTell(EventBody what);
  // INVALID_ARGUMENT: there is no such queue. O(1).
  absl::Status CheckQueue(const std::string& name) const;
  // INVALID_ARGUMENT, with the names there are: no such class.
  absl::Status CheckClass(const std::string& name) const;
  // Tells the class, unless one of its name is known. RESOURCE_EXHAUSTED: there
  // are too many. O(log classes).
  absl::Status AddClass(const PriorityClass& priority_class);

  // Decides, if anything has been told since the last time or it is time to;
  // else false. plan() is that of the last true.
  bool Decide();
  const Plan& plan() const { return plan_; }
  // When Decide is to be called though nothing is told; kForever: not.
  Time next_pass() const { return told_ ? now_ : plan_.next_wakeup; }
  uint64_t passes() const { return passes_; }

  absl::Status WhatIf(std::span<const Event> events, Plan* plan) {
    return scheduler_.WhatIf(now_, events, plan);
  }
  const Scheduler& scheduler() const { return scheduler_; }

  // Moves what the journal has got since the last time.
  void TakeJournal(TurnSave* save);
  uint64_t journal_bytes() const { return journal_bytes_; }

  // What cannot be, unless this program has a defect. The first hundred.
  void AddDefect(std::string what);
  const std::vector<std::string>& defects() const { return defects_; }

 private:
  explicit SchedulerLink(Scheduler scheduler)
      : scheduler_(std::move(scheduler)) {}
  // A journal of the state as it is now; its bytes are in `sink_`.
  void BeginJournal();
  absl::Status TellConfig(const ControllerConfig& config);
  absl::Status TellNode(const SchedulerState& state, const Node& node);
  absl::Status TellQueues(const SchedulerState& state,
                          const ControllerConfig& config);

  Scheduler scheduler_;
  std::string sink_;
  std::unique_ptr<wire::JournalWriter> writer_;
  bool begins_ = false;          // sink_ has a journal's beginning.
  uint64_t snapshot_bytes_ = 0;  // Of that beginning.
  uint64_t journal_bytes_ = 0;   // Handed out, of the journal under way.
  Plan plan_;
  std::set<std::string> classes_;  // That the scheduler knows.
  std::vector<std::string> defects_;
  Time now_ = 0;
  bool told_ = true;
  uint64_t passes_ = 0;
};

}  // namespace muster::local
