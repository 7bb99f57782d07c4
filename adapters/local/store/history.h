// Queries of what is kept, while a store writes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/model/job_row.h"
#include "adapters/local/model/life_row.h"
#include "adapters/local/model/news_row.h"
#include "adapters/local/model/removed_row.h"
#include "adapters/local/model/task_row.h"
#include "adapters/local/store/database.h"
#include "adapters/local/store/history_filter.h"

namespace muster::local {

// A connection of its own that only reads: it holds up no Commit, and sees all
// that was committed when a call begins. One thread at a time, which may be
// another than the store's. Errors: SqliteStatus (sqlite_status.h).
class History {
 public:
  // Of a file that a Store has made and still has.
  static absl::StatusOr<History> Open(const std::string& path);

  // Newest first: by time of submission, then id. Without manifest and
  // environment. INVALID_ARGUMENT: `limit` is out of range. O(log jobs + rows
  // passed): those of the page, and before them and between them those that the
  // most selective of name, phase, queue and uid, in this order, lets through
  // and another does not, and those of the same time as `before`.
  absl::StatusOr<std::vector<JobRow>> Jobs(const HistoryFilter& filter);

  // One job, whole. NOT_FOUND. O(log jobs).
  absl::StatusOr<JobRow> Find(uint64_t job);

  // All attempts of its tasks, by key; none of a job that is not kept.
  absl::StatusOr<std::vector<TaskRow>> Tasks(uint64_t job);

  // Events of its life, by seq; none once it has ended with all of its tasks.
  absl::StatusOr<std::vector<LifeRow>> Events(uint64_t job);

  // What happened to it, oldest first; of checkpoints in a row that
  // are told alike, the last. None of a job that is not kept.
  absl::StatusOr<std::vector<NewsRow>> News(uint64_t job);

  // Jobs of `uid`, or of all, that are kept no more: the last that went first.
  // O(limit x log jobs).
  absl::StatusOr<std::vector<RemovedRow>> Removed(std::optional<uint32_t> uid,
                                                  uint32_t limit);

 private:
  explicit History(std::unique_ptr<Database> connection)
      : connection_(std::move(connection)) {}
  // The position in time of `filter.before`, or of the job kept before it;
  // false: there is none.
  absl::StatusOr<bool> Position(uint64_t before, Time* submitted, uint64_t* id);

  std::unique_ptr<Database> connection_;
};

}  // namespace muster::local
