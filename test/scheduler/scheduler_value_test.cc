// The scheduler as an object: copies, views, budgets, handles, many at once.
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SchedulerValue, TenThousandInOneProcess) {
  std::vector<Scheduler> all;
  for (int i = 0; i < 10'000; ++i) {
    all.push_back(*Scheduler::Create({}));
    Scheduler& s = all.back();
    ASSERT_TRUE(s.Apply({0, NodeChanged{Machine("n1", 1)}}).ok());
    ASSERT_TRUE(s.Apply({0, QueueChanged{{.key = "q"}}}).ok());
    ASSERT_TRUE(s.Apply({0, GangSubmitted{Job("g" + std::to_string(i))}}).ok());
  }
  Plan plan;
  std::set<uint64_t> hashes;
  for (Scheduler& s : all) {
    s.Schedule(0, &plan);
    ASSERT_EQ(plan.decisions.size(), 1u);
    hashes.insert(s.StateHash());
  }
  EXPECT_EQ(hashes.size(), all.size()) << "each has its own gang";
}

TEST(SchedulerValue, AForkGoesItsOwnWay) {
  Story s;
  s.HasNode("n1", 1);
  s.HasQueue("q");
  s.Submit(Job("a"));
  Scheduler fork = *s.scheduler().Fork();
  EXPECT_EQ(fork.StateHash(), s.scheduler().StateHash());
  Plan plan;
  fork.Schedule(0, &plan);
  EXPECT_EQ(plan.decisions.size(), 1u);
  EXPECT_EQ(s.Phase("a"), "waiting");
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1"));
}

TEST(SchedulerValue, WhatIfAnswersAndForgets) {
  Story s;
  s.HasNode("n1", 1);
  s.HasQueue("q");
  s.Submit(Job("a", 2));
  s.Pass();
  const uint64_t before = s.scheduler().StateHash();
  const Event more{0, NodeChanged{Machine("n2", 1)}};
  Plan plan;
  ASSERT_TRUE(s.scheduler().WhatIf(0, std::span(&more, 1), &plan).ok());
  ASSERT_EQ(plan.decisions.size(), 1u);
  EXPECT_EQ(plan.decisions[0].kind, DecisionKind::kStart);
  EXPECT_EQ(s.scheduler().StateHash(), before);
  EXPECT_THAT(s.Pass(), IsEmpty());
  const Event wrong{0, NodeDown{"x"}};
  EXPECT_EQ(s.scheduler().WhatIf(0, std::span(&wrong, 1), &plan).code(),
            absl::StatusCode::kNotFound);
}

TEST(SchedulerValue, AViewStaysWhileTheSchedulerGoesOn) {
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

TEST(SchedulerValue, GangsAreHandedInFromAnyThread) {
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

TEST(SchedulerValue, AHandleOutlivesNoGang) {
  Story s;
  s.HasNode("n1", 1);
  s.HasQueue("q");
  s.Submit(Job("a"));
  const GangId a = s.scheduler().FindGang("a");
  EXPECT_EQ(s.scheduler().gang_key(a), "a");
  s.Happens(GangFinished{"a"});
  s.Submit(Job("b"));
  EXPECT_EQ(s.scheduler().gang_key(a), "");
  EXPECT_FALSE(s.scheduler().FindGang("a").valid());
  const NodeId n1 = s.scheduler().FindNode("n1");
  EXPECT_EQ(s.scheduler().node_key(n1), "n1");
  s.Happens(NodeRemoved{"n1"});
  s.HasNode("n2", 1);
  EXPECT_EQ(s.scheduler().node_key(n1), "");
  const QueueId q = s.scheduler().FindQueue("q");
  EXPECT_EQ(s.scheduler().queue_key(q), "q");
}

// --- The work budget
// ------------------------------------------------------------

Story Budgeted(uint64_t budget) {
  SchedulerConfig config;
  config.work_budget = budget;
  Story s(config);
  s.HasNode("n1", 8);
  s.HasQueue("q");
  for (const char* key : {"a", "b", "c", "d"}) s.Submit(Job(key));
  return s;
}

// Also where nobody else's turn would end it.
TEST(WorkBudget, EndsGrowth) {
  SchedulerConfig config;
  config.work_budget = 12;  // Nine for what the pass asks.
  Story s(config);
  s.HasNode("n1", 8);
  s.HasQueue("q");
  s.Submit(Elastic("e", 1, 8));
  EXPECT_THAT(s.Pass(), ElementsAre("start e: n1 n1"));
  EXPECT_TRUE(s.plan().budget_exhausted);
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("grow e: n1 n1"));
}

TEST(WorkBudget, EndsAPassAndSaysSo) {
  Story s = Budgeted(8);  // Six for what the pass asks.
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1", "start b: n1"));
  EXPECT_TRUE(s.plan().budget_exhausted);
  EXPECT_GE(s.plan().steps, 6u);
  EXPECT_EQ(s.Why("c"), "budget");
  EXPECT_THAT(s.Pass(), ElementsAre("start c: n1", "start d: n1"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_FALSE(s.plan().budget_exhausted);
}

TEST(WorkBudget, OfOneStepStillGetsOn) {
  Story s = Budgeted(1);
  for (const char* line : {"start a: n1", "start b: n1", "start c: n1"}) {
    EXPECT_THAT(s.Pass(), ElementsAre(line));
  }
}

// A question that was answered costs nothing until its answer may change; then
// what was found out before makes no step cheaper.
TEST(WorkBudget, IsSpentOnOpenQuestionsOnly) {
  Story s = Budgeted(1000);
  s.Submit(Job("big", 9));
  s.Submit(Job("huge", 10));
  s.Pass();
  s.AllDone();
  EXPECT_GT(s.plan().steps, 0u);
  const auto steps = [&](int64_t others) {
    s.Happens(OthersChanged{{"n1", {others, 0, 0}, {}}});
    absl::StatusOr<Scheduler> fresh = Scheduler::Restore(s.scheduler().State());
    EXPECT_TRUE(fresh.ok());
    Plan theirs;
    fresh->Schedule(s.now, &theirs);
    s.Pass();
    EXPECT_EQ(s.plan().steps, theirs.steps);
    return s.plan().steps;
  };
  EXPECT_EQ(steps(0), 0u);    // Nothing changed.
  EXPECT_EQ(steps(500), 0u);  // Less room.
  EXPECT_GT(steps(250), 0u);  // More: asked, and told no.
  EXPECT_EQ(steps(250), 0u);
}

}  // namespace
}  // namespace muster
