#include "adapters/local/controller/controller.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/controller/cpu_driver.h"
#include "adapters/local/controller/cron_driver.h"
#include "adapters/local/controller/decision_driver.h"
#include "adapters/local/controller/explainer.h"
#include "adapters/local/controller/job_editor.h"
#include "adapters/local/controller/job_maker.h"
#include "adapters/local/controller/job_requests.h"
#include "adapters/local/controller/launch_maker.h"
#include "adapters/local/controller/life_driver.h"
#include "adapters/local/controller/node_driver.h"
#include "adapters/local/controller/queue_order.h"
#include "adapters/local/controller/restorer.h"
#include "adapters/local/controller/state.h"
#include "adapters/local/controller/submitter.h"
#include "adapters/local/controller/task_driver.h"

namespace muster::local {
namespace {

absl::Status Check(const ControllerConfig& config) {
  if (config.state.empty() || config.state[0] != '/') {
    return absl::InvalidArgumentError("state: is not absolute");
  }
  if (config.home.empty() || config.home[0] != '/') {
    return absl::InvalidArgumentError("home: is not absolute");
  }
  if (config.first_port == 0 || config.last_port < config.first_port) {
    return absl::InvalidArgumentError(
        "first_port, last_port: are not 1 to 65535, rising");
  }
  if (config.grace < 0 || config.grace > kMaxDuration) {
    return absl::InvalidArgumentError(
        "grace: is not between 0 and kMaxDuration");
  }
  if (config.default_cpu_milli < 0) {
    return absl::InvalidArgumentError("default_cpu_milli: is below 0");
  }
  if (!config.queues.empty() &&
      std::ranges::find(config.queues, config.default_queue, &Queue::key) ==
          config.queues.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "default_queue: '", config.default_queue, "' is none of the queues"));
  }
  if (config.limits.passes == 0) {
    return absl::InvalidArgumentError("limits.passes: is 0");
  }
  return absl::OkStatus();
}

// The task is one of the job's, whose life is there.
workload::TaskPhase PhaseOf(const JobRecord& job, const TaskKey& key) {
  return job.state.tasks[PositionOf(job.job(), {key.role, key.index})].phase;
}

}  // namespace

bool IsKept(const JobNews& news) {
  constexpr std::string_view kKept[] = {"preempted", "restarting", "checkpoint",
                                        "suspended", "resumed",    "held",
                                        "released",  "changed"};
  return std::ranges::find(kKept, news.what) != std::end(kKept);
}

struct Controller::Rooms {
  explicit Rooms(ControllerConfig config) : state(std::move(config)) {}

  // It is this time.
  Rooms& At(Time now) {
    state.link->SetNow(now);
    return *this;
  }
  // The attempt's job and the attempt; null where they are not alive.
  std::pair<JobRecord*, LiveTask*> Find(const TaskKey& key) {
    JobRecord* job = state.jobs.Find(key.job);
    return {job, job == nullptr ? nullptr : tasks.Find(job, key)};
  }

  ControllerState state;
  LaunchMaker launches{&state};
  CpuDriver cpus{&state};
  TaskDriver tasks{&state, &launches, &cpus};
  LifeDriver lives{&state, &tasks, &launches};
  DecisionDriver decisions{&state, &lives, &tasks, &cpus};
  Submitter submitter{&state, &lives};
  NodeDriver node{&state};
  CronDriver crons{&state, &lives, &submitter};
  JobRequests requests{&state, &lives, &submitter};
  JobEditor editor{&state, &lives, &submitter, &requests};
  QueueOrder order{&state};
  Explainer explainer{&state};
};

Controller::Controller(std::unique_ptr<Rooms> rooms)
    : rooms_(std::move(rooms)) {}
Controller::~Controller() = default;

absl::StatusOr<std::unique_ptr<Controller>> Controller::Begin(
    ControllerConfig config, Time now) {
  absl::Status s = Check(config);
  if (!s.ok()) return s;
  auto rooms = std::make_unique<Rooms>(std::move(config));
  auto link = SchedulerLink::Begin(rooms->state.config, now);
  if (!link.ok()) return link.status();
  rooms->state.link = *std::move(link);
  return std::unique_ptr<Controller>(new Controller(std::move(rooms)));
}

absl::StatusOr<std::unique_ptr<Controller>> Controller::Restore(
    ControllerConfig config, StoredState stored, Time now) {
  absl::Status s = Check(config);
  if (!s.ok()) return s;
  auto rooms = std::make_unique<Rooms>(std::move(config));
  for (const DrainRow& row : stored.drains) {
    rooms->state.drains[row.device] = row;
  }
  rooms->state.config.node = InService(rooms->state.node, rooms->state.drains);
  auto link = SchedulerLink::Restore(rooms->state.config, stored.journal, now);
  if (!link.ok()) return link.status();
  rooms->state.link = *std::move(link);
  s = Restorer(&rooms->state, &rooms->tasks).Restore(std::move(stored));
  if (!s.ok()) return s;
  return std::unique_ptr<Controller>(new Controller(std::move(rooms)));
}

