#include "adapters/local/controller/restorer.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/local/controller/job_maker.h"
#include "muster/workload/to_gang.h"

namespace muster::local {
namespace {

using workload::LifePhase;

absl::Status Lost(const std::string& what) { return absl::DataLossError(what); }

}  // namespace

absl::Status Restorer::AddJob(JobRow row) {
  auto record = std::make_unique<JobRecord>();
  const std::string job = absl::StrCat("job ", row.id);
  if (row.id == 0 || row.id >= s_.next_job || s_.jobs.Find(row.id) != nullptr) {
    return Lost(job + ": its id is 0, or given twice");
  }
  record->manifest = s_.jobs.texts().Keep(std::exchange(row.manifest, {}));
  record->environment =
      s_.jobs.texts().Keep(JoinZeros(std::exchange(row.environment, {})));
  absl::StatusOr<Meeting> meeting =
      MeetingFromJson(std::exchange(row.endpoints, {}));
  if (!meeting.ok()) {
    return Lost(absl::StrCat(job, ": ", meeting.status().message()));
  }
  for (const auto& role : meeting->ports) {
    for (const uint16_t port : role) {
      if (port != 0) s_.ports.Claim(port);
    }
  }
  record->meeting = *std::move(meeting);
  absl::StatusOr<OwnCpus> cpus = OwnCpusFromJson(std::exchange(row.cpus, {}));
  if (!cpus.ok()) {
    return Lost(absl::StrCat(job, ": ", cpus.status().message()));
  }
  for (const auto& [place, own] : *cpus) s_.cores.Claim(own);
  record->cpus = *std::move(cpus);
  record->row = std::move(row);
  record->throttled = !s_.arrays.Add(record->row);
  s_.jobs.Add(std::move(record));
  return absl::OkStatus();
}

absl::Status Restorer::AddGang(const GangState& gang) {
  const auto id = JobOfGang(gang.gang.key);
  JobRecord* job = id ? s_.jobs.Find(*id) : nullptr;
  if (job == nullptr) {
    return Lost(absl::StrCat("journal: '", gang.gang.key, "' is of no job"));
  }
  job->suspended = gang.phase == GangPhase::kSuspending ||
                   gang.phase == GangPhase::kSuspended;
  for (const TaskState& t : gang.tasks) {
    if (t.phase == TaskPhase::kNominated || t.phase == TaskPhase::kSucceeded) {
      continue;
    }
    absl::Status s = s_.jobs.Load(job);
    if (!s.ok()) return Lost(std::string(s.message()));
    job->places[ToJobTask(job->form, t.task)] = {t.attempt, t.alternative,
                                                 t.devices, t.first_slice};
  }
  return absl::OkStatus();
}

// Those of places that the job does not have: nothing would give them back.
void Restorer::DropCpus(JobRecord* job) {
  std::erase_if(job->cpus, [&](const auto& own) {
    const bool drop = !job->places.contains(own.first);
    if (drop) s_.cores.Return(own.second);
    return drop;
  });
}

absl::Status Restorer::CheckGangs(const SchedulerState& state) const {
  for (const auto& [id, job] : s_.jobs.all()) {
    const bool queued = job->row.phase == Name(LifePhase::kQueued);
    if (queued && !std::ranges::binary_search(
                      state.gangs, GangKey(id), {},
                      [](const GangState& g) { return g.gang.key; })) {
      return Lost(absl::StrCat("journal: job ", id, " is not in it"));
    }
  }
  return absl::OkStatus();
}

void Restorer::AskAgain(const SchedulerState& state) {
  for (const auto& [id, job] : s_.jobs.all()) {
    if (!job->life) continue;
    tasks_.AskAgain(job.get());
    if (job->state.phase == LifePhase::kCheckpointing) {
      tasks_.Checkpoint(job.get(), job->state.checkpoint_asked,
                        std::max<Duration>(0, job->state.stop_by - s_.now()));
    }
  }
  for (const GangState& gang : state.gangs) {
    for (const PendingDecision& pending : gang.pending) {
      const bool resumes = pending.kind == DecisionKind::kResume;
      if (!resumes && pending.kind != DecisionKind::kSuspend) continue;
      JobRecord* job = s_.jobs.Find(*JobOfGang(gang.gang.key));
      for (const TaskId task : pending.tasks) {
        const TaskId place = ToJobTask(job->form, task);
        if (resumes) {
          tasks_.Resume(job, place);
        } else {
          tasks_.AwaitSuspended(job, place);
        }
      }
    }
  }
}

// One whose manifest this version does not read stays, and does nothing.
void Restorer::RestoreCrons(StoredState* stored) {
  s_.crons.next_id = stored->next_cron;
  for (CronRow& row : stored->crons) {
    const auto parsed =
        s_.jobs.manifests().Read(s_.jobs.texts().Keep(row.manifest));
    absl::StatusOr<workload::CronPolicy> policy =
        absl::DataLossError("its manifest has too few documents");
    if (!parsed.ok()) {
      policy = parsed.status();
    } else if (row.document < (*parsed)->size()) {
      policy = (**parsed)[row.document].job.cron;
    }
    s_.crons.Restore(std::move(row), std::move(policy));
  }
  for (const auto& [id, job] : s_.jobs.all()) {
    CronRecord* cron = s_.crons.Find(job->row.cron);
    if (cron != nullptr) cron->jobs.insert(id);
  }
}

absl::Status Restorer::Restore(StoredState stored) {
  s_.next_job = stored.next_job;
  std::set<uint64_t> finished;
  for (JobRow& row : stored.jobs) {
    if (row.finished != kForever) {
      finished.insert(row.id);
      continue;
    }
    absl::Status s = AddJob(std::move(row));
    if (!s.ok()) return s;
  }
  for (LifeRow& row : stored.life) {
    if (finished.contains(row.job)) continue;
    JobRecord* job = s_.jobs.Find(row.job);
    if (job == nullptr) {
      return Lost(
          absl::StrCat("job ", row.job, ": has events and is not there"));
    }
    job->next_seq = row.seq + 1;
    job->events.push_back(std::move(row));
  }
  for (const auto& [id, job] : s_.jobs.all()) {
    if (Waits(job->row)) continue;
    absl::Status s = s_.jobs.Load(job.get());
    if (!s.ok()) return Lost(std::string(s.message()));
  }
  const SchedulerState state = s_.link->scheduler().State();
  for (const GangState& gang : state.gangs) {
    absl::Status s = AddGang(gang);
    if (!s.ok()) return s;
  }
  for (const auto& [id, job] : s_.jobs.all()) DropCpus(job.get());
  for (const NodeState& node : state.nodes) {
    if (node.node.key != s_.config.node.key) continue;
    s_.external = node.external;
    s_.external.node = node.node.key;
  }
  absl::Status s = CheckGangs(state);
  if (!s.ok()) return s;
  for (TaskRow& row : stored.tasks) {
    if (row.state == "ended" || finished.contains(row.key.job)) continue;
    JobRecord* job = s_.jobs.Find(row.key.job);
    const TaskId id{row.key.role, row.key.index};
    if (job == nullptr || !job->life || id.role >= job->job().roles.size() ||
        id.index >= job->job().roles[id.role].tasks()) {
      return Lost(absl::StrCat("task ", row.key.role, "-", row.key.index,
                               " of job ", row.key.job, ": is not of it"));
    }
    LiveTask& task = job->tasks[id];
    task.slot = job->state.tasks[PositionOf(job->job(), id)].slot;
    task.row = std::move(row);
  }
  RestoreCrons(&stored);
  AskAgain(state);
  return absl::OkStatus();
}

}  // namespace muster::local
