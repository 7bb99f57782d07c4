// Writes what a turn has to keep into the store's tables.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/model/turn_save.h"
#include "adapters/local/store/database.h"

namespace muster::local {

// Inside a transaction of the connection, which outlives it. What is left after
// an error is for the transaction to take back.
class TurnWriter {
 public:
  explicit TurnWriter(Database* connection) : connection_(*connection) {}

  // As Store::Commit.
  absl::Status Write(const TurnSave& save);

  // Removes a job with all that is kept of it, but for its texts.
  absl::Status Remove(uint64_t job);
  // Removes a text that no job has any more.
  absl::Status DropText(int64_t text);

 private:
  absl::Status WriteJob(const JobRow& job);
  absl::Status ReplaceJob(const JobRow& job, int64_t manifest,
                          int64_t environment);
  absl::Status WriteLife(const LifeRow& life);
  absl::Status WriteTask(const TaskRow& task);
  absl::Status WriteCron(const CronRow& cron);
  absl::Status WriteDrains(const std::vector<DrainRow>& drains);
  absl::Status WriteNews(const NewsRow& news);
  absl::Status WriteJournal(const TurnSave& save);
  // Drops the life of a job that has ended for good.
  absl::Status Settle(uint64_t job);
  absl::Status SettleUnknown(uint64_t job);
  // The id of these bytes, which are added if they are not there.
  absl::StatusOr<int64_t> TextId(std::string_view bytes);

  Database& connection_;
};

// One more than the highest id that a row of "jobs" or "crons" has had.
absl::StatusOr<uint64_t> NextId(Database& connection, std::string_view table);

}  // namespace muster::local
