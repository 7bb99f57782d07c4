#include "adapters/local/store/history.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/store/rows.h"

namespace muster::local {
namespace {

constexpr Duration kBusyWait = kSecond;

// The condition on a column. Only that of the index that is to be used goes
// without "+", which keeps SQLite from choosing another.
std::string Condition(const char* column, bool by_index) {
  return absl::StrCat(by_index ? "" : "+", column, " = ? AND ");
}

// Its parameters are name, phase, queue and uid, those of them that are set,
// then since, the time and the id behind which the page begins, and limit.
std::string PageQuery(const HistoryFilter& filter) {
  std::string conditions;
  for (auto [set, column] : {std::pair(filter.name.has_value(), "name"),
                             std::pair(filter.phase.has_value(), "phase"),
                             std::pair(filter.queue.has_value(), "queue"),
                             std::pair(filter.uid.has_value(), "uid")}) {
    if (set) conditions += Condition(column, conditions.empty());
  }
  return absl::StrCat("SELECT ", kJobColumns, " FROM jobs WHERE ", conditions,
                      "submitted >= ? AND (submitted, id) < (?, ?) "
                      "ORDER BY submitted DESC, id DESC LIMIT ?");
}

}  // namespace

absl::StatusOr<History> History::Open(const std::string& path) {
  absl::StatusOr<std::unique_ptr<Database>> connection =
      Database::Open(path, Database::Access::kRead, kBusyWait);
  if (!connection.ok()) return connection.status();
  return History(*std::move(connection));
}

absl::StatusOr<bool> History::Position(uint64_t before, Time* submitted,
                                       uint64_t* id) {
  Statement job = connection_->Use(
      "SELECT submitted, id FROM jobs WHERE id <= ? ORDER BY id DESC LIMIT 1");
  job.Bind(std::min<uint64_t>(before, std::numeric_limits<int64_t>::max()));
  absl::StatusOr<bool> row = job.Step();
  if (!row.ok() || !*row) return row;
  job.Read(submitted, id);
  // Itself belongs to the page if it stands for one that is gone.
  if (*id != before) ++*id;
  return true;
}

absl::StatusOr<std::vector<JobRow>> History::Jobs(const HistoryFilter& filter) {
  if (filter.limit < 1 || filter.limit > HistoryFilter::kMaxLimit) {
    return absl::InvalidArgumentError(absl::StrCat(
        "limit: ", filter.limit, ", allowed is 1..", HistoryFilter::kMaxLimit));
  }
  std::vector<JobRow> jobs;
  Time submitted = kForever;
  uint64_t id = std::numeric_limits<int64_t>::max();
  if (filter.before > 0) {
    absl::StatusOr<bool> there = Position(filter.before, &submitted, &id);
    if (!there.ok()) return there.status();
    if (!*there) return jobs;
  }
  // One bound: of two SQLite would go through all that is behind the wider.
  if (filter.until != kForever && filter.until <= submitted) {
    submitted = filter.until;
    id = 0;
  }
  Statement page = connection_->Use(PageQuery(filter));
  if (filter.name) page.Bind(*filter.name);
  if (filter.phase) page.Bind(*filter.phase);
  if (filter.queue) page.Bind(*filter.queue);
  if (filter.uid) page.Bind(*filter.uid);
  page.Bind(filter.since, submitted, id, filter.limit);
  while (true) {
    absl::StatusOr<bool> row = page.Step();
    if (!row.ok()) return row.status();
    if (!*row) return jobs;
    jobs.push_back(ReadJob(page));
  }
}

absl::StatusOr<JobRow> History::Find(uint64_t job) {
  Statement find = connection_->Use(
      absl::StrCat("SELECT ", kJobColumns, kWholeJobColumns, " FROM ",
                   kWholeJobTables, " WHERE jobs.id = ?"));
  absl::StatusOr<bool> row = find.Bind(job).Step();
  if (!row.ok()) return row.status();
  if (!*row) return absl::NotFoundError(absl::StrCat("job ", job));
  return ReadWholeJob(find);
}

absl::StatusOr<std::vector<TaskRow>> History::Tasks(uint64_t job) {
  Statement find = connection_->Use(
      absl::StrCat("SELECT ", kTaskColumns,
                   " FROM tasks WHERE job = ? ORDER BY role, task, attempt"));
  find.Bind(job);
  std::vector<TaskRow> tasks;
  while (true) {
    absl::StatusOr<bool> row = find.Step();
    if (!row.ok()) return row.status();
    if (!*row) return tasks;
    absl::StatusOr<TaskRow> task = ReadTask(find);
    if (!task.ok()) return task.status();
    tasks.push_back(*std::move(task));
  }
}

absl::StatusOr<std::vector<LifeRow>> History::Events(uint64_t job) {
  Statement find = connection_->Use(
      "SELECT job, seq, at, event FROM life WHERE job = ? ORDER BY seq");
  find.Bind(job);
  std::vector<LifeRow> events;
  while (true) {
    absl::StatusOr<bool> row = find.Step();
    if (!row.ok()) return row.status();
    if (!*row) return events;
    events.push_back(ReadLife(find));
  }
}

absl::StatusOr<std::vector<NewsRow>> History::News(uint64_t job) {
  Statement find = connection_->Use(
      "SELECT job, at, what, text FROM news WHERE job = ? ORDER BY id");
  find.Bind(job);
  std::vector<NewsRow> list;
  while (true) {
    absl::StatusOr<bool> row = find.Step();
    if (!row.ok()) return row.status();
    if (!*row) return list;
    NewsRow& news = list.emplace_back();
    find.Read(&news.job, &news.at, &news.what, &news.text);
  }
}

absl::StatusOr<std::vector<RemovedRow>> History::Removed(
    std::optional<uint32_t> uid, uint32_t limit) {
  Statement find = connection_->Use(
      uid ? "SELECT job, uid, name, phase, finished, at, why, bytes FROM "
            "removed WHERE uid = ?2 ORDER BY id DESC LIMIT ?1"
          : "SELECT job, uid, name, phase, finished, at, why, bytes FROM "
            "removed ORDER BY id DESC LIMIT ?1");
  find.Bind(limit);
  if (uid) find.Bind(*uid);
  std::vector<RemovedRow> rows;
  while (true) {
    absl::StatusOr<bool> more = find.Step();
    if (!more.ok()) return more.status();
    if (!*more) return rows;
    RemovedRow& row = rows.emplace_back();
    find.Read(&row.job, &row.uid, &row.name, &row.phase, &row.finished, &row.at,
              &row.why, &row.bytes);
  }
}

}  // namespace muster::local
