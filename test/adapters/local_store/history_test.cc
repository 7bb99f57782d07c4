#include "adapters/local/store/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/local/store/store.h"
#include "test/adapters/local_store/sample_rows.h"

namespace muster::local {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// As a page shows a job.
JobRow Short(JobRow job) {
  job.manifest.clear();
  job.environment.clear();
  return job;
}

std::vector<JobRow> Page(History& history, const HistoryFilter& filter) {
  absl::StatusOr<std::vector<JobRow>> jobs = history.Jobs(filter);
  EXPECT_TRUE(jobs.ok()) << jobs.status();
  return jobs.value_or(std::vector<JobRow>());
}

std::vector<uint64_t> Ids(History& history, const HistoryFilter& filter) {
  std::vector<uint64_t> ids;
  for (const JobRow& job : Page(history, filter)) ids.push_back(job.id);
  return ids;
}

bool Fits(const HistoryFilter& filter, const JobRow& job) {
  return (!filter.uid || job.uid == *filter.uid) &&
         (!filter.queue || job.queue == *filter.queue) &&
         (!filter.name || job.name == *filter.name) &&
         (!filter.phase || job.phase == *filter.phase) &&
         job.submitted >= filter.since && job.submitted < filter.until;
}

TEST(HistoryTest, TheNewestComeFirst) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  JobRow early = EndedJob(4);  // The clock was set back before it.
  early.submitted = SampleJob(1).submitted - 1;
  ASSERT_TRUE(
      store->Commit({.jobs = {SampleJob(1), SampleJob(2), EndedJob(3), early}})
          .ok());
  EXPECT_THAT(Page(store->history(), {}),
              ElementsAre(Short(EndedJob(3)), Short(SampleJob(2)),
                          Short(SampleJob(1)), Short(early)));
}

TEST(HistoryTest, OnePageComesBehindTheOther) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  TurnSave save;
  for (uint64_t id = 1; id <= 10; ++id) {
    save.jobs.push_back(EndedJob(id));
    save.jobs.back().submitted = 5;  // As of an array: all at once.
  }
  ASSERT_TRUE(store->Commit(save).ok());
  History& history = store->history();
  EXPECT_THAT(Ids(history, {.limit = 4}), ElementsAre(10, 9, 8, 7));
  EXPECT_THAT(Ids(history, {.before = 7, .limit = 4}), ElementsAre(6, 5, 4, 3));
  EXPECT_THAT(Ids(history, {.before = 3, .limit = 4}), ElementsAre(2, 1));
  EXPECT_THAT(Ids(history, {.before = 1, .limit = 4}), IsEmpty());
  EXPECT_THAT(Ids(history, {.before = 11, .limit = 1}), ElementsAre(10));
  EXPECT_THAT(Ids(history, {.before = ~uint64_t{0}, .limit = 1}),
              ElementsAre(10));
}

// The last job of a page may be pruned before the next page is asked for.
TEST(HistoryTest, APageComesBehindAJobThatIsGone) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  ASSERT_TRUE(
      store->Commit({.jobs = {SampleJob(1), EndedJob(2), SampleJob(3)}}).ok());
  ASSERT_EQ(Prune(*store, 0), 1u);
  EXPECT_THAT(Ids(store->history(), {.before = 2}), ElementsAre(1));
  ASSERT_TRUE(store->Commit({.jobs = {EndedJob(1)}}).ok());
  ASSERT_EQ(Prune(*store, 0), 1u);
  EXPECT_THAT(Ids(store->history(), {.before = 2}), IsEmpty());
}

TEST(HistoryTest, ALimitOutOfRangeIsRefused) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  for (uint32_t limit : {0u, HistoryFilter::kMaxLimit + 1}) {
    absl::Status status = store->history().Jobs({.limit = limit}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  }
}

// All combinations of what can be set, against a plain search.
TEST(HistoryTest, AFilterLetsThroughWhatItSays) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  TurnSave save;
  for (uint64_t id = 1; id <= 300; ++id) {
    save.jobs.push_back(id % 5 == 0 ? SampleJob(id) : EndedJob(id));
    save.jobs.back().name = absl::StrCat("name-", id % 6);
  }
  ASSERT_TRUE(store->Commit(save).ok());
  size_t found = 0;
  for (int set = 0; set < 128; ++set) {
    HistoryFilter filter{.limit = 20};
    if (set & 1) filter.uid = 1001;
    if (set & 2) filter.queue = "queue-2";
    if (set & 4) filter.name = "name-4";
    if (set & 8) filter.phase = "succeeded";
    if (set & 16) filter.since = SampleJob(30).submitted;
    if (set & 32) filter.until = SampleJob(270).submitted;
    if (set & 64) filter.before = 200;
    std::vector<uint64_t> expected;
    for (uint64_t id = 300; id >= 1 && expected.size() < 20; --id) {
      bool behind = filter.before == 0 || id < filter.before;
      if (behind && Fits(filter, save.jobs[id - 1])) expected.push_back(id);
    }
    EXPECT_EQ(Ids(store->history(), filter), expected) << set;
    found += expected.size();
  }
  EXPECT_GT(found, 500u);
}

// --- Indexes -----------------------------------------------------------------

// Connections that are opened while it is there.
std::vector<sqlite3*>* opened = nullptr;

int Remember(sqlite3* db, char**, const sqlite3_api_routines*) {
  opened->push_back(db);
  return SQLITE_OK;
}

