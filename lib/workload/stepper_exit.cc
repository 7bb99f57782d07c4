// Exits of tasks, and the job's end.
#include <algorithm>

#include "lib/workload/stepper.h"

namespace muster::workload {
namespace {

bool TakesPlace(ExitReason reason) {
  return reason == ExitReason::kNodeLost || reason == ExitReason::kPreempted;
}

}  // namespace

Duration Stepper::Delay(uint32_t restarts) const {
  const FailurePolicy& f = job_.failure;
  if (f.first_at_once) {
    if (restarts <= 1) return 0;
    --restarts;
  }
  if (restarts == 0) return 0;
  constexpr uint32_t kMostDoublings = 62;
  Duration delay = f.backoff_base;
  for (uint32_t i = 1; i < std::min(restarts, kMostDoublings); ++i) {
    if (delay >= f.backoff_max) break;
    delay *= 2;
  }
  return std::min(delay, f.backoff_max);
}

void Stepper::Exit(uint32_t task, int32_t code, ExitReason reason) {
  const bool asked = s_.tasks[task].phase == TaskPhase::kStopping;
  book_.Ended(task);
  if (IsFinal()) {
    book_.FreePlace(task, TaskOutcome::kSucceeded);
    if (s_.live == 0) Drained();
    return;
  }
  switch (s_.phase) {
    case LifePhase::kStopping:
      return ExitWhenStopping(task, reason);
    case LifePhase::kCheckpointing:
      if (!asked && code == 0 && reason == ExitReason::kExited) {
        Succeed(task);
        if (s_.phase == LifePhase::kCheckpointing && s_.live == 0) StopNow(0);
        return;
      }
      if (TakesPlace(reason)) book_.LosePlace(task);
      if (rules_.pooled) {
        book_.Spare(task);
        const TaskId id = rules_.IdOf(task);
        s_.roles[id.role].retry.push_back(id.index);
      }
      return StopNow(std::max<Duration>(0, s_.stop_by - s_.now));
    default:
      return ExitWhenRunning(task, asked, code, reason);
  }
}

void Stepper::ExitWhenStopping(uint32_t task, ExitReason reason) {
  if (rules_.pooled) {
    s_.roles[rules_.role_of_task[task]].retry.push_back(
        rules_.IdOf(task).index);
  }
  if (s_.after >= AfterStop::kRequeue) {
    book_.FreePlace(task, TaskOutcome::kReleased);
  } else if (TakesPlace(reason)) {
    s_.tasks[task].leaving = false;
    book_.LosePlace(task);
  }
  if (s_.live == 0) Stopped();
}

void Stepper::ExitWhenRunning(uint32_t task, bool asked, int32_t code,
                              ExitReason reason) {
  TaskState& t = s_.tasks[task];
  if (asked) {  // It leaves, or its group starts anew.
    if (!t.leaving) return Restart(task, 0);
    const bool moved = t.moved;
    t.leaving = t.moved = false;
    if (rules_.pooled) {
      book_.FreePlace(task, TaskOutcome::kReleased);
      return Restart(task, 0);
    }
    if (moved) return book_.LosePlace(task);
    book_.FreePlace(task, TaskOutcome::kReleased);
    book_.Leave(task);
    CheckSuccess();
    return CheckFollowers(rules_.role_of_task[task]);
  }
  const ExitClass c = Classify(job_.roles[rules_.role_of_task[task]].restart,
                               job_.failure.codes, code, reason);
  if (c == ExitClass::kSuccess) return Succeed(task);
  if (ApplyExitRule(task, code, reason)) return;
  if (c == ExitClass::kFree) return FreeExit(task, reason);
  Failure(task, c == ExitClass::kRetryable, reason);
}

// A podFailurePolicy; false: no rule fits, or it says to count as usual.
bool Stepper::ApplyExitRule(uint32_t task, int32_t code, ExitReason reason) {
  for (const ExitRule& rule : job_.failure.exit_rules) {
    const bool listed = std::ranges::find(rule.codes, code) != rule.codes.end();
    const bool fits = rule.codes.empty()
                          ? TakesPlace(reason)
                          : reason == ExitReason::kExited && code != 0 &&
                                listed != rule.other;
    if (!fits) continue;
    switch (rule.action) {
      case ExitAction::kFailJob:
        Finish(LifePhase::kFailed, "PodFailurePolicy");
        return true;
      case ExitAction::kFailIndex:
        if (TakesPlace(reason)) book_.LosePlace(task);
        FailIndex(task);
        return true;
      case ExitAction::kIgnore:
        if (TakesPlace(reason)) book_.LosePlace(task);
        Restart(task, TakesPlace(reason) ? 0 : Delay(1));
        return true;
      case ExitAction::kCount:
        return false;
    }
  }
  return false;
}

void Stepper::FreeExit(uint32_t task, ExitReason reason) {
  if (!job_.requeue) return Finish(LifePhase::kFailed, "NodeLost");
  if (TakesPlace(reason)) book_.LosePlace(task);
  if (rules_.unit == RestartUnit::kGang) {
    s_.free_restart = true;
    return StopAll(AfterStop::kRestart, kMaxDuration, false);
  }
  Restart(task, 0);
}

void Stepper::Failure(uint32_t task, bool retryable, ExitReason reason) {
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
    return Finish(LifePhase::kFailed, reason == ExitReason::kOutOfMemory
                                          ? "OutOfMemory"
                                          : "TaskFailed");
  }
  // A failure opens nothing: who waits for it waits in vain.
  for (const uint32_t f : rules_.followers[role]) {
    if (!s_.roles[f].open) return Finish(LifePhase::kFailed, "UpstreamFailed");
  }
}

