// Rows of the store's tables as values.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/local/model/cron_row.h"
#include "adapters/local/model/job_row.h"
#include "adapters/local/model/life_row.h"
#include "adapters/local/model/task_row.h"
#include "adapters/local/store/statement.h"

namespace muster::local {

// Columns of `jobs` that ReadJob reads, for a SELECT.
extern const char kJobColumns[];
// And two more, manifest and environment, as tables that ReadWholeJob needs.
extern const char kWholeJobColumns[];
extern const char kWholeJobTables[];
// Likewise of `tasks`, for ReadTask.
extern const char kTaskColumns[];

// Of `crons`, for ReadCron.
extern const char kCronColumns[];

// The row that the statement has stepped to. Without manifest and environment.
JobRow ReadJob(Statement& row);
// With them. DATA_LOSS names the job whose text is not there or is none.
absl::StatusOr<JobRow> ReadWholeJob(Statement& row);
// Of the columns job, seq, at, event.
LifeRow ReadLife(Statement& row);
absl::StatusOr<TaskRow> ReadTask(Statement& row);
absl::StatusOr<CronRow> ReadCron(Statement& row);

// Any strings as one, and any numbers as "0,3,17,"; O(bytes).
std::string PackStrings(const std::vector<std::string>& strings);
std::string PackNumbers(const std::vector<uint32_t>& numbers);

}  // namespace muster::local