// --- Requests ----------------------------------------------------------------

absl::StatusOr<SubmitResult> Controller::Submit(const Submission& submission,
                                                Time now) {
  return rooms_->At(now).submitter.Submit(submission);
}

absl::StatusOr<ForecastResult> Controller::WhatIf(const Submission& submission,
                                                  Time now) {
  return rooms_->At(now).submitter.WhatIf(submission);
}

absl::Status Controller::Cancel(uint64_t job, Time now) {
  return rooms_->At(now).requests.Cancel(job);
}

absl::Status Controller::Hold(uint64_t job, Time now) {
  return rooms_->At(now).requests.Hold(job);
}

absl::Status Controller::Release(uint64_t job, Time now) {
  return rooms_->At(now).requests.Release(job);
}

absl::Status Controller::Reprioritize(uint64_t job, std::string_view priority,
                                      Time now, bool bounded) {
  return rooms_->At(now).requests.Reprioritize(job, std::string(priority),
                                               bounded);
}

absl::Status Controller::Move(uint64_t job, std::string_view queue, Time now) {
  return rooms_->At(now).requests.Move(job, std::string(queue));
}

absl::Status Controller::Resize(uint64_t job, std::string_view role,
                                uint32_t size, Time now) {
  return rooms_->At(now).requests.Resize(job, role, size);
}

absl::Status Controller::Edit(uint64_t job, const JobChange& change, Time now) {
  return rooms_->At(now).editor.Edit(job, change);
}

absl::StatusOr<EditableJob> Controller::Editable(uint64_t job) {
  return rooms_->editor.Read(job);
}

absl::Status Controller::Reorder(uint64_t job, MoveTo place, uint64_t other,
                                 Time now) {
  return rooms_->At(now).order.Put(job, place, other);
}

absl::Status Controller::Suspend(uint64_t job, Time now) {
  return rooms_->At(now).requests.Suspend(job);
}

absl::Status Controller::Resume(uint64_t job, Time now) {
  return rooms_->At(now).requests.Resume(job);
}

absl::Status Controller::SuspendCron(uint64_t cron, Time now) {
  return rooms_->At(now).crons.Suspend(cron);
}

absl::Status Controller::ResumeCron(uint64_t cron, Time now) {
  return rooms_->At(now).crons.Resume(cron);
}

absl::Status Controller::RemoveCron(uint64_t cron, Time now) {
  return rooms_->At(now).crons.Remove(cron);
}

absl::Status Controller::Drain(DrainRow row, Time now) {
  return rooms_->At(now).node.Drain(std::move(row));
}

absl::Status Controller::ResumeNode(std::optional<uint32_t> device, Time now) {
  return rooms_->At(now).node.Resume(device);
}

// --- Observations ------------------------------------------------------------

void Controller::WallClock(Time wall) { rooms_->state.wall_told = wall; }

void Controller::TaskStarted(const TaskKey& key, Time now) {
  rooms_->state.link->SetNow(now);
  const auto [job, task] = rooms_->Find(key);
  if (task == nullptr) return;
  rooms_->tasks.Started(task);
  if (PhaseOf(*job, key) != workload::TaskPhase::kStarting) return;
  rooms_->lives.MustTell(
      job, workload::TaskStarted{{key.role, key.index}, key.attempt});
}

void Controller::TaskReady(const TaskKey& key, Time now) {
  rooms_->state.link->SetNow(now);
  const auto [job, task] = rooms_->Find(key);
  if (task == nullptr) return;
  rooms_->tasks.Started(task);
  const workload::TaskPhase phase = PhaseOf(*job, key);
  if (phase != workload::TaskPhase::kStarting &&
      phase != workload::TaskPhase::kRunning) {
    return;  // It is known, or stops.
  }
  rooms_->lives.MustTell(
      job, workload::TaskReady{{key.role, key.index}, key.attempt});
}

void Controller::TaskExited(const TaskKey& key, int32_t code,
                            workload::ExitReason reason, Time now) {
  rooms_->state.link->SetNow(now);
  rooms_->lives.TaskEnded(key, std::clamp(code, 0, 255), reason);
}

void Controller::TaskLost(const TaskKey& key, Time now) {
  TaskExited(key, 0, workload::ExitReason::kLost, now);
}

void Controller::TaskSuspended(const TaskKey& key, Time now) {
  rooms_->state.link->SetNow(now);
  const auto [job, task] = rooms_->Find(key);
  if (task != nullptr) rooms_->tasks.Suspended(job, task);
}

void Controller::TaskResumed(const TaskKey& key, Time now) {
  rooms_->state.link->SetNow(now);
  const auto [job, task] = rooms_->Find(key);
  if (task != nullptr) rooms_->tasks.Resumed(job, task);
}

