// CronBook: the calendars, and what of them is to be kept.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/model/cron_row.h"
#include "muster/ids.h"
#include "muster/workload/cron.h"
#include "muster/workload/job.h"

namespace muster::local {

// One calendar.
struct CronRecord {
  CronRow row{};
  workload::CronPolicy policy{};
  // None: its manifest cannot be read any more; row.said has why.
  std::optional<workload::CronSchedule> schedule{};
  std::set<uint64_t> jobs{};  // That have not finished.
  Time due = kForever;        // When it is looked at next.
  // Its last time waits for the end of a job of it.
  bool waits = false;
};

// Times are those of the wall clock. Not synchronised.
class CronBook {
 public:
  static constexpr size_t kMost = 10'000;

  // Of one user who may not do everything.
  static constexpr size_t kMostOfUser = kMost / 2;

  // RESOURCE_EXHAUSTED: with so many more of the user there would be more than
  // kMost, or than kMostOfUser, if he is `bounded`. O(calendars).
  absl::Status CheckRoom(size_t more, uint32_t uid, bool bounded) const;
  // A new one, of what was submitted; row.id is given here, and `last` is
  // `now`. Errors as of CheckRoom, of one who is not bounded.
  absl::StatusOr<CronRecord*> Add(CronRow row, workload::CronPolicy policy,
                                  Time now);
  // One that was kept.
  void Restore(CronRow row, absl::StatusOr<workload::CronPolicy> policy);
  // Null: there is none. O(log calendars).
  CronRecord* Find(uint64_t id);
  const std::map<uint64_t, CronRecord>& all() const { return crons_; }
  void Remove(uint64_t id);

  // The row is to be kept.
  void Change(const CronRecord& cron) { changed_.insert(cron.row.id); }
  // When it is looked at next follows from its last time.
  void SetDue(CronRecord* cron);
  void SetDue(CronRecord* cron, Time due);
  // One that is due; null: none.
  CronRecord* NextDue(Time now);
  Time next_due() const {
    return due_.empty() ? kForever : due_.begin()->first;
  }

  // The next start; kForever: none.
  static Time NextStart(const CronRecord& cron);

  // Moves the rows to be kept.
  std::vector<CronRow> Save();
  uint64_t next_id = 1;

 private:
  std::map<uint64_t, CronRecord> crons_;
  std::set<std::pair<Time, uint64_t>> due_;
  std::set<uint64_t> changed_;
  std::vector<CronRow> removed_;
};

}  // namespace muster::local
