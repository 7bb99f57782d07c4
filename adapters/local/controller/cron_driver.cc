#include "adapters/local/controller/cron_driver.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::local {
namespace {

// As the CronJob controller of Kubernetes names its jobs.
std::string NameAt(const CronRow& row, Time time) {
  return absl::StrCat(row.name, "-", time / (60 * kSecond));
}

absl::Status NotThere(uint64_t id) {
  return absl::NotFoundError(absl::StrCat("calendar ", id, ": there is none"));
}

}  // namespace

void CronDriver::SeeToClock() {
  const Time wall = s_.wall();
  if (wall < seen_) {
    for (const auto& [id, known] : s_.crons.all()) {
      CronRecord* cron = s_.crons.Find(id);
      if (cron->row.last - kCorrection <= wall) continue;
      cron->row.last = wall;
      s_.crons.Change(*cron);
      s_.crons.SetDue(cron);
    }
  }
  seen_ = wall;
}

void CronDriver::PassTime() {
  SeeToClock();
  while (CronRecord* cron = s_.crons.NextDue(seen_)) Look(cron);
}

void CronDriver::Look(CronRecord* cron) {
  CronRow& row = cron->row;
  const Time until = std::min(seen_, cron->policy.until);
  const auto time = cron->schedule->Last(row.last, until);
  if (!time) return s_.crons.SetDue(cron);
  const Duration late = seen_ - *time;
  const Duration deadline = cron->policy.starting_deadline;
  cron->waits = false;
  if (deadline >= 0 && late > deadline) {
    row.said = absl::StrCat("missed, by ", late / kSecond, " s");
  } else if (!Start(cron, *time)) {
    return;
  }
  row.last = *time;
  s_.crons.Change(*cron);
  s_.crons.SetDue(cron);
}

bool CronDriver::Start(CronRecord* cron, Time time) {
  CronRow& row = cron->row;
  const std::string& concurrency = cron->policy.concurrency;
  if (concurrency == "Forbid" && !cron->jobs.empty()) {
    row.said = absl::StrCat("left out: job ", *cron->jobs.begin(), " runs");
    if (cron->policy.starting_deadline < 0) return true;
    // Perhaps it ends in time.
    cron->waits = true;
    s_.crons.SetDue(cron, cron->schedule->Next(time));
    return false;
  }
  if (concurrency == "Replace") {
    for (const uint64_t id :
         std::vector<uint64_t>(cron->jobs.begin(), cron->jobs.end())) {
      JobRecord* job = s_.jobs.Find(id);
      if (job != nullptr && !job->ended) lives_.Delete(job, "Replaced");
    }
  }
  Submit(cron, time);
  return true;
}

void CronDriver::Submit(CronRecord* cron, Time time) {
  CronRow& row = cron->row;
  Submission submission{.uid = row.uid,
                        .gid = row.gid,
                        .manifest = row.manifest,
                        .directory = row.directory,
                        .environment = row.environment,
                        .umask = row.umask,
                        .name = NameAt(row, time),
                        .held = row.held,
                        .array = row.array,
                        .cron = row.id,
                        .document = row.document};
  if (!row.queue.empty()) submission.queue = row.queue;
  if (!row.priority.empty()) submission.priority = row.priority;
  const auto made = submitter_.Submit(submission);
  if (!made.ok()) {
    row.said = absl::StrCat("refused: ", made.status().message());
    return;
  }
  row.started = time;
  for (const SubmittedJob& job : made->jobs) cron->jobs.insert(job.id);
  row.said = absl::StrCat("job ", made->jobs.front().id);
  if (made->jobs.size() > 1) {
    absl::StrAppend(&row.said, " to ", made->jobs.back().id);
  }
}

void CronDriver::NoteEnds(const TurnSave& save) {
  for (const JobRow& job : save.jobs) {
    if (job.cron == 0 || job.finished == kForever) continue;
    CronRecord* cron = s_.crons.Find(job.cron);
    if (cron == nullptr) continue;
    cron->jobs.erase(job.id);
    if (cron->waits && cron->jobs.empty()) s_.crons.SetDue(cron, seen_);
  }
}

absl::Status CronDriver::Suspend(uint64_t id) {
  CronRecord* cron = s_.crons.Find(id);
  if (cron == nullptr) return NotThere(id);
  cron->row.suspended = true;
  cron->waits = false;
  s_.crons.Change(*cron);
  s_.crons.SetDue(cron);
  return absl::OkStatus();
}

absl::Status CronDriver::Resume(uint64_t id) {
  CronRecord* cron = s_.crons.Find(id);
  if (cron == nullptr) return NotThere(id);
  if (!cron->row.suspended) return absl::OkStatus();
  cron->row.suspended = false;
  cron->row.last = std::max(cron->row.last, s_.wall());
  s_.crons.Change(*cron);
  s_.crons.SetDue(cron);
  return absl::OkStatus();
}

absl::Status CronDriver::Remove(uint64_t id) {
  if (s_.crons.Find(id) == nullptr) return NotThere(id);
  s_.crons.Remove(id);
  return absl::OkStatus();
}

}  // namespace muster::local
