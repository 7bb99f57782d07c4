// The scheduler, and what it has been told since it last decided.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "muster/event.h"
#include "muster/ids.h"
#include "muster/plan.h"
#include "muster/priority_class.h"
#include "muster/scheduler.h"

namespace muster::kubernetes {

// Not synchronised.
class SchedulerLink {
 public:
  explicit SchedulerLink(Scheduler scheduler)
      : scheduler_(std::move(scheduler)) {}

  // Of what is told from here on. It never goes back.
  void SetNow(Time now);
  Time now() const { return now_; }

  // Scheduler::Apply.
  absl::Status Tell(EventBody what);
  // GangSubmitted, without a copy: the gang stays as it is.
  absl::Status Submit(Gang* gang);
  // It must not be refused: if it is, that is a defect.
  void MustTell(EventBody what);
  // The class, if it is the first time. O(log classes).
  void TellClass(const PriorityClass& priority_class);

  // Decides, if anything has been told since the last time or it is time to;
  // else false. plan() is that of the last true.
  bool Decide();
  const Plan& plan() const { return plan_; }
  // When Decide is to be called though nothing is told; kForever: not.
  Time next_pass() const { return told_ ? now_ : plan_.next_wakeup; }

  // Scheduler::WhatIf, now.
  absl::Status WhatIf(std::span<const Event> events, Plan* plan) {
    return scheduler_.WhatIf(now_, events, plan);
  }
  // Passes that decided.
  uint64_t passes() const { return passes_; }

  const Scheduler& scheduler() const { return scheduler_; }

  // What cannot be, unless this library has a defect. The first hundred.
  void AddDefect(std::string what);
  const std::vector<std::string>& defects() const { return defects_; }

 private:
  absl::Status Apply(const Event& event);

  Scheduler scheduler_;
  Plan plan_;
  std::set<std::string> classes_;  // That the scheduler knows.
  std::vector<std::string> defects_;
  Time now_ = 0;
  bool told_ = false;  // Something, since the last pass.
  uint64_t passes_ = 0;
};

}  // namespace muster::kubernetes
