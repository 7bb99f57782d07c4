#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/local/store/store.h"
#include "test/adapters/local_store/sample_rows.h"

namespace muster::local {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<uint64_t> Ids(Store& store) {
  absl::StatusOr<std::vector<JobRow>> jobs =
      store.history().Jobs({.limit = HistoryFilter::kMaxLimit});
  EXPECT_TRUE(jobs.ok()) << jobs.status();
  std::vector<uint64_t> ids;
  for (const JobRow& job : *jobs) ids.push_back(job.id);
  return ids;
}

uint32_t Pruned(Store& store, Time before, uint64_t keep) {
  absl::StatusOr<uint32_t> count = store.Prune(before, keep);
  EXPECT_TRUE(count.ok()) << count.status();
  return count.value_or(~0u);
}

TEST(StorePruneTest, JobsThatEndedBeforeGoTheOldestFirst) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  ASSERT_TRUE(store
                  ->Commit({.jobs = {EndedJob(1), SampleJob(2), EndedJob(3),
                                     EndedJob(4), EndedJob(5)},
                            .tasks = {SampleTask(1, 1, "ended"),
                                      SampleTask(5, 1, "run")}})
                  .ok());
  EXPECT_EQ(Pruned(*store, EndedJob(1).finished, 0), 0u);
  EXPECT_EQ(Pruned(*store, EndedJob(3).finished, 0), 1u);
  EXPECT_THAT(Ids(*store), ElementsAre(5, 4, 3, 2));
  EXPECT_THAT(*store->history().Tasks(1), IsEmpty());
  // Neither an unfinished job nor one whose task runs.
  EXPECT_EQ(Pruned(*store, kForever, 0), 2u);
  EXPECT_THAT(Ids(*store), ElementsAre(5, 2));
}

TEST(StorePruneTest, TheLastThatEndedStay) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  JobRow late = EndedJob(1);  // The oldest id, but the last to end.
  late.finished += kHour;
  ASSERT_TRUE(
      store->Commit({.jobs = {late, EndedJob(2), EndedJob(3), EndedJob(4)}})
          .ok());
  EXPECT_EQ(Pruned(*store, kForever, 4), 0u);
  EXPECT_EQ(Pruned(*store, kForever, ~uint64_t{0}), 0u);
  EXPECT_EQ(Pruned(*store, kForever, 2), 2u);
  EXPECT_THAT(Ids(*store), ElementsAre(4, 1));
}

TEST(StorePruneTest, OneCallForgetsSoManyAtMost) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  TurnSave save;
  for (uint64_t id = 1; id <= Store::kMaxPruned + 5; ++id) {
    save.jobs.push_back(EndedJob(id));
  }
  ASSERT_TRUE(store->Commit(save).ok());
  EXPECT_EQ(Pruned(*store, kForever, 1), Store::kMaxPruned);
  EXPECT_EQ(Pruned(*store, kForever, 1), 4u);
  EXPECT_EQ(Pruned(*store, kForever, 1), 0u);
  EXPECT_THAT(Ids(*store), ElementsAre(Store::kMaxPruned + 5));
}

TEST(StorePruneTest, NewsOfAJobAreKeptAsLongAsItself) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  const NewsRow held{1, 5, "held", ""};
  const NewsRow first{1, 6, "checkpoint", "attempt 1"};
  const NewsRow second{1, 7, "checkpoint", "attempt 1"};
  const NewsRow third{1, 8, "checkpoint", "attempt 2"};
  ASSERT_TRUE(
      store->Commit({.jobs = {SampleJob(1)}, .news = {held, first}}).ok());
  EXPECT_THAT(*store->history().News(1), ElementsAre(held, first));
  ASSERT_TRUE(store->Commit({.news = {second, third}}).ok());
  EXPECT_THAT(*store->history().News(1), ElementsAre(held, second, third));
  EXPECT_FALSE(store->Commit({.news = {{2, 9, "held", ""}}}).ok());
  ASSERT_TRUE(store->Commit({.jobs = {EndedJob(1)}}).ok());
  EXPECT_THAT(*store->history().News(1), ElementsAre(held, second, third));
  EXPECT_EQ(Pruned(*store, kForever, 0), 1u);
  EXPECT_THAT(*store->history().News(1), IsEmpty());
}

TEST(StorePruneTest, IdsAreNotGivenAgainAndLateRowsAreIgnored) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  ASSERT_TRUE(store->Commit({.jobs = {EndedJob(7)}}).ok());
  EXPECT_EQ(Pruned(*store, kForever, 0), 1u);
  absl::Status status = store->Commit(
      {.life = {SampleLife(7, 1)}, .tasks = {SampleTask(7, 1, "run")}});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(*store->Load(), StoredState{.next_job = 8});
  EXPECT_THAT(*store->history().Tasks(7), IsEmpty());
  store.reset();
  EXPECT_EQ(OpenStore(folder.File())->Load()->next_job, 8u);
}

// Texts that two jobs share stay for the other; then their space is used again.
TEST(StorePruneTest, SpaceIsUsedAgain) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  const std::string manifest(300'000, 'm');
  for (uint64_t id = 1; id <= 40; ++id) {
    JobRow job = EndedJob(id);
    job.manifest = manifest + std::to_string(id / 2);
    ASSERT_TRUE(store->Commit({.jobs = {job}}).ok());
    Pruned(*store, kForever, 1);
    EXPECT_EQ(store->history().Find(id)->manifest, job.manifest);
  }
  // A text that is changed goes, too.
  JobRow job = SampleJob(41);
  for (int i = 0; i < 20; ++i) {
    job.manifest = manifest + "changed" + std::to_string(i);
    ASSERT_TRUE(store->Commit({.jobs = {job}}).ok());
  }
  store.reset();
  EXPECT_LT(FileBytes(folder.File()).size(), 5 * manifest.size());
}

}  // namespace
}  // namespace muster::local
