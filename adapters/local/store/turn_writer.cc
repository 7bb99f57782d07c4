#include "adapters/local/store/turn_writer.h"

#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/store/rows.h"

namespace muster::local {
namespace {

constexpr uint64_t kMaxId = std::numeric_limits<int64_t>::max();

// What changes while a job goes on, if all else is as it was: it saves the
// indexes of what stays.
constexpr std::string_view kUpdateProgress =
    "UPDATE jobs SET held = ?, phase = ?, reason = ?, started = ?, "
    "finished = ?, exit_code = ?, restarts = ?, preemptions = ?, "
    "endpoints = ?, cpus = ? "
    "WHERE id = ? AND uid = ? AND gid = ? AND name = ? AND queue = ? AND "
    "priority_class = ? AND submitted = ? AND manifest = ? AND document = ? "
    "AND array_index IS ? AND array = ? AND directory = ? AND environment = ? "
    "AND ttl = ? AND cron = ? AND parameters = ? AND place IS ? AND edits = ? "
    "AND array_limit = ? AND umask = ?";

constexpr std::string_view kPutJob =
    "INSERT INTO jobs VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
    "?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, 1, ?23, -1, ?24, "
    "?25, ?26, ?27, ?28, ?29, ?30) "
    "ON CONFLICT(id) DO UPDATE SET uid = ?2, gid = ?3, name = ?4, queue = ?5, "
    "priority_class = ?6, submitted = ?7, manifest = ?8, document = ?9, "
    "array_index = ?10, array = ?11, directory = ?12, environment = ?13, "
    "held = ?14, phase = ?15, reason = ?16, started = ?17, finished = ?18, "
    "exit_code = ?19, restarts = ?20, preemptions = ?21, endpoints = ?22, "
    "ttl = ?23, cron = ?24, parameters = ?25, place = ?26, edits = ?27, "
    "cpus = ?28, array_limit = ?29, umask = ?30";

absl::Status CheckId(const char* field, uint64_t id) {
  if (id >= 1 && id <= kMaxId) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": ", id, ", allowed is 1..", kMaxId));
}

}  // namespace

absl::Status TurnWriter::Write(const TurnSave& save) {
  std::set<uint64_t> touched;
  for (const JobRow& job : save.jobs) {
    absl::Status status = WriteJob(job);
    if (!status.ok()) return status;
    touched.insert(job.id);
  }
  for (const LifeRow& life : save.life) {
    absl::Status status = WriteLife(life);
    if (!status.ok()) return status;
    touched.insert(life.job);
  }
  for (const TaskRow& task : save.tasks) {
    absl::Status status = WriteTask(task);
    if (!status.ok()) return status;
    touched.insert(task.key.job);
  }
  for (const CronRow& cron : save.crons) {
    absl::Status status = WriteCron(cron);
    if (!status.ok()) return status;
  }
  if (save.drains) {
    absl::Status status = WriteDrains(*save.drains);
    if (!status.ok()) return status;
  }
  for (const NewsRow& news : save.news) {
    absl::Status status = WriteNews(news);
    if (!status.ok()) return status;
    touched.insert(news.job);
  }
  for (uint64_t job : touched) {
    absl::Status status = Settle(job);
    if (!status.ok()) return status;
  }
  return WriteJournal(save);
}

absl::Status TurnWriter::WriteJob(const JobRow& job) {
  absl::Status checked = CheckId("jobs.id", job.id);
  if (!checked.ok()) return checked;
  absl::StatusOr<int64_t> manifest = TextId(job.manifest);
  if (!manifest.ok()) return manifest.status();
  absl::StatusOr<int64_t> environment = TextId(PackStrings(job.environment));
  if (!environment.ok()) return environment.status();
  absl::Status status =
      connection_.Use(kUpdateProgress)
          .Bind(job.held, job.phase, job.reason, job.started, job.finished,
                job.exit_code, job.restarts, job.preemptions, job.endpoints,
                job.cpus, job.id, job.uid, job.gid, job.name, job.queue,
                job.priority_class, job.submitted, *manifest, job.document,
                job.array_index, job.array, job.directory, *environment,
                job.ttl, job.cron, job.parameters, job.place, job.edits,
                job.array_limit, job.umask)
          .Run();
  if (!status.ok() || connection_.changes() > 0) return status;
  return ReplaceJob(job, *manifest, *environment);
}

