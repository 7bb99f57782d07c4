#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "adapters/local/store/store.h"
#include "test/adapters/local_store/sample_rows.h"

namespace muster::local {
namespace {

using testing::AllOf;
using testing::HasSubstr;

absl::Status Opened(const std::string& path) {
  return Store::Open(path).status();
}

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

mode_t Mode(const std::string& path) {
  struct stat facts{};
  EXPECT_EQ(stat(path.c_str(), &facts), 0) << path;
  return facts.st_mode & 0777;
}

// SQL from outside.
void RunSql(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(db);
  sqlite3_close(db);
}

TEST(StoreOpenTest, WhatItMakesIsForItsUserAlone) {
  TestFolder folder;
  mode_t before = umask(0);
  std::string path = folder.path() + "/state/store/muster.db";
  {
    std::unique_ptr<Store> store = OpenStore(path);
    ASSERT_NE(store, nullptr);
    ASSERT_TRUE(store->Commit({.jobs = {SampleJob(1)}}).ok());
    EXPECT_EQ(Mode(path + "-wal"), 0600u);
  }
  umask(before);
  EXPECT_EQ(Mode(folder.path() + "/state"), 0700u);
  EXPECT_EQ(Mode(folder.path() + "/state/store"), 0700u);
  EXPECT_EQ(Mode(path), 0600u);
  EXPECT_EQ(Mode(path + ".lock"), 0600u);
}

TEST(StoreOpenTest, ACleanEndLeavesOneFile) {
  TestFolder folder;
  ASSERT_TRUE(OpenStore(folder.File())->Commit({.jobs = {SampleJob(1)}}).ok());
  EXPECT_FALSE(std::filesystem::exists(folder.File("muster.db-wal")));
  EXPECT_EQ(OpenStore(folder.File())->Load()->jobs.size(), 1u);
}

TEST(StoreOpenTest, OnlyOneProcessHasIt) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    absl::Status status = Opened(folder.File());
    bool named = absl::IsUnavailable(status) &&
                 status.message().find(absl::StrCat("process ", getppid())) !=
                     absl::string_view::npos;
    _exit(named ? 0 : 1);
  }
  int result = 0;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0) << "the child could open it, or did not say who has it";
  EXPECT_TRUE(absl::IsUnavailable(Opened(folder.File())));
  store.reset();
  EXPECT_TRUE(Opened(folder.File()).ok());
}

// As the sqlite3 shell does inside BEGIN IMMEDIATE.
TEST(StoreOpenTest, AForeignWriterHoldsACommitUpForABoundedTime) {
  TestFolder folder;
  absl::StatusOr<std::unique_ptr<Store>> store =
      Store::Open(folder.File(), {.busy_wait = 20 * kMillisecond});
  ASSERT_TRUE(store.ok());
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(folder.File().c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr),
            SQLITE_OK);
  absl::Status status = (*store)->Commit({.jobs = {SampleJob(1)}});
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(Message(status), HasSubstr(folder.File()));
  EXPECT_TRUE((*store)->Load()->jobs.empty());
  sqlite3_close(db);
  EXPECT_TRUE((*store)->Commit({.jobs = {SampleJob(1)}}).ok());
}

TEST(StoreOpenTest, AFileOfANewerVersionIsLeftAlone) {
  TestFolder folder;
  OpenStore(folder.File());
  RunSql(folder.File(), "PRAGMA user_version=1000000");
  std::string before = FileBytes(folder.File());
  absl::Status status = Opened(folder.File());
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(Message(status),
              AllOf(HasSubstr(folder.File()), HasSubstr("1000000")));
  EXPECT_EQ(FileBytes(folder.File()), before);
}

TEST(StoreOpenTest, AFileOfAnotherProgramIsLeftAlone) {
  TestFolder folder;
  RunSql(folder.File(), "CREATE TABLE jobs(id)");
  std::string before = FileBytes(folder.File());
  absl::Status status = Opened(folder.File());
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_EQ(FileBytes(folder.File()), before);

  WriteFile(folder.File("text"), std::string(5000, 'x'));
  status = Opened(folder.File("text"));
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_EQ(FileBytes(folder.File("text")), std::string(5000, 'x'));
}

// 200 jobs as a daemon that was killed leaves them: log and file are there.
void MakeUnclean(const TestFolder& folder, const std::string& path) {
  std::unique_ptr<Store> store = OpenStore(folder.File("source.db"));
  TurnSave save;
  for (uint64_t id = 1; id <= 200; ++id) {
    save.jobs.push_back(SampleJob(id));
    save.life.push_back(SampleLife(id, 0));
  }
  ASSERT_TRUE(store->Commit(save).ok());
  RunSql(folder.File("source.db"), "PRAGMA wal_checkpoint");
  ASSERT_TRUE(store->Commit({.jobs = {EndedJob(1)}}).ok());
  for (const char* end : {"", "-wal"}) {
    std::filesystem::copy_file(folder.File("source.db") + end, path + end);
  }
}

TEST(StoreOpenTest, AfterACrashWhatIsInTheLogIsThere) {
  TestFolder folder;
  MakeUnclean(folder, folder.File());
  EXPECT_EQ(OpenStore(folder.File())->Load()->jobs.size(), 199u);
}

