// Which nodes, on fabrics of every kind, against all choices.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <set>

#include "test/fabric/fabrics.h"

namespace muster {
namespace {

std::vector<uint32_t> Listed(const std::vector<uint8_t>& free) {
  std::vector<uint32_t> nodes;
  for (uint32_t node = 0; node < free.size(); ++node) {
    if (free[node]) nodes.push_back(node);
  }
  return nodes;
}

// `count` different free nodes?
void ExpectChoice(const FabricPlacement& placement,
                  const std::vector<uint8_t>& free, size_t count) {
  std::set<uint32_t> seen(placement.nodes.begin(), placement.nodes.end());
  ASSERT_EQ(seen.size(), count);
  ASSERT_EQ(placement.nodes.size(), count);
  for (uint32_t node : seen) ASSERT_TRUE(free[node]);
}

// (groups, routers) of a choice, where nodes are numbered in their order.
std::pair<size_t, size_t> Domains(const std::vector<uint32_t>& nodes,
                                  uint32_t per_router, uint32_t routers) {
  std::set<uint32_t> groups, used;
  for (uint32_t node : nodes) {
    used.insert(node / per_router);
    groups.insert(node / per_router / routers);
  }
  return {groups.size(), used.size()};
}

TEST(SelectTest, ADragonflyGivesTheFewestGroupsThenTheFewestRouters) {
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    Dice dice(seed);
    const uint32_t groups = 2 + dice.Below(3), routers = 1 + dice.Below(3);
    const uint32_t nodes = 1 + dice.Below(3);
    const Fabric fly = MakeDragonfly(groups, routers, nodes);
    const auto free = SomeFree(dice, fly.nodes(), 2, true);
    const std::vector<uint32_t> listed = Listed(free);
    const uint32_t count = 1 + dice.Below(8);
    const auto placement = fly.Select(free, count);
    ASSERT_TRUE(placement.ok());
    if (listed.size() < count) {
      ASSERT_TRUE(placement->nodes.empty());
      continue;
    }
    ExpectChoice(*placement, free, count);
    if (listed.size() > 16) continue;
    auto best = std::pair<size_t, size_t>(99, 99);
    EachChoice(listed, count, [&](const std::vector<uint32_t>& set) {
      best = std::min(best, Domains(set, nodes, routers));
    });
    ASSERT_EQ(Domains(placement->nodes, nodes, routers), best)
        << "seed " << seed;
  }
}

TEST(SelectTest, OneUnitIsTheTightestThatIsEnough) {
  const Fabric rails = MakeRails(4, 8);
  std::vector<uint8_t> free(32, 1);
  for (uint32_t taken : {8, 9, 10, 16, 17}) free[taken] = 0;
  const auto five = rails.Select(free, 5);
  EXPECT_EQ(five->nodes, (std::vector<uint32_t>{11, 12, 13, 14, 15}));
  const auto six = rails.Select(free, 6);
  EXPECT_EQ(six->nodes, (std::vector<uint32_t>{18, 19, 20, 21, 22, 23}));
  // 13 need two units: a whole one, and of the others that of 5.
  const auto many = rails.Select(free, 13);
  EXPECT_EQ(Domains(many->nodes, 8, 1).first, 2u);
  EXPECT_EQ(std::count_if(many->nodes.begin(), many->nodes.end(),
                          [](uint32_t node) { return node / 8 == 1; }),
            5);
}

TEST(SelectTest, RailsGiveTheFewestUnits) {
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    Dice dice(seed);
    const uint32_t units = 2 + dice.Below(6), nodes = 1 + dice.Below(8);
    const Fabric rails = MakeRails(units, nodes);
    const auto free = SomeFree(dice, rails.nodes(), 2, true);
    std::vector<uint32_t> per_unit(units);
    for (uint32_t node : Listed(free)) ++per_unit[node / nodes];
    std::sort(per_unit.rbegin(), per_unit.rend());
    const uint32_t count = 1 + dice.Below(rails.nodes());
    uint32_t fewest = 0, sum = 0;
    while (sum < count && fewest < units) sum += per_unit[fewest++];
    const auto placement = rails.Select(free, count);
    if (sum < count) {
      ASSERT_TRUE(placement->nodes.empty());
      continue;
    }
    ExpectChoice(*placement, free, count);
    ASSERT_EQ(Domains(placement->nodes, nodes, 1).first, fewest)
        << "seed " << seed;
    ASSERT_EQ(placement->hop_sum, PairHops(rails, placement->nodes));
  }
}

