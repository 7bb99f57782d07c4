#include "adapters/local/controller/task_driver.h"

#include <string>
#include <utility>

#include "adapters/local/controller/job_maker.h"
#include "muster/workload/to_gang.h"

namespace muster::local {

void TaskDriver::SetState(LiveTask* task, std::string_view state) {
  task->row.state = state;
  s_.Change(task->row);
}

void TaskDriver::Ask(const LiveTask& task, CommandKind kind, Duration grace) {
  s_.Command({.kind = kind, .task = task.row.key, .grace = grace});
}

void TaskDriver::AskToStop(const LiveTask& task, Duration grace) {
  if (grace > 0) {
    Ask(task, CommandKind::kStop, grace);
  } else {
    Ask(task, CommandKind::kKill);
  }
}

void TaskDriver::Launch(JobRecord* job, LiveTask* task) {
  task->deferred = false;
  ++s_.numbers.task_starts;
  TaskStart start = launches_.Make(job, *task);
  start.cpus = cpus_.Launch(*job, task);
  s_.Command({.kind = CommandKind::kStart,
              .task = task->row.key,
              .start = std::move(start)});
}

void TaskDriver::Start(JobRecord* job, const workload::Action& action,
                       bool anew) {
  const TaskId id = action.task;
  const auto place = job->places.find({id.role, action.slot});
  if (place == job->places.end()) {
    s_.link->AddDefect("a task starts without a place");
    return;
  }
  LiveTask& task = job->tasks[id];
  task = {};
  task.slot = action.slot;
  task.row.key = {job->row.id, id.role, id.index, action.attempt};
  task.row.node = s_.config.node.key;
  task.row.devices = place->second.devices.ToList();
  SetState(&task, "start");
  const absl::Status met = launches_.Meet(job, id, anew);
  if (!met.ok()) {
    task.deferred = true;
    task.row.reason = std::string(met.message());
    unlaunched_.push_back({task.row.key, workload::ExitReason::kNotStarted});
  } else if (job->suspended) {
    task.deferred = true;
  } else {
    Launch(job, &task);
  }
}

void TaskDriver::Stop(JobRecord* job, TaskId id, uint32_t attempt,
                      Duration grace) {
  LiveTask* task = Find(job, {job->row.id, id.role, id.index, attempt});
  if (task == nullptr) return;
  SetState(task, "stop");
  task->asked = false;
  if (task->deferred) {
    unlaunched_.push_back({task->row.key, workload::ExitReason::kLost});
  } else {
    AskToStop(*task, grace);
  }
}

void TaskDriver::Checkpoint(JobRecord* job, uint32_t version, Duration grace) {
  for (const auto& [id, task] : job->tasks) {
    if (task.row.state != "run") continue;
    s_.Command({.kind = CommandKind::kCheckpoint,
                .task = task.row.key,
                .grace = grace,
                .version = version});
  }
}

void TaskDriver::TellSize(const JobRecord& job) {
  for (const auto& [id, task] : job.tasks) {
    if (task.deferred || task.row.state == "stop") continue;
    s_.Command({.kind = CommandKind::kResize,
                .task = task.row.key,
                .start = {.size = TaskCount(job.state)}});
  }
}

void TaskDriver::CleanUp(const JobRecord& job) {
  s_.Command({.kind = CommandKind::kCleanUp, .task = {.job = job.row.id}});
}

LiveTask* TaskDriver::InPlace(JobRecord* job, TaskId place) {
  for (auto& [id, task] : job->tasks) {
    if (id.role == place.role && task.slot == place.index) return &task;
  }
  return nullptr;
}

void TaskDriver::Suspend(JobRecord* job, TaskId place) {
  LiveTask* task = InPlace(job, place);
  if (task == nullptr || task->deferred) {
    return Answer(job, place, TaskOutcome::kSuspended);
  }
  if (task->row.state == "stop") return;  // Its end is the answer.
  SetState(task, "suspended");
  task->asked = true;
  Ask(*task, CommandKind::kSuspend);
}

void TaskDriver::Resume(JobRecord* job, TaskId place) {
  cpus_.Give(job, place);
  LiveTask* task = InPlace(job, place);
  if (task == nullptr) return Answer(job, place, TaskOutcome::kStarted);
  if (task->row.state == "stop") return;
  if (task->deferred) {
    Launch(job, task);
    return Answer(job, place, TaskOutcome::kStarted);
  }
  SetState(task, "run");
  task->asked = true;
  Ask(*task, CommandKind::kResume);
}

void TaskDriver::Answer(JobRecord* job, TaskId place, TaskOutcome outcome) {
  const auto it = job->places.find(place);
  if (it == job->places.end()) return;
  if (outcome != TaskOutcome::kStarted) cpus_.TakeBack(job, place);
  s_.link->MustTell(TasksAnswered{GangKey(job->row.id),
                                  {{.task = ToGangTask(job->form, place),
                                    .attempt = it->second.attempt,
                                    .outcome = outcome}}});
}

LiveTask* TaskDriver::Find(JobRecord* job, const TaskKey& key) {
  const auto it = job->tasks.find({key.role, key.index});
  if (it == job->tasks.end() || it->second.row.key != key) return nullptr;
  return &it->second;
}

void TaskDriver::Started(LiveTask* task) {
  if (task->row.started == kForever) {
    task->row.started = s_.now();
    s_.Change(task->row);
  }
  if (task->row.state == "start") SetState(task, "run");
}

void TaskDriver::Suspended(JobRecord* job, LiveTask* task) {
  if (!task->asked || task->row.state != "suspended") return;
  task->asked = false;
  Answer(job, {task->row.key.role, task->slot}, TaskOutcome::kSuspended);
}

void TaskDriver::Resumed(JobRecord* job, LiveTask* task) {
  if (!task->asked || task->row.state != "run") return;
  task->asked = false;
  Answer(job, {task->row.key.role, task->slot}, TaskOutcome::kStarted);
}

void TaskDriver::Ended(JobRecord* job, const TaskKey& key, int32_t code,
                       workload::ExitReason reason) {
  const auto it = job->tasks.find({key.role, key.index});
  TaskRow& row = it->second.row;
  row.state = "ended";
  row.ended = s_.now();
  if (reason == workload::ExitReason::kExited || code != 0) row.code = code;
  if (row.reason.empty()) row.reason = Name(reason);
  s_.Change(row);
  job->tasks.erase(it);
}

std::optional<TaskDriver::Unlaunched> TaskDriver::NextUnlaunched() {
  if (unlaunched_.empty()) return std::nullopt;
  const Unlaunched next = unlaunched_.front();
  unlaunched_.pop_front();
  return next;
}

void TaskDriver::AskAgain(JobRecord* job) {
  for (auto& [id, task] : job->tasks) {
    const std::string& state = task.row.state;
    if (state == "start") {
      if (job->suspended) {
        task.deferred = true;
        continue;
      }
      Launch(job, &task);
      task.bound.clear();  // It may run, bound to what it was told then.
      continue;
    }
    Ask(task, CommandKind::kAdopt);
    if (state == "stop") {
      AskToStop(task, job->job().roles[id.role].task.grace);
    } else if (state == "suspended") {
      Ask(task, CommandKind::kSuspend);
    }
  }
}

void TaskDriver::AwaitSuspended(JobRecord* job, TaskId place) {
  LiveTask* task = InPlace(job, place);
  if (task != nullptr) task->asked = true;
}

}  // namespace muster::local
