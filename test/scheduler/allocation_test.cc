// Counts allocations: a pass that has nothing new to decide makes none.
#include <cstddef>
#include <string>

#include "gtest/gtest.h"
#include "test/allocation_count.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

// Gangs that run, wait in classes, are nominated, could grow, are parked.
void Fill(Story& s) {
  for (int n = 0; n < 8; ++n) s.HasNode("n" + std::to_string(n), 4);
  s.HasQueue("q");
  s.HasQueue("bounded", {GpuQuota(1, 2)});
  s.HasClasses();
  for (int g = 0; g < 14; ++g) {
    s.Submit(Job("small" + std::to_string(g), 1, 1, "low"));
  }
  s.Submit(Elastic("elastic", 1, 50, "low"));
  s.Pass();
  s.AllDone();
  Gang parked = Job("parked");
  parked.not_before = 1'000 * kSecond;
  s.Submit(parked);
  Gang held = Job("held");
  held.held = true;
  s.Submit(held);
  for (int g = 0; g < 5; ++g) {
    s.Submit(Job("twin" + std::to_string(g), 2, 4));
    s.Submit(Job("other" + std::to_string(g), 3 + g, 4, "mid"));
    Gang gang = Job("bounded" + std::to_string(g), 3);
    gang.queue = "bounded";
    s.Submit(gang);
  }
  s.Submit(Job("promised", 1, 2, "high"));
}

TEST(Allocations, NoneInASteadyPass) {
  Story s;
  Fill(s);
  Plan plan;
  for (int warm = 0; warm < 4; ++warm) s.scheduler().Schedule(s.now, &plan);
  ASSERT_TRUE(plan.decisions.empty());
  ASSERT_EQ(s.Phase("promised"), "nominated");
  for (int pass = 1; pass <= 3; ++pass) {
    const size_t before = test::Allocations();
    s.scheduler().Schedule(s.now + pass * kSecond, &plan);
    EXPECT_EQ(test::Allocations() - before, 0u) << "pass " << pass;
  }
}

// Room comes and goes on one node, of a kind that is not what they lack: the
// questions are asked, and answered as before. A node of a set for what
// activates, none for what is looked at.
TEST(Allocations, FewInAPassThatAsksInVain) {
  Story s;
  Fill(s);
  Plan plan;
  s.scheduler().Schedule(s.now, &plan);
  uint64_t steps = 0;
  const auto pass = [&](int64_t cpu) {
    const Event event{s.now, ExternalUsageChanged{{"n3", {cpu, 0, 0}, {}}}};
    ASSERT_TRUE(s.scheduler().Apply(event).ok());
    const size_t before = test::Allocations();
    s.scheduler().Schedule(s.now, &plan);
    EXPECT_LE(test::Allocations() - before, steps == 0 ? 1000 : 8);
    ASSERT_TRUE(plan.decisions.empty());
    steps = plan.steps;
  };
  for (int round = 0; round < 4; ++round) {
    pass(500);
    pass(0);
  }
  EXPECT_GT(steps, 0u);
}

// What is known of its shape outlives the gang: a column of the index for each
// one anew would take 6 bytes a node.
TEST(Allocations, FewForGangsThatHaveAShapeOneByOne) {
  constexpr int kNodes = 1000;
  Scheduler scheduler = *Scheduler::Create({});
  const auto happens = [&](const EventBody& what) {
    ASSERT_TRUE(scheduler.Apply(Event{0, what}).ok());
  };
  happens(QueueChanged{{.key = "q"}});
  for (int n = 0; n < kNodes; ++n) {
    happens(NodeChanged{Machine("n" + std::to_string(n), 4)});
  }
  Plan plan;
  for (int g = 0; g < 8; ++g) {
    const std::string key = "g" + std::to_string(g);
    happens(GangSubmitted{Job(key, 2, 1 + g % 2)});
    const size_t before = test::AllocatedBytes();
    scheduler.Schedule(0, &plan);
    const size_t bytes = test::AllocatedBytes() - before;
    if (g < 2) {
      EXPECT_GT(bytes, size_t{6 * kNodes});
    } else {
      EXPECT_LT(bytes, size_t{kNodes}) << key;
    }
    ASSERT_EQ(plan.decisions.size(), 1u);
    happens(DecisionApplied{plan.decisions[0].seq});
    happens(GangFinished{key});
    scheduler.Schedule(0, &plan);
  }
}

TEST(Allocations, NoneForAnsweredEvents) {
  Story s;
  Fill(s);
  s.Pass();
  const Event checkpoint{s.now, CheckpointTaken{"small0", 0}};
  const Event again{s.now, DecisionApplied{1}};
  for (const Event* event : {&checkpoint, &again}) {
    ASSERT_TRUE(s.scheduler().Apply(*event).ok());
    const size_t before = test::Allocations();
    ASSERT_TRUE(s.scheduler().Apply(*event).ok());
    EXPECT_EQ(test::Allocations() - before, 0u);
  }
}

}  // namespace
}  // namespace muster