absl::Status TurnWriter::ReplaceJob(const JobRow& job, int64_t manifest,
                                    int64_t environment) {
  int64_t old_manifest = manifest;
  int64_t old_environment = environment;
  {
    Statement find =
        connection_.Use("SELECT manifest, environment FROM jobs WHERE id = ?");
    absl::StatusOr<bool> row = find.Bind(job.id).Step();
    if (!row.ok()) return row.status();
    if (*row) find.Read(&old_manifest, &old_environment);
  }
  absl::Status status =
      connection_.Use(kPutJob)
          .Bind(job.id, job.uid, job.gid, job.name, job.queue,
                job.priority_class, job.submitted, manifest, job.document,
                job.array_index, job.array, job.directory, environment,
                job.held, job.phase, job.reason, job.started, job.finished,
                job.exit_code, job.restarts, job.preemptions, job.endpoints,
                job.ttl, job.cron, job.parameters, job.place, job.edits,
                job.cpus, job.array_limit, job.umask)
          .Run();
  if (status.ok() && old_manifest != manifest) status = DropText(old_manifest);
  if (status.ok() && old_environment != environment) {
    status = DropText(old_environment);
  }
  return status;
}

absl::Status TurnWriter::WriteLife(const LifeRow& life) {
  absl::Status status = CheckId("life.job", life.job);
  if (!status.ok()) return status;
  if (life.seq > kMaxId) {
    return absl::InvalidArgumentError(
        absl::StrCat("life.seq: ", life.seq, ", allowed is 0..", kMaxId));
  }
  return connection_.Use("INSERT INTO life VALUES(?, ?, ?, ?)")
      .Bind(life.job, life.seq, life.at, life.event)
      .Run();
}

absl::Status TurnWriter::WriteTask(const TaskRow& task) {
  absl::Status status = CheckId("tasks.key.job", task.key.job);
  if (!status.ok()) return status;
  return connection_
      .Use(
          "INSERT OR REPLACE INTO tasks "
          "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .Bind(task.key.job, task.key.role, task.key.index, task.key.attempt,
            task.node, PackNumbers(task.devices), task.state, task.started,
            task.ended, task.code, task.reason)
      .Run();
}

absl::Status TurnWriter::WriteCron(const CronRow& cron) {
  absl::Status status = CheckId("crons.id", cron.id);
  if (!status.ok()) return status;
  if (cron.removed) {
    return connection_.Use("DELETE FROM crons WHERE id = ?")
        .Bind(cron.id)
        .Run();
  }
  const std::string array = PackNumbers(cron.array);
  const std::string environment = PackStrings(cron.environment);
  return connection_
      .Use(
          "INSERT OR REPLACE INTO crons VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
          "?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .Bind(cron.id, cron.uid, cron.gid, cron.name, cron.queue, cron.priority,
            array, cron.held, cron.manifest, cron.document, cron.directory,
            environment, cron.suspended, cron.made, cron.last, cron.started,
            cron.said, cron.keep_succeeded, cron.keep_failed, cron.umask)
      .Run();
}

absl::Status TurnWriter::WriteDrains(const std::vector<DrainRow>& drains) {
  absl::Status status = connection_.Use("DELETE FROM drains").Run();
  for (const DrainRow& row : drains) {
    if (!status.ok()) return status;
    status =
        connection_.Use("INSERT INTO drains VALUES(?, ?, ?, ?, ?)")
            .Bind(row.device, row.since, row.uid, row.quarantine, row.reason)
            .Run();
  }
  return status;
}

absl::Status TurnWriter::WriteNews(const NewsRow& news) {
  absl::Status status = CheckId("news.job", news.job);
  if (!status.ok()) return status;
  // Of checkpoints of one attempt the last one stays: some jobs make many.
  if (news.what == "checkpoint") {
    status = connection_
                 .Use(
                     "UPDATE news SET at = ?1 WHERE id = (SELECT max(id) FROM "
                     "news WHERE job = ?2) AND what = ?3 AND text = ?4")
                 .Bind(news.at, news.job, news.what, news.text)
                 .Run();
    if (!status.ok() || connection_.changes() > 0) return status;
  }
  return connection_
      .Use("INSERT INTO news(job, at, what, text) VALUES(?, ?, ?, ?)")
      .Bind(news.job, news.at, news.what, news.text)
      .Run();
}

