#include "adapters/local/host/tidier.h"

#include <filesystem>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_host/temporary_folder.h"

namespace muster::local {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Time kEnd = 1'000 * kSecond;

class TidierTest : public testing::Test {
 protected:
  TidierTest() {
    auto store = Store::Open(folder_ / "muster.db");
    EXPECT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  // A job that has ended then, with so many files.
  JobRow Ended(uint64_t id, Duration ttl = -1, int files = 1) {
    JobRow row{.id = id, .name = "job", .phase = "succeeded"};
    row.finished = kEnd + static_cast<Time>(id) * kSecond;
    row.ttl = ttl;
    fs::create_directories(FolderOf(id));
    for (int i = 0; i < files; ++i) {
      WriteText(absl::StrCat(FolderOf(id), "/", i), "text");
    }
    EXPECT_TRUE(store_->Commit({.jobs = {row}}).ok());
    return row;
  }
  std::string FolderOf(uint64_t id) const {
    return folder_ / absl::StrCat("jobs/", id);
  }
  // Those that are kept, and those that have files.
  std::vector<uint64_t> Kept() {
    std::vector<uint64_t> ids;
    for (uint64_t id = 1; id < 10; ++id) {
      const bool row = store_->history().Find(id).ok();
      EXPECT_EQ(row, fs::exists(FolderOf(id))) << id;
      if (row) ids.push_back(id);
    }
    return ids;
  }

  TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
};

TEST_F(TidierTest, WhatIsOverGoesWithItsFilesAndThePassSaysWhenTheNextIs) {
  Tidier tidier(store_.get(), folder_.path(), {.linger = Tidier::kLinger});
  EXPECT_EQ(tidier.due_at(), 0);
  const JobRow first = Ended(1, 10 * kSecond);
  const JobRow second = Ended(2, 100 * kSecond);
  Ended(3);
  ASSERT_TRUE(tidier.Pass(first.finished).ok());
  EXPECT_THAT(Kept(), ElementsAre(1, 2, 3));
  const Time due = first.finished + 10 * kSecond + Tidier::kLinger;
  EXPECT_EQ(tidier.due_at(), due);
  ASSERT_TRUE(tidier.Pass(due).ok());
  EXPECT_THAT(Kept(), ElementsAre(2, 3));
  EXPECT_EQ(tidier.due_at(), second.finished + 100 * kSecond + Tidier::kLinger);
  ASSERT_TRUE(tidier.Pass(tidier.due_at()).ok());
  EXPECT_THAT(Kept(), ElementsAre(3));
}

TEST_F(TidierTest, AJobThatEndsBringsThePassForward) {
  Tidier tidier(store_.get(), folder_.path(), {.linger = Tidier::kLinger});
  ASSERT_TRUE(tidier.Pass(kEnd).ok());
  EXPECT_EQ(tidier.due_at(), kEnd + Tidier::kEvery);
  JobRow runs{.id = 1, .ttl = 0};
  tidier.Kept({.jobs = {runs, Ended(2)}}, kEnd);
  EXPECT_EQ(tidier.due_at(), kEnd + Tidier::kEvery);
  const JobRow ended = Ended(3, 0);
  tidier.Kept({.jobs = {ended}}, kEnd);
  EXPECT_EQ(tidier.due_at(), ended.finished + Tidier::kLinger);
}

TEST_F(TidierTest, AJobOfManyFilesGoesInSeveralPasses) {
  Tidier tidier(store_.get(), folder_.path(), {.jobs = 0});
  Ended(1, -1, static_cast<int>(Tidier::kMostFiles) + 10);
  Ended(2);
  ASSERT_TRUE(tidier.Pass(kEnd).ok());
  EXPECT_EQ(tidier.due_at(), kEnd);  // There is more.
  EXPECT_THAT(Kept(), ElementsAre(1, 2));
  ASSERT_TRUE(tidier.Pass(kEnd).ok());
  EXPECT_THAT(Kept(), IsEmpty());
}

TEST_F(TidierTest, FilesBeyondTheLimitGoWithTheirJobsTheOldestFirst) {
  Ended(1);
  Ended(2);
  Ended(3);
  int64_t most = std::numeric_limits<int64_t>::max() - 1;
  {
    Tidier all(store_.get(), folder_.path(), {.bytes = most});
    ASSERT_TRUE(all.Pass(kEnd).ok());
    EXPECT_THAT(Kept(), ElementsAre(1, 2, 3));
    EXPECT_THAT(*store_->Uncounted(10), IsEmpty());
  }
  ASSERT_TRUE(store_->SetBytes(2, 100).ok());
  ASSERT_TRUE(store_->SetBytes(3, 100).ok());
  most = 200;
  Tidier few(store_.get(), folder_.path(), {.bytes = most});
  ASSERT_TRUE(few.Pass(kEnd).ok());
  EXPECT_THAT(Kept(), ElementsAre(2, 3));
}

TEST_F(TidierTest, WhatCannotBeRemovedStaysIsToldAndHoldsUpNothing) {
  Tidier tidier(store_.get(), folder_.path(), {.jobs = 0});
  Ended(1);
  std::string deep = FolderOf(1);
  for (int i = 0; i < 40; ++i) deep += "/d";
  fs::create_directories(deep);
  Ended(2);
  EXPECT_FALSE(tidier.Pass(kEnd).ok());
  EXPECT_THAT(Kept(), ElementsAre(1));
  EXPECT_EQ(tidier.due_at(), kEnd + Tidier::kEvery);
}

}  // namespace
}  // namespace muster::local
