#include "adapters/local/store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "test/adapters/local_store/sample_rows.h"

namespace muster::local {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class StoreTest : public testing::Test {
 protected:
  // As after a restart.
  StoredState Reopened() {
    store_.reset();
    store_ = OpenStore(folder_.File());
    return Loaded();
  }
  StoredState Loaded() {
    absl::StatusOr<StoredState> state = store_->Load();
    EXPECT_TRUE(state.ok()) << state.status();
    return state.ok() ? *std::move(state) : StoredState();
  }
  void Commit(const TurnSave& save) {
    absl::Status status = store_->Commit(save);
    EXPECT_TRUE(status.ok()) << status;
  }
  JobRow Found(uint64_t job) {
    absl::StatusOr<JobRow> found = store_->history().Find(job);
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? *std::move(found) : JobRow();
  }
  std::vector<LifeRow> Events(uint64_t job) {
    return store_->history().Events(job).value_or(
        std::vector<LifeRow>{SampleLife(0, 0)});
  }

  TestFolder folder_{};
  std::unique_ptr<Store> store_ = OpenStore(folder_.File());
};

TEST_F(StoreTest, ANewOneIsEmpty) { EXPECT_EQ(Reopened(), StoredState()); }

TEST_F(StoreTest, AllOfATurnIsThereAfterARestart) {
  StoredState expected = {
      .jobs = {SampleJob(1), SampleJob(2)},
      .life = {SampleLife(1, 0), SampleLife(1, 1), SampleLife(2, 0)},
      .tasks = {SampleTask(1, 1, "ended"), SampleTask(1, 2, "run"),
                SampleTask(2, 1, "start")},
      .crons = {SampleCron(2), SampleCron(5)},
      .drains = {{.since = 1, .uid = 2, .reason = "x"},
                 {.device = 3, .since = 4, .quarantine = true, .reason = "y"}},
      .journal = "snapshot",
      .next_job = 3,
      .next_cron = 7};
  CronRow gone = SampleCron(6);
  Commit({.crons = {gone}, .drains = {{{.device = 7}}}});
  gone.removed = true;
  Commit({.jobs = {expected.jobs[1], expected.jobs[0]},
          .life = {expected.life[2], expected.life[0], expected.life[1]},
          .tasks = {expected.tasks[2], expected.tasks[1], expected.tasks[0]},
          .crons = {expected.crons[1], expected.crons[0], gone},
          .drains = expected.drains,
          .journal = "snapshot",
          .journal_begins = true});
  EXPECT_EQ(Loaded(), expected);
  EXPECT_EQ(Reopened(), expected);
}

TEST_F(StoreTest, OptionalFieldsAreThereOrNot) {
  JobRow job = SampleJob(1);
  job.array_index.reset();
  job.exit_code = std::numeric_limits<int32_t>::min();
  job.uid = std::numeric_limits<uint32_t>::max();
  JobRow other = SampleJob(2);
  other.array_index = 0;
  other.exit_code.reset();
  TaskRow task = SampleTask(1, 1, "run");
  task.devices.clear();
  task.code.reset();
  Commit({.jobs = {job, other}, .tasks = {task}});
  EXPECT_THAT(Reopened().jobs, ElementsAre(job, other));
  EXPECT_THAT(Loaded().tasks, ElementsAre(task));
}

TEST_F(StoreTest, TextsMayHoldAnyBytes) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  JobRow job = SampleJob(1);
  job.name = all;
  job.queue = std::string("\0'; DROP TABLE jobs; --", 23);
  job.priority_class = "";
  job.manifest = std::string(1 << 20, '\0') + all;
  job.directory = "/tmp/\xff\xfe\n";
  job.environment = {"", all, "A=1:2,3", std::string("\0", 1)};
  job.reason = "\xc3";
  LifeRow life = SampleLife(1, 0);
  life.event = all;
  TaskRow task = SampleTask(1, 1, "run");
  task.node = all;
  std::string journal = all + std::string(100'000, '\0');
  Commit({.jobs = {job}, .life = {life}, .tasks = {task}, .journal = journal});
  StoredState state = Reopened();
  EXPECT_THAT(state.jobs, ElementsAre(job));
  EXPECT_THAT(state.life, ElementsAre(life));
  EXPECT_THAT(state.tasks, ElementsAre(task));
  EXPECT_EQ(state.journal, journal);
  EXPECT_EQ(Found(1), job);
}

TEST_F(StoreTest, ARowTakesThePlaceOfTheOneWithItsKey) {
  Commit({.jobs = {SampleJob(1)}, .tasks = {SampleTask(1, 1, "run")}});
  JobRow job = SampleJob(1);
  job.phase = "running";
  job.started = 5;
  job.held = false;
  TaskRow task = SampleTask(1, 1, "ended");
  Commit({.jobs = {job}, .tasks = {task}});
  EXPECT_THAT(Reopened().jobs, ElementsAre(job));
  EXPECT_THAT(Loaded().tasks, ElementsAre(task));
}

// One field after the other, those that an index is on among them.
TEST_F(StoreTest, EveryFieldOfAJobCanChange) {
  JobRow job = SampleJob(2);
  Commit({.jobs = {job}});
  const JobRow other = EndedJob(13);
  job.uid = other.uid;
  Commit({.jobs = {job}});
  EXPECT_EQ(Found(2), job);
  job.name = other.name;
  job.gid = other.gid;
  Commit({.jobs = {job}});
  EXPECT_EQ(Found(2), job);
  job.queue = other.queue;
  job.priority_class = other.priority_class;
  job.submitted = other.submitted;
  Commit({.jobs = {job}});
  EXPECT_EQ(Found(2), job);
  job.manifest = other.manifest;
  Commit({.jobs = {job}});
  EXPECT_EQ(Found(2), job);
  job.environment = other.environment;
  job.directory = other.directory;
  Commit({.jobs = {job}});
  EXPECT_EQ(Found(2), job);
  job.array_index.reset();
  job.array = other.array;
  job.document = other.document;
  Commit({.jobs = {job}});
  EXPECT_EQ(Found(2), job);
  job = other;
  job.id = 2;
  Commit({.jobs = {job}});
  EXPECT_EQ(Found(2), job);
}

TEST_F(StoreTest, TheJournalGrowsTurnByTurnUntilItBeginsAnew) {
  Commit({.journal = "a", .journal_begins = true});
  Commit({.journal = std::string("b\0", 2)});
  Commit({.jobs = {SampleJob(1)}});
  EXPECT_EQ(Reopened().journal, std::string("ab\0", 3));
  Commit({.journal = "c", .journal_begins = true});
  Commit({.journal = "d"});
  EXPECT_EQ(Reopened().journal, "cd");
  Commit({.journal_begins = true});
  EXPECT_EQ(Reopened().journal, "");
}

TEST_F(StoreTest, AnEndedJobIsLoadedNoMoreAndItsLifeIsDropped) {
  Commit({.jobs = {SampleJob(1), SampleJob(2)},
          .life = {SampleLife(1, 0), SampleLife(2, 0)},
          .tasks = {SampleTask(1, 1, "run")}});
  Commit({.jobs = {EndedJob(1)},
          .life = {SampleLife(1, 1)},
          .tasks = {SampleTask(1, 1, "ended")}});
  StoredState state = Reopened();
  EXPECT_THAT(state.jobs, ElementsAre(SampleJob(2)));
  EXPECT_THAT(state.life, ElementsAre(SampleLife(2, 0)));
  EXPECT_THAT(state.tasks, IsEmpty());
  EXPECT_EQ(state.next_job, 3u);
  EXPECT_EQ(Found(1), EndedJob(1));
  EXPECT_THAT(*store_->history().Tasks(1),
              ElementsAre(SampleTask(1, 1, "ended")));
  EXPECT_THAT(Events(1), IsEmpty());
}

// Its job is over, but somebody has to look after the task.
TEST_F(StoreTest, AJobIsLoadedAsLongAsOneOfItsTasksHasNotEnded) {
  Commit({.jobs = {SampleJob(1)},
          .life = {SampleLife(1, 0)},
          .tasks = {SampleTask(1, 1, "run"), SampleTask(1, 2, "stop")}});
  Commit({.jobs = {EndedJob(1)}, .life = {SampleLife(1, 1)}});
  Commit({.tasks = {SampleTask(1, 1, "ended")}});
  EXPECT_THAT(Reopened().jobs, ElementsAre(EndedJob(1)));
  EXPECT_THAT(Events(1), ElementsAre(SampleLife(1, 0), SampleLife(1, 1)));
  Commit({.life = {SampleLife(1, 2)}, .tasks = {SampleTask(1, 2, "ended")}});
  EXPECT_THAT(Reopened().jobs, IsEmpty());
  EXPECT_THAT(Events(1), IsEmpty());
  // What comes after that is not kept.
  Commit({.life = {SampleLife(1, 3)}});
  EXPECT_THAT(Events(1), IsEmpty());
}

TEST_F(StoreTest, AJobThatEndedCanBeginAgain) {
  Commit({.jobs = {EndedJob(1)}});
  EXPECT_THAT(Reopened().jobs, IsEmpty());
  Commit({.jobs = {SampleJob(1)}, .life = {SampleLife(1, 7)}});
  EXPECT_THAT(Reopened().jobs, ElementsAre(SampleJob(1)));
  EXPECT_THAT(Events(1), ElementsAre(SampleLife(1, 7)));
}

TEST_F(StoreTest, AnEmptyTurnIsNoTransaction) {
  Commit({.jobs = {SampleJob(1)}});
  std::string log = FileBytes(folder_.File("muster.db-wal"));
  Commit({.sync = true});
  EXPECT_EQ(FileBytes(folder_.File("muster.db-wal")), log);
}

TEST_F(StoreTest, ATurnWithAMistakeIsNotKeptAtAll) {
  Commit({.jobs = {SampleJob(1)}, .life = {SampleLife(1, 0)}});
  StoredState before = Loaded();

  TurnSave twice = {.jobs = {EndedJob(1), SampleJob(2)},
                    .life = {SampleLife(2, 0), SampleLife(1, 0)},
                    .tasks = {SampleTask(1, 1, "run")},
                    .journal = "x",
                    .journal_begins = true};
  absl::Status status = store_->Commit(twice);
  EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder_.File()));
  EXPECT_EQ(Loaded(), before);

  TurnSave unknown = {.jobs = {SampleJob(2)},
                      .tasks = {SampleTask(5, 1, "run")}};
  status = store_->Commit(unknown);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("job 5"));
  EXPECT_EQ(Loaded(), before);

  JobRow zero = SampleJob(0);
  status = store_->Commit({.jobs = {SampleJob(2), zero}});
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("jobs.id"));
  LifeRow late = SampleLife(1, 1);
  late.seq = uint64_t{1} << 63;
  status = store_->Commit({.life = {late}});
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_EQ(Loaded(), before);

  // And it goes on.
  Commit({.jobs = {SampleJob(2)}});
  EXPECT_THAT(Reopened().jobs, ElementsAre(SampleJob(1), SampleJob(2)));
}

