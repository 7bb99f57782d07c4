// Many threads submit, or read a view, while one schedules.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/scheduler.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

constexpr int kThreads = 8;
constexpr int kGangs = 200;  // Of each thread.

// Keeps what a scheduler tells.
class Book : public Journal {
 public:
  void Applied(const Event& event) override { entries.push_back(event); }
  void Planned(const PlanRecord& plan) override { entries.push_back(plan); }
  std::vector<std::variant<Event, PlanRecord>> entries;
};

// Thread t's i-th: some are refused, some have one key on all threads.
Gang Submission(int t, int i) {
  std::string key = std::to_string(i);
  if (i % 5 != 0) key += "/" + std::to_string(t);
  Gang gang = Job(key, 1 + i % 3);
  gang.queue = i % 10 == 9 ? "nowhere" : "q";
  return gang;
}

// Every submission is applied or refused, once; and a reader of the journal
// decides the same: the plan hangs on the sets that the passes took, on nothing
// else.
TEST(SubmitThreadsTest, EachPassTakesASetAndTheJournalTellsWhich) {
  Story story;
  Scheduler& scheduler = story.scheduler();
  Book book;
  scheduler.SetJournal(&book);
  story.HasQueue("q");
  story.HasClasses();
  for (int n = 0; n < 20; ++n) story.HasNode("n" + std::to_string(n), 8);

  std::atomic<int> running = kThreads;
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&scheduler, &running, t] {
      for (int i = 0; i < kGangs; ++i)
        scheduler.Submit(Submission(t, i)).IgnoreError();
      running.fetch_sub(1, std::memory_order_release);
    });
  }
  std::map<std::string, int> refused;
  Plan plan;
  for (Time now = 1;; ++now) {
    const bool last = running.load(std::memory_order_acquire) == 0;
    scheduler.Schedule(now, &plan);
    for (const Refused& each : plan.refused) {
      ++refused[std::string(plan.Text(each.gang_key))];
      EXPECT_FALSE(plan.Text(each.error).empty());
    }
    if (last) break;
  }

  std::map<std::string, int> applied;
  absl::StatusOr<Scheduler> twin = Scheduler::Create(scheduler.config());
  ASSERT_TRUE(twin.ok());
  for (const auto& entry : book.entries) {
    if (const Event* event = std::get_if<Event>(&entry)) {
      ASSERT_TRUE(twin->Apply(*event).ok());
      if (const auto* gang = std::get_if<GangSubmitted>(&event->what)) {
        ++applied[gang->gang.key];
      }
    } else {
      const PlanRecord& record = std::get<PlanRecord>(entry);
      twin->Schedule(record.now, &plan);
      ASSERT_EQ(twin->Record(plan), record);
    }
  }
  EXPECT_EQ(twin->StateHash(), scheduler.StateHash());
  std::map<std::string, std::pair<int, int>> expected;  // Applied, refused.
  for (int t = 0; t < kThreads; ++t) {
    for (int i = 0; i < kGangs; ++i) {
      const Gang gang = Submission(t, i);
      auto& [yes, no] = expected[gang.key];
      ++(gang.queue == "q" && yes == 0 ? yes : no);
    }
  }
  for (const auto& [key, counts] : expected) {
    EXPECT_EQ(std::pair(applied[key], refused[key]), counts) << key;
  }
  scheduler.SetJournal(nullptr);
}

TEST(ViewThreadsTest, AViewStaysWhileTheSchedulerGoesOn) {
  Story s;
  s.HasNode("n1", 1);
  s.HasQueue("q");
  s.Submit(Job("a"));
  const std::shared_ptr<const SchedulerState> view = s.scheduler().View();
  GangPhase seen = GangPhase::kRunning;
  std::thread reader([&] { seen = view->gangs[0].phase; });
  s.Pass();
  s.AllDone();
  reader.join();
  EXPECT_EQ(seen, GangPhase::kWaiting);
}

TEST(SubmitThreadsTest, GangsAreHandedInFromAnyThread) {
  Story s;
  s.HasNode("n1", 8);
  s.HasQueue("q");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&s, t] {
      EXPECT_TRUE(s.scheduler().Submit(Job("a" + std::to_string(t))).ok());
      EXPECT_TRUE(s.scheduler().Submit(Job("b" + std::to_string(t))).ok());
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(s.scheduler()
                  .Submit(Job("a0", 2))
                  .ok());  // Known already, or the other is.
  EXPECT_THAT(s.Pass().size(), ::testing::AnyOf(7u, 8u));
  ASSERT_EQ(s.plan().refused.size(), 1u);
  EXPECT_EQ(s.plan().Text(s.plan().refused[0].gang_key), "a0");
  EXPECT_THAT(std::string(s.plan().Text(s.plan().refused[0].error)),
              ::testing::HasSubstr("there already"));
}

}  // namespace
}  // namespace muster
