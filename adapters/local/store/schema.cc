#include "adapters/local/store/schema.h"

#include <array>
#include <string>

#include "absl/strings/str_cat.h"

namespace muster::local {
namespace {

constexpr int64_t kApplication = 0x4d757374;  // "Must"

// Jobs of one array or user have the same manifest or environment: each is kept
// once, in `texts`. `open` is 1 until the job has ended with all of its tasks;
// life rows are there that long. AUTOINCREMENT: no id is given twice.
constexpr const char* kFirst = R"(
CREATE TABLE texts(
  id INTEGER PRIMARY KEY,
  hash INTEGER NOT NULL,
  bytes BLOB NOT NULL) STRICT;
CREATE INDEX texts_by_hash ON texts(hash);
CREATE TABLE jobs(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid INTEGER NOT NULL,
  gid INTEGER NOT NULL,
  name TEXT NOT NULL,
  queue TEXT NOT NULL,
  priority_class TEXT NOT NULL,
  submitted INTEGER NOT NULL,
  manifest INTEGER NOT NULL,
  document INTEGER NOT NULL,
  array_index INTEGER,
  array INTEGER NOT NULL,
  directory TEXT NOT NULL,
  environment INTEGER NOT NULL,
  held INTEGER NOT NULL,
  phase TEXT NOT NULL,
  reason TEXT NOT NULL,
  started INTEGER NOT NULL,
  finished INTEGER NOT NULL,
  exit_code INTEGER,
  restarts INTEGER NOT NULL,
  preemptions INTEGER NOT NULL,
  endpoints TEXT NOT NULL,
  open INTEGER NOT NULL) STRICT;
CREATE INDEX jobs_by_time ON jobs(submitted, id);
CREATE INDEX jobs_by_uid ON jobs(uid, submitted, id);
CREATE INDEX jobs_by_queue ON jobs(queue, submitted, id);
CREATE INDEX jobs_by_name ON jobs(name, submitted, id);
CREATE INDEX jobs_by_phase ON jobs(phase, submitted, id);
CREATE INDEX jobs_by_end ON jobs(open, finished, id);
CREATE INDEX jobs_by_manifest ON jobs(manifest);
CREATE INDEX jobs_by_environment ON jobs(environment);
CREATE TABLE life(
  job INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  event TEXT NOT NULL,
  PRIMARY KEY(job, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE tasks(
  job INTEGER NOT NULL,
  role INTEGER NOT NULL,
  task INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  node TEXT NOT NULL,
  devices TEXT NOT NULL,
  state TEXT NOT NULL,
  started INTEGER NOT NULL,
  ended INTEGER NOT NULL,
  code INTEGER,
  reason TEXT NOT NULL,
  PRIMARY KEY(job, role, task, attempt)) STRICT, WITHOUT ROWID;
CREATE INDEX tasks_alive ON tasks(job) WHERE state <> 'ended';
CREATE TABLE journal(
  id INTEGER PRIMARY KEY,
  bytes BLOB NOT NULL) STRICT;
)";

// What happened to jobs, for people, as long as the job is kept.
constexpr const char* kNews = R"(
CREATE TABLE news(
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL,
  at INTEGER NOT NULL,
  what TEXT NOT NULL,
  text TEXT NOT NULL) STRICT;
CREATE INDEX news_by_job ON news(job);
)";

// When what is kept of jobs goes. `bytes`: of their files, -1 until they are
// counted. `removed`: what has gone.
constexpr const char* kRetention = R"(
ALTER TABLE jobs ADD COLUMN ttl INTEGER NOT NULL DEFAULT -1;
ALTER TABLE jobs ADD COLUMN bytes INTEGER NOT NULL DEFAULT -1;
CREATE INDEX jobs_by_ttl ON jobs(finished + ttl) WHERE open = 0 AND ttl >= 0;
CREATE INDEX jobs_uncounted ON jobs(id) WHERE open = 0 AND bytes < 0;
CREATE TABLE removed(
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL,
  uid INTEGER NOT NULL,
  name TEXT NOT NULL,
  phase TEXT NOT NULL,
  finished INTEGER NOT NULL,
  at INTEGER NOT NULL,
  why TEXT NOT NULL,
  bytes INTEGER NOT NULL) STRICT;
CREATE INDEX removed_by_uid ON removed(uid, id);
)";

// Calendars, and whose jobs are which of them.
constexpr const char* kCrons = R"(
ALTER TABLE jobs ADD COLUMN cron INTEGER NOT NULL DEFAULT 0;
CREATE INDEX jobs_by_cron ON jobs(cron, finished, id) WHERE cron > 0;
CREATE TABLE crons(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid INTEGER NOT NULL,
  gid INTEGER NOT NULL,
  name TEXT NOT NULL,
  queue TEXT NOT NULL,
  priority TEXT NOT NULL,
  array TEXT NOT NULL,
  held INTEGER NOT NULL,
  manifest TEXT NOT NULL,
  document INTEGER NOT NULL,
  directory TEXT NOT NULL,
  environment TEXT NOT NULL,
  suspended INTEGER NOT NULL,
  made INTEGER NOT NULL,
  last INTEGER NOT NULL,
  started INTEGER NOT NULL,
  said TEXT NOT NULL,
  keep_succeeded INTEGER NOT NULL,
  keep_failed INTEGER NOT NULL) STRICT;
)";