TEST_F(StoreTest, HistoryFindsNothingOfAJobThatIsNotThere) {
  EXPECT_TRUE(absl::IsNotFound(store_->history().Find(1).status()));
  EXPECT_TRUE(absl::IsNotFound(
      store_->history().Find(std::numeric_limits<uint64_t>::max()).status()));
  EXPECT_THAT(*store_->history().Tasks(1), IsEmpty());
  EXPECT_THAT(*store_->history().Events(1), IsEmpty());
}

TEST_F(StoreTest, HistoryInAnotherConnectionSeesWhatIsCommitted) {
  absl::StatusOr<History> history = History::Open(folder_.File());
  ASSERT_TRUE(history.ok()) << history.status();
  EXPECT_TRUE(absl::IsNotFound(history->Find(1).status()));
  Commit({.jobs = {SampleJob(1)}});
  absl::StatusOr<JobRow> found = history->Find(1);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, SampleJob(1));
}

// A manifest of a megabyte for each element of an array would fill the disk.
TEST_F(StoreTest, JobsOfTheSameManifestKeepItOnce) {
  TurnSave save;
  for (uint64_t id = 1; id <= 500; ++id) {
    JobRow job = SampleJob(id);
    job.manifest = std::string(100'000, 'm');
    job.environment = {std::string(10'000, 'e')};
    save.jobs.push_back(job);
  }
  Commit(save);
  EXPECT_EQ(Reopened().jobs, save.jobs);
  EXPECT_LT(FileBytes(folder_.File()).size(), 1'000'000u);
}

}  // namespace
}  // namespace muster::local
