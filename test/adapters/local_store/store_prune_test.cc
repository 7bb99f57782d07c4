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

TEST(StorePruneTest, JobsThatEndedBeforeGoTheOldestFirst) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  ASSERT_TRUE(store
                  ->Commit({.jobs = {EndedJob(1), SampleJob(2), EndedJob(3),
                                     EndedJob(4), EndedJob(5)},
                            .tasks = {SampleTask(1, 1, "ended"),
                                      SampleTask(5, 1, "run")}})
                  .ok());
  const Retention hour{.age = kHour};
  EXPECT_EQ(Prune(*store, hour, EndedJob(1).finished + kHour), 0u);
  EXPECT_EQ(Prune(*store, hour, EndedJob(3).finished + kHour), 1u);
  EXPECT_THAT(Ids(*store), ElementsAre(5, 4, 3, 2));
  EXPECT_THAT(*store->history().Tasks(1), IsEmpty());
  // Neither an unfinished job nor one whose task runs.
  EXPECT_EQ(Prune(*store, 0), 2u);
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
  EXPECT_EQ(Prune(*store, 4), 0u);
  EXPECT_EQ(Prune(*store, ~uint64_t{0}), 0u);
  EXPECT_EQ(Prune(*store, 2), 2u);
  EXPECT_THAT(Ids(*store), ElementsAre(4, 1));
}

TEST(StorePruneTest, OneCallForgetsSoManyAtMost) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  TurnSave save;
  for (uint64_t id = 1; id <= Store::kMaxOverdue + 5; ++id) {
    save.jobs.push_back(EndedJob(id));
  }
  ASSERT_TRUE(store->Commit(save).ok());
  EXPECT_EQ(Prune(*store, 1), Store::kMaxOverdue);
  EXPECT_EQ(Prune(*store, 1), 4u);
  EXPECT_EQ(Prune(*store, 1), 0u);
  EXPECT_THAT(Ids(*store), ElementsAre(Store::kMaxOverdue + 5));
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
  EXPECT_EQ(Prune(*store, 0), 1u);
  EXPECT_THAT(*store->history().News(1), IsEmpty());
}

TEST(StorePruneTest, IdsAreNotGivenAgainAndLateRowsAreIgnored) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  ASSERT_TRUE(store->Commit({.jobs = {EndedJob(7)}}).ok());
  EXPECT_EQ(Prune(*store, 0), 1u);
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
    Prune(*store, 1);
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

TEST(StorePruneTest, AJobGoesWhenItsOwnTimeIsOver) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  const Time end = EndedJob(1).finished;
  std::vector<JobRow> jobs;
  for (const uint64_t id : {1, 2, 3, 4}) jobs.push_back(EndedJob(id));
  for (JobRow& job : jobs) job.finished = end;
  jobs[0].ttl = 3 * kHour;
  jobs[1].ttl = kHour;
  jobs[2].ttl = -1;
  jobs[3].ttl = 0;
  // It has ended, but a task of it still runs.
  ASSERT_TRUE(
      store->Commit({.jobs = jobs, .tasks = {SampleTask(4, 1, "run")}}).ok());
  EXPECT_EQ(store->NextOverdue().value_or(0), end + kHour);
  const Retention linger{.linger = kSecond};
  EXPECT_EQ(Prune(*store, linger, end + kHour), 0u);
  EXPECT_EQ(Prune(*store, linger, end + kHour + kSecond), 1u);
  EXPECT_THAT(Ids(*store), ElementsAre(4, 3, 1));
  EXPECT_EQ(store->NextOverdue().value_or(0), end + 3 * kHour);
  ASSERT_TRUE(store->Commit({.tasks = {SampleTask(4, 1, "ended")}}).ok());
  EXPECT_EQ(Prune(*store, linger, end + 4 * kHour), 2u);
  EXPECT_THAT(Ids(*store), ElementsAre(3));
  EXPECT_EQ(store->NextOverdue().value_or(0), kForever);
}

