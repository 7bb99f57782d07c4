// A connection to an SQLite file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/store/statement.h"
#include "muster/ids.h"

struct sqlite3;
struct sqlite3_stmt;

namespace muster::local {

// Closes the file when it goes. One thread at a time; what it prepared is kept
// for the next use. Errors: SqliteStatus (sqlite_status.h).
class Database {
 public:
  enum class Access : uint8_t { kRead, kWrite };

  // Of a file that exists. While another process has it locked, calls wait up
  // to `busy_wait` before they are UNAVAILABLE. PERMISSION_DENIED if it may
  // not be written with kWrite.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path,
                                                        Access access,
                                                        Duration busy_wait);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // SQL without parameters, of any number of statements; rows are dropped.
  absl::Status Execute(const std::string& sql);

  // One statement, prepared when this text of it is used first. O(log of the
  // statements kept).
  Statement Use(std::string_view sql);

  // The only column of the only row.
  absl::StatusOr<int64_t> Integer(std::string_view sql);
  absl::StatusOr<std::string> Text(std::string_view sql);

  // Rows that the last INSERT, UPDATE or DELETE changed.
  int64_t changes() const;

  // Statements fail with INTERNAL as soon as this time from now is over; 0: no
  // limit.
  void SetTimeLimit(Duration limit);
  bool time_is_over() const { return over_; }

  // Pages in SQLite's log after the last commit of this connection, which does
  // not write them back by itself.
  int log_pages() const { return log_pages_; }
  // Writes back what nobody needs any more, and waits for the disk.
  void WriteLogBack();
  // And waits up to `wait` until nobody reads in the log. True: its next page
  // is the first. False: it stays as long as it is; no harm is done.
  bool RestartLog(Duration wait);

  // Sees to it that SQLite's log has so many bytes on the disk, used or not: as
  // long as it is not longer, commits need no room there.
  absl::Status ReserveLog(int64_t bytes);

  // Whether the last connection to close a file in WAL mode writes the log
  // back and removes it. By default it does not, nor ever when damage was met.
  void SetTidyOnClose(bool tidy) { tidy_ = tidy; }

  const std::string& path() const { return path_; }

 private:
  friend class Statement;
  Database(sqlite3* db, std::string path) : db_(db), path_(std::move(path)) {}
  void SetBusyWait(Duration wait);
  static int Progress(void* connection);
  static int Committed(void* connection, sqlite3*, const char*, int pages);
  // Of a result code of this connection.
  absl::Status Error(int code);

  sqlite3* db_;
  std::string path_;
  std::map<std::string, sqlite3_stmt*, std::less<>> prepared_{};
  bool tidy_ = false;
  bool damaged_ = false;
  bool over_ = false;
  int64_t deadline_ = 0;  // Of the steady clock.
  Duration busy_wait_ = 0;
  int log_pages_ = 0;
};

// BEGIN IMMEDIATE ... COMMIT. One at a time on a connection, which outlives it.
class Transaction {
 public:
  // UNAVAILABLE while another process writes.
  static absl::StatusOr<Transaction> Begin(Database* connection);
  // Takes everything back, unless Commit was OK.
  ~Transaction();
  Transaction(Transaction&& other) noexcept
      : connection_(std::exchange(other.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;

  // On an error nothing of the transaction stays.
  absl::Status Commit();

 private:
  explicit Transaction(Database* connection) : connection_(connection) {}
  Database* connection_;  // Null: it is over.
};

}  // namespace muster::local
