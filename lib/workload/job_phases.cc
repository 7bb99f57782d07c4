#include "lib/workload/job_phases.h"

#include <algorithm>

namespace muster::workload {

// --- Starting ----------------------------------------------------------------

void JobPhases::Reserve() {
  s_.phase = LifePhase::kQueued;
  s_.reserved = true;
  book_.Act({.kind = ActionKind::kReserve});
  book_.SetCondition(ConditionType::kQueuing, true, "JobEnqueued");
}

bool JobPhases::IsComplete() const {
  if (s_.lacking > 0) return false;
  for (uint32_t r = 0; r < s_.roles.size(); ++r) {
    const Role& role = job_.roles[r];
    const uint32_t need = job_.resize == ResizeMode::kFixed && !rules_.pooled
                              ? role.replicas
                              : role.min_replicas;
    if (s_.roles[r].held < need) return false;
  }
  return true;
}

void JobPhases::TryBegin() {
  if (s_.now < s_.start_at) {
    s_.phase = LifePhase::kBackoff;
    return;
  }
  if (IsComplete()) return Begin();
  s_.phase = LifePhase::kQueued;
}

void JobPhases::Begin() {
  s_.phase = LifePhase::kRunning;
  if (!s_.paused && s_.active_since == kForever) s_.active_since = s_.now;
  book_.SetCondition(ConditionType::kQueuing, false, "JobDequeued");
  for (RoleState& role : s_.roles) role.open = false;
  for (uint32_t r = 0; r < s_.roles.size(); ++r) {
    if (job_.roles[r].start_after.empty()) Open(r);
  }
}

void JobPhases::Open(uint32_t r) {
  if (s_.roles[r].open) return;
  s_.roles[r].open = true;
  if (rules_.pooled) {
    book_.FillSpares(r);
  } else {
    for (uint32_t i = 0; i < job_.roles[r].max_replicas; ++i) {
      StartTask(rules_.first_task[r] + i);
    }
  }
  // It may have no task, or places that need no process.
  CheckFollowers(r);
}

void JobPhases::CheckFollowers(uint32_t role) {
  for (const uint32_t f : rules_.followers[role]) {
    if (s_.roles[f].open || s_.phase != LifePhase::kRunning) continue;
    const auto& conditions = job_.roles[f].start_after;
    if (std::ranges::all_of(conditions, [&](const StartAfter& after) {
          return s_.roles[after.role].open && book_.Holds(after);
        })) {
      Open(f);
    }
  }
}

void JobPhases::StartTask(uint32_t task) {
  const TaskState& t = s_.tasks[task];
  const uint32_t role = rules_.role_of_task[task];
  if (s_.phase != LifePhase::kRunning || !s_.roles[role].open ||
      job_.roles[role].passive || t.phase != TaskPhase::kIdle || t.delayed ||
      t.leaving || t.slot == TaskState::kNoSlot) {
    return;
  }
  book_.Start(task);
}

void JobPhases::Restart(uint32_t task, Duration delay) {
  if (rules_.pooled) book_.Spare(task);
  if (delay > 0) {
    book_.StartLater(task, s_.now + delay);
  } else if (rules_.pooled) {
    book_.Retry(task);
  } else {
    StartTask(task);
  }
  if (rules_.pooled) book_.FillSpares(rules_.role_of_task[task]);
}

Duration JobPhases::Delay(uint32_t restarts) const {
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

// --- Standing still ----------------------------------------------------------

void JobPhases::Pause() {
  StopClock();
  s_.paused = true;
}

void JobPhases::Continue() {
  if (!s_.paused) return;
  s_.paused = false;
  if (HoldsPlaces()) s_.active_since = s_.now;
}

// --- Stopping ----------------------------------------------------------------

void JobPhases::StopAll(AfterStop after, Duration notice, bool checkpoint) {
  if (s_.phase == LifePhase::kStopping) {
    const bool gives_up = s_.after < AfterStop::kRequeue;
    s_.after = std::max(s_.after, after);
    if (gives_up && s_.after >= AfterStop::kRequeue) {
      book_.FreeIdlePlaces(TaskOutcome::kReleased);
    }
    return;
  }
  if (s_.phase == LifePhase::kCheckpointing) {
    s_.after = std::max(s_.after, after);
    s_.stop_by = std::min(s_.stop_by, s_.now + notice);
    if (!checkpoint || s_.now >= s_.stop_by) StopNow(notice);
    return;
  }
  s_.after = after;
  uint32_t running = 0;
  for (const RoleState& role : s_.roles) running += role.running;
  if (checkpoint && job_.checkpoint.enabled && running > 0 && notice > 0 &&
      notice >= job_.checkpoint.least_notice &&
      s_.phase == LifePhase::kRunning) {
    s_.phase = LifePhase::kCheckpointing;
    s_.stop_by = s_.now + notice;
    ++s_.checkpoint_asked;
    book_.Act({.kind = ActionKind::kCheckpoint,
               .version = s_.checkpoint_asked,
               .grace = notice});
    return;
  }
  StopNow(notice);
}

void JobPhases::StopNow(Duration grace) {
  s_.phase = LifePhase::kStopping;
  s_.stop_by = kForever;
  book_.ForgetTimers();
  book_.StopAll(grace);
  if (s_.after >= AfterStop::kRequeue) {
    book_.FreeIdlePlaces(TaskOutcome::kReleased);
  }
  if (s_.live == 0) Stopped();
}

void JobPhases::GiveUpPlaces() {
  StopClock();
  s_.paused = false;
  book_.FreeIdlePlaces(TaskOutcome::kReleased);
  s_.lacking = 0;
  for (uint32_t task = 0; task < s_.tasks.size(); ++task) {
    TaskState& t = s_.tasks[task];
    t.leaving = t.moved = false;
    if (rules_.pooled) continue;
    book_.Reset(task);
    if (t.member) book_.Leave(task);
  }
}

void JobPhases::StopClock() {
  if (s_.active_since == kForever) return;
  s_.active_used += s_.now - s_.active_since;
  s_.active_since = kForever;
}

void JobPhases::Stopped() {
  const bool free = s_.free_restart;
  s_.free_restart = false;
  if (s_.after == AfterStop::kRestart &&
      !book_.HavePlaces(0, static_cast<uint32_t>(s_.tasks.size()))) {
    s_.after = AfterStop::kSuspend;  // And is reserved anew at once.
  }
  if (s_.after == AfterStop::kForget) {
    GiveUpPlaces();
    if (s_.reserved) {
      s_.reserved = false;
      book_.Act(
          {.kind = ActionKind::kRelease, .result = GangOutcome::kCancelled});
    }
    return Forget();
  }
  if (s_.after == AfterStop::kSuspend) {
    GiveUpPlaces();
    s_.reserved = false;
    book_.Act(
        {.kind = ActionKind::kRelease, .result = GangOutcome::kCancelled});
    if (!s_.suspend) return Reserve();
    s_.phase = LifePhase::kSuspended;
    book_.SetCondition(ConditionType::kSuspended, true, "JobSuspended");
    book_.SetCondition(ConditionType::kRunning, false, "JobSuspended");
    return;
  }
  if (s_.after == AfterStop::kRequeue) {
    GiveUpPlaces();
    s_.start_at = s_.now;
    s_.phase = LifePhase::kQueued;
    book_.SetCondition(ConditionType::kRestarting, true, "JobPreempted");
    book_.SetCondition(ConditionType::kQueuing, true, "JobEnqueued");
    return;
  }
  ++s_.gang_restarts;
  book_.SetCondition(ConditionType::kRestarting, true,
                     free ? "JobMoved" : "JobFailed");
  for (uint32_t task = 0; task < s_.tasks.size(); ++task) {
    TaskState& t = s_.tasks[task];
    book_.Reset(task);
    if (!t.leaving) continue;
    if (t.slot != TaskState::kNoSlot) {
      book_.Vacate(task);
    } else {
      t.leaving = t.moved = false;
    }
  }
  s_.start_at = s_.now + (free ? 0 : Delay(s_.restarts));
  TryBegin();
}

// --- Ending ------------------------------------------------------------------

void JobPhases::CheckSuccess() {
  for (uint32_t i = 0; i < s_.rules.size(); ++i) {
    if (book_.RuleHolds(i)) {
      return Finish(LifePhase::kSucceeded, "JobSucceeded");
    }
  }
}

void JobPhases::Finish(LifePhase phase, std::string_view reason) {
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

void JobPhases::Drained() {
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

void JobPhases::Forget() {
  s_.phase = LifePhase::kForgotten;
  book_.Act({.kind = ActionKind::kForget});
}

}  // namespace muster::workload
