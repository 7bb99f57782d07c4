// The length of SQLite's log while somebody reads.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "adapters/local/store/store.h"
#include "test/adapters/local_store/sample_rows.h"

namespace muster::local {
namespace {

constexpr uint64_t kMegabyte = 1 << 20;

uint64_t LogBytes(const TestFolder& folder) {
  return std::filesystem::file_size(folder.File("muster.db-wal"));
}

// `turns` turns of 20 kB; the longest that the log was.
uint64_t LongestLog(Store& store, const TestFolder& folder, int turns) {
  uint64_t longest = 0;
  for (int turn = 0; turn < turns; ++turn) {
    TurnSave save{.journal = std::string(20'000, 'j'),
                  .journal_begins = turn % 50 == 0};
    EXPECT_TRUE(store.Commit(save).ok());
    longest = std::max(longest, LogBytes(folder));
  }
  return longest;
}

TEST(StoreLogTest, WhatIsReservedStaysAndIsNoContent) {
  constexpr uint64_t kReserved = 12 * kMegabyte;
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  ASSERT_TRUE(store->Reserve().ok());
  EXPECT_GE(LogBytes(folder), kReserved);
  ASSERT_TRUE(store->Commit({.jobs = {SampleJob(1)}}).ok());
  // As after a crash.
  std::filesystem::copy(folder.File("muster.db"), folder.File("copy"));
  std::filesystem::copy(folder.File("muster.db-wal"), folder.File("copy-wal"));
  const auto copy = OpenStore(folder.File("copy"))->Load();
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(copy->jobs, std::vector<JobRow>{SampleJob(1)});
  // It begins anew several times.
  EXPECT_LT(LongestLog(*store, folder, 2000), kReserved + kMegabyte);
  EXPECT_GE(LogBytes(folder), kReserved);
  ASSERT_TRUE(store->Reserve().ok());
  store.reset();
  EXPECT_FALSE(std::filesystem::exists(folder.File("muster.db-wal")));
  const auto kept = OpenStore(folder.File())->Load();
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(kept->jobs, std::vector<JobRow>{SampleJob(1)});
}

// 160 MB are written.
TEST(StoreLogTest, ItStaysShortWhilePagesAreReadAllTheTime) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  TurnSave save;
  for (uint64_t id = 1; id <= 500; ++id) save.jobs.push_back(EndedJob(id));
  ASSERT_TRUE(store->Commit(save).ok());
  std::atomic<bool> stop = false;
  std::atomic<int> pages = 0;
  std::thread reader([&] {
    absl::StatusOr<History> history = History::Open(folder.File());
    while (!stop) {
      absl::StatusOr<std::vector<JobRow>> page = history->Jobs({.limit = 100});
      ASSERT_TRUE(page.ok()) << page.status();
      ASSERT_EQ(page->size(), 100u);
      ++pages;
    }
  });
  while (pages == 0) std::this_thread::yield();
  uint64_t longest = LongestLog(*store, folder, 8000);
  stop = true;
  reader.join();
  RecordProperty("log_bytes", static_cast<int>(longest));
  RecordProperty("pages", pages);
  // A reader that does not get the processor keeps what it reads for so long.
  EXPECT_LT(longest, 120 * kMegabyte);
}

// Nobody can take away what another process still reads; nor does each turn
// wait for it.
TEST(StoreLogTest, ItBecomesShortAgainAfterAForeignReaderHasGone) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  ASSERT_TRUE(store->Commit({.jobs = {SampleJob(1)}}).ok());
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(folder.File().c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "BEGIN; SELECT count(*) FROM jobs", nullptr,
                         nullptr, nullptr),
            SQLITE_OK);
  auto start = std::chrono::steady_clock::now();
  EXPECT_GT(LongestLog(*store, folder, 1000), 16 * kMegabyte);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
  sqlite3_close(db);
  LongestLog(*store, folder, 50);
  EXPECT_LE(LogBytes(folder), 12 * kMegabyte);
}

}  // namespace
}  // namespace muster::local
