#include "adapters/local/store/store.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/local/store/files.h"
#include "adapters/local/store/rows.h"
#include "adapters/local/store/schema.h"
#include "adapters/local/store/turn_writer.h"

namespace muster::local {
namespace {

// Pages in SQLite's log from which on it is written back, and from which on
// readers are waited for, so that it can begin anew: those that come one after
// the other would let it grow for ever.
constexpr int kLongLog = 1000;
constexpr int kTooLongLog = 2000;
constexpr Duration kReaderWait = 50 * kMillisecond;
// What it has on the disk by Reserve: its pages up to that length, and a
// thousand more. It is journal_size_limit, too.
constexpr int64_t kReservedLog = 12'582'912;

// journal_size_limit: a log that has been longer becomes this short when it
// begins anew.
constexpr const char* kSettings =
    "PRAGMA synchronous=NORMAL;"
    "PRAGMA journal_size_limit=12582912;"
    "PRAGMA temp_store=MEMORY;"
    "PRAGMA cache_size=-8192";

// A clean end leaves no log of SQLite's, or an empty one.
bool EndedCleanly(const std::string& path) {
  std::error_code error;
  auto bytes = std::filesystem::file_size(path + "-wal", error);
  return error || bytes == 0;
}

// Looks for damage as long as it may.
absl::Status CheckPages(Database& connection, Duration time) {
  connection.SetTimeLimit(time);
  absl::StatusOr<std::string> found = connection.Text("PRAGMA quick_check(1)");
  bool over = connection.time_is_over();
  connection.SetTimeLimit(0);
  if (!found.ok()) return over ? absl::OkStatus() : found.status();
  if (*found == "ok") return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(connection.path(), ": is damaged: ", *found));
}

// Until it is OK nothing is written.
absl::Status Check(Database& connection, bool clean, Duration time) {
  absl::Status status = CheckSchema(connection);
  if (!status.ok() || clean) return status;
  return CheckPages(connection, time);
}

absl::Status Prepare(Database& connection) {
  absl::StatusOr<std::string> mode = connection.Text("PRAGMA journal_mode=WAL");
  if (!mode.ok()) return mode.status();
  if (*mode != "wal") {
    return absl::FailedPreconditionError(absl::StrCat(
        connection.path(), ": SQLite's WAL mode does not work there"));
  }
  absl::Status status = connection.Execute("PRAGMA synchronous=FULL");
  if (status.ok()) status = Migrate(connection);
  if (status.ok()) status = connection.Execute(kSettings);
  return status;
}

// Rows of a statement, each read by read(statement) into a StatusOr.
template <class T, class F>
absl::Status ReadAll(Database& connection, std::string_view sql, F read,
                     std::vector<T>* rows) {
  Statement statement = connection.Use(sql);
  while (true) {
    absl::StatusOr<bool> more = statement.Step();
    if (!more.ok() || !*more) return more.status();
    absl::StatusOr<T> row = read(statement);
    if (!row.ok()) {
      return absl::Status(
          row.status().code(),
          absl::StrCat(connection.path(), ": ", row.status().message()));
    }
    rows->push_back(*std::move(row));
  }
}

absl::Status ReadJournal(Database& connection, std::string* journal) {
  Statement part = connection.Use("SELECT bytes FROM journal ORDER BY id");
  while (true) {
    absl::StatusOr<bool> more = part.Step();
    if (!more.ok() || !*more) return more.status();
    std::string bytes;
    part.Read(&bytes);
    *journal += bytes;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Store::Open(const std::string& path,
                                                   StoreOptions options) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  absl::Status status = MakeFolder(folder.empty() ? "." : folder.string());
  if (!status.ok()) return status;
  absl::StatusOr<StoreLock> lock = StoreLock::Take(path + ".lock");
  if (!lock.ok()) return lock.status();
  status = MakeFile(path);
  if (!status.ok()) return status;
  bool clean = EndedCleanly(path);
  absl::StatusOr<std::unique_ptr<Database>> connection =
      Database::Open(path, Database::Access::kWrite, options.busy_wait);
  if (!connection.ok()) return connection.status();
  status = Check(**connection, clean, options.check_time);
  if (status.ok()) status = Prepare(**connection);
  if (!status.ok()) return status;
  absl::StatusOr<History> history = History::Open(path);
  if (!history.ok()) return history.status();
  (*connection)->SetTidyOnClose(true);
  return std::unique_ptr<Store>(
      new Store(*std::move(lock), *std::move(connection), *std::move(history)));
}

absl::Status Store::SetSync(bool sync) {
  if (sync == sync_) return absl::OkStatus();
  absl::Status status = connection_->Execute(
      sync ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
  if (status.ok()) sync_ = sync;
  return status;
}

absl::Status Store::Commit(const TurnSave& save) {
  if (save.empty()) return absl::OkStatus();
  absl::Status status = SetSync(save.sync);
  if (!status.ok()) return status;
  absl::StatusOr<Transaction> transaction =
      Transaction::Begin(connection_.get());
  if (!transaction.ok()) return transaction.status();
  status = TurnWriter(connection_.get()).Write(save);
  if (status.ok()) status = transaction->Commit();
  if (status.ok()) ShortenLog();
  return status;
}

void Store::ShortenLog() {
  if (connection_->log_pages() < kLongLog) return;
  if (connection_->log_pages() < restart_at_) {
    connection_->WriteLogBack();
  } else if (connection_->RestartLog(kReaderWait)) {
    restart_at_ = kTooLongLog;
  } else {
    restart_at_ = std::max(kTooLongLog, 2 * connection_->log_pages());
  }
}

absl::Status Store::Reserve() { return connection_->ReserveLog(kReservedLog); }

absl::StatusOr<StoredState> Store::Load() {
  StoredState state;
  absl::Status status =
      ReadAll(*connection_,
              absl::StrCat("SELECT ", kJobColumns, kWholeJobColumns, " FROM ",
                           kWholeJobTables, " WHERE open = 1"),
              ReadWholeJob, &state.jobs);
  if (!status.ok()) return status;
  std::ranges::sort(state.jobs, {}, &JobRow::id);
  // No other jobs have life rows.
  status = ReadAll(
      *connection_, "SELECT job, seq, at, event FROM life ORDER BY job, seq",
      [](Statement& row) -> absl::StatusOr<LifeRow> { return ReadLife(row); },
      &state.life);
  if (!status.ok()) return status;
  status = ReadAll(
      *connection_,
      absl::StrCat("SELECT ", kTaskColumns,
                   " FROM jobs CROSS JOIN tasks ON job = id WHERE open = 1"),
      ReadTask, &state.tasks);
  if (!status.ok()) return status;
  std::ranges::sort(state.tasks, {}, &TaskRow::key);
  status = ReadJournal(*connection_, &state.journal);
  if (!status.ok()) return status;
  status =
      ReadAll(*connection_,
              absl::StrCat("SELECT ", kCronColumns, " FROM crons ORDER BY id"),
              ReadCron, &state.crons);
  if (!status.ok()) return status;
  status = ReadAll(
      *connection_,
      "SELECT device, since, uid, quarantine, reason FROM drains "
      "ORDER BY device",
      [](Statement& row) -> absl::StatusOr<DrainRow> {
        DrainRow drain;
        row.Read(&drain.device, &drain.since, &drain.uid, &drain.quarantine,
                 &drain.reason);
        return drain;
      },
      &state.drains);
  if (!status.ok()) return status;
  for (auto [table, to] : {std::pair("jobs", &state.next_job),
                           std::pair("crons", &state.next_cron)}) {
    absl::StatusOr<uint64_t> next = NextId(*connection_, table);
    if (!next.ok()) return next.status();
    *to = *next;
  }
  return state;
}

absl::StatusOr<std::vector<OverdueJob>> Store::Overdue(
    const Retention& retention, Time now) {
  return FindOverdue(*connection_, retention, now, kMaxOverdue);
}

absl::Status Store::Forget(std::span<const OverdueJob> jobs, Time now) {
  absl::StatusOr<Transaction> transaction =
      Transaction::Begin(connection_.get());
  if (!transaction.ok()) return transaction.status();
  absl::Status status = RemoveJobs(*connection_, jobs, now, kMaxRemoved);
  if (status.ok()) status = transaction->Commit();
  if (status.ok()) ShortenLog();
  return status;
}

absl::StatusOr<Time> Store::NextOverdue() {
  return connection_->Integer(
      absl::StrCat("SELECT coalesce(min(finished + ttl), ", kForever,
                   ") FROM jobs INDEXED BY jobs_by_ttl "
                   "WHERE open = 0 AND ttl >= 0"));
}

absl::StatusOr<std::vector<uint64_t>> Store::Uncounted(uint32_t most) {
  std::vector<uint64_t> jobs;
  absl::Status status = ReadAll(
      *connection_,
      absl::StrCat("SELECT id FROM jobs WHERE open = 0 AND bytes < 0 LIMIT ",
                   most),
      [](Statement& row) -> absl::StatusOr<uint64_t> {
        uint64_t id = 0;
        row.Read(&id);
        return id;
      },
      &jobs);
  if (!status.ok()) return status;
  return jobs;
}

absl::Status Store::SetBytes(uint64_t job, int64_t bytes) {
  return connection_->Use("UPDATE jobs SET bytes = ? WHERE id = ?")
      .Bind(bytes, job)
      .Run();
}

}  // namespace muster::local
