// What a plan tells of the room that it makes.
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/scheduler.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PreemptionStories : public ::testing::Test {
 protected:
  // Two full nodes of four GPUs each: "old" has run for 100 s, "young" for 40.
  static Story TwoJobs(bool runner_up) {
    SchedulerConfig config;
    config.search.runner_up = runner_up;
    Story s(config);
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

// Four GPUs for 40 s are lost, and no less could be; the other would have lost
// 100 s.
TEST_F(PreemptionStories, WhatIsLostAndWhoElseItCouldHaveBeen) {
  Story s = TwoJobs(true);
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

// Both have to go: there is nobody else.
TEST_F(PreemptionStories, NobodyElse) {
  Story s = TwoJobs(true);
  s.Submit(Job("urgent", 2, 4, "high"));
  s.Pass();
  ASSERT_EQ(s.plan().preemptions.size(), 1u);
  EXPECT_EQ(s.plan().preemptions[0].victims, 2u);
  EXPECT_EQ(s.plan().preemptions[0].cost, 4 * 140'000);
  EXPECT_EQ(s.plan().preemptions[0].gap(), 0);
  EXPECT_EQ(s.plan().preemptions[0].runner_up.victims, 0u);
}

// Looking for it, or not, changes no decision.
TEST_F(PreemptionStories, ARunnerUpIsLookedForWhereOneIsWanted) {
  Story s = TwoJobs(false);
  s.Submit(Job("urgent", 1, 4, "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict young for urgent", "nominate urgent: n2"));
  ASSERT_EQ(s.plan().preemptions.size(), 1u);
  EXPECT_EQ(s.plan().preemptions[0].gap(), 0);
  EXPECT_EQ(s.plan().preemptions[0].runner_up.victims, 0u);
}

TEST_F(PreemptionStories, NothingIsToldWhereNobodyHasToGo) {
  Story s = TwoJobs(true);
  s.HasNode("n3", 4);
  s.Submit(Job("urgent", 1, 4, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("start urgent: n3"));
  EXPECT_THAT(s.plan().preemptions, IsEmpty());
}

}  // namespace
}  // namespace muster
