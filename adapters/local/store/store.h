// The store: all that musterd must not forget, in one SQLite file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/model/stored_state.h"
#include "adapters/local/model/turn_save.h"
#include "adapters/local/store/database.h"
#include "adapters/local/store/history.h"
#include "adapters/local/store/retention.h"
#include "adapters/local/store/store_lock.h"
#include "muster/ids.h"

namespace muster::local {

struct StoreOptions {
  // How long a call waits while another process, such as the sqlite3 shell,
  // has the file locked.
  Duration busy_wait = 250 * kMillisecond;
  // How long Open looks for damage after a crash. What it has not come to by
  // then is met when it is read.
  Duration check_time = 500 * kMillisecond;
};

// Has the file alone for writing, by a lock on PATH.lock. One thread at a time;
// histories (history.h) read beside it. Errors: SqliteStatus (sqlite_status.h).
class Store {
 public:
  // Makes what is not there: folders with mode 0700, files with mode 0600.
  // Brings the tables of an older version up to this one.
  //
  // UNAVAILABLE: another process has it; the message names it.
  // FAILED_PRECONDITION: the file is a newer version's or another program's, or
  // cannot be opened. PERMISSION_DENIED. DATA_LOSS: it is damaged. After these
  // it is as it was.
  static absl::StatusOr<std::unique_ptr<Store>> Open(const std::string& path,
                                                     StoreOptions options = {});
  // Writes SQLite's log back into the file and removes it.
  ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Keeps the turn in one transaction; with `save.sync` it is on the disk when
  // OK is returned, and so is all that was kept before. An empty one is OK and
  // does nothing, with `sync` too. On an error nothing of it is kept and the
  // store can be used on: RESOURCE_EXHAUSTED and UNAVAILABLE may be over at the
  // next attempt. INVALID_ARGUMENT: an id of 0 or beyond 2^63 - 1, or life or
  // tasks of a job that was never kept. ALREADY_EXISTS: a life row that is kept
  // already. If the process ends inside of it, all of it is kept, or nothing.
  //
  // A job has ended for good when it has `finished` and no task of it is in
  // another state than "ended": then its life rows are dropped. Rows of a job
  // that was pruned are ignored. O(rows x log of what is kept + bytes).
  absl::Status Commit(const TurnSave& save);

  // Keeps room on the disk, which lasts for many turns when there is no other:
  // what ends may so be kept, what fills the disk too. Again after such a time.
  // RESOURCE_EXHAUSTED: there is no room for it. O(bytes) the first time.
  absl::Status Reserve();

  // What to go on with after a start. DATA_LOSS names what cannot be read.
  // O(what it returns).
  absl::StatusOr<StoredState> Load();

  // Jobs that have ended for good and are to be forgotten, by `retention`:
  // those whose time is over first, then the oldest. At most kMaxOverdue: if
  // there are as many, there may be more. O(them x log jobs + retention.jobs,
  // or jobs if bytes are limited).
  static constexpr uint32_t kMaxOverdue = 1000;
  absl::StatusOr<std::vector<OverdueJob>> Overdue(const Retention& retention,
                                                  Time now);
  // Forgets these, if they have ended for good, and notes that and why; of such
  // notes the last kMaxRemoved are kept. Space is used again; the file does not
  // become smaller. Journal and unfinished jobs stay. O(rows x log jobs).
  static constexpr uint32_t kMaxRemoved = 10'000;
  absl::Status Forget(std::span<const OverdueJob> jobs, Time now);
  // When the next job's own time is over; kForever: none has one. O(log jobs).
  absl::StatusOr<Time> NextOverdue();

  // Jobs that have ended for good and whose files have not been counted: at
  // most `most`; and what they have turned out to be. O(jobs x log jobs).
  absl::StatusOr<std::vector<uint64_t>> Uncounted(uint32_t most);
  absl::Status SetBytes(uint64_t job, int64_t bytes);

  // For the same thread; others open their own.
  History& history() { return history_; }

 private:
  Store(StoreLock lock, std::unique_ptr<Database> connection, History history)
      : lock_(std::move(lock)),
        connection_(std::move(connection)),
        history_(std::move(history)) {}

  absl::Status SetSync(bool sync);
  // Keeps SQLite's log from growing for ever, after a commit. What hinders it
  // is no error: the log holds all.
  void ShortenLog();

  // They go in the opposite order.
  StoreLock lock_;
  std::unique_ptr<Database> connection_;
  History history_;
  bool sync_ = false;  // Commits wait for the disk.
  // Pages of the log from which on readers are waited for: more and more while
  // one of them stays in it.
  int restart_at_ = 2000;
};

}  // namespace muster::local
