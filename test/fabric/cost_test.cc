// Hops and bisections, against other ways of finding them.
#include <algorithm>
#include <limits>

#include "test/fabric/fabrics.h"

namespace muster {
namespace {

// Shortest ways by Floyd and Warshall.
std::vector<std::vector<uint32_t>> AllWays(const Fabric& fabric) {
  const FabricGraph graph = fabric.graph();
  std::vector<std::string> keys = graph.nodes;
  keys.insert(keys.end(), graph.switches.begin(), graph.switches.end());
  const size_t n = keys.size();
  constexpr uint32_t kFar = 1 << 20;
  std::vector<std::vector<uint32_t>> way(n, std::vector<uint32_t>(n, kFar));
  auto number = [&](const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) - keys.begin();
  };
  for (size_t i = 0; i < n; ++i) way[i][i] = 0;
  for (const FabricGraph::Link& link : graph.links) {
    way[number(link.a)][number(link.b)] = 1;
    way[number(link.b)][number(link.a)] = 1;
  }
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        way[i][j] = std::min(way[i][j], way[i][k] + way[k][j]);
      }
    }
  }
  return way;
}

TEST(FabricCostTest, HopsAreShortestWaysInEveryKindOfFabric) {
  std::vector<Fabric> fabrics;
  fabrics.push_back(MakeTorus(5, 4, 2));
  fabrics.push_back(MakeTorus(3, 1, 2));
  fabrics.push_back(MakeDragonfly(4, 3, 2));
  fabrics.push_back(MakeRails(3, 4));
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Dice dice(seed);
    fabrics.push_back(RandomGraph(dice, 2 + dice.Below(25), dice.Below(20)));
  }
  for (const Fabric& fabric : fabrics) {
    const auto way = AllWays(fabric);
    for (uint32_t a = 0; a < fabric.nodes(); ++a) {
      for (uint32_t b = 0; b < fabric.nodes(); ++b) {
        ASSERT_EQ(fabric.Hops(a, b), way[a][b]) << fabric.ToText();
      }
    }
  }
}

// The least cut between halves of a set by its own links, split by split.
int64_t LeastSplit(const Fabric& fabric, const std::vector<uint32_t>& set) {
  const FabricGraph graph = fabric.graph();
  std::vector<std::vector<int64_t>> between(set.size(),
                                            std::vector<int64_t>(set.size()));
  for (const FabricGraph::Link& link : graph.links) {
    const auto a = std::find(set.begin(), set.end(), fabric.Find(link.a));
    const auto b = std::find(set.begin(), set.end(), fabric.Find(link.b));
    if (a == set.end() || b == set.end()) continue;
    between[a - set.begin()][b - set.begin()] += link.bandwidth;
    between[b - set.begin()][a - set.begin()] += link.bandwidth;
  }
  std::vector<uint32_t> all(set.size());
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  int64_t least = std::numeric_limits<int64_t>::max();
  EachChoice(all, set.size() / 2, [&](const std::vector<uint32_t>& half) {
    std::vector<uint8_t> in(set.size());
    for (uint32_t i : half) in[i] = 1;
    int64_t cut = 0;
    for (uint32_t i : half) {
      for (uint32_t j : all) cut += in[j] ? 0 : between[i][j];
    }
    least = std::min(least, cut);
  });
  return least;
}

// Every box of at most 18 cells in tori with axes of 1 to 5: the formula.
TEST(FabricCostTest, BisectionsOfBoxesAreTheLeastOfAllSplits) {
  int boxes = 0;
  for (uint32_t code = 0; code < 125; ++code) {
    const std::array<uint32_t, 3> dims = {code / 25 + 1, code / 5 % 5 + 1,
                                          code % 5 + 1};
    if (dims[0] < dims[1] || dims[1] < dims[2]) continue;
    const Fabric torus = MakeTorus(dims[0], dims[1], dims[2], 3);
    for (uint32_t shape = 0; shape < dims[0] * dims[1] * dims[2]; ++shape) {
      const std::array<uint32_t, 3> size = {shape / dims[2] / dims[1] + 1,
                                            shape / dims[2] % dims[1] + 1,
                                            shape % dims[2] + 1};
      const uint32_t volume = size[0] * size[1] * size[2];
      if (volume < 2 || volume > 18) continue;
      const auto box =
          torus.FindBox(std::vector<uint8_t>(torus.nodes(), 1), size);
      const auto cost = torus.Cost(box->nodes);
      ASSERT_TRUE(cost->bisection_exact);
      ASSERT_EQ(cost->bisection, LeastSplit(torus, box->nodes))
          << torus.ToText() << size[0] << size[1] << size[2];
      ASSERT_EQ(cost->hop_sum, PairHops(torus, box->nodes));
      ++boxes;
    }
  }
  EXPECT_GT(boxes, 300);
}