// Lines of SQLite's plan for a statement that is prepared.
std::vector<std::string> Plan(sqlite3* db, const std::string& sql) {
  std::vector<std::string> lines;
  sqlite3_stmt* plan = nullptr;
  if (sqlite3_prepare_v2(db, ("EXPLAIN QUERY PLAN " + sql).c_str(), -1, &plan,
                         nullptr) != SQLITE_OK) {
    return lines;  // BEGIN and the like have none.
  }
  while (sqlite3_step(plan) == SQLITE_ROW) {
    lines.emplace_back(
        reinterpret_cast<const char*>(sqlite3_column_text(plan, 3)));
  }
  sqlite3_finalize(plan);
  return lines;
}

std::vector<sqlite3_stmt*> Statements(sqlite3* db) {
  std::vector<sqlite3_stmt*> all;
  for (sqlite3_stmt* one = sqlite3_next_stmt(db, nullptr); one != nullptr;
       one = sqlite3_next_stmt(db, one)) {
    all.push_back(one);
  }
  return all;
}

// A store of 100,000 jobs that have ended, and the connections to it.
class LongHistoryTest : public testing::Test {
 protected:
  static constexpr uint64_t kJobs = 100'000;

  LongHistoryTest() {
    opened = &connections_;
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(Remember));
    store_ = OpenStore(folder_.File());
    sqlite3_reset_auto_extension();
    for (uint64_t id = 1; id <= kJobs;) {
      TurnSave save;
      for (int i = 0; i < 10'000; ++i) save.jobs.push_back(EndedJob(id++));
      EXPECT_TRUE(store_->Commit(save).ok());
    }
  }

  // SQLite's steps since the last call.
  int TakeSteps() {
    int steps = 0;
    for (sqlite3* db : connections_) {
      for (sqlite3_stmt* statement : Statements(db)) {
        steps += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
      }
    }
    return steps;
  }

  std::vector<sqlite3*> connections_{};
  TestFolder folder_{};
  std::unique_ptr<Store> store_{};
};

// Filters of which each lets through at least an eighth of the jobs.
std::vector<HistoryFilter> WideFilters() {
  std::vector<HistoryFilter> filters;
  for (int set = 0; set < 32; ++set) {
    HistoryFilter filter;
    if (set & 1) filter.uid = 1001;
    if (set & 2) filter.queue = "queue-2";
    if (set & 4) filter.phase = "succeeded";
    if (set & 8) filter.before = 60'000;
    if (set & 16) filter.until = SampleJob(30'000).submitted;
    filters.push_back(filter);
  }
  return filters;
}

// No statement that is used goes through a whole table but for those that a
// start reads, and no page is sorted.
TEST_F(LongHistoryTest, StatementsUseIndexes) {
  TurnSave save{.jobs = {SampleJob(kJobs + 1), EndedJob(5)},
                .life = {SampleLife(kJobs + 1, 0)},
                .tasks = {SampleTask(kJobs + 1, 1, "run")}};
  save.jobs[1].manifest = "another";
  ASSERT_TRUE(store_->Commit(save).ok());
  ASSERT_EQ(Prune(*store_, kJobs - 10), 10u);
  ASSERT_TRUE(store_->NextOverdue().ok());
  ASSERT_TRUE(store_->Uncounted(10).ok());
  ASSERT_TRUE(store_->history().Removed(1000, 10).ok());
  ASSERT_TRUE(store_->history().Removed(std::nullopt, 10).ok());
  ASSERT_EQ(store_->Load()->jobs.size(), 1u);
  for (HistoryFilter filter : WideFilters()) {
    Page(store_->history(), filter);
    filter.name = "job-1003";
    Page(store_->history(), filter);
  }
  ASSERT_TRUE(store_->history().Find(7000).ok());
  ASSERT_TRUE(store_->history().Tasks(7000).ok());
  ASSERT_TRUE(store_->history().Events(7000).ok());

  // All rows are wanted, or there is only one.
  const std::set<std::string> whole = {
      "SCAN life",  "SCAN journal",       "SCAN sqlite_sequence",
      "SCAN last",  "SCAN sqlite_master", "SCAN CONSTANT ROW",
      "SCAN crons", "SCAN removed",       "SCAN drains"};
  size_t lines = 0;
  for (sqlite3* db : connections_) {
    for (sqlite3_stmt* statement : Statements(db)) {
      const std::string sql = sqlite3_sql(statement);
      for (const std::string& line : Plan(db, sql)) {
        ++lines;
        if (whole.contains(line)) continue;
        EXPECT_FALSE(line.starts_with("SCAN")) << line << " of " << sql;
        EXPECT_EQ(line.find("TEMP B-TREE"), line.npos) << line << " of " << sql;
      }
    }
  }
  EXPECT_GT(lines, 30u);
}

// Nothing in front of a page is passed, nor much between its rows.
TEST_F(LongHistoryTest, APageCostsWhatIsOnIt) {
  for (const HistoryFilter& filter : WideFilters()) {
    TakeSteps();
    ASSERT_EQ(Page(store_->history(), filter).size(), 100u);
    int steps = TakeSteps();
    EXPECT_GT(steps, 1000);
    EXPECT_LT(steps, 40'000)
        << "uid " << filter.uid.has_value() << ", queue "
        << filter.queue.has_value() << ", phase " << filter.phase.has_value()
        << ", before " << filter.before << ", until " << filter.until;
  }
  TakeSteps();
  ASSERT_TRUE(store_->history().Find(70'000).ok());
  EXPECT_LT(TakeSteps(), 200);
  ASSERT_TRUE(store_->Commit({.jobs = {EndedJob(3)}}).ok());
  EXPECT_LT(TakeSteps(), 500);
}

}  // namespace
}  // namespace muster::local
