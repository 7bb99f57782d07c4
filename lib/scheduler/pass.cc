// One pass: mend what is broken, start what was promised, serve those who wait
// in order, then let elastic gangs grow.
#include <algorithm>

#include "lib/scheduler/impl.h"

namespace muster {

namespace {
constexpr uint64_t kNoBudget = ~uint64_t{0};
}  // namespace

void Scheduler::Impl::Schedule(Time at, Plan* plan) {
  plan->Clear();
  now = std::max(now, std::min(at, kForever / 2));
  DrainInbox(plan);
  plan->based_on = version;
  plan->now = now;
  plan_ = plan;
  drafts_.clear();
  draft_tasks_.clear();
  ++pass_;
  wakeup_ = kForever;
  look_again_ = put_off_ = false;
  exceeded_ = false;
  steps_left_ = config.work_budget == 0 ? kNoBudget : config.work_budget;
  Decide(plan);
  Flatten(plan);
  plan->budget_exhausted = steps_left_ == 0;
  plan->steps =
      (config.work_budget == 0 ? kNoBudget : config.work_budget) - steps_left_;
  plan->next_wakeup = NextWakeup();
  plan_ = nullptr;
  if (!drafts_.empty()) ++version;
  if (journal != nullptr) journal->Planned(Record(*plan));
}

void Scheduler::Impl::Decide(Plan* plan) {
  WakeParked();
  CancelOverdue();
  Repair();
  ShedFromOvercommitted();
  StartNominated();
  ServeWaiting(plan);
  GrowGangs();
  // Who was blocked may take back from those who have more than their due now.
  look_again_ |= exceeded_ && config.preemption && !plan->waiting.empty() &&
                 queues.guarantees() > 0;
}

// Every pass spends at most its budget; the count depends on what was looked
// at and decided, never on what a cache knew.
void Scheduler::Impl::SpendSteps(uint64_t steps) {
  steps_left_ = steps < steps_left_ ? steps_left_ - steps : 0;
}

void Scheduler::Impl::NoteWakeup(Time at) {
  if (at > now) wakeup_ = std::min(wakeup_, at);
}

Time Scheduler::Impl::NextWakeup() const {
  if (look_again_) return now;
  Time next = wakeup_;
  if (!parked_.empty()) next = std::min(next, parked_.begin()->first);
  if (!overdue_.empty()) next = std::min(next, overdue_.begin()->first);
  return next;
}

// Gangs whose time has come stand in line again.
void Scheduler::Impl::WakeParked() {
  while (!parked_.empty() && parked_.begin()->first <= now) {
    const GangIndex g = parked_.begin()->second;
    Delist(g);
    Enlist(g);
  }
}

void Scheduler::Impl::CancelOverdue() {
  ranks_.clear();
  for (const auto& [end, g] : overdue_) {
    if (end > now) break;
    ranks_.push_back(RankOf(g));
  }
  std::sort(ranks_.begin(), ranks_.end());
  for (const GangRank& rank : ranks_) {
    CommitStop(rank.gang, DecisionKind::kCancel,
               {.code = ReasonCode::kMaxRuntime}, GangStore::kNoGang);
  }
}

// Nominated gangs whose capacity is free now start; those for whom it cannot
// become free any more wait again.
void Scheduler::Impl::StartNominated() {
  ranks_.assign(nominated_.begin(), nominated_.end());
  for (const GangRank& rank : ranks_) {
    GangRecord& r = gangs.at(rank.gang);
    const Cluster::Mark mark = cluster.Begin();
    ResourceKind kind = 0;
    CurrentAssignments(r, &assignments_);
    const Resources& held = UsageOf(assignments_);
    bool hope = MayStillStart(rank.gang, held);
    bool room =
        queues.OverLimit(r.queue, held, Ledger::kBoth, &kind, true) == kNoQueue;
    for (const TaskRecord& task : r.tasks) {
      if (cluster.Fits(task.at, Ledger::kNow)) {
        cluster.Charge(task.at, Ledger::kNow);
        continue;
      }
      room = false;
      hope &= nodes[task.at.node].releasing > 0;
    }
    cluster.Rollback(mark);
    if (room && hope) {
      CommitNominatedStart(rank.gang);
    } else if (!hope) {
      CommitStop(rank.gang, DecisionKind::kEvict,
                 {.code = ReasonCode::kNominationUndone}, GangStore::kNoGang);
      look_again_ = true;  // For those looked at before.
    }
  }
}

// Whether the devices are of a model that was asked for.
bool Scheduler::Impl::DevicesSuit(const Allocation& at) const {
  const std::vector<std::string>& models =
      cluster.device_request(at.shape).models;
  const std::vector<Device>& devices = cluster.node(at.node).devices;
  for (uint32_t d = 0; d < devices.size() && !models.empty(); ++d) {
    if ((at.devices >> d & 1) != 0 &&
        std::find(models.begin(), models.end(), devices[d].model) ==
            models.end()) {
      return false;
    }
  }
  return true;
}

// Whether a nominated gang, once it has room, will be let in: nobody holds it,
// its queues have not been cut, and its nodes still take such tasks.
bool Scheduler::Impl::MayStillStart(GangIndex g, const Resources& held) const {
  const GangRecord& r = gangs.at(g);
  if (r.held || queues.Held(r.queue)) return false;
  ResourceKind kind = 0;
  if (queues.OverLimit(r.queue, held, Ledger::kLater, &kind, true) !=
      kNoQueue) {
    return false;
  }
  return std::all_of(r.tasks.begin(), r.tasks.end(), [&](const TaskRecord& t) {
    return cluster.Admits(t.at.node, t.at.shape) && DevicesSuit(t.at);
  });
}

void Scheduler::Impl::CurrentAssignments(const GangRecord& r,
                                         std::vector<Assignment>* out) {
  out->clear();
  for (const TaskRecord& task : r.tasks) {
    if (task.phase <= TaskPhase::kRunning) {
      out->push_back({task.task, task.at});
    }
  }
}

}  // namespace muster
