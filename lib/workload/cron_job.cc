// Jobs with a calendar: batch/v1 CronJob, and KubeDL's cronPolicy.
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "lib/workload/cat.h"
#include "lib/workload/readers.h"
#include "muster/workload/cron.h"

namespace muster::workload {
namespace {

// Its zone is there already.
void ReadSchedule(const Value& v, CronPolicy* cron) {
  v.Read(&cron->schedule);
  if (!v.there()) return;
  const auto schedule = CronSchedule::Make(cron->schedule, cron->time_zone);
  if (!schedule.ok()) v.Wrong(std::string(schedule.status().message()));
}

void ReadConcurrency(const Value& v, CronPolicy* cron) {
  v.Read(&cron->concurrency);
  if (cron->concurrency != "Allow" && cron->concurrency != "Forbid" &&
      cron->concurrency != "Replace") {
    v.Wrong(
        Cat("'", cron->concurrency, "' is none of: Allow, Forbid, Replace"));
  }
}

void ReadDeadline(const Value& v, CronPolicy* cron) {
  v.Read(&cron->deadline);
  if (!v.there()) return;
  absl::Time until;
  std::string why;
  if (!absl::ParseTime(absl::RFC3339_full, cron->deadline, &until, &why) ||
      until < absl::UnixEpoch() || until > absl::FromUnixNanos(kMaxTime)) {
    return v.Wrong(
        Cat("'", cron->deadline, "' is no time such as 2027-01-31T12:00:00Z"));
  }
  cron->until = absl::ToUnixNanos(until);
}

void ReadLimit(const Value& v, std::optional<uint32_t>* to) {
  if (!v.there()) return;
  uint32_t limit = 0;
  v.ReadInteger(&limit, 0, 1 << 20);
  *to = limit;
}

// By key; of two of a key, that of `more`.
void Merge(const Labels& more, Labels* to) {
  std::map<std::string, std::string> all;
  for (const Labels* labels : {&more, static_cast<const Labels*>(to)}) {
    for (const Label& label : *labels) all.emplace(label.key, label.value);
  }
  to->clear();
  for (const auto& [key, value] : all) to->push_back({key, value});
}

}  // namespace

void ReadCronPolicy(const Value& v, CronPolicy* cron) {
  if (!v.there()) return;
  Object o(v);
  ReadSchedule(o.Required("schedule"), cron);
  ReadConcurrency(o["concurrencyPolicy"], cron);
  o["suspend"].Read(&cron->suspend);
  ReadDeadline(o["deadline"], cron);
  const Value limit = o["historyLimit"];
  ReadLimit(limit, &cron->succeeded_limit);
  ReadLimit(limit, &cron->failed_limit);
}

Value ReadCronJob(const Value& spec, Job* job) {
  Value metadata;
  if (!spec.there()) return metadata;
  Object o(spec);
  CronPolicy& cron = job->cron;
  o["timeZone"].Read(&cron.time_zone);
  ReadSchedule(o.Required("schedule"), &cron);
  ReadConcurrency(o["concurrencyPolicy"], &cron);
  o["suspend"].Read(&cron.suspend);
  o["startingDeadlineSeconds"].ReadSeconds(&cron.starting_deadline, 0);
  // What the API server sets where nothing is said.
  cron.succeeded_limit = 3;
  cron.failed_limit = 1;
  ReadLimit(o["successfulJobsHistoryLimit"], &cron.succeeded_limit);
  ReadLimit(o["failedJobsHistoryLimit"], &cron.failed_limit);
  const Value job_template = o.Required("jobTemplate");
  if (!job_template.there()) return metadata;
  Object inner(job_template);
  metadata = inner["metadata"];
  if (metadata.there()) {
    Object m(metadata);
    Labels more;
    m["labels"].Read(&more);
    Merge(more, &job->labels);
    more.clear();
    m["annotations"].Read(&more);
    Merge(more, &job->annotations);
  }
  const Value of = inner.Required("spec");
  if (of.there()) ReadBatchJob(of, job);
  return metadata;
}

}  // namespace muster::workload
