// Gangs that must not crowd together, told as stories.
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Racks "a" and "b"; nodes a1, a2, b1 with four devices each.
class SpreadStories : public ::testing::Test {
 protected:
  SpreadStories() {
    s.HasQueue("q");
    s.HasClasses();
    for (const char* key : {"a1", "a2", "b1"}) Has(key);
  }
  static SchedulerConfig Config() {
    SchedulerConfig config;
    config.topologies = {{"net", {"rack"}}};
    return config;
  }
  void Has(const std::string& key) {
    Node node = Machine(key, 4);
    node.labels = {{"rack", key.substr(0, 1)}};
    s.Happens(NodeChanged{node});
  }
  static Gang Spreading(Gang gang, const Spread& spread) {
    gang.roles[0].topology.spread = spread;
    return gang;
  }

  Story s{Config()};
};

constexpr char kRack[] = "rack";

TEST_F(SpreadStories, ThreeReplicasOfAServerNeverShareAHost) {
  s.Submit(
      Spreading(Job("server", 3), {.level = kHostLevel, .max_per_domain = 1}));
  EXPECT_THAT(s.Pass(), ElementsAre("start server: a1 a2 b1"));
}

TEST_F(SpreadStories, AFourthReplicaWaitsForAFourthHost) {
  s.Submit(
      Spreading(Job("server", 4), {.level = kHostLevel, .max_per_domain = 1}));
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.Why("server"), HasSubstr("constraint"));
  EXPECT_THAT(s.Why("server"), HasSubstr("host"));
  EXPECT_THAT(s.Why("server"), HasSubstr("needs 4 tasks, 3 available"));
  Node node = Machine("c1", 4);
  node.labels = {{"rack", "c"}};
  const Event more{0, NodeChanged{node}};
  Plan plan;
  ASSERT_TRUE(s.scheduler().WhatIf(0, std::span(&more, 1), &plan).ok());
  EXPECT_EQ(plan.decisions.size(), 1u) << "what if there was one more";
  EXPECT_THAT(s.Pass(), IsEmpty());
  Has("c1");
  EXPECT_THAT(s.Pass(), ElementsAre("start server: a1 a2 b1 c1"));
}

TEST_F(SpreadStories, AGangOfSevenOverAtLeastTwoRacksAtMostFiveARack) {
  s.Submit(Spreading(Job("wide", 7),
                     {.level = kRack, .max_per_domain = 5, .min_domains = 2}));
  EXPECT_THAT(s.Pass(), ElementsAre("start wide: a1 a1 a1 b1 b1 b1 b1"));
  s.Submit(Spreading(Job("again", 3), {.level = kHostLevel, .min_domains = 2}));
  EXPECT_THAT(s.Pass(), ElementsAre("start again: a1 a2 a2"));
}

TEST_F(SpreadStories, AGrownTaskKeepsTheSkew) {
  s.Submit(Job("other", 3));
  s.Pass();
  ASSERT_EQ(s.Where("other"), "b1 b1 b1");
  s.Submit(Spreading(Elastic("e", 2, 6), {.level = kRack, .max_skew = 1}));
  EXPECT_THAT(s.Pass(), ElementsAre("start e: a1 b1 a1"));
  EXPECT_THAT(s.Pass(), IsEmpty()) << "rack b is full, one more is the lead";
}

TEST_F(SpreadStories, ALostReplicaComesBackOnAHostOfItsOwn) {
  s.Submit(
      Spreading(Job("server", 2), {.level = kHostLevel, .max_per_domain = 1}));
  EXPECT_THAT(s.Pass(), ElementsAre("start server: a1 a2"));
  s.AllDone();
  s.Happens(NodeDown{"a2"});
  s.Pass();
  s.AllDone();
  s.Pass();
  EXPECT_EQ(s.Where("server"), "a1 b1");
}

TEST_F(SpreadStories, VictimsAreChosenWhereTheSpreadWantsThem) {
  s.Submit(Job("a", 8, 1, "low"));
  s.Pass();
  ASSERT_EQ(s.Where("a"), "a1 a1 a1 a1 a2 a2 a2 a2");
  s.Submit(Job("b", 3, 1, "low"));
  s.Pass();
  s.AllDone();
  ASSERT_EQ(s.Where("b"), "b1 b1 b1");
  // One device is free on b1; two hosts are wanted.
  s.Submit(
      Spreading(Job("vip", 2, 1, "high"), {.level = kRack, .min_domains = 2}));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for vip", HasSubstr("nominate")));
}

}  // namespace
}  // namespace muster
