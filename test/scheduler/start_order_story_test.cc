// Roles that start one after the other, told as stories.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/scheduler_fixture.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StartOrderStories : public SchedulerTest {
 protected:
  // Waves by role, as the last plan told them.
  std::vector<std::pair<uint32_t, uint32_t>> Waves() {
    std::map<uint32_t, uint32_t> waves;
    for (const PlannedTask& t : s.plan().tasks) waves[t.task.role] = t.wave;
    return {waves.begin(), waves.end()};
  }
};

Role Named(const std::string& name, uint32_t tasks,
           std::vector<std::string> start_after = {}) {
  Role role = Job("", tasks).roles[0];
  role.name = name;
  role.start_after = std::move(start_after);
  return role;
}

Gang Of(const std::string& key, std::vector<Role> roles,
        const std::string& priority_class = "") {
  Gang gang = Job(key);
  gang.priority_class = priority_class;
  gang.roles = std::move(roles);
  return gang;
}

// An MPI job: the launcher starts when its workers run.
Gang Mpi(const std::string& priority_class = "") {
  return Of("mpi", {Named("launcher", 1, {"worker"}), Named("worker", 2)},
            priority_class);
}

TEST_F(StartOrderStories, TheLauncherComesAfterItsWorkers) {
  Nodes({3});
  s.Submit(Mpi());
  EXPECT_THAT(s.Pass(), ElementsAre("start mpi: n1 n1 n1"));
  EXPECT_THAT(Waves(), ElementsAre(std::pair(0, 1), std::pair(1, 0)));
  s.Submit(Job("sneaky"));
  s.Answers("mpi", {1, 0}, TaskOutcome::kStarted);
  EXPECT_THAT(s.Pass(), IsEmpty()) << "the launcher's place is held";
  s.Answers("mpi", {1, 1}, TaskOutcome::kStarted);
  EXPECT_EQ(s.Phase("mpi"), "starting");
  s.Answers("mpi", {0, 0}, TaskOutcome::kStarted);
  EXPECT_EQ(s.Phase("mpi"), "running");
}

// Each alone would fit; side by side each could hold a half and wait.
TEST_F(StartOrderStories, AGraphThatFitsOnlyInPartStartsNothing) {
  Nodes({5});
  const std::vector<Role> diamond = {
      Named("store", 1), Named("left", 1, {"store"}),
      Named("right", 1, {"store"}), Named("join", 1, {"left", "right"})};
  s.Submit(Of("one", diamond));
  s.Submit(Of("two", diamond));
  EXPECT_THAT(s.Pass(), ElementsAre("start one: n1 n1 n1 n1"));
  EXPECT_THAT(Waves(), ElementsAre(std::pair(0, 0), std::pair(1, 1),
                                   std::pair(2, 1), std::pair(3, 2)));
  EXPECT_EQ(s.Phase("two"), "waiting");
  EXPECT_EQ(s.FreeGpus("n1"), 1);
  s.AllDone();
  s.Happens(GangFinished{"one"});
  EXPECT_THAT(s.Pass(), ElementsAre("start two: n1 n1 n1 n1"));
}

TEST_F(StartOrderStories, WhatFitsOfAnElasticGraphIsItsMinimumAtLeast) {
  Nodes({4});
  Gang gang = Of("e", {Named("store", 1), Named("worker", 2, {"store"}),
                       Named("report", 1, {"worker"})});
  gang.roles[1].desired_tasks = 5;
  s.Submit(gang);
  EXPECT_THAT(s.Pass(), ElementsAre("start e: n1 n1 n1 n1"));
  EXPECT_THAT(Waves(),
              ElementsAre(std::pair(0, 0), std::pair(1, 1), std::pair(2, 2)));
}

// The helper fits nowhere: who comes after it comes after what runs.
TEST_F(StartOrderStories, AnOptionalRoleThatDoesNotRunHoldsNobodyUp) {
  Nodes({2});
  Gang gang = Of("a", {Named("first", 1), Named("helper", 1, {"first"}),
                       Named("last", 1, {"helper"})});
  gang.roles[1].min_tasks = 0;
  gang.roles[1].shape.devices.count = 8;
  s.Submit(gang);
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1 n1"));
  EXPECT_THAT(Waves(), ElementsAre(std::pair(0, 0), std::pair(2, 2)));
  s.AllDone();
  EXPECT_EQ(s.Phase("a"), "running");
}

