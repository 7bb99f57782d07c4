#include "adapters/kubernetes/controller/controller.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"

namespace muster::kubernetes {
namespace {

// Rounds of one step: what is decided may be answered at once.
constexpr int kMostRounds = 8;

}  // namespace

absl::StatusOr<std::unique_ptr<Controller>> Controller::Create(
    ControllerOptions options) {
  if (options.scheduler_names.empty()) {
    return absl::InvalidArgumentError("scheduler_names: expected at least one");
  }
  SchedulerConfig config;
  config.resources = ResourceKinds(options.device_resource).names();
  config.device_kind = options.device_resource;
  config.topologies = options.topologies;
  config.host.choose_devices = false;  // Device plugins do.
  config.host.nominate = false;
  config.host.evicts_taints = false;  // The node lifecycle controller does.
  config.work_budget = options.work_budget;
  absl::StatusOr<Scheduler> scheduler = Scheduler::Create(std::move(config));
  if (!scheduler.ok()) return scheduler.status();
  return std::unique_ptr<Controller>(
      new Controller(std::move(options), *std::move(scheduler)));
}

Controller::Controller(ControllerOptions options, Scheduler scheduler)
    : options_(std::move(options)),
      scheduler_(std::move(scheduler)),
      kinds_(options_.device_resource),
      queues_(options_.default_queue) {}

absl::Status Controller::Synced(Time now) {
  now_ = std::max(now_, now);
  synced_ = true;
  dirty_.clear();
  return TellAll();
}

void Controller::Step(Time now, std::vector<ApiRequest>* requests) {
  now_ = std::max(now_, now);
  if (!synced_) return;
  for (int round = 0; round < kMostRounds; ++round) {
    while (!timers_.empty() && timers_.begin()->first <= now_) {
      dirty_.insert(timers_.begin()->second);
      timers_.erase(timers_.begin());
    }
    if (config_due_) TellConfig();
    TellQueues();
    TellNodes();
    report_due_ |= !dirty_.empty();  // What is held is told as well.
    for (const GroupRef& ref : std::exchange(dirty_, {})) Sync(ref);
    TellNodes();  // What pods use that have no task any more.
    TellBudgets();
    if (!told_ && now_ < plan_.next_wakeup) break;
    told_ = false;
    scheduler_.Schedule(now_, &plan_);
    report_due_ |= !plan_.waiting.empty();
    for (const DecisionRecord& d : scheduler_.DecisionsOf(plan_)) CarryOut(d);
  }
  if (report_due_ && now_ >= next_report_) ReportWaiting();
  requests->insert(requests->end(), std::make_move_iterator(requests_.begin()),
                   std::make_move_iterator(requests_.end()));
  requests_.clear();
}

Time Controller::next_step() const {
  if (!synced_) return kForever;
  Time next = told_ || !dirty_.empty() ? now_ : plan_.next_wakeup;
  if (!timers_.empty()) next = std::min(next, timers_.begin()->first);
  if (report_due_) next = std::min(next, next_report_);
  return next;
}

}  // namespace muster::kubernetes
