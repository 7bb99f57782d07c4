// The disk: when it is waited for, and what happens when it is full.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "adapters/local/store/store.h"
#include "test/adapters/local_store/fault_vfs.h"
#include "test/adapters/local_store/sample_rows.h"

namespace muster::local {
namespace {

using testing::HasSubstr;

TurnSave Turn(uint64_t id, bool sync) {
  return {.jobs = {SampleJob(id)},
          .life = {SampleLife(id, 0)},
          .tasks = {SampleTask(id, 1, "run")},
          .journal = absl::StrCat(id, ";"),
          .sync = sync};
}

TEST(StoreFaultTest, TheDiskIsWaitedForWhereATurnAsksForIt) {
  FaultVfs vfs;
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  EXPECT_GT(vfs.TakeSyncs(), 0u) << "the tables are on the disk";
  for (uint64_t id = 1; id < 40; ++id) {
    bool sync = id % 4 == 0;
    ASSERT_TRUE(store->Commit(Turn(id, sync)).ok());
    if (sync) {
      EXPECT_GE(vfs.TakeSyncs(), 1u) << id;
    } else {
      EXPECT_EQ(vfs.TakeSyncs(), 0u) << id;
    }
  }
}

TEST(StoreFaultTest, ADiskThatCannotSyncIsTold) {
  FaultVfs vfs;
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  ASSERT_TRUE(store->Commit(Turn(1, true)).ok());
  StoredState before = *store->Load();
  vfs.FailSync(true);
  absl::Status status = store->Commit(Turn(2, true));
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(*store->Load(), before);
  // Nobody waits for the disk here.
  EXPECT_TRUE(store->Commit(Turn(3, false)).ok());
  vfs.FailSync(false);
  EXPECT_TRUE(store->Commit(Turn(2, true)).ok());
  EXPECT_EQ(store->Load()->jobs.size(), 3u);
}

// The disk becomes full at each write of a turn in its turn.
TEST(StoreFaultTest, AFullDiskChangesNothingAndALaterAttemptIsKept) {
  FaultVfs vfs;
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  ASSERT_TRUE(store->Commit(Turn(1, false)).ok());
  TurnSave save = Turn(2, true);
  save.jobs.push_back(EndedJob(1));
  save.tasks.push_back(SampleTask(1, 1, "ended"));
  save.jobs[0].manifest = std::string(50'000, 'm');
  save.journal_begins = true;
  uint32_t writes = 0;
  for (;; ++writes) {
    StoredState before = *store->Load();
    vfs.FillAfter(writes);
    absl::Status status = store->Commit(save);
    if (status.ok()) break;
    ASSERT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(folder.File()));
    ASSERT_EQ(*store->Load(), before) << "after " << writes << " writes";
    ASSERT_LT(writes, 1000u);
  }
  EXPECT_GT(writes, 10u);
  StoredState after = *store->Load();
  ASSERT_EQ(after.jobs.size(), 1u);
  EXPECT_EQ(after.jobs[0], save.jobs[0]);
  EXPECT_EQ(after.journal, save.journal);
  // As a crash would leave it.
  store.reset();
  EXPECT_EQ(*OpenStore(folder.File())->Load(), after);
}

// The log cannot be written back, and grows until it can.
TEST(StoreFaultTest, AFullDiskAtTheEndLosesNothing) {
  TestFolder folder;
  {
    FaultVfs vfs;
    std::unique_ptr<Store> store = OpenStore(folder.File());
    ASSERT_TRUE(store->Commit(Turn(1, false)).ok());
    vfs.FillAfter(0);
    EXPECT_TRUE(absl::IsResourceExhausted(store->Commit(Turn(2, false))));
    store.reset();
  }
  EXPECT_EQ(OpenStore(folder.File())->Load()->jobs.size(), 1u);
}

TEST(StoreFaultTest, AFullDiskAtTheBeginningIsTold) {
  FaultVfs vfs;
  TestFolder folder;
  vfs.FillAfter(3);
  absl::Status status = Store::Open(folder.File()).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  vfs.FillAfter(std::nullopt);
  EXPECT_EQ(*OpenStore(folder.File())->Load(), StoredState());
}

}  // namespace
}  // namespace muster::local
