// What a host builds on that comes back, or takes submissions from others.
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/scheduler_fixture.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using ComeBackStories = SchedulerTest;

// What a host reports that finds all as recorded.
TEST_F(ComeBackStories, TheStateTellsWhatIsBelievedToBeReal) {
  Nodes({2, 2, 2});
  s.Submit(Job("ends", 2, 1, "mid"));
  s.Submit(Job("stops", 2, 1, "low"));
  s.Pass();
  s.AllDone();
  s.Answers("ends", {0, 0}, TaskOutcome::kSucceeded);
  s.Submit(Job("starts", 1, 2, "high"));
  s.Submit(Job("waits for it", 1, 2, "mid"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("start starts: n3", "evict stops for waits for it",
                          "nominate waits for it: n2"));
  const SchedulerState before = s.scheduler().State();
  Reconciled whole;
  for (const NodeState& n : before.nodes) whole.nodes.push_back(n.node);
  for (const GangState& g : before.gangs) {
    for (const TaskState& t : g.tasks) {
      if (const auto real = AsReal(g, t)) whole.tasks.push_back(*real);
    }
  }
  EXPECT_EQ(whole.tasks.size(), 4u)
      << "one succeeded, one is nominated for a place";
  const auto report = s.scheduler().Reconcile(s.now, whole);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->tasks_confirmed, 4u);
  EXPECT_EQ(s.Phase("starts"), "running");
  for (const GangState& g : before.gangs) {
    if (g.gang.key == "starts") continue;
    EXPECT_EQ(s.Of(g.gang.key), g) << g.gang.key;
  }
}

TEST_F(ComeBackStories, WhatIsSuspendedOrInAPartitionIsToldSo) {
  GangState gang;
  gang.gang = Job("a");
  gang.gang.roles[0].alternatives.resize(1);
  gang.gang.roles[0].alternatives[0].devices.partition = "half";
  TaskState task{.phase = TaskPhase::kSuspended,
                 .node = "n1",
                 .devices = {0, 3},
                 .first_slice = 2};
  std::optional<RealTask> real = AsReal(gang, task);
  ASSERT_TRUE(real.has_value());
  EXPECT_TRUE(real->suspended);
  EXPECT_FALSE(real->releasing || real->first_slice.has_value());
  EXPECT_THAT(real->devices, ElementsAre(0, 3));
  task.alternative = 1;
  real = AsReal(gang, task);
  ASSERT_TRUE(real.has_value());
  EXPECT_EQ(real->alternative, 1u);
  EXPECT_EQ(real->first_slice, 2u);
}

TEST_F(ComeBackStories, APlanTellsWhatBecameOfSubmissions) {
  Nodes({1});
  for (const char* queue : {"q", "nowhere"}) {
    Gang gang = Job(std::string("for ") + queue);
    gang.queue = queue;
    ASSERT_TRUE(s.scheduler().Submit(gang).ok());
  }
  s.Pass();
  ASSERT_EQ(s.plan().accepted.size(), 1u);
  EXPECT_EQ(s.scheduler().gang_key(s.plan().accepted[0]), "for q");
  ASSERT_EQ(s.plan().refused.size(), 1u);
  EXPECT_EQ(s.plan().Text(s.plan().refused[0].gang_key), "for nowhere");
  s.Pass();
  EXPECT_THAT(s.plan().accepted, IsEmpty()) << "each is told once";
}

}  // namespace
}  // namespace muster