absl::Status TurnWriter::WriteJournal(const TurnSave& save) {
  if (save.journal_begins) {
    absl::Status status = connection_.Use("DELETE FROM journal").Run();
    if (!status.ok()) return status;
  }
  if (save.journal.empty()) return absl::OkStatus();
  return connection_.Use("INSERT INTO journal(bytes) VALUES(?)")
      .Bind(Blob{save.journal})
      .Run();
}

absl::Status TurnWriter::Settle(uint64_t job) {
  bool was_open = false;
  bool open = false;
  {
    Statement find = connection_.Use(
        "SELECT open, finished = ?1 OR EXISTS(SELECT 1 FROM tasks "
        "WHERE job = ?2 AND state <> 'ended') FROM jobs WHERE id = ?2");
    absl::StatusOr<bool> row = find.Bind(kForever, job).Step();
    if (!row.ok()) return row.status();
    if (!*row) return SettleUnknown(job);
    find.Read(&was_open, &open);
  }
  absl::Status status;
  if (open != was_open) {
    status = connection_.Use("UPDATE jobs SET open = ? WHERE id = ?")
                 .Bind(open, job)
                 .Run();
  }
  if (!status.ok() || open) return status;
  return connection_.Use("DELETE FROM life WHERE job = ?").Bind(job).Run();
}

absl::Status TurnWriter::SettleUnknown(uint64_t job) {
  absl::StatusOr<uint64_t> next = NextId(connection_, "jobs");
  if (!next.ok()) return next.status();
  if (job < *next) return Remove(job);  // It was pruned.
  return absl::InvalidArgumentError(
      absl::StrCat("life, tasks or news of job ", job, ", which is not kept"));
}

absl::Status TurnWriter::Remove(uint64_t job) {
  for (std::string_view sql :
       {"DELETE FROM life WHERE job = ?", "DELETE FROM tasks WHERE job = ?",
        "DELETE FROM news WHERE job = ?", "DELETE FROM jobs WHERE id = ?"}) {
    absl::Status status = connection_.Use(sql).Bind(job).Run();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status TurnWriter::DropText(int64_t text) {
  return connection_
      .Use(
          "DELETE FROM texts WHERE id = ?1 AND "
          "NOT EXISTS(SELECT 1 FROM jobs WHERE manifest = ?1) AND "
          "NOT EXISTS(SELECT 1 FROM jobs WHERE environment = ?1)")
      .Bind(text)
      .Run();
}

// Another hash, as another C++ library has it, costs a second copy only: it is
// the bytes that decide.
absl::StatusOr<int64_t> TurnWriter::TextId(std::string_view bytes) {
  int64_t hash = static_cast<int64_t>(std::hash<std::string_view>()(bytes));
  {
    Statement find =
        connection_.Use("SELECT id FROM texts WHERE hash = ? AND bytes = ?");
    absl::StatusOr<bool> row = find.Bind(hash, Blob{bytes}).Step();
    if (!row.ok()) return row.status();
    int64_t id = 0;
    if (*row) {
      find.Read(&id);
      return id;
    }
  }
  Statement add = connection_.Use(
      "INSERT INTO texts(hash, bytes) VALUES(?, ?) RETURNING id");
  absl::StatusOr<bool> row = add.Bind(hash, Blob{bytes}).Step();
  if (!row.ok()) return row.status();
  int64_t id = 0;
  if (*row) add.Read(&id);
  absl::Status status = add.Run();
  if (!status.ok()) return status;
  return id;
}

absl::StatusOr<uint64_t> NextId(Database& connection, std::string_view table) {
  Statement find =
      connection.Use("SELECT seq FROM sqlite_sequence WHERE name = ?");
  absl::StatusOr<bool> row = find.Bind(table).Step();
  if (!row.ok()) return row.status();
  uint64_t last = 0;
  if (*row) find.Read(&last);
  return last + 1;
}

}  // namespace muster::local
