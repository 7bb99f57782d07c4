#include "adapters/local/controller/explainer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/controller/cpu_driver.h"
#include "adapters/local/controller/device_names.h"
#include "adapters/local/controller/job_maker.h"
#include "muster/cluster_view.h"
#include "muster/workload/rendezvous.h"
#include "muster/workload/to_gang.h"

namespace muster::local {

using workload::LifePhase;

// What is asked for is the scheduler's to know, while it knows the job.
void Explainer::AddElastic(const JobRecord& job, JobDetails* details) const {
  const workload::Job& of = job.job();
  if (of.resize == workload::ResizeMode::kFixed) return;
  const auto gang = s_.link->scheduler().Find(GangKey(job.row.id));
  for (size_t r = 0; r < of.roles.size() && r < job.state.roles.size(); ++r) {
    const workload::Role& role = of.roles[r];
    if (role.min_replicas == role.max_replicas) continue;
    ElasticRole elastic{role.name, job.state.roles[r].size, role.min_replicas,
                        role.max_replicas};
    if (gang.ok()) {
      const auto known =
          std::ranges::find(gang->gang.roles, role.name, &Role::name);
      if (known != gang->gang.roles.end()) elastic.size = known->desired_tasks;
    }
    details->elastic.push_back(std::move(elastic));
  }
}

JobDetails Explainer::Details(const JobRecord& job) const {
  JobDetails details{.row = s_.jobs.RowOf(job),
                     .phase = job.state.phase,
                     .conditions = job.state.conditions,
                     .checkpoint_at = job.state.checkpoint_at,
                     .wake_at = job.wake_at};
  for (const auto& [id, task] : job.tasks) {
    PlaceCpus cpus = CpusOf(s_, job, {id.role, task.slot});
    if (cpus.shared) cpus.cpus.clear();
    details.tasks.push_back(
        {task.row, TaskName(job.job(), id), std::move(cpus.cpus)});
  }
  AddElastic(job, &details);
  return details;
}

std::string Explainer::Text(const JobRecord& job,
                            const NamedReason& reason) const {
  NamedReason told = reason;
  if (told.object_kind == ReasonObject::kGang) {
    const auto other = JobOfGang(told.object);
    if (other) told.object = absl::StrCat(*other);
  }
  if (job.ended) return absl::StrCat("it has ended: ", job.row.reason);
  if (reason.code == ReasonCode::kHeld) {
    return absl::StrCat("held ", HeldWhy(job));
  }
  const bool lacks_devices =
      reason.code == ReasonCode::kNoMatchingDevice ||
      (reason.code == ReasonCode::kInsufficient &&
       reason.resource == s_.config.scheduler.device_kind);
  if (lacks_devices && job.life) {
    const std::string chosen = ChosenDevicesText(job.job());
    if (!chosen.empty()) return chosen;
  }
  if (reason.code != ReasonCode::kNone) return ToText(told);
  if (job.suspended) return "suspended to make room for other work";
  const auto phase = FromName<LifePhase>(job.row.phase);
  switch (phase.value_or(LifePhase::kNew)) {
    case LifePhase::kQueued:
      return "waits for its turn";
    case LifePhase::kRunning:
      return "runs";
    case LifePhase::kCheckpointing:
      return "saves its work before it is stopped";
    case LifePhase::kStopping:
      return "its tasks are being stopped";
    case LifePhase::kBackoff:
      return "waits a while after a failure";
    case LifePhase::kSuspended:
      return "suspended until it is resumed";
    case LifePhase::kSucceeded:
    case LifePhase::kFailed:
      return absl::StrCat("has ended, and tasks of it still run: ",
                          job.row.reason);
    default:
      return job.row.phase;
  }
}

JobExplanation Explainer::Explain(const JobRecord& job) const {
  JobExplanation told;
  told.phase =
      FromName<LifePhase>(job.row.phase).value_or(LifePhase::kForgotten);
  const auto why = s_.link->scheduler().Explain(GangKey(job.row.id));
  if (why.ok()) {
    told.gang = why->phase;
    told.reason = why->reason;
    told.ahead = why->ahead;
  }
  told.text = Text(job, told.reason);
  return told;
}

void Explainer::AddCpus(NodeView* view) const {
  view->cpu_unit = s_.config.cpus.unit;
  view->cpus = s_.cores.all();
  view->free_cpus = s_.cores.Free();
  if (view->cpus.empty()) return;
  for (const auto& [id, job] : s_.jobs.all()) {
    for (const auto& [place, cpus] : job->cpus) {
      view->held_cpus.push_back(
          {id,
           absl::StrCat(job->job().roles[place.role].name, "-", place.index),
           cpus});
    }
  }
}

NodeView Explainer::ViewNode() const {
  NodeView view{.node = s_.config.node,
                .no_mounts = s_.config.no_mounts,
                .images = s_.config.images.by};
  for (const auto& [device, row] : s_.drains) view.drains.push_back(row);
  AddCpus(&view);
  const Scheduler& scheduler = s_.link->scheduler();
  const ClusterView cluster = scheduler.cluster();
  const NodeId id = cluster.Find(view.node.key);
  if (!id.valid()) return view;
  view.external = s_.external;
  for (ResourceKind k = 0; k < cluster.resource_count(); ++k) {
    const int64_t others =
        k == cluster.device_kind() ? 0 : view.external.amount[k];
    view.used.Set(k, cluster.capacity(id.index, k) -
                         cluster.free(id.index, k, Ledger::kNow) - others);
  }
  for (const auto& [job_id, job] : s_.jobs.all()) {
    for (const auto& [place, held] : job->places) {
      for (DeviceShare& share : SharesOf(s_.config, *job, place)) {
        view.devices.push_back(
            {job_id, place.role, place.index,
             absl::StrCat(job->job().roles[place.role].name, "-", place.index),
             std::move(share)});
      }
    }
  }
  std::ranges::stable_sort(view.devices, {},
                           [](const HeldDevice& d) { return d.share.device; });
  return view;
}

// Nothing, of a queue that the scheduler does not know.
QueueStanding Explainer::StandingOf(const std::string& queue) const {
  const auto standing = s_.link->scheduler().StandingOf(queue);
  return standing.ok() ? *standing : QueueStanding{};
}

std::vector<QueueView> Explainer::Queues() const {
  std::map<std::string, QueueView> views;
  for (const Queue& queue : QueuesOf(s_.config)) {
    views[queue.key] = {.queue = queue, .standing = StandingOf(queue.key)};
  }
  for (const auto& [id, job] : s_.jobs.all()) {
    if (job->ended) continue;
    QueueView& view = views[job->row.queue];
    if (view.queue.key.empty()) {  // Not of the configuration any more.
      view.queue.key = job->row.queue;
      view.standing = StandingOf(job->row.queue);
    }
    ++(Waits(job->row) ? view.waiting : view.running);
  }
  std::vector<QueueView> list;
  for (auto& [key, view] : views) list.push_back(std::move(view));
  return list;
}

Numbers Explainer::Count() const {
  Numbers n = s_.numbers;
  n.passes = s_.link->passes();
  n.journal_bytes = s_.link->journal_bytes();
  n.ports = s_.ports.taken();
  for (const auto& [id, job] : s_.jobs.all()) {
    if (job->ended) continue;
    ++n.jobs;
    n.tasks += static_cast<uint32_t>(job->tasks.size());
    n.waiting += Waits(job->row) ? 1 : 0;
  }
  return n;
}

std::vector<CronView> Explainer::Crons() const {
  std::vector<CronView> views;
  for (const auto& [id, cron] : s_.crons.all()) {
    views.push_back({.row = cron.row,
                     .schedule = cron.policy.schedule,
                     .zone = cron.policy.time_zone,
                     .concurrency = cron.policy.concurrency,
                     .next = CronBook::NextStart(cron),
                     .jobs = {cron.jobs.begin(), cron.jobs.end()}});
  }
  return views;
}

}  // namespace muster::local
