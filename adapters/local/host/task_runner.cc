#include "adapters/local/host/task_runner.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "adapters/local/controller/task_folder.h"
#include "adapters/local/host/task_environment.h"
#include "adapters/local/host/task_files.h"
#include "adapters/local/host/task_image.h"

namespace muster::local {
namespace {

constexpr uint64_t kFirstId = uint64_t{1} << 32;
constexpr int32_t kCannotStart = 126;  // As shells have it.
constexpr Duration kFirstDelay = 5 * kMillisecond;
// What the owner is told of a rest that has not gone by then.
constexpr Duration kPatience = 5 * kSecond;

workload::ExitReason ReasonOf(const ShimExit& exit) {
  switch (exit.reason) {
    case ShimReason::kOutOfMemory:
      return workload::ExitReason::kOutOfMemory;
    case ShimReason::kNotStarted:
      return workload::ExitReason::kNotStarted;
    case ShimReason::kExited:
    case ShimReason::kStopped:
    case ShimReason::kTimeLimit:
      break;
  }
  return workload::ExitReason::kExited;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TaskRunner>> TaskRunner::Create(
    TaskRunnerOptions options, Poller* poller) {
  absl::StatusOr<CheckpointWatch> watch = CheckpointWatch::Create();
  if (!watch.ok()) return watch.status();
  const int fd = watch->fd();
  std::unique_ptr<TaskRunner> runner(
      new TaskRunner(std::move(options), poller, *std::move(watch)));
  if (absl::Status added = poller->Add(fd, kFirstId); !added.ok()) return added;
  return runner;
}

TaskRunner::TaskRunner(TaskRunnerOptions options, Poller* poller,
                       CheckpointWatch watch)
    : options_(std::move(options)),
      poller_(poller),
      watch_(std::move(watch)),
      next_id_(kFirstId + 1) {}

TaskRunner::~TaskRunner() {
  for (const auto& [task, running] : running_) {
    poller_->Remove(running.shim.fd());
  }
  poller_->Remove(watch_.fd());
}

void TaskRunner::CarryOut(const TaskCommand& command) {
  const TaskKey& task = command.task;
  if (command.kind == CommandKind::kStart) return Adopt(task, &command);
  if (command.kind == CommandKind::kCleanUp) return CleanUp(task.job);
  if (command.kind == CommandKind::kAdopt) return Adopt(task, nullptr);
  const auto it = running_.find(task);
  if (it == running_.end()) return;  // Its end has been told.
  Shim& shim = it->second.shim;
  absl::Status done;
  switch (command.kind) {
    case CommandKind::kStop:
      it->second.stop = command;
      done = shim.Stop(command.grace);
      break;
    case CommandKind::kKill:
      it->second.stop = command;
      done = shim.Kill();
      break;
    case CommandKind::kSuspend:
      it->second.suspended = true;
      done = shim.Suspend();
      events_.push_back({.kind = TaskEvent::Kind::kSuspended, .task = task});
      break;
    case CommandKind::kResume:
      it->second.suspended = false;
      done = shim.Resume();
      events_.push_back({.kind = TaskEvent::Kind::kResumed, .task = task});
      break;
    case CommandKind::kBind:
      it->second.bind = command;
      done = shim.Bind(command.start.cpus);
      break;
    case CommandKind::kCheckpoint:
      return AskForCheckpoint(task, &it->second, command.version);
    case CommandKind::kResize:
      done = WriteSize(FolderOf(task), command.start.size);
      break;
    default:
      break;
  }
  TellOwner(task, done);
}

absl::StatusOr<size_t> TaskRunner::Send(const TaskKey& task,
                                        std::string_view bytes, bool end) {
  const auto it = running_.find(task);
  if (it == running_.end()) {
    return absl::FailedPreconditionError("the task does not run");
  }
  absl::StatusOr<size_t> taken = it->second.shim.Send(bytes);
  if (!taken.ok() || !end || *taken < bytes.size()) return taken;
  const absl::Status ended = it->second.shim.EndInput();
  if (!ended.ok()) return ended;
  return taken;
}

std::string TaskRunner::FolderOf(const TaskKey& task) const {
  return TaskFolder(options_.state, task);
}

// With `start` what was never launched is launched.
void TaskRunner::Adopt(const TaskKey& task, const TaskCommand* start) {
  if (running_.contains(task)) {
    events_.push_back({.kind = TaskEvent::Kind::kRuns, .task = task});
    return;
  }
  Found(task, start, options_.adopt(FolderOf(task), 0));
}

void TaskRunner::Found(const TaskKey& task, const TaskCommand* start,
                       absl::StatusOr<Adoption> found) {
  // What cannot be looked at now may run as well.
  if (absl::IsDeadlineExceeded(found.status()) ||
      absl::IsResourceExhausted(found.status())) {
    rests_.try_emplace(task);
    return;
  }
  rests_.erase(task);
  if (!found.ok()) return NotStarted(task, found.status(), start);
  switch (found->state) {
    case AttemptState::kEnded:
      return Ended(task, *found->exit);
    case AttemptState::kRuns:
      return Track(task, *std::move(found->shim));
    case AttemptState::kNeverLaunched:
      if (start != nullptr) {
        absl::StatusOr<Shim> shim = LaunchTask(*start, FolderOf(task));
        if (!shim.ok()) return NotStarted(task, shim.status(), start);
        return Track(task, *std::move(shim));
      }
      break;
    case AttemptState::kLost:
      break;
  }
  events_.push_back({.kind = TaskEvent::Kind::kLost, .task = task});
}

void TaskRunner::Look(Time now) {
  now_ = now;
  for (const TaskKey& task : std::set<TaskKey>(saved_)) TellSaved(task, false);
  // What is found changes the map.
  std::vector<TaskKey> due;
  for (const auto& [task, rest] : rests_) {
    if (rest.look_at <= now) due.push_back(task);
  }
  for (const TaskKey& task : due) {
    Found(task, nullptr, options_.adopt(FolderOf(task), 0));
    const auto it = rests_.find(task);
    if (it == rests_.end()) continue;
    Rest& rest = it->second;
    rest.delay = std::clamp(2 * rest.delay, kFirstDelay, kLongestDelay);
    rest.look_at = now + rest.delay;
    const bool told = rest.waited >= kPatience;
    rest.waited += rest.delay;
    if (told || rest.waited < kPatience) continue;
    TellOwner(task, absl::UnavailableError(
                        "the task is lost, and what it started is still there: "
                        "it starts again when that has gone"));
  }
}

Time TaskRunner::look_at() const {
  Time at = kForever;
  for (const auto& [task, rest] : rests_) at = std::min(at, rest.look_at);
  for (const TaskKey& task : saved_) {
    at = std::min(at, running_.at(task).tell_at);
  }
  return at;
}

absl::StatusOr<Shim> TaskRunner::LaunchTask(const TaskCommand& command,
                                            const std::string& folder) {
  absl::StatusOr<std::string> visible =
      options_.visible_devices(command.start.devices);
  if (!visible.ok()) return visible.status();
  absl::StatusOr<ShimSpec> spec =
      MakeShimSpec(command.start, *visible, command.grace);
  if (!spec.ok()) return spec.status();
  options_.cgroups.Hold(command.task, command.start.cpu_milli, &*spec);
  absl::Status made = AddVariables(command.start, options_.volumes, &*spec);
  if (made.ok()) {
    made = AddVolumes(command.start, options_.volumes, folder, &*spec);
  }
  const std::string job_folder = JobFolder(options_.state, command.task.job);
  if (made.ok()) {
    made = AddImage(command.task, command.start, options_.images, job_folder,
                    folder, options_.volumes.mounts, &*spec);
  }
  const FileOwner owner{command.start.uid, command.start.gid};
  if (made.ok()) made = MakeTaskFolder(job_folder, folder, owner);
  if (made.ok()) made = WriteTaskFiles(job_folder, folder, command.start);
  if (!made.ok()) return made;
  Watch(command.task);  // What it saves at once is learnt of, too.
  absl::StatusOr<Shim> shim = Launch(options_.shim, folder, *spec);
  if (!shim.ok()) watch_.Remove(command.task);
  return shim;
}

// Without it the job runs, and its checkpoints are not learnt of.
void TaskRunner::Watch(const TaskKey& task) {
  const std::string file = FolderOf(task) + "/" + std::string(kCheckpointFile);
  TellOwner(task, watch_.Add(task, file));
}

void TaskRunner::Track(const TaskKey& task, Shim shim) {
  const uint64_t id = next_id_++;
  if (absl::Status added = poller_->Add(shim.fd(), id); !added.ok()) {
    shim.Kill().IgnoreError();
    return NotStarted(task, added);
  }
  Watch(task);
  ids_[id] = task;
  running_.emplace(task, Running{std::move(shim), id});
  events_.push_back({.kind = TaskEvent::Kind::kRuns, .task = task});
}

void TaskRunner::Ready(uint64_t id) {
  if (id == kFirstId) return TakeCheckpoints();
  const auto it = ids_.find(id);
  if (it == ids_.end()) return;
  const TaskKey task = it->second;
  TakeCheckpoints();  // What it told before its end comes first.
  absl::StatusOr<ShimExit> exit = running_.at(task).shim.Exit(/*patience=*/0);
  if (absl::IsFailedPrecondition(exit.status())) return;
  if (absl::IsAborted(exit.status())) return TakeOther(task);
  TellSaved(task, true);
  Forget(task);
  if (exit.ok()) return Ended(task, *exit);
  if (absl::IsDeadlineExceeded(exit.status()) ||
      absl::IsResourceExhausted(exit.status())) {
    rests_.try_emplace(task);
    return;
  }
  if (absl::IsDataLoss(exit.status())) {
    TellOwner(task, exit.status());
    events_.push_back({.kind = TaskEvent::Kind::kLost, .task = task});
    return;
  }
  NotStarted(task, exit.status());
}

void TaskRunner::TakeOther(const TaskKey& task) {
  const bool suspended = running_.at(task).suspended;
  const std::optional<TaskCommand> stop = running_.at(task).stop;
  const std::optional<TaskCommand> bind = running_.at(task).bind;
  Forget(task);
  Adopt(task, nullptr);
  const auto it = running_.find(task);
  if (it == running_.end()) return;
  it->second.suspended = suspended;
  if (suspended) TellOwner(task, it->second.shim.Suspend());
  if (bind) CarryOut(*bind);
  if (stop) CarryOut(*stop);
}

void TaskRunner::Forget(const TaskKey& task) {
  const auto it = running_.find(task);
  poller_->Remove(it->second.shim.fd());
  watch_.Remove(task);
  saved_.erase(task);
  ids_.erase(it->second.id);
  running_.erase(it);
}

void TaskRunner::Ended(const TaskKey& task, const ShimExit& exit) {
  if (!exit.message.empty()) AppendToOutput(FolderOf(task), exit.message);
  events_.push_back({.kind = TaskEvent::Kind::kExited,
                     .task = task,
                     .code = exit.code,
                     .reason = ReasonOf(exit)});
}

void TaskRunner::TellOwner(const TaskKey& task, const absl::Status& failed) {
  if (failed.ok()) return;
  AppendToOutput(FolderOf(task), std::string(failed.message()));
}

void TaskRunner::NotStarted(const TaskKey& task, const absl::Status& why,
                            const TaskCommand* start) {
  std::optional<FileOwner> owner;
  if (start != nullptr) owner = FileOwner{start->start.uid, start->start.gid};
  AppendToOutput(FolderOf(task), std::string(why.message()), owner);
  events_.push_back({.kind = TaskEvent::Kind::kExited,
                     .task = task,
                     .code = kCannotStart,
                     .reason = workload::ExitReason::kNotStarted});
}

void TaskRunner::AskForCheckpoint(const TaskKey& task, Running* running,
                                  uint32_t version) {
  TellSaved(task, true);  // That was not for this request.
  running->checkpoint_asked = version;
  TellOwner(task, WriteCheckpointRequest(FolderOf(task), version));
}

void TaskRunner::TakeCheckpoints() {
  for (const TaskKey& task : watch_.Take()) {
    if (!running_.contains(task)) continue;
    saved_.insert(task);
    TellSaved(task, false);
  }
}

void TaskRunner::TellSaved(const TaskKey& task, bool now) {
  if (!saved_.contains(task)) return;
  Running& running = running_.at(task);
  const bool answers = running.checkpoint_asked != running.checkpoint_told;
  if (!now && !answers && now_ < running.tell_at) return;
  saved_.erase(task);
  running.checkpoint_told = running.checkpoint_asked;
  running.tell_at = now_ + kBetweenCheckpoints;
  events_.push_back({.kind = TaskEvent::Kind::kCheckpoint,
                     .task = task,
                     .version = running.checkpoint_asked});
}

void TaskRunner::CleanUp(uint64_t job) {
  std::error_code error;  // What is left takes room, and nothing else.
  // Shims that have ended may be removing volumes there.
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    std::filesystem::remove_all(JobFolder(options_.state, job), error);
    if (error != std::errc::no_such_file_or_directory) return;
  }
}

std::vector<TaskEvent> TaskRunner::Take() { return std::exchange(events_, {}); }

std::vector<int32_t> TaskRunner::shims() const {
  std::vector<int32_t> pids;
  for (const auto& [task, running] : running_) {
    pids.push_back(running.shim.pid());
  }
  return pids;
}

}  // namespace muster::local