// What of the node is out of service.
constexpr const char* kDrains = R"(
CREATE TABLE drains(
  device INTEGER PRIMARY KEY,
  since INTEGER NOT NULL,
  uid INTEGER NOT NULL,
  quarantine INTEGER NOT NULL,
  reason TEXT NOT NULL) STRICT;
)";

// Of a point of a grid.
constexpr const char* kParameters =
    "ALTER TABLE jobs ADD COLUMN parameters TEXT NOT NULL DEFAULT '';";

// Jobs that were moved among those that wait, or edited.
constexpr const char* kEdits =
    "ALTER TABLE jobs ADD COLUMN place INTEGER;"
    "ALTER TABLE jobs ADD COLUMN edits TEXT NOT NULL DEFAULT '';";

// Which CPUs the tasks of a job have of their own.
constexpr const char* kCpus =
    "ALTER TABLE jobs ADD COLUMN cpus TEXT NOT NULL DEFAULT '';";

// How many elements of its array have places at a time.
constexpr const char* kArrayLimits =
    "ALTER TABLE jobs ADD COLUMN array_limit INTEGER NOT NULL DEFAULT 0;";

// Of who submitted it, 022 before it was asked for.
constexpr const char* kUmasks =
    "ALTER TABLE jobs ADD COLUMN umask INTEGER NOT NULL DEFAULT 18;"
    "ALTER TABLE crons ADD COLUMN umask INTEGER NOT NULL DEFAULT 18;";

// The n-th leads from version n to n + 1. They stay as they are.
constexpr std::array kMigrations = {
    kFirst,      kNews,  kRetention, kCrons,       kDrains,
    kParameters, kEdits, kCpus,      kArrayLimits, kUmasks};

absl::Status MigrateTo(Database& connection, size_t version) {
  absl::StatusOr<Transaction> transaction = Transaction::Begin(&connection);
  if (!transaction.ok()) return transaction.status();
  absl::Status status = connection.Execute(
      absl::StrCat(kMigrations[version - 1], "PRAGMA user_version=", version,
                   ";PRAGMA application_id=", kApplication));
  return status.ok() ? transaction->Commit() : status;
}

}  // namespace

const int64_t kSchemaVersion = int64_t{kMigrations.size()};

absl::Status CheckSchema(Database& connection) {
  absl::StatusOr<int64_t> version = connection.Integer("PRAGMA user_version");
  if (!version.ok()) return version.status();
  absl::StatusOr<int64_t> application =
      connection.Integer("PRAGMA application_id");
  if (!application.ok()) return application.status();
  absl::StatusOr<int64_t> tables =
      connection.Integer("SELECT count(*) FROM sqlite_schema");
  if (!tables.ok()) return tables.status();
  bool fresh = *version == 0 && *application == 0 && *tables == 0;
  if (!fresh && *application != kApplication) {
    return absl::FailedPreconditionError(
        absl::StrCat(connection.path(), ": not a file of Muster's"));
  }
  if (*version < 0 || *version > kSchemaVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        connection.path(), ": has schema ", *version,
        ", and this version of Muster knows those up to ", kSchemaVersion));
  }
  return absl::OkStatus();
}

absl::Status Migrate(Database& connection) {
  absl::StatusOr<int64_t> version = connection.Integer("PRAGMA user_version");
  if (!version.ok()) return version.status();
  for (int64_t next = *version + 1; next <= kSchemaVersion; ++next) {
    absl::Status status = MigrateTo(connection, static_cast<size_t>(next));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace muster::local