void Stepper::CountFailure(uint32_t task) {
  TaskState& t = s_.tasks[task];
  const FailurePolicy& f = job_.failure;
  const TaskId id = rules_.IdOf(task);
  ++t.failures;
  if (f.by_group) {
    GroupState& group = s_.groups[rules_.GroupOf(id)];
    if (++group.failures > f.group_backoff_limits[id.role])
      return FailGroup(id);
    return Restart(task, Delay(t.failures));
  }
  if (f.backoff_limit_per_index && t.failures > *f.backoff_limit_per_index) {
    return FailIndex(task);
  }
  if (s_.restarts >= f.backoff_limit) {
    return Finish(LifePhase::kFailed, "BackoffLimitExceeded");
  }
  ++s_.restarts;
  if (rules_.unit == RestartUnit::kGang) {
    s_.free_restart = false;
    return StopAll(AfterStop::kRestart, kMaxDuration, false);
  }
  book_.SetCondition(ConditionType::kRestarting, true, "TaskFailed");
  Restart(task, Delay(t.failures));
}

void Stepper::FailIndex(uint32_t task) {
  book_.Failed(task);
  ++s_.failed_indexes;
  const uint32_t role = rules_.role_of_task[task];
  if (s_.failed_indexes > job_.failure.max_failed_indexes) {
    return Finish(LifePhase::kFailed, "MaxFailedIndexesExceeded");
  }
  const RoleState& r = s_.roles[role];
  if (r.succeeded + r.failed >= job_.roles[role].tasks()) {
    return Finish(LifePhase::kFailed, "FailedIndexes");
  }
  if (rules_.pooled) book_.FillSpares(role);
}

void Stepper::FailGroup(TaskId id) {
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
    return Finish(LifePhase::kFailed, action == GroupAction::kFailJob
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
  StopAll(AfterStop::kRestart, kMaxDuration, false);
}

void Stepper::RestartGroup(TaskId id) {
  const uint32_t size = job_.roles[id.role].group_size;
  const uint32_t first = rules_.first_task[id.role] + id.index / size * size;
  s_.groups[rules_.GroupOf(id)].failures = 0;
  book_.SetCondition(ConditionType::kRestarting, true, "TaskFailed");
  for (uint32_t task = first; task < first + size; ++task) {
    if (book_.IsLive(task)) {
      book_.Stop(task, kMaxDuration);
    } else {
      book_.Reset(task);
      StartTask(task);
    }
  }
}

void Stepper::Succeed(uint32_t task) {
  const uint32_t role = rules_.role_of_task[task];
  book_.Succeeded(task);
  CheckSuccess();
  if (s_.phase != LifePhase::kRunning) return;
  if (rules_.pooled) {
    book_.FillSpares(role);
    const RoleState& r = s_.roles[role];
    if (r.failed > 0 && r.succeeded + r.failed >= job_.roles[role].tasks()) {
      return Finish(LifePhase::kFailed, "FailedIndexes");
    }
  }
  CheckFollowers(role);
}

void Stepper::CheckSuccess() {
  for (uint32_t i = 0; i < s_.rules.size(); ++i) {
    if (book_.RuleHolds(i)) {
      return Finish(LifePhase::kSucceeded, "JobSucceeded");
    }
  }
}

void Stepper::Finish(LifePhase phase, std::string_view reason) {
  if (IsFinal()) return;
  s_.phase = phase;
  s_.finished_at = s_.now;
  s_.stop_by = kForever;
  s_.lacking = 0;
  StopClock();
  s_.timers.clear();
  const bool succeeded = phase == LifePhase::kSucceeded;
  book_.SetCondition(ConditionType::kRunning, false, reason);
  book_.SetCondition(
      succeeded ? ConditionType::kSucceeded : ConditionType::kFailed, true,
      reason);
  // What has failed may hang, and holds what others wait for.
  if (!succeeded || job_.clean != CleanPolicy::kNone) {
    book_.StopAll(kMaxDuration);
  }
  book_.FreeIdlePlaces(TaskOutcome::kSucceeded);
  if (s_.live == 0) Drained();
}

void Stepper::Drained() {
  if (s_.reserved) {
    s_.reserved = false;
    book_.Act({.kind = ActionKind::kRelease,
               .result = s_.phase == LifePhase::kSucceeded
                             ? GangOutcome::kSucceeded
                             : GangOutcome::kFailed});
    if (job_.clean == CleanPolicy::kAll) {
      book_.Act({.kind = ActionKind::kCleanUp});
    }
  }
  if (s_.after == AfterStop::kForget) Forget();
}

void Stepper::Forget() {
  s_.phase = LifePhase::kForgotten;
  book_.Act({.kind = ActionKind::kForget});
}

}  // namespace muster::workload
