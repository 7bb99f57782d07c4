#include "adapters/kubernetes/controller/scheduler_link.h"

#include <algorithm>

namespace muster::kubernetes {

void SchedulerLink::SetNow(Time now) { now_ = std::max(now_, now); }

absl::Status SchedulerLink::Tell(EventBody what) {
  return Apply({now_, std::move(what)});
}

absl::Status SchedulerLink::Submit(Gang* gang) {
  Event event{now_, GangSubmitted{std::move(*gang)}};
  absl::Status status = Apply(event);
  *gang = std::move(std::get<GangSubmitted>(event.what).gang);
  return status;
}

absl::Status SchedulerLink::Apply(const Event& event) {
  absl::Status status = scheduler_.Apply(event);
  told_ |= status.ok();
  return status;
}

void SchedulerLink::MustTell(EventBody what) {
  const absl::Status status = Tell(std::move(what));
  if (!status.ok()) AddDefect(status.ToString());
}

void SchedulerLink::TellClass(const PriorityClass& priority_class) {
  if (priority_class.key.empty()) return;  // The scheduler's own.
  if (classes_.insert(priority_class.key).second) {
    MustTell(PriorityClassChanged{priority_class});
  }
}

bool SchedulerLink::Decide() {
  if (!told_ && now_ < plan_.next_wakeup) return false;
  told_ = false;
  ++passes_;
  scheduler_.Schedule(now_, &plan_);
  return true;
}

void SchedulerLink::AddDefect(std::string what) {
  constexpr size_t kMost = 100;
  if (defects_.size() < kMost) defects_.push_back(std::move(what));
}

}  // namespace muster::kubernetes