TEST(StorePruneTest, FilesOfTheLastToEndStayWithinTheLimit) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  ASSERT_TRUE(store
                  ->Commit({.jobs = {EndedJob(1), EndedJob(2), EndedJob(3),
                                     SampleJob(4)}})
                  .ok());
  EXPECT_THAT(*store->Uncounted(2), ElementsAre(1, 2));
  for (const uint64_t id : {1, 2, 3}) {
    ASSERT_TRUE(store->SetBytes(id, 100).ok());
  }
  EXPECT_THAT(*store->Uncounted(10), IsEmpty());
  const Time now = EndedJob(9).finished;
  EXPECT_EQ(Prune(*store, {.bytes = 300}, now), 0u);
  EXPECT_EQ(Prune(*store, {.bytes = 299}, now), 1u);
  EXPECT_THAT(Ids(*store), ElementsAre(4, 3, 2));
  EXPECT_EQ(Prune(*store, {.bytes = 0}, now), 2u);
  EXPECT_THAT(Ids(*store), ElementsAre(4));
}

TEST(StorePruneTest, WhatWentIsToldTheLastFirst) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  ASSERT_TRUE(store->Commit({.jobs = {EndedJob(1), EndedJob(2)}}).ok());
  ASSERT_TRUE(store->SetBytes(2, 77).ok());
  EXPECT_EQ(Prune(*store, {.age = kHour}, EndedJob(2).finished + kHour), 1u);
  EXPECT_EQ(Prune(*store, {.jobs = 0}, kHour), 1u);
  const JobRow first = EndedJob(1);
  const JobRow second = EndedJob(2);
  EXPECT_THAT(*store->history().Removed(std::nullopt, 10),
              ElementsAre(RemovedRow{2, second.uid, second.name, second.phase,
                                     second.finished, kHour, "jobs", 77},
                          RemovedRow{1, first.uid, first.name, first.phase,
                                     first.finished, second.finished + kHour,
                                     "age", -1}));
  EXPECT_EQ(store->history().Removed(first.uid, 10)->size(), 1u);
  EXPECT_EQ(store->history().Removed(std::nullopt, 1)->size(), 1u);
  // A job that is not over, or not there, is not forgotten.
  ASSERT_TRUE(store->Commit({.jobs = {SampleJob(3)}}).ok());
  ASSERT_TRUE(
      store->Forget({{{3, OverdueWhy::kAge}, {9, OverdueWhy::kAge}}}, 1).ok());
  EXPECT_THAT(Ids(*store), ElementsAre(3));
  EXPECT_EQ(store->history().Removed(std::nullopt, 10)->size(), 2u);
}

TEST(StorePruneTest, ACalendarKeepsSoManyOfEachOutcome) {
  TestFolder folder;
  std::unique_ptr<Store> store = OpenStore(folder.File());
  CronRow cron = SampleCron(1);
  cron.keep_succeeded = 2;
  cron.keep_failed = 1;
  TurnSave save{.crons = {cron}};
  for (uint64_t id = 1; id <= 8; ++id) {  // Even ones have succeeded.
    save.jobs.push_back(EndedJob(id));
    save.jobs.back().cron = id <= 7 ? 1 : 2;
  }
  save.jobs.push_back(SampleJob(9));
  save.jobs.back().cron = 1;
  ASSERT_TRUE(store->Commit(save).ok());
  const Time now = EndedJob(9).finished;
  EXPECT_EQ(Prune(*store, {}, now), 4u);
  EXPECT_THAT(Ids(*store), ElementsAre(9, 8, 7, 6, 4));
  EXPECT_EQ(store->history().Removed(std::nullopt, 1)->front().why, "cron");
  // What it has left stays when it goes.
  cron.removed = true;
  ASSERT_TRUE(store->Commit({.crons = {cron}}).ok());
  EXPECT_EQ(Prune(*store, {}, now), 0u);
}

}  // namespace
}  // namespace muster::local