void Controller::CheckpointDone(uint64_t id, uint32_t version, Time now) {
  ControllerState& state = rooms_->state;
  state.link->SetNow(now);
  JobRecord* job = state.jobs.Find(id);
  if (job == nullptr || job->ended || job->tasks.empty()) return;
  const std::string key = GangKey(id);
  if (state.link->scheduler().FindGang(key).valid()) {
    state.link->MustTell(CheckpointTaken{key, state.now()});
  }
  const uint32_t attempt = job->tasks.begin()->second.row.key.attempt;
  state.Tell(id, "checkpoint", absl::StrCat("attempt ", attempt));
  const bool asked = version > job->state.checkpoint_done &&
                     version <= job->state.checkpoint_asked;
  if (!asked) version = 0;
  rooms_->lives.MustTell(job, workload::CheckpointDone{version});
}

absl::Status Controller::OthersUse(const ExternalUsage& usage, Time now) {
  ControllerState& state = rooms_->state;
  state.link->SetNow(now);
  ExternalUsage of = usage;
  of.node = state.config.node.key;
  if (of == state.external) return absl::OkStatus();
  absl::Status s = state.link->Tell(ExternalUsageChanged{of});
  if (s.ok()) state.external = std::move(of);
  return s;
}

absl::Status Controller::NodeChanged(const Node& node, Time now) {
  return rooms_->At(now).node.Change(node);
}

// --- The turn ----------------------------------------------------------------

Turn Controller::Step(Time now) {
  ControllerState& state = rooms_->state;
  SchedulerLink& link = *state.link;
  link.SetNow(now);
  ++state.numbers.turns;
  rooms_->lives.PassTime();
  rooms_->crons.PassTime();
  rooms_->node.Quarantine();
  for (uint32_t pass = 0; pass < state.config.limits.passes; ++pass) {
    if (!link.Decide()) break;
    for (const DecisionRecord& d : link.scheduler().DecisionsOf(link.plan())) {
      rooms_->decisions.CarryOut(d);
    }
  }
  rooms_->cpus.Settle();
  Turn turn;
  turn.commands = std::exchange(state.commands, {});
  turn.news = std::exchange(state.news, {});
  for (auto& [key, row] : std::exchange(state.tasks, {})) {
    turn.save.tasks.push_back(std::move(row));
  }
  state.jobs.Save(&turn.save);
  rooms_->crons.NoteEnds(turn.save);
  turn.save.crons = state.crons.Save();
  if (std::exchange(state.drains_changed, false)) {
    turn.save.drains.emplace();
    for (const auto& [device, row] : state.drains) {
      turn.save.drains->push_back(row);
    }
  }
  for (const JobNews& news : turn.news) {
    if (!IsKept(news)) continue;
    turn.save.news.push_back(
        {news.job, state.now(), std::string(news.what), news.text});
  }
  link.TakeJournal(&turn.save);
  turn.save.sync = std::exchange(state.sync, false);
  turn.wake_at = std::min(link.next_pass(), state.jobs.next_wake());
  turn.wake_at_wall = state.crons.next_due();
  return turn;
}

// --- Reading -----------------------------------------------------------------

std::vector<const JobRow*> Controller::Jobs() const {
  std::vector<const JobRow*> rows;
  for (const auto& [id, job] : rooms_->state.jobs.all()) {
    rows.push_back(&job->row);
  }
  return rows;
}

const JobRow* Controller::Find(uint64_t job) const {
  const JobRecord* record = rooms_->state.jobs.Find(job);
  return record == nullptr ? nullptr : &record->row;
}

absl::StatusOr<JobDetails> Controller::Details(uint64_t job) {
  const auto record = rooms_->requests.Find(job);
  if (!record.ok()) return record.status();
  JobDetails details = rooms_->explainer.Details(**record);
  rooms_->state.jobs.Trim(*record);
  return details;
}

absl::StatusOr<JobExplanation> Controller::Explain(uint64_t job) {
  const JobRecord* record = rooms_->state.jobs.Find(job);
  if (record == nullptr) return rooms_->requests.Find(job).status();
  return rooms_->explainer.Explain(*record);
}

NodeView Controller::ViewNode() const { return rooms_->explainer.ViewNode(); }

std::vector<QueueView> Controller::Queues() const {
  return rooms_->explainer.Queues();
}

Numbers Controller::Count() const { return rooms_->explainer.Count(); }

std::vector<CronView> Controller::Crons() const {
  return rooms_->explainer.Crons();
}

std::optional<uint32_t> Controller::OwnerOfCron(uint64_t cron) const {
  const auto it = rooms_->state.crons.all().find(cron);
  if (it == rooms_->state.crons.all().end()) return std::nullopt;
  return it->second.row.uid;
}

const ControllerConfig& Controller::config() const {
  return rooms_->state.config;
}

const Scheduler& Controller::scheduler() const {
  return rooms_->state.link->scheduler();
}

const std::vector<std::string>& Controller::defects() const {
  return rooms_->state.link->defects();
}

}  // namespace muster::local
