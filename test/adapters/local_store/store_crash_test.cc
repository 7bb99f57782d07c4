// A process that writes is killed at any moment, again and again.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "adapters/local/store/store.h"
#include "test/adapters/local_store/sample_rows.h"

namespace muster::local {
namespace {

// Turn n: some jobs more, one of the oldest ends, and the journal begins anew
// at times. `first` is the id of the first job.
TurnSave TurnOf(uint64_t n, uint64_t first) {
  TurnSave save;
  for (uint64_t id = first; id < first + 1 + n * 7 % 20; ++id) {
    save.jobs.push_back(SampleJob(id));
    for (uint64_t seq : {0, 1}) save.life.push_back(SampleLife(id, seq));
    save.tasks.push_back(SampleTask(id, 1, "run"));
  }
  if (n > 3) {
    save.jobs.push_back(EndedJob(n / 2));
    save.tasks.push_back(SampleTask(n / 2, 1, "ended"));
  }
  save.journal = absl::StrCat("turn ", n, ";", std::string(n % 3 * 3000, 'j'));
  save.journal_begins = n % 16 == 0;
  save.sync = n % 5 == 0;
  return save;
}

// What the store has to have after so many turns.
class Model {
 public:
  void Add(const TurnSave& save) {
    for (const JobRow& job : save.jobs) jobs_[job.id] = job;
    for (const LifeRow& row : save.life) life_[{row.job, row.seq}] = row;
    for (const TaskRow& task : save.tasks) tasks_[task.key] = task;
    if (save.journal_begins) journal_.clear();
    journal_ += save.journal;
  }

  StoredState State() const {
    StoredState state{.journal = journal_, .next_job = next_job()};
    auto open = [&](uint64_t job) {
      return jobs_.at(job).finished == kForever;
    };
    for (const auto& [id, job] : jobs_) {
      if (open(id)) state.jobs.push_back(job);
    }
    for (const auto& [key, row] : life_) {
      if (open(row.job)) state.life.push_back(row);
    }
    for (const auto& [key, task] : tasks_) {
      if (open(key.job)) state.tasks.push_back(task);
    }
    return state;
  }
  uint64_t next_job() const {
    return jobs_.empty() ? 1 : jobs_.rbegin()->first + 1;
  }

 private:
  std::map<uint64_t, JobRow> jobs_{};
  std::map<std::pair<uint64_t, uint64_t>, LifeRow> life_{};
  std::map<TaskKey, TaskRow> tasks_{};
  std::string journal_{};
};

// Turns from `turn` on, until the process is killed. A byte says that one more
// is kept. Never returns.
[[noreturn]] void WriteForEver(const std::string& path, int acknowledged,
                               uint64_t turn) {
  absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(path);
  if (!store.ok()) _exit(1);
  uint64_t first = (*store)->Load()->next_job;
  for (;; ++turn) {
    TurnSave save = TurnOf(turn, first);
    if (!(*store)->Commit(save).ok()) _exit(2);
    if (write(acknowledged, "k", 1) != 1) _exit(3);
    first += 1 + turn * 7 % 20;
  }
}

// Forks a writer, kills it after so many microseconds, from its first turn on
// or from its start, and counts what it had acknowledged.
uint64_t KilledAfter(const std::string& path, uint64_t turn, bool from_start,
                     uint32_t delay) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  pid_t child = fork();
  EXPECT_GE(child, 0);
  if (child == 0) {
    close(ends[0]);
    WriteForEver(path, ends[1], turn);
  }
  close(ends[1]);
  uint64_t count = 0;
  char byte = 0;
  if (!from_start && read(ends[0], &byte, 1) == 1) ++count;
  usleep(delay);
  kill(child, SIGKILL);
  int result = 0;
  EXPECT_EQ(waitpid(child, &result, 0), child);
  EXPECT_TRUE(WIFSIGNALED(result)) << "the writer failed: " << result;
  while (read(ends[0], &byte, 1) == 1) ++count;
  close(ends[0]);
  return count;
}

TEST(StoreCrashTest, WhatWasAcknowledgedIsThereWholeAndAtMostOneTurnMore) {
  TestFolder folder;
  std::mt19937 random(17);
  Model model;
  uint64_t turns = 0;
  int more = 0;
  int rounds = 0;
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  auto in_time = [&] { return std::chrono::steady_clock::now() < end; };
  for (; rounds < 20 || (rounds < 100 && in_time()); ++rounds) {
    uint64_t count = KilledAfter(folder.File(), turns + 1, rounds % 4 == 0,
                                 static_cast<uint32_t>(random() % 30'000));
    for (; count > 0; --count) {
      model.Add(TurnOf(++turns, model.next_job()));
    }
    std::unique_ptr<Store> store = OpenStore(folder.File());
    ASSERT_NE(store, nullptr);
    absl::StatusOr<StoredState> state = store->Load();
    ASSERT_TRUE(state.ok()) << state.status();
    if (*state == model.State()) continue;
    ++more;
    model.Add(TurnOf(++turns, model.next_job()));
    ASSERT_TRUE(*state == model.State())
        << "round " << rounds << ", turn " << turns << ": jobs "
        << state->jobs.size() << ", expected " << model.State().jobs.size();
  }
  RecordProperty("rounds", rounds);
  RecordProperty("turns", static_cast<int>(turns));
  EXPECT_GT(turns, 20u);
  EXPECT_LT(more, rounds);
}

}  // namespace
}  // namespace muster::local