TEST(FabricCostTest, BisectionsOfSmallSetsAreTheLeastOfAllSplits) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    const Fabric fabric =
        dice.OneIn(2) ? MakeTorus(4, 3, 2)
                      : RandomGraph(dice, 12 + dice.Below(5), dice.Below(30));
    std::vector<uint32_t> set;
    for (uint32_t node = 0; node < fabric.nodes() && set.size() < 14; ++node) {
      if (!dice.OneIn(2)) set.push_back(node);
    }
    if (set.size() < 2) continue;
    const auto cost = fabric.Cost(set);
    const int64_t least = LeastSplit(fabric, set);
    ASSERT_TRUE(cost->bisection_exact || set.size() > 10) << "seed " << seed;
    if (cost->bisection_exact) {
      ASSERT_EQ(cost->bisection, least) << "seed " << seed;
    } else {
      ASSERT_GE(cost->bisection, least) << "seed " << seed;
    }
  }
}

TEST(FabricCostTest, SwitchesCarryTrafficBetweenHalves) {
  // Two leaves with two nodes each; 10 from node to leaf, 3 between leaves.
  FabricGraph graph{.nodes = {"a", "b", "c", "d"}, .switches = {"l", "r"}};
  for (const char* node : {"a", "b"}) graph.links.push_back({node, "l", 10});
  for (const char* node : {"c", "d"}) graph.links.push_back({node, "r", 10});
  graph.links.push_back({"l", "r", 3});
  const Fabric fabric = Made(graph);
  const auto cost = fabric.Cost(std::vector<uint32_t>{0, 1, 2, 3});
  EXPECT_EQ(cost->bisection, 3);
  EXPECT_EQ(cost->diameter, 3u);
  EXPECT_EQ(cost->hop_sum, 2 + 2 + 4 * 3);
  EXPECT_EQ(fabric.Cost(std::vector<uint32_t>{0, 1})->bisection, 10);
}

TEST(FabricCostTest, ALargeRailFabricIsCutBetweenItsUnits) {
  // Two units of 16: 2 leaves x 4 rails x ... each leaf has 2 links of 2.
  const Fabric rails = MakeRails(2, 16);
  std::vector<uint32_t> all(32);
  for (uint32_t i = 0; i < 32; ++i) all[i] = i;
  const auto cost = rails.Cost(all);
  EXPECT_FALSE(cost->bisection_exact);
  EXPECT_EQ(cost->bisection, 4 * 2 * 2);
}

TEST(FabricCostTest, ParallelLinksCountTogether) {
  const Fabric fabric =
      Made(FabricGraph{{"a", "b"}, {}, {{"a", "b", 2}, {"b", "a", 3}}});
  EXPECT_EQ(fabric.graph().links.size(), 1u);
  EXPECT_EQ(fabric.Cost(std::vector<uint32_t>{0, 1})->bisection, 5);
}

TEST(FabricCostTest, NodesApartAreSaidToBe) {
  const Fabric fabric = Made(FabricGraph{{"a", "b"}, {}, {}});
  EXPECT_EQ(fabric.Hops(0, 1), Fabric::kUnreachable);
  EXPECT_FALSE(fabric.Cost(std::vector<uint32_t>{0, 1})->connected);
  EXPECT_TRUE(fabric.Cost(std::vector<uint32_t>{0})->connected);
}

TEST(FabricCostTest, UnknownAndDoubledNodesAreRefused) {
  const Fabric torus = MakeTorus(2, 2, 2);
  EXPECT_FALSE(torus.Cost(std::vector<uint32_t>{8}).ok());
  EXPECT_FALSE(torus.Cost(std::vector<uint32_t>{1, 0, 1}).ok());
  EXPECT_FALSE(torus.RingThrough(std::vector<uint32_t>{3, 3}).ok());
}

}  // namespace
}  // namespace muster
