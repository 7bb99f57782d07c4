// The scheduler as an object: copies, views, budgets, handles, many at once.
#include <set>
#include <span>
#include <string>
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

// --- The work budget ---------------------------------------------------------

Story Budgeted(uint64_t budget) {
  SchedulerConfig config;
  config.work_budget = budget;
  Story s(config);
  s.HasNode("n1", 8);
  s.HasQueue("q");
  for (const char* key : {"a", "b", "c", "d"}) s.Submit(Job(key));
  return s;
}

// Steps of a pass that starts a gang of `tasks` tasks.
uint64_t StepsOfAStart(uint32_t tasks) {
  Story s;
  s.HasNode("n1", 8);
  s.HasQueue("q");
  s.Submit(Job("a", tasks));
  s.Pass();
  return s.plan().steps;
}

// Also where no other queue's turn would end it.
TEST(WorkBudget, EndsGrowth) {
  SchedulerConfig config;
  config.work_budget = (StepsOfAStart(1) + 1) * 4 / 3 + 1;  // And for growth.
  Story s(config);
  s.HasNode("n1", 8);
  s.HasQueue("q");
  s.Submit(Elastic("e", 1, 8));
  EXPECT_THAT(s.Pass(), ElementsAre("start e: n1 n1"));
  EXPECT_TRUE(s.plan().budget_exhausted);
}

TEST(WorkBudget, EndsAPassAndSaysSo) {
  const uint64_t one = StepsOfAStart(1);
  Story s = Budgeted(2 * one);  // Three quarters for what the pass asks.
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1", "start b: n1"));
  EXPECT_TRUE(s.plan().budget_exhausted);
  EXPECT_EQ(s.plan().steps, 2 * one);
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
TEST(WorkBudget, IsSpentOnActiveQuestionsOnly) {
  Story s = Budgeted(1000);
  s.Submit(Job("big", 9));
  s.Submit(Job("huge", 10));
  s.Pass();
  s.AllDone();
  EXPECT_GT(s.plan().steps, 0u);
  const auto steps = [&](int64_t external) {
    s.Happens(ExternalUsageChanged{{"n1", {external, 0, 0}, {}}});
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

// One that was restored knows nothing of what was found out before, and is
// charged and decides as the one that does: gangs of all kinds wait, room comes
// and goes.
TEST(WorkBudget, ChargesTheSameWhateverACacheKnows) {
  SchedulerConfig config;
  config.partition_schemes = CommonPartitionSchemes();
  config.topologies = {{"net", {"rack"}}};
  Story s(config);
  for (uint32_t n = 0; n < 8; ++n) {
    Node node = Machine("n" + std::to_string(n), 4);
    node.labels = {{"rack", "r" + std::to_string(n / 4)}};
    for (Device& device : node.devices) {
      device.partition_scheme = "h100-80gb";
    }
    s.Happens(NodeChanged{node});
  }
  s.HasClasses();
  s.HasQueue("q");
  for (int i = 0; i < 31; ++i) s.Submit(Job("low" + std::to_string(i)));
  s.Pass();
  s.AllDone();
  s.Submit(Job("wide", 40));
  Gang share = Job("share", 9);
  share.roles[0].shape.devices.milli = 300;
  s.Submit(share);
  Gang cut = Job("cut", 9);
  cut.roles[0].shape.devices.partition = "2g.20gb";
  s.Submit(cut);
  Gang rack = Job("rack", 3, 4, "high");
  rack.roles[0].topology.required = "rack";
  s.Submit(rack);
  Gang mixed = Job("mixed", 2, 2, "mid");
  mixed.roles.push_back(mixed.roles[0]);
  mixed.roles[1].name = "other";
  mixed.roles[1].alternatives = {mixed.roles[1].shape};
  mixed.roles[1].alternatives[0].devices.count = 1;
  s.Submit(mixed);
  s.Submit(Elastic("elastic", 1, 6));
  uint64_t steps = 0;
  for (int i = 0; i < 24; ++i) {
    absl::StatusOr<Scheduler> fresh = Scheduler::Restore(s.scheduler().State());
    ASSERT_TRUE(fresh.ok()) << fresh.status();
    Plan theirs;
    fresh->Schedule(s.now, &theirs);
    s.Pass();
    EXPECT_EQ(s.plan().steps, theirs.steps) << i;
    EXPECT_EQ(s.plan().decisions.size(), theirs.decisions.size()) << i;
    EXPECT_EQ(s.scheduler().StateHash(), fresh->StateHash()) << i;
    steps += s.plan().steps;
    if (i % 2 == 0) s.AllDone();
    const std::string node = "n" + std::to_string(i % 8);
    s.Happens(ExternalUsageChanged{{node, {i % 3 * 1000, 0, 0}, {}}});
    if (i % 5 == 4)
      s.Try(GangFinished{"low" + std::to_string(i)}).IgnoreError();
  }
  EXPECT_GT(steps, 0u);
}

// --- What was spent for nothing ----------------------------------------------

// A search that its limit ended has more of it the next time, and one that is
// restored in between has as much.
TEST(SearchLimits, GrowWhileANoIsNotProven) {
  SchedulerConfig config;
  config.search.victim_steps = 1;
  Story s(config);
  for (const char* node : {"n1", "n2", "n3"}) s.HasNode(node, 4);
  s.HasClasses();
  s.HasQueue("q");
  for (int i = 0; i < 12; ++i) {
    s.Submit(Job("low" + std::to_string(i), 1, 1, "low"));
  }
  s.Pass();
  s.AllDone();
  s.Submit(Job("high", 2, 4, "high"));
  const auto effort = [&] {
    const SchedulerState state = s.scheduler().State();
    for (const GangClassState& c : state.gang_classes) {
      if (c.gang == "high") return c.effort;
    }
    return 0u;
  };
  std::vector<uint32_t> efforts;
  for (int i = 0; s.Phase("high") == "waiting" && i < 6; ++i) {
    absl::StatusOr<Scheduler> restored =
        Scheduler::Restore(s.scheduler().State());
    ASSERT_TRUE(restored.ok()) << restored.status();
    Plan theirs;
    restored->Schedule(s.now, &theirs);
    s.Pass();
    EXPECT_EQ(s.plan().steps, theirs.steps);
    EXPECT_EQ(s.plan().decisions.size(), theirs.decisions.size());
    EXPECT_EQ(s.scheduler().StateHash(), restored->StateHash());
    efforts.push_back(effort());
  }
  ASSERT_GT(efforts.size(), 2u);
  EXPECT_EQ(efforts[0], 1u);
  EXPECT_EQ(efforts[1], 3u);
  EXPECT_EQ(s.Phase("high"), "nominated");
}

}  // namespace
}  // namespace muster
