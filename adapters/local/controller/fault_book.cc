#include "adapters/local/controller/fault_book.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "muster/workload/life.h"

namespace muster::local {
namespace {

// Jobs of equal numbers run the same program.
uint64_t ProgramOf(const JobRow& job) {
  constexpr uint64_t kOfCrons = uint64_t{1} << 63;
  if (job.cron != 0) return kOfCrons | job.cron;
  return job.array != 0 ? job.array : job.id;
}

}  // namespace

void FaultBook::Note(const QuarantineRules& rules, const JobRow& job,
                     const TaskRow& task, int32_t code,
                     workload::ExitReason reason, Time now) {
  if (rules.jobs == 0) return;
  std::vector<int64_t> places(task.devices.begin(), task.devices.end());
  if (places.empty()) places.push_back(DrainRow::kWholeNode);
  const bool ran = task.started != kForever && now - task.started >= rules.soon;
  const bool exited = reason == workload::ExitReason::kExited;
  if (ran || (exited && code == 0)) {
    for (const int64_t place : places) failures_.erase(place);
    return;
  }
  const bool listed =
      exited && std::ranges::find(rules.codes, code) != rules.codes.end();
  if (!listed && !workload::MayBeMachinesFault(code, reason)) return;
  for (const int64_t place : places) {
    std::vector<Failure>& row = failures_[place];
    const uint64_t same = ProgramOf(job);
    std::erase_if(row, [&](const Failure& f) {
      return f.same == same || now - f.at > rules.window;
    });
    row.push_back({job.id, same, now});
    if (row.size() < rules.jobs) continue;
    std::string jobs;
    for (const Failure& f : row) {
      absl::StrAppend(&jobs, jobs.empty() ? "" : ", ", f.job);
    }
    found_.push_back(
        {.device = place,
         .reason = absl::StrCat("tasks of jobs ", jobs,
                                " failed soon after their start, the last: ",
                                std::string(Name(reason)), ", code ", code)});
    failures_.erase(place);
  }
}

std::vector<DrainRow> FaultBook::Take() { return std::exchange(found_, {}); }

}  // namespace muster::local
