// What one turn of musterd's loop has to keep.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "adapters/local/model/cron_row.h"
#include "adapters/local/model/drain_row.h"
#include "adapters/local/model/job_row.h"
#include "adapters/local/model/life_row.h"
#include "adapters/local/model/news_row.h"
#include "adapters/local/model/task_row.h"

namespace muster::local {

// A value. It is kept as a whole or not at all, before anything of the turn is
// told or done.
struct TurnSave {
  std::vector<JobRow> jobs{};  // New, or in place of the row with this id.
  std::vector<LifeRow> life{};
  std::vector<TaskRow> tasks{};  // As jobs, by key.
  std::vector<CronRow> crons{};  // As jobs; removed: forgotten.
  // In place of all that is out of service, if it is there; by device.
  std::optional<std::vector<DrainRow>> drains{};
  std::vector<NewsRow> news{};  // In the order in which they happened.
  // Bytes behind those of the scheduler's journal so far; may be empty.
  std::string journal{};
  bool journal_begins = false;  // They are the whole journal from now on.
  // It must also survive a loss of power, with all that was kept before;
  // otherwise it survives the end of the process only.
  bool sync = false;

  // There is nothing to keep.
  bool empty() const {
    return jobs.empty() && life.empty() && tasks.empty() && news.empty() &&
           crons.empty() && !drains && journal.empty() && !journal_begins;
  }
  friend bool operator==(const TurnSave&, const TurnSave&) = default;
};

}  // namespace muster::local
