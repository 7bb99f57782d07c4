// Spreads, told as stories.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "test/solver/world.h"

namespace muster::solver_test {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

Gang Spreading(uint32_t min, uint32_t desired, const Spread& spread) {
  Gang gang;
  gang.roles = {MakeRole("w", desired, 1)};
  gang.roles[0].min_tasks = min;
  gang.roles[0].topology.spread = spread;
  return gang;
}

int64_t CountOf(const World& w, const std::string& label,
                const std::string& value) {
  return std::count_if(
      w.placed.begin(), w.placed.end(), [&](const Assignment& a) {
        for (const Label& l : w.cluster.node(a.at.node).labels) {
          if (l.key == label) return l.value == value;
        }
        return false;
      });
}

TEST(SpreadStory, ThreeReplicasOfAServerNeverShareAHost) {
  World w;
  w.AddMany("z/b/r1/a", 2, 8).AddMany("z/b/r2/b", 1, 8);
  w.Place(Spreading(3, 3, {.level = kHostLevel, .max_per_domain = 1}));
  EXPECT_THAT(w.NodesOf(0), UnorderedElementsAre("a0", "a1", "b0"));
}

TEST(SpreadStory, AFourthReplicaNeverFitsOnThreeHosts) {
  World w;
  w.AddMany("z/b/r1/a", 3, 8);
  w.Place(Spreading(4, 4, {.level = kHostLevel, .max_per_domain = 1}));
  EXPECT_EQ(w.result.fit, Fit::kNever);
  EXPECT_EQ(w.result.reason, (Reason{.code = ReasonCode::kConstraint,
                                     .object_kind = ReasonObject::kLevel,
                                     .object = 3,
                                     .needed = 4,
                                     .available = 3}));
}

TEST(SpreadStory, ABusyHostMakesItWaitNotGiveUp) {
  World w;
  w.AddMany("z/b/r1/a", 3, 8);
  w.Use("a1", 8);
  w.Place(Spreading(3, 3, {.level = kHostLevel, .max_per_domain = 1}));
  EXPECT_EQ(w.result.fit, Fit::kNotNow);
  EXPECT_EQ(w.result.reason.code, ReasonCode::kConstraint);
  EXPECT_EQ(w.result.reason.needed, 3);
  EXPECT_EQ(w.result.reason.available, 2);
}

TEST(SpreadStory, AGangOfEightOverAtLeastTwoRacksAtMostFiveARack) {
  World w;
  w.AddMany("z/b/r1/a", 2, 4).AddMany("z/b/r2/b", 1, 4);
  w.AddMany("z/b/r3/c", 1, 4);
  w.Place(Spreading(8, 8,
                    {.level = "rack", .max_per_domain = 5, .min_domains = 2}));
  ASSERT_EQ(w.result.fit, Fit::kFits);
  // Not five in r1: that would take a node more.
  EXPECT_EQ(CountOf(w, "rack", "r2"), 4);
  EXPECT_EQ(CountOf(w, "rack", "r3"), 4);
  const std::vector<Certificate::Level> two = {{1, 1}, {1, 1}, {2, 2}, {2, 2}};
  EXPECT_EQ(w.result.certificate.levels, two);
  EXPECT_TRUE(w.result.certificate.optimal);
}

TEST(SpreadStory, TwoRacksThoughOneHoldsThemAll) {
  World w;
  w.AddMany("z/b/r1/a", 1, 8).AddMany("z/b/r2/b", 1, 8);
  w.Place(Spreading(4, 4, {.level = "rack", .min_domains = 2}));
  EXPECT_GT(CountOf(w, "rack", "r1"), 0);
  EXPECT_GT(CountOf(w, "rack", "r2"), 0);
}

TEST(SpreadStory, TheSkewLooksAtRacksThatAreFull) {
  World w;
  w.AddMany("z/b/r1/a", 1, 8).AddMany("z/b/r2/b", 1, 8);
  w.Use("b0", 7);
  w.Place(Spreading(3, 3, {.level = "rack", .max_skew = 1}));
  EXPECT_EQ(CountOf(w, "rack", "r1"), 2);
  EXPECT_EQ(CountOf(w, "rack", "r2"), 1);
  w.Place(Spreading(4, 4, {.level = "rack", .max_skew = 1}));
  EXPECT_EQ(w.result.fit, Fit::kNotNow) << "r2 is full: one more in r1 at most";
}

TEST(SpreadStory, TheSkewLeavesOutRacksThatNeverTakeSuchTasks) {
  World w;
  w.AddMany("z/b/r1/a", 1, 8).AddMany("z/b/r2/b", 1, 0);
  w.Place(Spreading(4, 4, {.level = "rack", .max_skew = 1}));
  EXPECT_EQ(CountOf(w, "rack", "r1"), 4);
}

TEST(SpreadStory, TheSkewComparesRacksOfTheRequiredBlockOnly) {
  World w;
  w.AddMany("z/b1/r1/a", 1, 4).AddMany("z/b1/r2/b", 1, 4);
  w.AddMany("z/b2/r1/c", 1, 2);
  Gang gang = Spreading(6, 6, {.level = "rack", .max_skew = 1});
  gang.roles[0].topology.required = "block";
  w.Place(gang);
  ASSERT_EQ(w.result.fit, Fit::kFits);
  EXPECT_EQ(CountOf(w, "rack", "r1"), 3);
  EXPECT_EQ(CountOf(w, "rack", "r2"), 3);
}

TEST(SpreadStory, AGrownTaskKeepsTheSkew) {
  World w;
  w.AddMany("z/b/r1/a", 1, 8).AddMany("z/b/r2/b", 1, 2);
  w.Place(Spreading(2, 8, {.level = "rack", .max_skew = 2}));
  w.Grow();
  EXPECT_EQ(CountOf(w, "rack", "r1"), 4) << "two more than r2, which is full";
  EXPECT_EQ(CountOf(w, "rack", "r2"), 2);
}

TEST(SpreadStory, ALostTaskComesBackWhereTheSpreadWantsIt) {
  World w;
  w.AddMany("z/b/r1/a", 1, 8).AddMany("z/b/r2/b", 1, 8);
  w.AddMany("z/b/r3/c", 1, 8);
  w.Place(Spreading(4, 4, {.level = "rack", .max_per_domain = 2}));
  ASSERT_EQ(CountOf(w, "rack", "r1"), 2);
  // The tasks of r2 are lost with it.
  for (size_t i = w.placed.size(); i-- > 0;) {
    const NodeIndex node = w.placed[i].at.node;
    if (w.cluster.node(node).key != "b0") continue;
    w.cluster.Credit(w.placed[i].at, Ledger::kBoth);
    w.cluster.SetAvailable(node, false);
    w.placed.erase(w.placed.begin() + static_cast<ptrdiff_t>(i));
  }
  w.PlaceAgain();
  EXPECT_EQ(CountOf(w, "rack", "r1"), 2);
  EXPECT_EQ(CountOf(w, "rack", "r3"), 2) << "r1 had room, but not for these";
}

TEST(SpreadStory, AGroupSpreadsOverItsRoles) {
  World w;
  w.AddMany("z/b/r1/a", 1, 8).AddMany("z/b/r2/b", 1, 8);
  Gang gang;
  gang.groups.resize(1);
  gang.groups[0].topology.spread = {.level = "rack", .max_per_domain = 3};
  gang.roles = {MakeRole("leader", 1, 1), MakeRole("worker", 5, 1)};
  w.Place(gang);
  EXPECT_EQ(CountOf(w, "rack", "r1"), 3);
  EXPECT_EQ(CountOf(w, "rack", "r2"), 3);
}

TEST(SpreadStory, AThousandReplicasOnTwoThousandHosts) {
  World w;
  for (int r = 0; r < 100; ++r) {
    w.AddMany("z/b/r" + std::to_string(r) + "/n" + std::to_string(r) + "-", 20,
              4);
  }
  w.Place(Spreading(1000, 1000, {.level = kHostLevel, .max_per_domain = 1}));
  ASSERT_EQ(w.result.fit, Fit::kFits);
  const std::vector<std::string> nodes = w.NodesOf(0);
  EXPECT_EQ(std::set<std::string>(nodes.begin(), nodes.end()).size(), 1000u);
  w.Place(Spreading(2000, 2000, {.level = "rack", .max_skew = 1}));
  ASSERT_EQ(w.result.fit, Fit::kFits);
  for (int r = 0; r < 100; ++r) {
    EXPECT_EQ(CountOf(w, "rack", "r" + std::to_string(r)), 20);
  }
}

}  // namespace
}  // namespace muster::solver_test
