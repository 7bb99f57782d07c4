#include "adapters/local/store/retention.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "adapters/local/store/turn_writer.h"

namespace muster::local {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

constexpr std::string_view kByTtl =
    "SELECT id FROM jobs INDEXED BY jobs_by_ttl WHERE open = 0 AND ttl >= 0 "
    "AND finished + ttl <= ?1 "
    "ORDER BY finished + ttl LIMIT ?2";
constexpr std::string_view kByAge =
    "SELECT id FROM jobs WHERE open = 0 AND finished < ?1 "
    "ORDER BY finished, id LIMIT ?2";
constexpr std::string_view kByJobs =
    "SELECT id FROM jobs WHERE open = 0 AND (finished, id) <= "
    "(SELECT finished, id FROM jobs WHERE open = 0 "
    "ORDER BY finished DESC, id DESC LIMIT 1 OFFSET ?1) "
    "ORDER BY finished, id LIMIT ?2";
// With the files of those that ended later.
constexpr std::string_view kByBytes =
    "SELECT id FROM (SELECT id, finished, sum(max(bytes, 0)) "
    "OVER (ORDER BY finished DESC, id DESC) AS bytes FROM jobs "
    "WHERE open = 0) WHERE bytes > ?1 ORDER BY finished, id LIMIT ?2";

// Of each calendar and outcome, those behind the last so many.
constexpr std::string_view kByCron =
    "SELECT id FROM (SELECT jobs.id AS id, finished, "
    "iif(phase = 'succeeded', keep_succeeded, keep_failed) AS keep, "
    "row_number() OVER (PARTITION BY cron, phase = 'succeeded' "
    "ORDER BY finished DESC, jobs.id DESC) AS place "
    "FROM crons JOIN jobs ON cron = crons.id WHERE open = 0 AND cron > 0) "
    "WHERE keep >= ?1 AND place > keep ORDER BY finished, id LIMIT ?2";

// The jobs that the SQL gives for a limit, those that are there already left
// out.
absl::Status Add(Database& connection, std::string_view sql, int64_t limit,
                 OverdueWhy why, uint32_t most, std::vector<OverdueJob>* jobs) {
  Statement find = connection.Use(sql);
  find.Bind(limit, most);
  while (jobs->size() < most) {
    absl::StatusOr<bool> row = find.Step();
    if (!row.ok() || !*row) return row.status();
    OverdueJob job{.why = why};
    find.Read(&job.id);
    if (std::ranges::find(*jobs, job.id, &OverdueJob::id) == jobs->end()) {
      jobs->push_back(job);
    }
  }
  return absl::OkStatus();
}

absl::Status Note(Database& connection, const OverdueJob& job, Time now) {
  return connection
      .Use(
          "INSERT INTO removed(job, uid, name, phase, finished, at, why, "
          "bytes) SELECT id, uid, name, phase, finished, ?2, ?3, bytes "
          "FROM jobs WHERE id = ?1")
      .Bind(job.id, now, Name(job.why))
      .Run();
}

}  // namespace

absl::StatusOr<std::vector<OverdueJob>> FindOverdue(Database& connection,
                                                    const Retention& retention,
                                                    Time now, uint32_t most) {
  const Time before = std::max<Time>(0, now - std::min(retention.age, now));
  const auto count = static_cast<int64_t>(
      std::min(retention.jobs, static_cast<uint64_t>(kNoLimit)));
  std::vector<OverdueJob> jobs;
  absl::Status status = Add(connection, kByTtl, now - retention.linger,
                            OverdueWhy::kTtl, most, &jobs);
  absl::StatusOr<int64_t> crons =
      connection.Integer("SELECT EXISTS(SELECT 1 FROM crons)");
  if (!crons.ok()) return crons.status();
  if (status.ok() && *crons != 0) {
    status = Add(connection, kByCron, 0, OverdueWhy::kCron, most, &jobs);
  }
  if (status.ok() && retention.age != kForever) {
    status = Add(connection, kByAge, before, OverdueWhy::kAge, most, &jobs);
  }
  if (status.ok() && count != kNoLimit) {
    status = Add(connection, kByJobs, count, OverdueWhy::kJobs, most, &jobs);
  }
  if (status.ok() && retention.bytes != kNoLimit) {
    status = Add(connection, kByBytes, retention.bytes, OverdueWhy::kBytes,
                 most, &jobs);
  }
  if (!status.ok()) return status;
  return jobs;
}

absl::Status RemoveJobs(Database& connection, std::span<const OverdueJob> jobs,
                        Time now, uint32_t notes) {
  TurnWriter writer(&connection);
  std::set<int64_t> texts;
  absl::Status status;
  for (const OverdueJob& job : jobs) {
    {
      Statement find = connection.Use(
          "SELECT manifest, environment FROM jobs WHERE id = ? AND open = 0");
      absl::StatusOr<bool> row = find.Bind(job.id).Step();
      if (!row.ok()) return row.status();
      if (!*row) continue;
      int64_t manifest = 0;
      int64_t environment = 0;
      find.Read(&manifest, &environment);
      texts.insert({manifest, environment});
    }
    status = Note(connection, job, now);
    if (status.ok()) status = writer.Remove(job.id);
    if (!status.ok()) return status;
  }
  for (const int64_t text : texts) {
    status = writer.DropText(text);
    if (!status.ok()) return status;
  }
  return connection
      .Use("DELETE FROM removed WHERE id <= (SELECT max(id) FROM removed) - ?")
      .Bind(notes)
      .Run();
}

}  // namespace muster::local
