#include "adapters/local/controller/life_driver.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "adapters/local/controller/job_maker.h"

namespace muster::local {
namespace {

using workload::Action;
using workload::ActionKind;
using workload::ExitReason;
using workload::LifePhase;

// As shells and timeout(1) have them.
constexpr int32_t kCodeOfFailure = 1;
constexpr int32_t kCodeOfDeadline = 124;
constexpr int32_t kCodeNotStarted = 127;
constexpr int32_t kCodeKilled = 137;
constexpr int32_t kCodeStopped = 143;

// Of a job that has failed by this event.
int32_t CodeOf(const workload::LifeEvent& event, std::string_view reason) {
  if (reason == "DeadlineExceeded") return kCodeOfDeadline;
  const auto* exited = std::get_if<workload::TaskExited>(&event);
  if (exited == nullptr) return kCodeOfFailure;
  switch (exited->reason) {
    case ExitReason::kExited:
      return exited->code != 0 ? exited->code : kCodeOfFailure;
    case ExitReason::kOutOfMemory:
      return kCodeKilled;
    case ExitReason::kNotStarted:
      return exited->code != 0 ? exited->code : kCodeNotStarted;
    default:
      return kCodeOfFailure;
  }
}

bool IsFinal(LifePhase phase) {
  return phase == LifePhase::kSucceeded || phase == LifePhase::kFailed ||
         phase == LifePhase::kForgotten;
}

}  // namespace

absl::Status LifeDriver::Tell(JobRecord* job,
                              const workload::LifeEvent& event) {
  absl::Status s = s_.jobs.Load(job);
  if (!s.ok()) return s;
  const LifePhase before = job->state.phase;
  const bool anew = job->state.live == 0;
  const uint32_t preemptions = job->state.preemptions;
  const uint32_t size = TaskCount(job->state);
  workload::LifeOutput output;
  s = job->life->Step(event, s_.now(), &job->state, &output);
  if (!s.ok()) return s;
  s_.jobs.AddEvent(job, event, s_.now());
  if (job->state.preemptions > preemptions) {
    ++s_.numbers.preemptions;
    s_.Tell(job->row.id, "preempted");
  }
  bool first = anew;
  for (const Action& action : output.actions) {
    Do(job, action, first);
    if (action.kind == ActionKind::kStart) first = false;
  }
  if (TaskCount(job->state) != size) tasks_.TellSize(*job);
  Note(job, event, before, output);
  s_.jobs.SetWake(job, output.wake_at);
  Settle();
  return absl::OkStatus();
}

void LifeDriver::MustTell(JobRecord* job, const workload::LifeEvent& event) {
  const absl::Status s = Tell(job, event);
  if (s.ok()) return;
  s_.link->AddDefect(s.ToString());
  if (!job->life) Abandon(job, s);
}

void LifeDriver::Settle() {
  if (settling_) return;
  settling_ = true;
  for (;;) {
    if (const auto task = tasks_.NextUnlaunched()) {
      TaskEnded(task->key, 0, task->reason);
      continue;
    }
    if (refused_.empty()) break;
    const auto [id, why] = std::move(refused_.back());
    refused_.pop_back();
    JobRecord* job = s_.jobs.Find(id);
    if (job != nullptr && !job->ended) Delete(job, why);
  }
  settling_ = false;
}

void LifeDriver::TaskEnded(const TaskKey& key, int32_t code,
                           ExitReason reason) {
  JobRecord* job = s_.jobs.Find(key.job);
  if (job == nullptr || tasks_.Find(job, key) == nullptr) return;
  const TaskRow& row = job->tasks.at({key.role, key.index}).row;
  if (row.state != "stop") {  // It was not asked to.
    s_.faults.Note(s_.config.quarantine, job->row, row, code, reason, s_.now());
  }
  tasks_.Ended(job, key, code, reason);
  MustTell(job, workload::TaskExited{
                    {key.role, key.index}, key.attempt, code, reason});
}

void LifeDriver::PassTime() {
  while (JobRecord* job = s_.jobs.NextDue(s_.now())) {
    s_.jobs.SetWake(job, kForever);
    MustTell(job, workload::TimePassed{});
  }
}

// --- What a life asks for ----------------------------------------------------

void LifeDriver::Do(JobRecord* job, const Action& action, bool anew) {
  switch (action.kind) {
    case ActionKind::kReserve: {
      const absl::Status s = Reserve(job);
      if (s.ok()) break;
      refused_.emplace_back(job->row.id, std::string(s.message()));
      break;
    }
    case ActionKind::kStart:
      return tasks_.Start(job, action, anew);
    case ActionKind::kStop:
      return tasks_.Stop(job, action.task, action.attempt, action.grace);
    case ActionKind::kFree:
      return Free(job, action);
    case ActionKind::kRelease:
      return Release(*job, action.result);
    case ActionKind::kCheckpoint:
      return tasks_.Checkpoint(job, action.version, action.grace);
    case ActionKind::kResize:
      return Resize(job, action.task.role, action.slot);
    case ActionKind::kCleanUp:
      return tasks_.CleanUp(*job);
    case ActionKind::kForget:
      break;
  }
}

absl::Status LifeDriver::Reserve(JobRecord* job) {
  const std::string key = GangKey(job->row.id);
  if (s_.link->scheduler().FindGang(key).valid()) return absl::OkStatus();
  absl::StatusOr<workload::GangForm> form = MakeGang(s_.config, *job);
  if (!form.ok()) return form.status();
  return s_.link->Tell(GangSubmitted{std::move(form->gang)});
}

absl::Status LifeDriver::ChangeGang(JobRecord* job) {
  const absl::StatusOr<GangState> now =
      s_.link->scheduler().Find(GangKey(job->row.id));
  if (!now.ok()) return absl::OkStatus();
  absl::StatusOr<workload::GangForm> form = MakeGang(s_.config, *job);
  if (!form.ok()) return form.status();
  // What its tasks ask for stays, whatever the configuration says by now.
  KeepShapes(now->gang, &form->gang);
  return s_.link->Tell(GangChanged{std::move(form->gang)});
}

void LifeDriver::Free(JobRecord* job, const Action& action) {
  const TaskId place{action.task.role, action.slot};
  const workload::LifeState& state = job->state;
  // A job that is going needs no place again: the scheduler, which may not know
  // that it goes, would give this one back at once.
  const bool stops = state.phase == LifePhase::kStopping ||
                     state.phase == LifePhase::kCheckpointing;
  const bool goes = IsFinal(state.phase) ||
                    (stops && state.after >= workload::AfterStop::kSuspend);
  tasks_.Answer(job, place, goes ? TaskOutcome::kSucceeded : action.outcome);
  job->places.erase(place);
  if (job->places.empty()) job->suspended = false;
}

void LifeDriver::Release(const JobRecord& job, GangOutcome outcome) {
  const std::string key = GangKey(job.row.id);
  // It is gone by itself when all its tasks have succeeded.
  if (!s_.link->scheduler().FindGang(key).valid()) return;
  s_.link->MustTell(GangFinished{key, outcome});
}

void LifeDriver::Resize(JobRecord* job, uint32_t role, uint32_t size) {
  job->sizes.resize(job->job().roles.size(), 0);
  job->sizes[role] = size;
  absl::Status s = s_.jobs.MakeForm(job);
  if (s.ok()) s = ChangeGang(job);
  if (!s.ok()) s_.link->AddDefect(s.ToString());
}

// --- What a life has come to -------------------------------------------------

void LifeDriver::Note(JobRecord* job, const workload::LifeEvent& event,
                      LifePhase before, const workload::LifeOutput& output) {
  JobRow& row = job->row;
  const JobRow old = row;
  const workload::LifeState& state = job->state;
  const bool deleted = state.after == workload::AfterStop::kForget;
  for (const workload::Condition& c : output.conditions) {
    if (c.status && !deleted) row.reason = std::string(c.reason);
  }
  row.restarts = state.restarts;
  row.preemptions = state.preemptions;
  if (row.started == kForever &&
      (std::holds_alternative<workload::TaskStarted>(event) ||
       std::holds_alternative<workload::TaskReady>(event))) {
    row.started = s_.now();
  }
  if (state.phase != before) NotePhase(job, event);
  const bool waits =
      state.phase == LifePhase::kQueued || state.phase == LifePhase::kSuspended;
  if (waits && state.live == 0 && job->places.empty() &&
      !job->meeting.empty()) {
    launches_.Part(job);
    s_.jobs.Change(*job);
  }
  const bool over =
      state.phase == LifePhase::kForgotten ||
      (IsFinal(state.phase) && state.live == 0 && !state.reserved);
  if (over && !job->ended) {
    job->ended = true;
    row.finished = s_.now();
    launches_.Part(job);
    LetInNext(row);
  }
  if (!(row == old)) s_.jobs.Change(*job);
}

void LifeDriver::LetInNext(const JobRow& element) {
  const uint64_t id = s_.arrays.Remove(element);
  JobRecord* next = id == 0 ? nullptr : s_.jobs.Find(id);
  if (next == nullptr) return;
  next->throttled = false;
  TellHeld(*next);
}

void LifeDriver::TellHeld(const JobRecord& job) {
  const std::string key = GangKey(job.row.id);
  if (!s_.link->scheduler().FindGang(key).valid()) return;
  s_.link->MustTell(GangHeld{key, IsHeld(job), HeldWhy(job)});
}

void LifeDriver::NotePhase(JobRecord* job, const workload::LifeEvent& event) {
  JobRow& row = job->row;
  const LifePhase phase = job->state.phase;
  const bool was_final = row.exit_code.has_value();
  if (was_final) return;  // What it has come to stays.
  row.phase = Name(phase);
  if (IsFinal(phase)) return NoteEnd(job, event);
  switch (phase) {
    case LifePhase::kQueued:
      return s_.Tell(row.id, "queued");
    case LifePhase::kRunning:
      return s_.Tell(row.id, "started");
    case LifePhase::kCheckpointing:
      return s_.Tell(row.id, "checkpointing");
    case LifePhase::kStopping:
      return s_.Tell(row.id, "stopping");
    case LifePhase::kBackoff:
      return s_.Tell(row.id, "restarting");
    case LifePhase::kSuspended:
      return s_.Tell(row.id, "suspended");
    default:
      return;
  }
}

void LifeDriver::NoteEnd(JobRecord* job, const workload::LifeEvent& event) {
  JobRow& row = job->row;
  switch (job->state.phase) {
    case LifePhase::kSucceeded:
      row.exit_code = 0;
      ++s_.numbers.succeeded;
      return s_.Tell(row.id, "succeeded");
    case LifePhase::kFailed:
      row.exit_code = CodeOf(event, row.reason);
      ++s_.numbers.failed;
      return s_.Tell(row.id, "failed", row.reason);
    default:
      row.exit_code = kCodeStopped;
      ++s_.numbers.cancelled;
      return s_.Tell(row.id, "cancelled", row.reason);
  }
}

void LifeDriver::Delete(JobRecord* job, std::string_view reason) {
  if (!job->row.exit_code) {
    job->row.reason = reason;
    s_.jobs.Change(*job);
  }
  MustTell(job, workload::DeletionAsked{});
}

void LifeDriver::Abandon(JobRecord* job, const absl::Status& why) {
  if (job->ended) return;
  Release(*job, GangOutcome::kFailed);
  job->ended = true;
  job->row.phase = Name(LifePhase::kFailed);
  job->row.reason = std::string(why.message());
  job->row.exit_code = kCodeOfFailure;
  job->row.finished = s_.now();
  ++s_.numbers.failed;
  s_.Tell(job->row.id, "failed", job->row.reason);
  s_.jobs.Change(*job);
  LetInNext(job->row);
}

}  // namespace muster::local
