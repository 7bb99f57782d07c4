// What becomes of single tasks, and of the gang when they change.
#include <algorithm>

#include "lib/scheduler/impl.h"
#include "lib/topology/needs.h"

namespace muster {

namespace {

bool InCluster(TaskPhase phase) { return phase <= TaskPhase::kReleasing; }

Ledger LedgerOf(TaskPhase phase) {
  switch (phase) {
    case TaskPhase::kNominated:
      return Ledger::kLater;
    case TaskPhase::kReleasing:
      return Ledger::kNow;
    default:
      return Ledger::kBoth;
  }
}

}  // namespace

TaskRecord* Scheduler::Impl::FindTask(GangRecord& r, TaskId id) {
  const auto it = std::lower_bound(
      r.tasks.begin(), r.tasks.end(), id,
      [](const TaskRecord& t, TaskId wanted) { return t.task < wanted; });
  return it != r.tasks.end() && it->task == id ? &*it : nullptr;
}

const Resources& Scheduler::Impl::UsageOf(const Allocation& a) {
  if (UsesAlike(cluster.device_request(a.shape))) {
    return cluster.demand(a.shape);
  }
  usage_scratch_ = cluster.Usage(a);
  return usage_scratch_;
}

const Resources& Scheduler::Impl::UsageOf(std::span<const Assignment> tasks) {
  for (ResourceKind k = 0; k < config.resources.size(); ++k) {
    sum_scratch_.Set(k, 0);
  }
  for (const Assignment& a : tasks) sum_scratch_.Add(UsageOf(a.at));
  return sum_scratch_;
}

void Scheduler::Impl::Hold(const GangRecord& r, const TaskRecord& task) {
  if (!InCluster(task.phase)) return;
  cluster.Charge(task.at, LedgerOf(task.phase));
  if (task.phase == TaskPhase::kReleasing) {
    ++releasing_;
    ++nodes[task.at.node].releasing;
    queues.ChargeReleasing(r.queue, UsageOf(task.at), 1);
  } else {
    exceeded_ |= queues.Charge(r.queue, UsageOf(task.at), 1);
  }
}

void Scheduler::Impl::Unhold(const GangRecord& r, const TaskRecord& task) {
  if (!InCluster(task.phase)) return;
  cluster.Credit(task.at, LedgerOf(task.phase));
  if (task.phase == TaskPhase::kReleasing) {
    --releasing_;
    --nodes[task.at.node].releasing;
    queues.ChargeReleasing(r.queue, UsageOf(task.at), -1);
  } else {
    queues.Charge(r.queue, UsageOf(task.at), -1);
  }
}

void Scheduler::Impl::SetPhase(GangRecord& r, TaskRecord& task,
                               TaskPhase phase) {
  Unhold(r, task);
  task.phase = phase;
  Hold(r, task);
}

void Scheduler::Impl::MoveTask(GangRecord& r, TaskRecord& task,
                               const Allocation& to) {
  Unhold(r, task);
  task.at = to;
  Hold(r, task);
  suspects_.insert(to.node);
}

// The task owes no answer any more.
void Scheduler::Impl::Settle(GangRecord& r, TaskRecord& task) {
  if (task.open_seq == 0) return;
  const auto it =
      std::find_if(r.open.begin(), r.open.end(),
                   [&](const OpenRecord& o) { return o.seq == task.open_seq; });
  task.open_seq = 0;
  if (it == r.open.end() || --it->unanswered > 0) return;
  open_.erase(it->seq);
  r.open.erase(it);
}

void Scheduler::Impl::DropTask(GangRecord& r, TaskId id) {
  TaskRecord* task = FindTask(r, id);
  Settle(r, *task);
  Unhold(r, *task);
  r.tasks.erase(r.tasks.begin() + (task - r.tasks.data()));
  r.grow_checked_at = 0;
}

void Scheduler::Impl::CountTasks(const GangRecord& r,
                                 std::vector<uint32_t>* counts) const {
  const Template& t = gangs.description(r.description);
  counts->assign(t.prepared.gang.roles.size(), 0);
  for (const TaskRecord& task : r.tasks) {
    if (task.phase != TaskPhase::kReleasing &&
        task.phase != TaskPhase::kSuspended) {
      ++(*counts)[task.task.role];
    }
  }
}

// A start failed: the gang waits longer each time before the next.
void Scheduler::Impl::FailStart(GangRecord& r) {
  ++r.failures;
  const uint32_t doublings = std::min(r.failures - 1, 30u);
  const Duration wait = config.backoff_base > (config.backoff_max >> doublings)
                            ? config.backoff_max
                            : config.backoff_base << doublings;
  r.backoff_until = now + wait;
}

// What was placed anew runs, and with it all of the gang: the row is over.
void Scheduler::Impl::ForgiveFailures(GangRecord& r) {
  const bool starting = std::any_of(
      r.tasks.begin(), r.tasks.end(),
      [](const TaskRecord& t) { return t.phase == TaskPhase::kStarting; });
  if (r.phase == GangPhase::kRunning && r.trouble == ReasonCode::kNone &&
      !starting) {
    r.failures = 0;
  }
}

bool Scheduler::Impl::Answer(GangIndex g, TaskId id, uint32_t attempt,
                             TaskOutcome outcome) {
  GangRecord& r = gangs.at(g);
  TaskRecord* task = FindTask(r, id);
  if (task == nullptr || (attempt != 0 && attempt != task->attempt)) {
    return false;  // Over: late or doubled.
  }
  switch (task->phase) {
    case TaskPhase::kNominated:
    case TaskPhase::kSucceeded:
      return false;
    case TaskPhase::kStarting:
    case TaskPhase::kRunning:
      if (outcome == TaskOutcome::kStarted) {
        if (task->phase == TaskPhase::kRunning) return false;
        Settle(r, *task);
        task->phase = TaskPhase::kRunning;  // Holds the same.
        if (r.failures > 0) ForgiveFailures(r);
      } else if (outcome == TaskOutcome::kSucceeded) {
        Settle(r, *task);
        SetPhase(r, *task, TaskPhase::kSucceeded);
      } else {
        if (r.trouble != ReasonCode::kNodeLost) {
          r.trouble = ReasonCode::kTaskFailed;
        }
        DropTask(r, id);
      }
      return true;
    case TaskPhase::kReleasing:
      if (outcome == TaskOutcome::kStarted) return false;  // Overtaken.
      if (r.phase == GangPhase::kSuspending &&
          outcome == TaskOutcome::kReleased) {
        Settle(r, *task);
        SetPhase(r, *task, TaskPhase::kSuspended);
      } else if (r.phase == GangPhase::kSuspending &&
                 outcome == TaskOutcome::kSucceeded) {
        Settle(r, *task);
        SetPhase(r, *task, TaskPhase::kSucceeded);
      } else {
        if (r.phase == GangPhase::kSuspending) {
          r.trouble = ReasonCode::kTaskFailed;  // It cannot resume whole.
        }
        DropTask(r, id);
      }
      return true;
    case TaskPhase::kSuspended:
      if (outcome == TaskOutcome::kStarted ||
          outcome == TaskOutcome::kReleased) {
        return false;  // Overtaken, or told twice.
      }
      if (outcome == TaskOutcome::kSucceeded) {  // Just before it was.
        SetPhase(r, *task, TaskPhase::kSucceeded);
        return true;
      }
      DropTask(r, id);
      r.trouble = ReasonCode::kTaskFailed;
      return true;
  }
  return false;
}

// All that was to be released has been.
void Scheduler::Impl::Stopped(GangIndex g) {
  GangRecord& r = gangs.at(g);
  while (!r.tasks.empty()) DropTask(r, r.tasks.back().task);
  r.phase = GangPhase::kWaiting;
  r.trouble = ReasonCode::kNone;
  r.started = 0;
}

// Called with the gang delisted; lists it again, or removes it.
void Scheduler::Impl::Update(GangIndex g) {
  GangRecord& r = gangs.at(g);
  uint32_t releasing = 0, starting = 0, running = 0, succeeded = 0;
  uint32_t suspended = 0;
  for (const TaskRecord& task : r.tasks) {
    releasing += task.phase == TaskPhase::kReleasing;
    starting += task.phase == TaskPhase::kStarting;
    running += task.phase == TaskPhase::kRunning;
    succeeded += task.phase == TaskPhase::kSucceeded;
    suspended += task.phase == TaskPhase::kSuspended;
  }
  const bool live =
      r.phase == GangPhase::kStarting || r.phase == GangPhase::kRunning;
  if (r.phase != GangPhase::kStopping && succeeded > 0 &&
      succeeded == r.tasks.size() && r.trouble == ReasonCode::kNone) {
    while (!r.tasks.empty()) DropTask(r, r.tasks.back().task);
    RemoveGang(g);
    return;
  }
  if (r.phase == GangPhase::kStopping && releasing == 0) {
    Stopped(g);
    if (r.cancel) {
      RemoveGang(g);
      return;
    }
  } else if (r.phase == GangPhase::kSuspending && releasing == 0) {
    if (r.trouble == ReasonCode::kNone && suspended > 0 && !r.cancel) {
      r.phase = GangPhase::kSuspended;
      r.started = 0;
    } else {
      Stopped(g);
    }
  } else if (r.phase == GangPhase::kSuspended &&
             r.trouble != ReasonCode::kNone) {
    Stopped(g);
  } else if (live && starting + running + releasing == 0) {
    // Nothing is left of it: no decision is needed to stop the rest.
    const bool failed = r.trouble == ReasonCode::kTaskFailed;
    Stopped(g);
    if (r.cancel) {
      RemoveGang(g);
      return;
    }
    if (failed) FailStart(r);
  } else if (r.phase == GangPhase::kStarting && starting == 0 &&
             r.trouble == ReasonCode::kNone) {
    r.phase = GangPhase::kRunning;
    if (r.backoff_until <= now) r.failures = 0;  // Else surplus ones failed.
    r.started = now;
    ++started_version_;
  }
  if (r.phase == GangPhase::kWaiting && r.cancel) {
    RemoveGang(g);
    return;
  }
  Enlist(g);
}

// Called with the gang listed.
void Scheduler::Impl::Flag(GangIndex g, ReasonCode trouble) {
  GangRecord& r = gangs.at(g);
  if (r.trouble == ReasonCode::kNodeLost) return;
  Delist(g);
  r.trouble = trouble;
  Enlist(g);
}

// Called with the gang listed.
void Scheduler::Impl::UndoNomination(GangIndex g) {
  Delist(g);
  Stopped(g);
  Update(g);
}

}  // namespace muster
