// Events, and what time brings.
#include "lib/workload/stepper.h"

#include <algorithm>

namespace muster::workload {

void Stepper::PassTime() {
  if (s_.now >= Deadline()) {
    phases_.Finish(LifePhase::kFailed, "DeadlineExceeded");
  }
  if (s_.phase == LifePhase::kCheckpointing && s_.now >= s_.stop_by) {
    phases_.StopNow(0);
  }
  if (s_.phase == LifePhase::kBackoff) phases_.TryBegin();
  uint32_t task = 0;
  while (s_.phase == LifePhase::kRunning && book_.NextDue(s_.now, &task)) {
    phases_.Restart(task, 0);
  }
  if (s_.now >= ForgetAt()) On(DeletionAsked{});
}

Time Stepper::Deadline() const {
  const Duration limit = s_.limit.value_or(job_.active_deadline);
  if (!phases_.HoldsPlaces() || limit <= 0 || s_.active_since == kForever) {
    return kForever;
  }
  return s_.active_since + limit - s_.active_used;
}

Time Stepper::ForgetAt() const {
  if (s_.finished_at == kForever || s_.phase == LifePhase::kForgotten ||
      s_.after == AfterStop::kForget || job_.ttl < 0) {
    return kForever;
  }
  return s_.finished_at + job_.ttl;
}

void Stepper::On(const Submitted&) {
  if (s_.phase != LifePhase::kNew) return;
  book_.SetCondition(ConditionType::kCreated, true, "JobCreated");
  if (job_.suspend) {
    s_.suspend = true;
    s_.phase = LifePhase::kSuspended;
    book_.SetCondition(ConditionType::kSuspended, true, "JobSuspended");
    return;
  }
  phases_.Reserve();
}

void Stepper::On(const Placed& event) {
  const bool stale = phases_.IsFinal() || s_.phase == LifePhase::kNew ||
                     s_.phase == LifePhase::kSuspended ||
                     ((s_.phase == LifePhase::kStopping ||
                       s_.phase == LifePhase::kCheckpointing) &&
                      s_.after >= AfterStop::kRequeue);
  bool grown = false;
  for (const TaskId place : event.places) {
    if (stale) {  // Nobody waits for it any more.
      const bool held =
          rules_.pooled
              ? s_.roles[place.role].owner[place.index] != RoleState::kNotHeld
              : s_.tasks[TaskOf(place)].slot != TaskState::kNoSlot;
      if (!held && s_.phase != LifePhase::kNew) {
        book_.Act(
            {.kind = ActionKind::kFree, .task = place, .slot = place.index});
      }
      continue;
    }
    if (!book_.TakePlace(place, &grown)) continue;
    if (s_.phase != LifePhase::kRunning) continue;
    if (rules_.pooled) {
      book_.FillSpares(place.role);
    } else if (job_.resize != ResizeMode::kRestart || !grown) {
      phases_.StartTask(TaskOf(place));
    }
  }
  if (stale) return;
  if (s_.phase == LifePhase::kRunning && grown &&
      job_.resize == ResizeMode::kRestart) {
    s_.free_restart = true;
    phases_.StopAll(AfterStop::kRestart, job_.checkpoint.timeout, true);
  }
  if (s_.phase == LifePhase::kRunning) {
    for (const TaskId place : event.places) phases_.CheckFollowers(place.role);
  }
  if (s_.phase == LifePhase::kQueued) phases_.TryBegin();
}

void Stepper::On(const PlacesTaken& event) {
  if (phases_.IsFinal() || s_.phase == LifePhase::kNew ||
      s_.phase == LifePhase::kSuspended) {
    return;
  }
  bool restart = false;
  for (const TaskId place : event.places) {
    if (rules_.pooled) {
      const uint32_t owner = s_.roles[place.role].owner[place.index];
      if (owner == RoleState::kSpare) {
        book_.FreeSpare(place.role, place.index, TaskOutcome::kReleased);
      } else if (owner != RoleState::kNotHeld) {
        TakePlaceBack(rules_.first_task[place.role] + owner, event);
      }
      continue;
    }
    const uint32_t task = TaskOf(place);
    if (s_.tasks[task].slot == TaskState::kNoSlot) continue;
    restart |= rules_.unit == RestartUnit::kGang;
    TakePlaceBack(task, event);
  }
  if (s_.phase == LifePhase::kRunning && restart) {
    s_.free_restart = true;
    phases_.StopAll(AfterStop::kRestart, event.notice, true);
  } else if (s_.phase == LifePhase::kCheckpointing) {
    s_.stop_by = std::min(s_.stop_by, s_.now + event.notice);
    if (s_.now >= s_.stop_by) phases_.StopNow(0);
  }
}

// One place that is held. Where all tasks start anew, it is given back when
// they have stopped.
void Stepper::TakePlaceBack(uint32_t task, const PlacesTaken& event) {
  TaskState& t = s_.tasks[task];
  t.leaving = true;
  t.moved = event.moved;
  const bool alone =
      rules_.unit == RestartUnit::kTask && s_.phase == LifePhase::kRunning;
  if (book_.IsLive(task)) {
    if (alone) book_.Stop(task, event.notice);
    return;
  }
  const bool ends_later = rules_.unit == RestartUnit::kGang &&
                          phases_.HoldsPlaces() &&
                          s_.phase != LifePhase::kBackoff;
  if (ends_later) return;
  book_.FreePlace(task,
                  event.moved ? TaskOutcome::kYielded : TaskOutcome::kReleased);
  t.leaving = false;
  if (t.phase == TaskPhase::kSucceeded || t.phase == TaskPhase::kFailed) return;
  t.moved = false;
  if (event.moved) {
    if (!rules_.pooled) ++s_.lacking;
    return;
  }
  book_.Leave(task);
  if (s_.phase != LifePhase::kRunning) return;
  phases_.CheckSuccess();
  phases_.CheckFollowers(rules_.role_of_task[task]);
}

void Stepper::On(const Preempted& event) {
  if (!phases_.HoldsPlaces()) {
    // A part of its places, before it had all.
    if (s_.phase != LifePhase::kQueued) return;
    if (!job_.requeue && (s_.paused || s_.active_since != kForever)) {
      return phases_.Finish(LifePhase::kFailed, "Preempted");
    }
    return phases_.GiveUpPlaces();
  }
  ++s_.preemptions;
  if (!job_.requeue) return phases_.Finish(LifePhase::kFailed, "Preempted");
  phases_.StopAll(AfterStop::kRequeue, event.notice, true);
}

bool Stepper::Current(TaskId id, uint32_t attempt, uint32_t* task) const {
  *task = TaskOf(id);
  return s_.tasks[*task].attempt == attempt && book_.IsLive(*task);
}

void Stepper::On(const TaskStarted& event) {
  uint32_t task = 0;
  if (!Current(event.task, event.attempt, &task) ||
      s_.tasks[task].phase != TaskPhase::kStarting) {
    return;
  }
  book_.Running(task);
  if (s_.phase != LifePhase::kRunning) return;
  book_.SetCondition(ConditionType::kRunning, true, "JobRunning");
  phases_.CheckFollowers(event.task.role);
}

void Stepper::On(const TaskReady& event) {
  uint32_t task = 0;
  if (!Current(event.task, event.attempt, &task)) return;
  if (s_.tasks[task].phase == TaskPhase::kStarting) {
    On(TaskStarted{event.task, event.attempt});
  }
  if (s_.tasks[task].phase != TaskPhase::kRunning) return;
  book_.Ready(task);
  if (s_.phase == LifePhase::kRunning) phases_.CheckFollowers(event.task.role);
}

void Stepper::On(const TaskExited& event) {
  uint32_t task = 0;
  if (!Current(event.task, event.attempt, &task)) return;
  exits_.Exit(task, event.code, event.reason);
}

void Stepper::On(const CheckpointDone& event) {
  if (event.version > s_.checkpoint_asked) return;
  if (event.version != 0 && event.version <= s_.checkpoint_done) return;
  s_.checkpoint_done = std::max(s_.checkpoint_done, event.version);
  s_.checkpoint_at = s_.now;
  if (s_.phase == LifePhase::kCheckpointing &&
      event.version == s_.checkpoint_asked) {
    phases_.StopNow(s_.stop_by - s_.now);
  }
}

void Stepper::On(const ResizeAsked& event) {
  if (phases_.IsFinal()) return;
  book_.Act({.kind = ActionKind::kResize,
             .task = {event.role, 0},
             .slot = event.size});
}

void Stepper::On(const SuspendAsked&) {
  if (phases_.IsFinal() || s_.phase == LifePhase::kNew || s_.suspend) return;
  s_.suspend = true;
  if (s_.phase == LifePhase::kQueued) {
    phases_.GiveUpPlaces();
    s_.after = AfterStop::kSuspend;
    return phases_.Stopped();
  }
  phases_.StopAll(AfterStop::kSuspend, job_.checkpoint.timeout, true);
}

void Stepper::On(const ResumeAsked&) {
  if (!s_.suspend) return;
  s_.suspend = false;
  if (s_.phase != LifePhase::kSuspended) return;  // When it has stopped.
  book_.SetCondition(ConditionType::kSuspended, false, "JobResumed");
  phases_.Reserve();
}

void Stepper::On(const Paused&) {
  if (phases_.HoldsPlaces()) phases_.Pause();
}

void Stepper::On(const Continued&) { phases_.Continue(); }

void Stepper::On(const DeletionAsked&) {
  if (s_.phase == LifePhase::kForgotten) return;
  if (phases_.IsFinal()) {
    s_.after = AfterStop::kForget;
    book_.StopAll(kMaxDuration);
    if (s_.live == 0) phases_.Drained();
    return;
  }
  if (s_.phase == LifePhase::kNew) return phases_.Forget();
  phases_.StopAll(AfterStop::kForget, kMaxDuration, false);
}

void Stepper::On(const TasksListed& event) {
  std::vector<bool> seen(s_.tasks.size(), false);
  for (const LiveTask& live : event.live) {
    uint32_t task = 0;
    if (Current(live.task, live.attempt, &task)) seen[task] = true;
  }
  // Those that are gone, and not what starts in their stead.
  std::vector<std::pair<uint32_t, uint32_t>> lost;  // And its attempt.
  for (uint32_t task = 0; task < s_.tasks.size(); ++task) {
    if (!seen[task] && book_.IsLive(task)) {
      lost.emplace_back(task, s_.tasks[task].attempt);
    }
  }
  for (const auto& [task, attempt] : lost) {
    if (book_.IsLive(task) && s_.tasks[task].attempt == attempt) {
      exits_.Exit(task, 0, ExitReason::kLost);
    }
  }
  for (const LiveTask& live : event.live) {
    uint32_t task = 0;
    if (!Current(live.task, live.attempt, &task)) {
      // It ought to be over.
      book_.Act({.kind = ActionKind::kStop,
                 .task = live.task,
                 .slot = live.task.index,
                 .attempt = live.attempt});
      continue;
    }
    const TaskState& t = s_.tasks[task];
    if (t.phase == TaskPhase::kStopping) {
      book_.Act({.kind = ActionKind::kStop,
                 .task = live.task,
                 .slot = t.slot,
                 .attempt = t.attempt});
    } else if (live.ready) {
      On(TaskReady{live.task, live.attempt});
    } else {
      On(TaskStarted{live.task, live.attempt});
    }
  }
  if (s_.phase == LifePhase::kQueued) book_.Act({.kind = ActionKind::kReserve});
  if (s_.phase == LifePhase::kCheckpointing) {
    book_.Act({.kind = ActionKind::kCheckpoint,
               .version = s_.checkpoint_asked,
               .grace = s_.stop_by - s_.now});
  }
}

void Stepper::Settle() {
  if (s_.phase != LifePhase::kRunning || s_.live > 0 || s_.lacking > 0 ||
      !s_.timers.empty()) {
    return;
  }
  for (uint32_t r = 0; r < s_.roles.size(); ++r) {
    if (book_.HasPending(r)) return;  // It waits for a place.
  }
  phases_.Finish(LifePhase::kFailed, "NothingLeftToRun");
}

Time Stepper::WakeAt() const {
  Time at = std::min(Deadline(), ForgetAt());
  if (s_.phase == LifePhase::kRunning && !s_.timers.empty()) {
    at = std::min(at, s_.timers.front().first);
  }
  if (s_.phase == LifePhase::kCheckpointing) at = std::min(at, s_.stop_by);
  if (s_.phase == LifePhase::kBackoff) at = std::min(at, s_.start_at);
  return at;
}

}  // namespace muster::workload