// Whatever page is overwritten: what SQLite can see of it is told, and nothing
// is written. What it cannot see, such as another letter in a name, is not.
TEST(StoreOpenTest, DamageAfterACrashIsToldAndNothingIsWritten) {
  TestFolder folder;
  MakeUnclean(folder, folder.File("sound.db"));
  const std::string log = FileBytes(folder.File("sound.db-wal"));
  const std::string sound = FileBytes(folder.File("sound.db"));
  ASSERT_GT(sound.size(), size_t{20} * 4096);
  size_t told = 0;
  const size_t pages = sound.size() / 4096;
  for (size_t page = 0; page < pages; ++page) {
    std::string damaged = sound;
    std::fill_n(damaged.begin() + std::ptrdiff_t(page * 4096), 4096, '\xa5');
    WriteFile(folder.File(), damaged);
    WriteFile(folder.File("muster.db-wal"), log);
    absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(folder.File());
    if (store.ok()) {  // The log has a newer one of this page.
      absl::StatusOr<StoredState> state = (*store)->Load();
      ASSERT_TRUE(state.ok()) << "page " << page << ": " << state.status();
      EXPECT_EQ(state->jobs.size(), 199u) << "page " << page;
      continue;
    }
    ++told;
    EXPECT_TRUE(absl::IsDataLoss(store.status()))
        << "page " << page << ": " << store.status();
    EXPECT_THAT(Message(store.status()), HasSubstr(folder.File()));
    EXPECT_EQ(FileBytes(folder.File()), damaged);
    EXPECT_EQ(FileBytes(folder.File("muster.db-wal")), log);
  }
  EXPECT_GT(told, pages / 2);
}

// After a clean end pages are not all looked at; those that are read are.
TEST(StoreOpenTest, DamageIsToldWhenItIsRead) {
  TestFolder folder;
  {
    std::unique_ptr<Store> store = OpenStore(folder.File());
    TurnSave save;
    for (uint64_t id = 1; id <= 200; ++id) save.jobs.push_back(SampleJob(id));
    ASSERT_TRUE(store->Commit(save).ok());
  }
  std::string bytes = FileBytes(folder.File());
  for (size_t at = bytes.find("/home/user"); at != std::string::npos;
       at = bytes.find("/home/user", (at / 4096 + 1) * 4096)) {
    std::fill_n(bytes.begin() + std::ptrdiff_t(at / 4096 * 4096), 4096, '\xa5');
  }
  WriteFile(folder.File(), bytes);
  absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(folder.File());
  ASSERT_TRUE(store.ok()) << store.status();
  absl::Status status = (*store)->Load().status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(Message(status), HasSubstr(folder.File()));
  // Nor is anything else written into the file: it stays in the log, and the
  // next start looks for damage.
  EXPECT_TRUE((*store)->Commit({.journal = "x"}).ok());
  store->reset();
  EXPECT_EQ(FileBytes(folder.File()), bytes);
  EXPECT_TRUE(absl::IsDataLoss(Opened(folder.File())));
}

// A manifest that has gone: the job is not loaded without it.
TEST(StoreOpenTest, AJobWithoutItsManifestIsDamaged) {
  TestFolder folder;
  ASSERT_TRUE(OpenStore(folder.File())->Commit({.jobs = {SampleJob(5)}}).ok());
  RunSql(folder.File(), "DELETE FROM texts");
  absl::Status status = OpenStore(folder.File())->Load().status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(Message(status), HasSubstr("job 5"));
}

TEST(StoreOpenTest, TheSearchForDamageHasATimeLimit) {
  TestFolder folder;
  MakeUnclean(folder, folder.File());
  absl::StatusOr<std::unique_ptr<Store>> store =
      Store::Open(folder.File(), {.check_time = 1});
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->Load()->jobs.size(), 199u);
}

// Rights mean nothing to root: a child without them tries.
absl::StatusCode OpenedByNobody(const std::string& path) {
  pid_t child = fork();
  EXPECT_GE(child, 0);
  if (child == 0) {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(99);
    _exit(static_cast<int>(Opened(path).code()));
  }
  int result = 0;
  EXPECT_EQ(waitpid(child, &result, 0), child);
  EXPECT_TRUE(WIFEXITED(result));
  return static_cast<absl::StatusCode>(WEXITSTATUS(result));
}

TEST(StoreOpenTest, AFolderThatMayNotBeWrittenIsToldApart) {
  TestFolder folder;
  ASSERT_TRUE(OpenStore(folder.File())->Commit({.jobs = {SampleJob(1)}}).ok());
  chmod(folder.File().c_str(), 0644);
  chmod(folder.File("muster.db.lock").c_str(), 0666);
  chmod(folder.path().c_str(), 0555);
  // The lock can be had, the file not be written.
  EXPECT_EQ(OpenedByNobody(folder.File()), absl::StatusCode::kPermissionDenied);
  // No file can be made.
  EXPECT_EQ(OpenedByNobody(folder.File("other.db")),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(OpenedByNobody(folder.path() + "/below/muster.db"),
            absl::StatusCode::kPermissionDenied);
  chmod(folder.path().c_str(), 0755);
}

TEST(StoreOpenTest, APathThatIsNoFileIsToldSo) {
  TestFolder folder;
  WriteFile(folder.File("plain"), "x");
  absl::Status status = Opened(folder.File("plain") + "/muster.db");
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  std::filesystem::create_directory(folder.File());
  status = Opened(folder.File());
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(Message(status), HasSubstr(folder.File()));
}

}  // namespace
}  // namespace muster::local
