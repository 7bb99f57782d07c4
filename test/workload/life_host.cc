#include "test/workload/life_host.h"

#include <algorithm>
#include <variant>

namespace muster::workload {

LifeHost::LifeHost(const Life* life) : life_(life), state_(life->Begin()) {
  tasks_.resize(state_.tasks.size());
  may_start_.resize(job().roles.size(), false);
  for (const Role& role : job().roles) {
    held_.emplace_back(
        job().kind == Kind::kJob ? role.replicas : role.max_replicas, false);
  }
}

std::string LifeHost::NameOf(TaskId id) const {
  return job().roles[id.role].name + "-" + std::to_string(id.index);
}

void LifeHost::Complain(const std::string& what) {
  if (problem_.empty()) problem_ = what;
}

void LifeHost::Tell(const LifeEvent& event) {
  // What really happens before it is told.
  if (const auto* placed = std::get_if<Placed>(&event)) {
    for (const TaskId id : placed->places) held_[id.role][id.index] = true;
  }
  if (const auto* exited = std::get_if<TaskExited>(&event)) {
    Task& t = At(exited->task);
    if (t.live && t.attempt == exited->attempt) {
      t.succeeded = !t.stopping && exited->code == 0 &&
                    exited->reason == ExitReason::kExited;
      t.End();
    }
  }
  if (const auto* started = std::get_if<TaskStarted>(&event)) {
    Task& t = At(started->task);
    t.running |= t.live && t.attempt == started->attempt;
  }
  if (const auto* ready = std::get_if<TaskReady>(&event)) {
    Task& t = At(ready->task);
    if (t.live && t.attempt == ready->attempt) t.running = t.ready = true;
  }
  if (const auto* listed = std::get_if<TasksListed>(&event)) {
    for (const TaskId id : Live()) {
      Task& t = At(id);
      const bool there =
          std::ranges::any_of(listed->live, [&](const LiveTask& live) {
            return live.task == id && live.attempt == t.attempt;
          });
      if (there) {
        t.running = true;
      } else {
        t.End();
      }
    }
  }
  if (state_.paused && state_.active_since != kForever) {
    Complain("time passes for a job that stands still");
  }
  if (state_.phase == LifePhase::kRunning) NoteOrder();
  const LifeState before = state_;
  const absl::Status s = life_->Step(event, now_, &state_, &output_);
  if (!s.ok()) return Complain("refused: " + std::string(s.message()));
  for (const Action& action : output_.actions) DoAction(action, before.phase);
  CheckAfter(event, before);
}

std::optional<uint32_t> LifeHost::TaskIn(uint32_t role, uint32_t slot) const {
  const uint32_t first = PositionOf(job(), {role, 0});
  for (uint32_t i = 0; i < job().roles[role].tasks(); ++i) {
    if (tasks_[first + i].live && tasks_[first + i].slot == slot) return i;
  }
  return std::nullopt;
}

void LifeHost::DoStart(const Action& action) {
  const std::string name = NameOf(action.task);
  Task& t = At(action.task);
  if (t.live) Complain(name + " runs twice");
  if (action.attempt <= t.attempt) Complain(name + " has an old attempt");
  if (!held_[action.task.role][action.slot]) {
    Complain(name + " starts without a place");
  }
  if (TaskIn(action.task.role, action.slot)) {
    Complain(name + " starts in the place of another");
  }
  if (job().roles[action.task.role].passive) Complain(name + " is passive");
  if (!may_start_[action.task.role] && !MayStart(action.task.role)) {
    Complain(name + " starts before what it starts after");
  }
  t = {.live = true, .attempt = action.attempt, .slot = action.slot};
}

// Whether what a role starts after is true now, by what was told.
bool LifeHost::MayStart(uint32_t role) const {
  for (const StartAfter& after : job().roles[role].start_after) {
    const Role& before = job().roles[after.role];
    uint32_t done = 0;
    const uint32_t first = PositionOf(job(), {after.role, 0});
    for (uint32_t i = 0; i < before.tasks(); ++i) {
      const Task& t = tasks_[first + i];
      if (before.passive) {
        done += held_[after.role][i] ? 1 : 0;
      } else if (after.condition == StartCondition::kRunning) {
        done += t.running || t.succeeded ? 1 : 0;
      } else if (after.condition == StartCondition::kReady) {
        done += t.ready || t.succeeded ? 1 : 0;
      } else {
        done += t.succeeded ? 1 : 0;
      }
    }
    const uint32_t need =
        after.count > 0 ? after.count : state_.roles[after.role].size;
    if (done < need) return false;
  }
  return true;
}

// What has come true in this run stays so.
void LifeHost::NoteOrder() {
  for (uint32_t r = 0; r < may_start_.size(); ++r) {
    if (!may_start_[r]) may_start_[r] = MayStart(r);
  }
}

void LifeHost::DoAction(const Action& action, LifePhase before) {
  switch (action.kind) {
    case ActionKind::kReserve:
      reserved_ = true;
      break;
    case ActionKind::kStart:
      DoStart(action);
      break;
    case ActionKind::kStop: {
      Task& t = At(action.task);
      if (t.live && t.attempt == action.attempt) t.stopping = true;
      break;
    }
    case ActionKind::kFree: {
      if (const auto i = TaskIn(action.task.role, action.slot)) {
        Complain("the place of " + NameOf({action.task.role, *i}) +
                 " is freed under it");
      }
      if (!held_[action.task.role][action.slot]) {
        Complain("a place is freed twice");
      }
      held_[action.task.role][action.slot] = false;
      break;
    }
    case ActionKind::kRelease:
      if (!reserved_) Complain("released twice");
      if (!Live().empty()) Complain("released with live tasks");
      if (places() > 0) Complain("released with places");
      reserved_ = false;
      break;
    case ActionKind::kCheckpoint:
      if (before == LifePhase::kCheckpointing &&
          action.version != checkpoint_) {
        Complain("two checkpoints under way");
      }
      checkpoint_ = action.version;
      break;
    case ActionKind::kResize:
    case ActionKind::kCleanUp:
    case ActionKind::kForget:
      break;
  }
}

void LifeHost::CheckAfter(const LifeEvent& event, const LifeState& before) {
  if (state_.phase != LifePhase::kRunning &&
      state_.phase != LifePhase::kCheckpointing) {
    may_start_.assign(may_start_.size(), false);
    for (Task& t : tasks_) {
      if (job().kind != Kind::kJob) t.succeeded = false;
    }
  }
  const bool was_final = before.phase == LifePhase::kSucceeded ||
                         before.phase == LifePhase::kFailed;
  if (was_final && state_.phase != before.phase &&
      state_.phase != LifePhase::kForgotten) {
    Complain("an end that is none");
  }
  if (before.phase == LifePhase::kForgotten &&
      (state_.phase != LifePhase::kForgotten || !output_.actions.empty())) {
    Complain("a job that is gone acts");
  }
  const auto* exited = std::get_if<TaskExited>(&event);
  const bool failure =
      exited != nullptr && (exited->reason == ExitReason::kExited ||
                            exited->reason == ExitReason::kOutOfMemory ||
                            exited->reason == ExitReason::kNotStarted);
  if (!failure && state_.restarts != before.restarts) {
    Complain("what is no failure is counted");
  }
  const uint32_t budget = job().failure.by_group ? job().failure.max_restarts
                                                 : job().failure.backoff_limit;
  if (state_.restarts > budget) Complain("more restarts than allowed");
  if (state_.phase == LifePhase::kRunning) NoteOrder();
  CheckCounts();
  CheckPending();
}

void LifeHost::CheckCounts() {
  if (Live().size() != state_.live) Complain("another number of live tasks");
  uint32_t lacking = 0;
  for (uint32_t r = 0; r < job().roles.size(); ++r) {
    RoleState count;
    const uint32_t first = PositionOf(job(), {r, 0});
    for (uint32_t i = 0; i < job().roles[r].tasks(); ++i) {
      const TaskState& t = state_.tasks[first + i];
      count.running +=
          t.phase == TaskPhase::kRunning || t.phase == TaskPhase::kReady;
      count.ready += t.phase == TaskPhase::kReady;
      count.succeeded += t.phase == TaskPhase::kSucceeded;
      count.failed += t.phase == TaskPhase::kFailed;
      count.size += t.member;
      lacking += t.member && t.phase == TaskPhase::kIdle &&
                 t.slot == TaskState::kNoSlot;
    }
    const RoleState& role = state_.roles[r];
    const uint32_t held =
        static_cast<uint32_t>(std::ranges::count(held_[r], true));
    if (role.running != count.running || role.ready != count.ready ||
        role.succeeded != count.succeeded || role.failed != count.failed ||
        role.held != held ||
        (job().kind != Kind::kJob && role.size != count.size)) {
      Complain("counts of " + job().roles[r].name + " are wrong");
    }
  }
  const bool gives_up = state_.phase == LifePhase::kStopping &&
                        state_.after >= AfterStop::kRequeue;
  if (job().kind != Kind::kJob && state_.phase < LifePhase::kSucceeded &&
      !gives_up && lacking != state_.lacking) {
    Complain("places are lacking that are not counted");
  }
}

// A job never waits with nothing to wait for.
void LifeHost::CheckPending() {
  const bool final = state_.phase >= LifePhase::kSucceeded;
  if (final && Live().empty() && (places() > 0 || reserved_)) {
    Complain("an end that holds something");
  }
  if (final || state_.phase == LifePhase::kNew ||
      state_.phase == LifePhase::kSuspended) {
    return;
  }
  bool pending = state_.live > 0 || output_.wake_at != kForever ||
                 state_.lacking > 0 || state_.phase == LifePhase::kQueued;
  for (const RoleState& role : state_.roles) {
    pending |= job().kind == Kind::kJob && role.held == 0;
  }
  if (!pending) Complain("it waits for nothing");
  if (state_.phase == LifePhase::kQueued && !reserved_) {
    Complain("it waits for places that nobody was asked for");
  }
}

std::vector<TaskId> LifeHost::MissingPlaces() const {
  std::vector<TaskId> missing;
  for (uint32_t r = 0; r < held_.size(); ++r) {
    const uint32_t most = job().kind == Kind::kPyTorchJob
                              ? job().roles[r].max_replicas
                              : job().roles[r].replicas;
    for (uint32_t i = 0; i < most; ++i) {
      if (!held_[r][i]) missing.push_back({r, i});
    }
  }
  return missing;
}

std::vector<TaskId> LifeHost::Live() const {
  std::vector<TaskId> live;
  uint32_t position = 0;
  for (uint32_t r = 0; r < job().roles.size(); ++r) {
    for (uint32_t i = 0; i < job().roles[r].tasks(); ++i) {
      if (tasks_[position++].live) live.push_back({r, i});
    }
  }
  return live;
}

std::vector<std::string> LifeHost::LiveNames() const {
  std::vector<std::string> names;
  for (const TaskId id : Live()) names.push_back(NameOf(id));
  return names;
}

bool LifeHost::IsStopping(TaskId id) const {
  return tasks_[PositionOf(job(), id)].stopping;
}

void LifeHost::RunAll() {
  for (bool more = true; more && problem_.empty();) {
    more = false;
    for (const TaskId id : Live()) {
      const TaskPhase phase = state_.tasks[PositionOf(job(), id)].phase;
      if (phase == TaskPhase::kStarting || phase == TaskPhase::kRunning) {
        IsReady(id);
        more = true;
      }
    }
  }
}

void LifeHost::FinishStops() {
  for (bool more = true; more && problem_.empty();) {
    more = false;
    for (const TaskId id : Live()) {
      if (!IsStopping(id)) continue;
      Exits(id, 143);
      more = true;
    }
  }
}

std::vector<std::string> LifeHost::Acted(ActionKind kind) const {
  std::vector<std::string> names;
  for (const Action& a : output_.actions) {
    if (a.kind == kind) names.push_back(NameOf(a.task));
  }
  return names;
}

uint32_t LifeHost::places() const {
  uint32_t n = 0;
  for (const auto& role : held_) {
    n += static_cast<uint32_t>(std::ranges::count(role, true));
  }
  return n;
}

std::string LifeHost::Key() const {
  std::string key;
  const auto put = [&](int64_t value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  const auto time = [&](Time at) { put(at == kForever ? -1 : at - now_); };
  const LifeState& s = state_;
  put(static_cast<int64_t>(s.phase) | static_cast<int64_t>(s.after) << 8 |
      s.suspend << 16 | s.free_restart << 17 | s.reserved << 18 |
      s.paused << 19);
  put(s.lacking);
  put(s.restarts);
  put(s.failed_indexes);
  put(s.checkpoint_asked - s.checkpoint_done);
  time(s.stop_by);
  time(std::max(s.start_at, now_));
  time(s.active_since);
  put(s.active_used);
  time(s.finished_at);
  for (size_t i = 0; i < s.tasks.size(); ++i) {
    const TaskState& t = s.tasks[i];
    put(static_cast<int64_t>(t.phase) | t.member << 8 | t.leaving << 9 |
        t.moved << 10 | t.delayed << 11 | t.out_of_memory << 16 |
        int64_t{t.slot} << 32);
    put(t.failures | (t.attempt > 0) << 16 | tasks_[i].stopping << 17);
  }
  for (const RoleState& r : s.roles) {
    put(r.open | r.next << 8);
    for (const uint32_t i : r.retry) put(i);
    for (const uint32_t i : r.spare) put(i | 1 << 30);
  }
  for (const GroupState& g : s.groups) put(g.failures);
  for (const auto& [at, task] : s.timers) time(at), put(task);
  return key;
}

}  // namespace muster::workload
