#include "muster/fabric/rank_order.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Node MakeNode(const std::string& block, const std::string& rack,
              const std::string& key) {
  Node node{.key = key};
  if (!block.empty()) node.labels = {{"block", block}, {"rack", rack}};
  node.devices.resize(4);
  return node;
}

const Topology kTopology{"net", {"block", "rack"}};

TEST(RankOrderTest, GoesByPathThenKeyThenDeviceThenSlot) {
  const Node a = MakeNode("b1", "r2", "a");
  const Node b = MakeNode("b1", "r1", "b");
  const Node c = MakeNode("b0", "r9", "c");
  const Node lost = MakeNode("", "", "0");
  const std::vector<RankedTask> tasks = {{&a, {2}}, {&lost, {0}}, {&b, {1}, 4},
                                         {&a, {0}}, {&c, {3}},    {&b, {1}, 2}};
  EXPECT_THAT(RankOrder(kTopology, tasks), ElementsAre(4, 5, 2, 3, 0, 1));
  EXPECT_THAT(RankOrder(kTopology, {}), IsEmpty());
}

TEST(RankOrderTest, DevicesGoByIslandThenNumaNodeThenNumber) {
  Node node = MakeNode("b", "r", "n");
  node.devices.resize(6);
  node.devices[0].island = 1;
  node.devices[1] = {.island = 0, .numa = 1};
  node.devices[2] = {.island = 0, .numa = 0};
  node.devices[4].island = 1;
  node.devices[5] = {.island = 0, .numa = 1};
  EXPECT_THAT(RingOrder(node, DeviceSet::FirstOf(9)),
              ElementsAre(2, 1, 5, 0, 4, 3));
  EXPECT_THAT(RingOrder(node, {0, 3, 5}), ElementsAre(5, 0, 3));
  EXPECT_THAT(RingOrder(node, {}), IsEmpty());
}

TEST(RankOrderTest, DevicesBeyondTheFirst64CountLikeTheOthers) {
  Node node = MakeNode("b", "r", "n");
  node.devices.resize(80);
  node.devices[70].island = node.devices[3].island = 0;
  EXPECT_THAT(RingOrder(node, {2, 3, 65, 70, 79}),
              ElementsAre(3, 70, 2, 65, 79));
  const std::vector<RankedTask> tasks = {
      {&node, {79}}, {&node, {64, 70}}, {&node, {63}}, {&node, {64}}};
  EXPECT_THAT(RankOrder(kTopology, tasks), ElementsAre(1, 2, 3, 0));
}

// How often a ring through the tasks passes from one block (rack, node) to
// another one.
std::vector<uint32_t> Crossings(const std::vector<RankedTask>& tasks,
                                const std::vector<uint32_t>& order) {
  std::vector<uint32_t> crossings(3, 0);
  for (size_t i = 0; i < order.size(); ++i) {
    const Node& from = *tasks[order[i]].node;
    const Node& to = *tasks[order[(i + 1) % order.size()]].node;
    const bool block = from.labels[0] != to.labels[0];
    const bool rack = block || from.labels[1] != to.labels[1];
    crossings[0] += block;
    crossings[1] += rack;
    crossings[2] += from.key != to.key;
  }
  return crossings;
}

// All orders are tried: none is better at any level.
TEST(RankOrderTest, NoRingCrossesLessAtAnyLevel) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<Node> nodes;
    for (uint32_t n = 0; n < 5; ++n) {
      nodes.push_back(MakeNode("b" + std::to_string(random() % 2),
                               "r" + std::to_string(random() % 2),
                               "n" + std::to_string(n)));
    }
    std::vector<RankedTask> tasks;
    for (uint32_t t = 0; t < 2 + random() % 6; ++t) {
      tasks.push_back(
          {&nodes[random() % 5], {static_cast<uint32_t>(random() % 4)}});
    }
    const std::vector<uint32_t> found =
        Crossings(tasks, RankOrder(kTopology, tasks));
    std::vector<uint32_t> order(tasks.size());
    std::iota(order.begin(), order.end(), 0u);
    do {
      const std::vector<uint32_t> other = Crossings(tasks, order);
      for (size_t l = 0; l < 3; ++l) ASSERT_LE(found[l], other[l]);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

}  // namespace
}  // namespace muster
