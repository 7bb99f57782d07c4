// What a daemon finds kept when it starts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/local/model/cron_row.h"
#include "adapters/local/model/drain_row.h"
#include "adapters/local/model/job_row.h"
#include "adapters/local/model/life_row.h"
#include "adapters/local/model/task_row.h"

namespace muster::local {

// A value. Its jobs are those that have not ended, and those that have while a
// task of theirs has not.
struct StoredState {
  std::vector<JobRow> jobs{};      // By id.
  std::vector<LifeRow> life{};     // By job, then seq.
  std::vector<TaskRow> tasks{};    // Of these jobs, all attempts; by key.
  std::vector<CronRow> crons{};    // By id.
  std::vector<DrainRow> drains{};  // By device.
  std::string journal{};           // The scheduler's; empty: there is none yet.
  // No job, and no calendar, has had this id, or a higher one.
  uint64_t next_job = 1;
  uint64_t next_cron = 1;

  friend bool operator==(const StoredState&, const StoredState&) = default;
};

}  // namespace muster::local
