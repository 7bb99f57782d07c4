#include "adapters/local/host/tidier.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "adapters/local/controller/task_folder.h"
#include "adapters/local/host/job_files.h"

namespace muster::local {
namespace {

constexpr uint32_t kMostCounted = 100;  // Jobs of a pass.

}  // namespace

absl::StatusOr<bool> Tidier::Count(size_t* budget) {
  if (retention_.bytes == std::numeric_limits<int64_t>::max()) return true;
  const auto jobs = store_.Uncounted(kMostCounted);
  if (!jobs.ok()) return jobs.status();
  for (const uint64_t job : *jobs) {
    if (*budget == 0) return false;
    // One of more files than a pass bears counts as those that were seen.
    const absl::Status set =
        store_.SetBytes(job, BytesOfFolder(JobFolder(state_, job), budget));
    if (!set.ok()) return set;
  }
  return jobs->size() < kMostCounted;
}

absl::StatusOr<bool> Tidier::Remove(Time now, size_t* budget) {
  const auto overdue = store_.Overdue(retention_, now);
  if (!overdue.ok()) return overdue.status();
  std::vector<OverdueJob> gone;
  bool all = overdue->size() < Store::kMaxOverdue;
  for (const OverdueJob& job : *overdue) {
    const auto removed = RemoveFolder(JobFolder(state_, job.id), budget);
    if (!removed.ok()) {
      if (failed_.ok()) failed_ = removed.status();
      continue;
    }
    if (!*removed) {
      all = false;
      break;
    }
    gone.push_back(job);
  }
  if (gone.empty()) return all || !failed_.ok();
  const absl::Status forgotten = store_.Forget(gone, now);
  if (!forgotten.ok()) return forgotten;
  return all;
}

absl::Status Tidier::Pass(Time now) {
  due_at_ = now + kEvery;
  failed_ = absl::OkStatus();
  size_t budget = kMostFiles;
  const auto counted = Count(&budget);
  if (!counted.ok()) return counted.status();
  const auto removed = Remove(now, &budget);
  if (!removed.ok()) return removed.status();
  if (!*counted || !*removed) {
    due_at_ = now;
    return failed_;
  }
  const auto next = store_.NextOverdue();
  if (!next.ok()) return next.status();
  // One that cannot be removed is not asked for without an end.
  const Time own = *next == kForever ? kForever : *next + kLinger;
  if (own > now) due_at_ = std::min(due_at_, own);
  return failed_;
}

void Tidier::Kept(const TurnSave& save, Time now) {
  for (const JobRow& job : save.jobs) {
    if (job.finished == kForever) continue;
    if (job.cron != 0) due_at_ = std::min(due_at_, now);
    if (job.ttl < 0) continue;
    due_at_ =
        std::min(due_at_, std::max(now, job.finished + job.ttl + kLinger));
  }
}

}  // namespace muster::local
