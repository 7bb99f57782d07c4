#include "lib/workload/task_exits.h"

#include <algorithm>

namespace muster::workload {
namespace {

bool TakesPlace(ExitReason reason) {
  return reason == ExitReason::kNodeLost || reason == ExitReason::kPreempted;
}

}  // namespace

bool MayBeMachinesFault(int32_t code, ExitReason reason) {
  constexpr int32_t kCannotRun = 126;
  constexpr int32_t kNoCommand = 127;
  constexpr int32_t kAborted = 134;
  constexpr int32_t kBusError = 135;
  constexpr int32_t kKilled = 137;
  switch (reason) {
    case ExitReason::kLost:
    case ExitReason::kNodeLost:
      return true;
    case ExitReason::kNotStarted:
      return code != kCannotRun && code != kNoCommand;
    case ExitReason::kExited:
      return code == kAborted || code == kBusError || code == kKilled;
    default:
      return false;
  }
}

void TaskExits::Exit(uint32_t task, int32_t code, ExitReason reason) {
  const bool asked = s_.tasks[task].phase == TaskPhase::kStopping;
  book_.Ended(task);
  if (phases_.IsFinal()) {
    book_.FreePlace(task, TaskOutcome::kSucceeded);
    if (s_.live == 0) phases_.Drained();
    return;
  }
  switch (s_.phase) {
    case LifePhase::kStopping:
      return ExitWhenStopping(task, reason);
    case LifePhase::kCheckpointing:
      if (!asked && code == 0 && reason == ExitReason::kExited) {
        Succeed(task);
        if (s_.phase == LifePhase::kCheckpointing && s_.live == 0)
          phases_.StopNow(0);
        return;
      }
      if (TakesPlace(reason)) book_.LosePlace(task);
      if (rules_.pooled) {
        book_.Spare(task);
        book_.Retry(task);
      }
      return phases_.StopNow(std::max<Duration>(0, s_.stop_by - s_.now));
    default:
      return ExitWhenRunning(task, asked, code, reason);
  }
}

void TaskExits::ExitWhenStopping(uint32_t task, ExitReason reason) {
  if (rules_.pooled) book_.Retry(task);
  if (s_.after >= AfterStop::kRequeue) {
    book_.FreePlace(task, TaskOutcome::kReleased);
  } else if (TakesPlace(reason)) {
    s_.tasks[task].leaving = false;
    book_.LosePlace(task);
  }
  if (s_.live == 0) phases_.Stopped();
}

void TaskExits::ExitWhenRunning(uint32_t task, bool asked, int32_t code,
                                ExitReason reason) {
  TaskState& t = s_.tasks[task];
  if (asked) {  // It leaves, or its group starts anew.
    if (!t.leaving) return phases_.Restart(task, 0);
    if (rules_.pooled) {
      t.leaving = t.moved = false;
      book_.FreePlace(task, TaskOutcome::kReleased);
      return phases_.Restart(task, 0);
    }
    const bool moved = t.moved;
    book_.Vacate(task);
    if (moved) return;
    phases_.CheckSuccess();
    return phases_.CheckFollowers(rules_.role_of_task[task]);
  }
  const ExitClass c = Classify(job_.roles[rules_.role_of_task[task]].restart,
                               job_.failure.codes, code, reason);
  if (c == ExitClass::kSuccess) return Succeed(task);
  if (ApplyExitRule(task, code, reason)) return;
  if (c == ExitClass::kFree) return FreeExit(task, reason);
  Failure(task, c == ExitClass::kRetryable, reason);
}

// A podFailurePolicy; false: no rule fits, or it says to count as usual.
bool TaskExits::ApplyExitRule(uint32_t task, int32_t code, ExitReason reason) {
  for (const ExitRule& rule : job_.failure.exit_rules) {
    const bool listed = std::ranges::find(rule.codes, code) != rule.codes.end();
    const bool fits = rule.codes.empty()
                          ? TakesPlace(reason)
                          : reason == ExitReason::kExited && code != 0 &&
                                listed != rule.other;
    if (!fits) continue;
    switch (rule.action) {
      case ExitAction::kFailJob:
        phases_.Finish(LifePhase::kFailed, "PodFailurePolicy");
        return true;
      case ExitAction::kFailIndex:
        if (TakesPlace(reason)) book_.LosePlace(task);
        FailIndex(task);
        return true;
      case ExitAction::kIgnore:
        if (TakesPlace(reason)) book_.LosePlace(task);
        phases_.Restart(task, TakesPlace(reason) ? 0 : phases_.Delay(1));
        return true;
      case ExitAction::kCount:
        return false;
    }
  }
  return false;
}

void TaskExits::FreeExit(uint32_t task, ExitReason reason) {
  if (!job_.requeue) return phases_.Finish(LifePhase::kFailed, "NodeLost");
  if (TakesPlace(reason)) book_.LosePlace(task);
  if (rules_.unit == RestartUnit::kGang) {
    s_.free_restart = true;
    return phases_.StopAll(AfterStop::kRestart, kMaxDuration, false);
  }
  phases_.Restart(task, 0);
}

void TaskExits::Failure(uint32_t task, bool retryable, ExitReason reason) {
  TaskState& t = s_.tasks[task];
  if (reason == ExitReason::kOutOfMemory) {
    retryable &= t.out_of_memory < job_.failure.out_of_memory_retries;
    t.out_of_memory =
        static_cast<uint8_t>(std::min<uint32_t>(t.out_of_memory + 1u, 255u));
  }
  if (retryable) return CountFailure(task);
  book_.Failed(task);
  const uint32_t role = rules_.role_of_task[task];
  if (job_.roles[role].decisive) {
    return phases_.Finish(LifePhase::kFailed, reason == ExitReason::kOutOfMemory
                                                  ? "OutOfMemory"
                                                  : "TaskFailed");
  }
  // A failure opens nothing: who waits for it waits in vain.
  for (const uint32_t f : rules_.followers[role]) {
    if (!s_.roles[f].open)
      return phases_.Finish(LifePhase::kFailed, "UpstreamFailed");
  }
}

void TaskExits::CountFailure(uint32_t task) {
  TaskState& t = s_.tasks[task];
  const FailurePolicy& f = job_.failure;
  const TaskId id = rules_.IdOf(task);
  ++t.failures;
  if (f.by_group) {
    GroupState& group = s_.groups[rules_.GroupOf(id)];
    if (++group.failures > f.group_backoff_limits[id.role])
      return FailGroup(id);
    return phases_.Restart(task, phases_.Delay(t.failures));
  }
  if (f.backoff_limit_per_index && t.failures > *f.backoff_limit_per_index) {
    return FailIndex(task);
  }
  if (s_.restarts >= f.backoff_limit) {
    return phases_.Finish(LifePhase::kFailed, "BackoffLimitExceeded");
  }
  ++s_.restarts;
  if (rules_.unit == RestartUnit::kGang) {
    s_.free_restart = false;
    return phases_.StopAll(AfterStop::kRestart, kMaxDuration, false);
  }
  book_.SetCondition(ConditionType::kRestarting, true, "TaskFailed");
  phases_.Restart(task, phases_.Delay(t.failures));
}

void TaskExits::FailIndex(uint32_t task) {
  book_.Failed(task);
  ++s_.failed_indexes;
  const uint32_t role = rules_.role_of_task[task];
  if (s_.failed_indexes > job_.failure.max_failed_indexes) {
    return phases_.Finish(LifePhase::kFailed, "MaxFailedIndexesExceeded");
  }
  const RoleState& r = s_.roles[role];
  if (r.succeeded + r.failed >= job_.roles[role].tasks()) {
    return phases_.Finish(LifePhase::kFailed, "FailedIndexes");
  }
  if (rules_.pooled) book_.FillSpares(role);
}

void TaskExits::FailGroup(TaskId id) {
  constexpr std::string_view kReason = "BackoffLimitExceeded";
  GroupAction action = GroupAction::kRestartGang;
  for (const GroupRule& rule : job_.failure.group_rules) {
    const auto& roles = rule.roles;
    const auto& reasons = rule.reasons;
    if ((roles.empty() || std::ranges::find(roles, id.role) != roles.end()) &&
        (reasons.empty() ||
         std::ranges::find(reasons, kReason) != reasons.end())) {
      action = rule.action;
      break;
    }
  }
  const bool counted = action == GroupAction::kRestartGang ||
                       action == GroupAction::kRestartGroup;
  if (action == GroupAction::kFailJob ||
      (counted && s_.restarts >= job_.failure.max_restarts)) {
    return phases_.Finish(LifePhase::kFailed, action == GroupAction::kFailJob
                                                  ? "FailJobSetAction"
                                                  : "ReachedMaxRestarts");
  }
  if (counted) ++s_.restarts;
  if (action == GroupAction::kRestartGroup ||
      action == GroupAction::kRestartGroupFree) {
    return RestartGroup(id);
  }
  for (GroupState& g : s_.groups) g.failures = 0;
  s_.free_restart = false;
  phases_.StopAll(AfterStop::kRestart, kMaxDuration, false);
}

void TaskExits::RestartGroup(TaskId id) {
  const uint32_t size = job_.roles[id.role].group_size;
  const uint32_t first = rules_.first_task[id.role] + id.index / size * size;
  s_.groups[rules_.GroupOf(id)].failures = 0;
  book_.SetCondition(ConditionType::kRestarting, true, "TaskFailed");
  if (!book_.HavePlaces(first, size)) {
    return phases_.StopAll(AfterStop::kSuspend, kMaxDuration, false);
  }
  for (uint32_t task = first; task < first + size; ++task) {
    if (book_.IsLive(task)) {
      book_.Stop(task, kMaxDuration);
    } else {
      book_.Reset(task);
      phases_.StartTask(task);
    }
  }
}

void TaskExits::Succeed(uint32_t task) {
  const uint32_t role = rules_.role_of_task[task];
  book_.Succeeded(task);
  phases_.CheckSuccess();
  if (s_.phase != LifePhase::kRunning) return;
  if (rules_.pooled) {
    book_.FillSpares(role);
    const RoleState& r = s_.roles[role];
    if (r.failed > 0 && r.succeeded + r.failed >= job_.roles[role].tasks()) {
      return phases_.Finish(LifePhase::kFailed, "FailedIndexes");
    }
  }
  phases_.CheckFollowers(role);
}

}  // namespace muster::workload
