#include "adapters/local/controller/decision_driver.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/local/controller/job_maker.h"
#include "muster/workload/to_gang.h"

namespace muster::local {
namespace {

using workload::LifePhase;

std::vector<TaskId> PlacesOf(const DecisionRecord& decision,
                             const JobRecord& job) {
  std::vector<TaskId> places;
  for (const PlannedTaskRecord& t : decision.tasks) {
    places.push_back(ToJobTask(job.form, t.task));
  }
  return places;
}

}  // namespace

void DecisionDriver::CarryOut(const DecisionRecord& decision) {
  if (decision.kind == DecisionKind::kNominate || decision.tasks.empty()) {
    return;  // There is nothing to do.
  }
  const auto id = JobOfGang(decision.gang);
  JobRecord* job = id ? s_.jobs.Find(*id) : nullptr;
  if (job == nullptr) {
    s_.link->AddDefect("a gang of no job: " + decision.gang);
    return s_.link->MustTell(GangFinished{decision.gang});
  }
  const absl::Status loaded = s_.jobs.Load(job);
  if (!loaded.ok()) return lives_.Abandon(job, loaded);
  switch (decision.kind) {
    case DecisionKind::kStart:
    case DecisionKind::kGrow:
      return Give(decision, job);
    case DecisionKind::kShrink:
      return Shrink(decision, job);
    case DecisionKind::kEvict:
      return Evict(decision, job);
    case DecisionKind::kCancel:
      return Cancel(decision, job);
    case DecisionKind::kSuspend:
      return Suspend(decision, job);
    case DecisionKind::kResume:
      return Resume(decision, job);
    default:
      s_.link->AddDefect(absl::StrCat("a decision of a later version: ",
                                      std::string(Name(decision.kind))));
  }
}

void DecisionDriver::Give(const DecisionRecord& decision, JobRecord* job) {
  workload::Placed placed{PlacesOf(decision, *job)};
  for (size_t i = 0; i < placed.places.size(); ++i) {
    const PlannedTaskRecord& t = decision.tasks[i];
    job->places[placed.places[i]] = {t.attempt, t.alternative, t.devices,
                                     t.first_slice};
    cpus_.Give(job, placed.places[i]);
  }
  // The scheduler has nothing to wait for: a task whose start fails ends.
  s_.link->MustTell(DecisionApplied{decision.seq});
  lives_.MustTell(job, placed);
}

Duration DecisionDriver::Notice(const DecisionRecord& decision) const {
  return decision.grace > 0 ? decision.grace : s_.config.grace;
}

void DecisionDriver::StopRest(const DecisionRecord& decision, JobRecord* job) {
  if (job->ended || job->state.phase < LifePhase::kSucceeded) return;
  std::vector<std::pair<TaskId, uint32_t>> rest;  // With their attempts.
  for (const TaskId place : PlacesOf(decision, *job)) {
    for (const auto& [id, task] : job->tasks) {
      if (id.role == place.role && task.slot == place.index &&
          task.row.state != "stop") {
        rest.emplace_back(id, task.row.key.attempt);
      }
    }
  }
  for (const auto& [id, attempt] : rest) {
    tasks_.Stop(job, id, attempt, Notice(decision));
  }
  lives_.Settle();
}

void DecisionDriver::Shrink(const DecisionRecord& decision, JobRecord* job) {
  lives_.MustTell(
      job, workload::PlacesTaken{PlacesOf(decision, *job), Notice(decision),
                                 /*moved=*/false});
  s_.Tell(job->row.id, "changed", "fewer tasks");
  StopRest(decision, job);
}

void DecisionDriver::Evict(const DecisionRecord& decision, JobRecord* job) {
  job->suspended = false;
  lives_.MustTell(job, workload::Preempted{Notice(decision)});
  StopRest(decision, job);
}

void DecisionDriver::Cancel(const DecisionRecord& decision, JobRecord* job) {
  job->suspended = false;
  if (!job->job().requeue) {
    lives_.MustTell(job, workload::Preempted{Notice(decision)});
  } else {
    lives_.Delete(job, "Preempted");
  }
  StopRest(decision, job);
}

void DecisionDriver::Suspend(const DecisionRecord& decision, JobRecord* job) {
  job->suspended = true;
  for (const TaskId place : PlacesOf(decision, *job)) {
    tasks_.Suspend(job, place);
  }
  if (!job->ended) lives_.MustTell(job, workload::Paused{});
  s_.Tell(job->row.id, "suspended");
}

void DecisionDriver::Resume(const DecisionRecord& decision, JobRecord* job) {
  job->suspended = false;
  for (const PlannedTaskRecord& t : decision.tasks) {
    const TaskId place = ToJobTask(job->form, t.task);
    const auto held = job->places.find(place);
    if (held == job->places.end()) continue;
    held->second.attempt = t.attempt;  // A resumption has one of its own.
    tasks_.Resume(job, place);
  }
  if (!job->ended) lives_.MustTell(job, workload::Continued{});
  s_.Tell(job->row.id, "resumed");
}

}  // namespace muster::local