TEST(SelectTest, ATorusWithoutABoxStillGivesNodesThatAreNear) {
  const Fabric torus = MakeTorus(4, 4, 1);
  std::vector<uint8_t> free(16, 1);
  const auto five = torus.Select(free, 5);
  ASSERT_TRUE(five.ok());
  EXPECT_FALSE(five->box);
  ExpectChoice(*five, free, 5);
  EXPECT_EQ(five->hop_sum, PairHops(torus, five->nodes));
  EXPECT_TRUE(torus.Select(free, 4)->box);
}

TEST(SelectTest, NodesThatCannotReachEachOtherAreNoPlace) {
  const Fabric fabric = Made(FabricGraph{
      {"a", "b", "c", "d", "e"}, {}, {{"a", "b"}, {"c", "d"}, {"d", "e"}}});
  const std::vector<uint8_t> all(5, 1);
  EXPECT_EQ(fabric.Select(all, 3)->nodes.size(), 3u);
  EXPECT_EQ(fabric.Select(all, 3)->hop_sum, 4);
  EXPECT_TRUE(fabric.Select(all, 4)->nodes.empty());
}

// The least sum of hops of all sets, and the least of the balls alone.
struct Least {
  int64_t any = std::numeric_limits<int64_t>::max();
  int64_t ball = std::numeric_limits<int64_t>::max();
};

Least LeastHops(const Fabric& fabric, const std::vector<uint32_t>& listed,
                uint32_t count) {
  Least least;
  EachChoice(listed, count, [&](const std::vector<uint32_t>& set) {
    least.any = std::min(least.any, PairHops(fabric, set));
  });
  for (uint32_t seed : listed) {
    std::vector<uint32_t> ball = listed;
    std::sort(ball.begin(), ball.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(fabric.Hops(seed, a), a) <
             std::pair(fabric.Hops(seed, b), b);
    });
    ball.resize(count);
    least.ball = std::min(least.ball, PairHops(fabric, ball));
  }
  return least;
}

TEST(SelectTest, OnSmallGraphsTheAnswerIsNeverWorseThanABallAndMostlyTheBest) {
  int asked = 0, optimal = 0, ball_optimal = 0, proven = 0;
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    Dice dice(seed);
    const Fabric fabric =
        dice.OneIn(4) ? MakeTorus(4, 4, 1)
                      : RandomGraph(dice, 8 + dice.Below(9), dice.Below(20));
    const auto free = SomeFree(dice, fabric.nodes(), 4, true);
    const std::vector<uint32_t> listed = Listed(free);
    const uint32_t count = 2 + dice.Below(5);
    if (listed.size() < count) continue;
    const auto placement = fabric.Select(free, count);
    ASSERT_TRUE(placement.ok());
    if (placement->box) continue;
    ExpectChoice(*placement, free, count);
    ASSERT_EQ(placement->hop_sum, PairHops(fabric, placement->nodes));
    const Least least = LeastHops(fabric, listed, count);
    ASSERT_LE(placement->hop_sum, least.ball) << "seed " << seed;
    ASSERT_LE(placement->hop_sum_bound, least.any) << "seed " << seed;
    ++asked;
    optimal += placement->hop_sum == least.any;
    ball_optimal += least.ball == least.any;
    proven += placement->hop_sum == placement->hop_sum_bound;
  }
  std::printf("asked %d: the best %d times (proven %d), the best ball %d\n",
              asked, optimal, proven, ball_optimal);
  EXPECT_GT(asked, 1000);
  EXPECT_GE(optimal * 100, asked * 98);
  EXPECT_GT(optimal, ball_optimal);
}

TEST(SelectTest, TheAnswerFollowsTheKeysNotTheOrderOfTheDescription) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Dice dice(seed);
    FabricGraph graph = RandomGraph(dice, 14, 14).graph();
    const Fabric fabric = Made(graph);
    const auto free = SomeFree(dice, 14, 4, true);
    std::reverse(graph.nodes.begin(), graph.nodes.end());
    std::reverse(graph.links.begin(), graph.links.end());
    for (auto& link : graph.links) std::swap(link.a, link.b);
    EXPECT_EQ(fabric.Select(free, 4)->nodes,
              Made(graph).Select(free, 4)->nodes);
  }
}

TEST(SelectTest, AWrongQuestionIsRefused) {
  const Fabric rails = MakeRails(2, 2);
  EXPECT_FALSE(rails.Select(std::vector<uint8_t>(3, 1), 1).ok());
  EXPECT_FALSE(rails.Select(std::vector<uint8_t>(4, 1), 0).ok());
}

}  // namespace
}  // namespace muster