TEST_F(StartOrderStories, AWaveThatFailsForGoodReleasesAll) {
  Nodes({3});
  s.Submit(Mpi());
  s.Pass();
  for (int replacement = 1; replacement <= 3; ++replacement) {
    s.Answers("mpi", {1, 0}, TaskOutcome::kFailed);
    EXPECT_THAT(s.Pass(), ElementsAre("grow mpi: n1")) << replacement;
  }
  s.Answers("mpi", {1, 0}, TaskOutcome::kFailed);
  EXPECT_THAT(s.Pass(), ElementsAre("evict mpi"));
  s.Applied(DecisionKind::kEvict, "mpi");
  EXPECT_EQ(s.Phase("mpi"), "waiting");
  EXPECT_EQ(s.FreeGpus("n1"), 3) << "the launcher's place as well";
  EXPECT_THAT(s.PassAfter(300), ElementsAre("start mpi: n1 n1 n1"));
}

TEST_F(StartOrderStories, GrowthOfAnEarlierRoleLeavesLaterOnesAlone) {
  Nodes({3});
  Gang gang = Mpi();
  gang.roles[1].desired_tasks = 3;
  s.Submit(Job("other", 1));
  s.Submit(gang);
  s.Happens(NodeChanged{Machine("n1", 4)});
  s.Pass();
  s.AllDone();
  s.Happens(GangFinished{"other"});
  EXPECT_THAT(s.Pass(), ElementsAre("grow mpi: n1"));
  ASSERT_EQ(s.plan().tasks.size(), 1u);
  EXPECT_EQ(s.plan().tasks[0].task, (TaskId{1, 2}));
  EXPECT_EQ(s.plan().tasks[0].wave, 0u);
}

TEST_F(StartOrderStories, PreemptionBetweenTheWavesTakesAll) {
  Nodes({3});
  s.Submit(Mpi("low"));
  s.Pass();
  s.Answers("mpi", {1, 0}, TaskOutcome::kStarted);
  s.Answers("mpi", {1, 1}, TaskOutcome::kStarted);
  s.Submit(Job("urgent", 1, 1, "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict mpi for urgent", "nominate urgent: n1"));
  EXPECT_EQ(s.Of("mpi").tasks.size(), 3u) << "the launcher is released, too";
  s.AllDone();
  EXPECT_EQ(s.Phase("mpi"), "waiting");
  EXPECT_THAT(s.Pass(), ElementsAre("start urgent: n1"));
}

TEST_F(StartOrderStories, ANodeLostBetweenTheWavesStartsAllAnew) {
  Nodes({2, 2, 2});
  s.Submit(Mpi());
  s.Pass();
  s.Answers("mpi", {1, 0}, TaskOutcome::kStarted);
  s.Answers("mpi", {1, 1}, TaskOutcome::kStarted);
  s.Happens(NodeDown{s.Of("mpi").tasks[1].node});
  EXPECT_THAT(s.Pass(), ElementsAre("evict mpi"));
  s.AllDone();
  ASSERT_THAT(s.Pass(), ElementsAre(testing::StartsWith("start mpi:")));
  EXPECT_THAT(Waves(), ElementsAre(std::pair(0, 1), std::pair(1, 0)));
}

TEST_F(StartOrderStories, ACircleIsRefusedByName) {
  Nodes({1});
  const absl::Status status = s.Try(GangSubmitted{Of(
      "ring",
      {Named("start", 1), Named("a", 1, {"start", "c"}), Named("b", 1, {"a"}),
       Named("c", 1, {"b"}), Named("end", 1, {"c"})})});
  EXPECT_EQ(status.message(),
            "gang 'ring'.roles: start_after has a cycle: "
            "'b' after 'a' after 'c' after 'b'");
}

}  // namespace
}  // namespace muster
