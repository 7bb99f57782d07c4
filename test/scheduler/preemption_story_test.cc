// What a plan tells of the room that it makes.
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/scheduler.h"
#include "test/scheduler/activation_stage.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PreemptionStories : public ::testing::Test {
 protected:
  // Two full nodes of four GPUs each: "old" has run for 100 s, "young" for 40.
  static Story TwoJobs() {
    Story s;
    s.HasNode("n1", 4);
    s.HasNode("n2", 4);
    s.HasQueue("q");
    s.HasClasses();
    s.Submit(Job("old", 1, 4, "low"));
    s.Pass();
    s.AllDone();
    s.now = 60 * kSecond;
    s.Submit(Job("young", 1, 4, "low"));
    s.Pass();
    s.AllDone();
    s.now = 100 * kSecond;
    return s;
  }
};

using Preemptions = Activation;

// Four GPUs for 40 s are lost, and no less could be; the other would have lost
// 100 s.
TEST_F(PreemptionStories, WhatIsLostAndWhoElseItCouldHaveBeen) {
  Story s = TwoJobs();
  s.Submit(Job("urgent", 1, 4, "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict young for urgent", "nominate urgent: n2"));
  ASSERT_EQ(s.plan().preemptions.size(), 1u);
  const Preemption& told = s.plan().preemptions[0];
  EXPECT_EQ(s.plan().Text(told.gang_key), "urgent");
  EXPECT_EQ(told.victims, 1u);
  EXPECT_EQ(told.priority, 0);
  EXPECT_EQ(told.cost, 4 * 40'000);
  EXPECT_EQ(told.bound, told.cost);
  EXPECT_EQ(told.gap(), 0);
  EXPECT_EQ(told.runner_up.victims, 1u);
  EXPECT_EQ(told.runner_up.priority, 0);
  EXPECT_EQ(told.runner_up.cost, 4 * 100'000);
}

// Both have to go: there is no other.
TEST_F(PreemptionStories, NobodyElse) {
  Story s = TwoJobs();
  s.Submit(Job("urgent", 2, 4, "high"));
  s.Pass();
  ASSERT_EQ(s.plan().preemptions.size(), 1u);
  EXPECT_EQ(s.plan().preemptions[0].victims, 2u);
  EXPECT_EQ(s.plan().preemptions[0].cost, 4 * 140'000);
  EXPECT_EQ(s.plan().preemptions[0].gap(), 0);
  EXPECT_EQ(s.plan().preemptions[0].runner_up.victims, 0u);
}

// There is room for two GPUs, which is more than the queue's limit leaves. Of
// the victims on whose node one GPU will do and of those who give back what two
// need, the cheaper go; and no victim at all is what bounds their cost.
TEST_F(Preemptions, AreTheCheaperOfThoseForLessAndThoseForMore) {
  s.HasQueue("q", {GpuQuota({}, 3)});
  Has("n1", 2);
  Has("n2", 1);
  Has("n3", 1);
  Runs(On("n3", Job("old", 1, 1, "low")));
  s.now = 60 * kSecond;
  Runs(On("n2", Job("young", 1, 1, "low")));
  s.now = 100 * kSecond;
  Gang w = On("n3", Job("w", 1, 1, "high"));
  w.roles[0].alternatives = {On("n1", Job("", 1, 2)).roles[0].shape};
  s.Submit(w);
  EXPECT_THAT(s.Pass(), ElementsAre("evict young for w", "nominate w: n1"));
  ASSERT_EQ(s.plan().preemptions.size(), 1u);
  EXPECT_EQ(s.plan().preemptions[0].cost, 40'000);
  EXPECT_EQ(s.plan().preemptions[0].bound, 0);
}

// A queue that is guaranteed two of four GPUs, of which another one's gangs
// have all.
class WhatIsOwed : public PreemptionStories {
 protected:
  void SetUp() override {
    Node node = Machine("n1", 4);
    for (Device& device : node.devices) device.model = "H100";
    s.Happens(NodeChanged{node});
    s.HasQueue("org");
    s.HasQueue("owed", {GpuQuota(2, {})});
    s.HasQueue("other", {GpuQuota(2, {})});
    for (const char* key : {"a", "b", "c", "d"}) {
      Gang gang = Job(key);
      gang.queue = "other";
      s.Submit(gang);
    }
    s.Pass();
    s.AllDone();
  }
  // Of so many GPUs; and another alternative of the other model.
  static Gang Owed(uint32_t gpus) {
    Gang gang = Job("w", 1, gpus);
    gang.queue = "owed";
    return gang;
  }
  static TaskShape ShapeOf(uint32_t gpus, const std::string& model) {
    TaskShape shape;
    shape.devices.count = gpus;
    shape.devices.models = {model};
    return shape;
  }

  Story s;
};

// Two queues are guaranteed memory; another tree speaks of cores.
TEST_F(WhatIsOwed, IsJudgedInWhatItsOwnQueueStates) {
  s.HasQueue("mine", {{.resource = "memory", .guarantee = 8}}, "org");
  s.HasQueue("its", {{.resource = "memory", .guarantee = 8}}, "org");
  s.HasQueue("zoo");
  s.HasQueue("apart", {{.resource = "cpu", .guarantee = 0}}, "zoo");
  s.HasQueue("beside", {}, "zoo");
  Node node = Machine("n2", 0);
  node.capacity.Set(0, 16'000);
  node.capacity.Set(1, 16);
  node.labels = {{"name", "n2"}};
  s.Happens(NodeChanged{node});
  const auto submit = [this](const std::string& key, const char* queue) {
    Gang gang = Job(key, 1, 0);
    gang.queue = queue;
    gang.roles[0].shape.resources.Set(0, 1000);
    gang.roles[0].shape.resources.Set(1, 8);
    s.Submit(On("n2", gang));
  };
  submit("x1", "its");
  submit("x2", "its");
  s.Pass();
  s.AllDone();
  submit("w", "mine");
  EXPECT_THAT(s.Pass(), ElementsAre("evict x1 for w", "nominate w: n2"));
}

// A PodGroup of unlike pods: no role has a minimum of its own.
TEST_F(WhatIsOwed, IsOwedToAGangWhoseMinimumIsItsGroups) {
  Gang w = Owed(1);
  w.roles.push_back(w.roles[0]);
  w.roles[1].name = "worker";
  w.roles[1].shape.resources.Set(0, 1);
  for (Role& role : w.roles) role.min_tasks = 0;
  w.groups.emplace_back().min_tasks = 2;
  s.Submit(w);
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for w", "evict b for w",
                                    "nominate w: n1 n1"));
}

TEST_F(WhatIsOwed, IsNotOwedToAGroupThatIsTooLarge) {
  Gang w = Owed(1);
  w.roles.push_back(w.roles[0]);
  w.roles[1].name = "worker";
  w.roles[1].desired_tasks = 2;
  for (Role& role : w.roles) role.min_tasks = 0;
  w.groups.emplace_back().min_tasks = 3;
  s.Submit(w);
  EXPECT_THAT(s.Pass(), IsEmpty());
}

TEST_F(WhatIsOwed, IsOwedToTheAlternativeThatFitsIt) {
  Gang w = Owed(4);
  w.roles[0].shape = ShapeOf(4, "A100");
  w.roles[0].alternatives = {ShapeOf(2, "H100")};
  s.Submit(w);
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict a for w", "evict b for w", "nominate w: n1"));
}

// The first would fit, if it was owed all of it.
TEST_F(WhatIsOwed, IsOwedToALaterAlternativeWhereTheFirstAsksMore) {
  Gang w = Owed(4);
  w.roles[0].shape = ShapeOf(4, "H100");
  w.roles[0].alternatives = {ShapeOf(2, "H100")};
  s.Submit(w);
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict a for w", "evict b for w", "nominate w: n1"));
}

TEST_F(WhatIsOwed, IsOwedToNoAlternativeThatAsksMore) {
  Gang w = Owed(4);
  w.roles[0].shape = ShapeOf(4, "H100");
  w.roles[0].alternatives = {ShapeOf(3, "H100")};
  s.Submit(w);
  EXPECT_THAT(s.Pass(), IsEmpty());
}

// A node with eight young gangs of one GPU, and one with an old gang of eight.
Story OneOldAndEightYoung(const PreemptionCosts& costs) {
  SchedulerConfig config;
  config.preemption_costs = costs;
  Story s(config);
  s.HasNode("n1", 8);
  s.HasQueue("q");
  s.HasClasses();
  s.Submit(Job("old", 1, 8, "low"));
  s.Pass();
  s.AllDone();
  s.now = 1000 * kSecond;
  s.HasNode("n2", 8);
  for (int i = 0; i < 8; ++i) {
    s.Submit(Job("young" + std::to_string(i), 1, 1, "low"));
  }
  s.Pass();
  s.AllDone();
  s.now = 1010 * kSecond;
  s.Submit(Job("urgent", 1, 8, "high"));
  s.Pass();
  return s;
}

TEST_F(PreemptionStories, TheLeastWorkIsLostWhereNothingElseIsSaid) {
  const Story s = OneOldAndEightYoung({});
  ASSERT_EQ(s.plan().preemptions.size(), 1u);
  EXPECT_EQ(s.plan().preemptions[0].victims, 8u);
  EXPECT_EQ(s.plan().preemptions[0].cost, 8 * 10'000);
}

TEST_F(PreemptionStories, AsFewGangsAsPossibleAreStopped) {
  const Story s = OneOldAndEightYoung(PreemptionCosts::FewestGangs());
  ASSERT_EQ(s.plan().preemptions.size(), 1u);
  EXPECT_EQ(s.plan().preemptions[0].victims, 1u);
  EXPECT_EQ(s.plan().preemptions[0].cost,
            PreemptionCosts::kMaxGang + 8 * 1'010'000);
  EXPECT_EQ(s.plan().preemptions[0].gap(), 0);
}

// Eight gangs cost 80 s and eight times the constant; one 8080 s, and once.
TEST_F(PreemptionStories, AConstantForEachGangIsWeighedAgainstTheWork) {
  EXPECT_EQ(
      OneOldAndEightYoung({.gang = 1'142'000}).plan().preemptions[0].victims,
      8u);
  EXPECT_EQ(
      OneOldAndEightYoung({.gang = 1'143'000}).plan().preemptions[0].victims,
      1u);
}

// "slow" takes long to start again, and has just saved its work.
TEST_F(PreemptionStories, WhatARestartTakesCountsAsMuchAsIsSaid) {
  for (const uint32_t restart : {1000u, 100u}) {
    SchedulerConfig config;
    config.preemption_costs.restart = restart;
    Story s(config);
    s.HasNode("n1", 1);
    s.HasNode("n2", 1);
    s.HasQueue("q");
    s.HasClasses();
    Gang slow = Job("slow", 1, 1, "low");
    slow.restart_cost = 100 * kSecond;
    s.Submit(slow);
    s.Submit(Job("other", 1, 1, "low"));
    s.Pass();
    s.AllDone();
    s.now = 50 * kSecond;
    s.Happens(CheckpointTaken{"slow", s.now});
    s.Submit(Job("urgent", 1, 1, "high"));
    EXPECT_EQ(s.Pass()[0], restart == 1000 ? "evict other for urgent"
                                           : "evict slow for urgent");
    EXPECT_EQ(s.plan().preemptions[0].cost, restart == 1000 ? 50'000 : 10'000);
  }
}

// Two tasks more than "wide" needs have run long; "narrow" has just begun.
TEST_F(PreemptionStories, SurplusGoesFirstOrCountsLikeAllOther) {
  for (const bool surplus_first : {true, false}) {
    SchedulerConfig config;
    config.preemption_costs.surplus_first = surplus_first;
    Story s(config);
    s.HasNode("n1", 3);
    s.HasQueue("q");
    s.HasClasses();
    Gang wide = Job("wide", 1, 1, "low");
    wide.roles[0].desired_tasks = 2;
    s.Submit(wide);
    s.Pass();
    s.AllDone();
    s.now = 100 * kSecond;
    s.Submit(Job("narrow", 1, 1, "low"));
    s.Pass();
    s.AllDone();
    s.now = 110 * kSecond;
    s.Submit(Job("urgent", 1, 1, "high"));
    s.Pass();
    EXPECT_EQ(s.plan().preemptions[0].cost, surplus_first ? 110'000 : 10'000);
  }
}

// Nodes of four GPUs, each full of a gang that has lost nothing yet; on the
// last three is one gang, if that is wanted.
Story FullNodes(uint32_t nodes, bool large) {
  Story s;
  s.HasQueue("q");
  s.HasClasses();
  for (uint32_t n = 10; n < 10 + nodes; ++n) {
    s.HasNode("n" + std::to_string(n), 4);
    if (large && n + 3 >= 10 + nodes) continue;
    s.Submit(Job("a" + std::to_string(n), 1, 4, "low"));
  }
  if (large) s.Submit(Job("z", 3, 4, "low"));
  s.Pass();
  s.AllDone();
  return s;
}

// The search begins with a few. Where no others could be fewer than those that
// it found, nor lose less, it does not look at any.
TEST_F(PreemptionStories, WhoCouldBeNoFewerIsNotLookedFor) {
  const auto steps = [](bool large) {
    Story s = FullNodes(60, large);
    s.Submit(Job("urgent", 3, 4, "high"));
    s.Pass();
    return s.plan().steps;
  };
  EXPECT_LT(2 * steps(false), steps(true));
}

TEST_F(PreemptionStories, WhoCouldBeFewerIsLookedFor) {
  Story s = FullNodes(20, true);
  s.Submit(Job("urgent", 3, 4, "high"));
  s.Pass();
  ASSERT_EQ(s.plan().preemptions.size(), 1u);
  EXPECT_EQ(s.plan().preemptions[0].victims, 1u);
}

TEST_F(PreemptionStories, NothingIsToldWhereNobodyHasToGo) {
  Story s = TwoJobs();
  s.HasNode("n3", 4);
  s.Submit(Job("urgent", 1, 4, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("start urgent: n3"));
  EXPECT_THAT(s.plan().preemptions, IsEmpty());
}

}  // namespace
}  // namespace muster
