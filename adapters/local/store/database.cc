#include "adapters/local/store/database.h"

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/store/sqlite_status.h"

namespace muster::local {
namespace {

int64_t SteadyNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const std::string& path, Access access, Duration busy_wait) {
  int flags =
      access == Access::kWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  sqlite3* db = nullptr;
  int code =
      sqlite3_open_v2(path.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<Database> connection(new Database(db, path));
  if (code != SQLITE_OK) return connection->Error(code);
  sqlite3_extended_result_codes(db, 1);
  sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_wal_hook(db, Committed, connection.get());
  connection->busy_wait_ = busy_wait;
  connection->SetBusyWait(busy_wait);
  // SQLite falls back to reading without a word.
  if (access == Access::kWrite && sqlite3_db_readonly(db, "main") != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat(path, ": may not be written"));
  }
  return connection;
}

Database::~Database() {
  for (const auto& [sql, statement] : prepared_) sqlite3_finalize(statement);
  if (tidy_ && !damaged_) {
    sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  }
  sqlite3_close(db_);
}

void Database::SetBusyWait(Duration wait) {
  Duration milliseconds = std::clamp<Duration>(wait / kMillisecond, 0,
                                               std::numeric_limits<int>::max());
  sqlite3_busy_timeout(db_, static_cast<int>(milliseconds));
}

int Database::Committed(void* connection, sqlite3*, const char*, int pages) {
  static_cast<Database*>(connection)->log_pages_ = pages;
  return SQLITE_OK;
}

void Database::WriteLogBack() {
  sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr,
                            nullptr);
}

// In short attempts: SQLite would wait for a place of readers that the next
// reader, who does not stand in the way, takes again and again.
bool Database::RestartLog(Duration wait) {
  constexpr auto kPause = std::chrono::microseconds(200);
  const int64_t deadline = SteadyNow() + wait;
  SetBusyWait(0);
  int code = SQLITE_BUSY;
  while (true) {
    code = sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_RESTART,
                                     nullptr, nullptr);
    if (code != SQLITE_BUSY || SteadyNow() >= deadline) break;
    std::this_thread::sleep_for(kPause);
  }
  SetBusyWait(busy_wait_);
  return code == SQLITE_OK;
}

absl::Status Database::ReserveLog(int64_t bytes) {
  sqlite3_file* log = nullptr;
  int code =
      sqlite3_file_control(db_, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (code != SQLITE_OK) return Error(code);
  if (log == nullptr || log->pMethods == nullptr) return Error(SQLITE_MISUSE);
  // It is made longer by so much at once, where a chunk is set.
  int chunk = 64 << 10;
  sqlite3_int64 size = bytes;
  log->pMethods->xFileControl(log, SQLITE_FCNTL_CHUNK_SIZE, &chunk);
  code = log->pMethods->xFileControl(log, SQLITE_FCNTL_SIZE_HINT, &size);
  return Error(code);
}

absl::Status Database::Error(int code) {
  absl::Status status = SqliteStatus(db_, path_, code);
  damaged_ = damaged_ || absl::IsDataLoss(status);
  return status;
}

absl::Status Database::Execute(const std::string& sql) {
  return Error(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr));
}

Statement Database::Use(std::string_view sql) {
  auto it = prepared_.find(sql);
  if (it != prepared_.end()) return Statement(this, it->second, SQLITE_OK);
  sqlite3_stmt* prepared = nullptr;
  int code = sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()),
                                SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
  if (code == SQLITE_OK) prepared_.emplace(sql, prepared);
  return Statement(this, prepared, code);
}

absl::StatusOr<int64_t> Database::Integer(std::string_view sql) {
  Statement statement = Use(sql);
  absl::StatusOr<bool> row = statement.Step();
  if (!row.ok()) return row.status();
  int64_t value = 0;
  if (*row) statement.Read(&value);
  return value;
}

absl::StatusOr<std::string> Database::Text(std::string_view sql) {
  Statement statement = Use(sql);
  absl::StatusOr<bool> row = statement.Step();
  if (!row.ok()) return row.status();
  std::string value;
  if (*row) statement.Read(&value);
  return value;
}

int64_t Database::changes() const { return sqlite3_changes64(db_); }

int Database::Progress(void* connection) {
  auto& self = *static_cast<Database*>(connection);
  self.over_ = SteadyNow() >= self.deadline_;
  return self.over_ ? 1 : 0;
}

void Database::SetTimeLimit(Duration limit) {
  constexpr int kInstructions = 1000;  // Some 10 microseconds.
  over_ = false;
  deadline_ = SteadyNow() + limit;
  sqlite3_progress_handler(db_, kInstructions, limit > 0 ? Progress : nullptr,
                           this);
}

absl::StatusOr<Transaction> Transaction::Begin(Database* connection) {
  absl::Status status = connection->Use("BEGIN IMMEDIATE").Run();
  if (!status.ok()) return status;
  return Transaction(connection);
}

Transaction::~Transaction() {
  // SQLite has taken it back already after some errors; then this is one more.
  if (connection_ != nullptr) {
    connection_->Use("ROLLBACK").Run().IgnoreError();
  }
}

absl::Status Transaction::Commit() {
  absl::Status status = connection_->Use("COMMIT").Run();
  if (status.ok()) connection_ = nullptr;
  return status;
}

}  // namespace muster::local
