// The numbers of tasks follow the topology.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "test/solver/world.h"

namespace muster::solver_test {
namespace {

using ::testing::ElementsAre;

// Whether a role's tasks lie in the order of the tree.
bool InOrder(const World& w, uint32_t role) {
  const TopologyIndex& index = w.cluster.index(0);
  uint32_t last = 0;
  for (const Assignment& a : w.result.tasks) {
    if (a.task.role != role) continue;
    if (index.position[a.at.node] < last) return false;
    last = index.position[a.at.node];
  }
  return true;
}

TEST(RankAssigner, IdenticalTasksAreNumberedFromRackToRack) {
  World w;
  w.AddMany("z/b/r1/a", 2, 2)
      .AddMany("z/b/r2/b", 3, 3)
      .AddMany("z/b/r3/c", 2, 1);
  w.Place({.key = "g", .roles = {MakeRole("w", 14, 1)}});
  ASSERT_EQ(w.result.fit, Fit::kFits);
  EXPECT_EQ(w.Where(0, "rack"), "r1 r1 r1 r1 r2 r2 r2 r2 r2 r2 r2 r2 r2 r3");
}

TEST(RankAssigner, EachOfSeveralRolesFollowsTheTree) {
  World w;
  w.AddMany("z/b/r1/a", 2, 2).AddMany("z/b/r2/b", 2, 4);
  w.Place(
      {.key = "g", .roles = {MakeRole("ps", 4, 1), MakeRole("worker", 4, 2)}});
  ASSERT_EQ(w.result.fit, Fit::kFits);
  EXPECT_TRUE(InOrder(w, 0));
  EXPECT_TRUE(InOrder(w, 1));
}

TEST(RankAssigner, WholeSlicesAreExchangedAndTasksInsideThem) {
  World w;
  w.AddMany("z/b/r1/a", 2, 2).AddMany("z/b/r2/b", 2, 4);
  Role role = MakeRole("w", 6, 2);
  role.topology.slices = {{"rack", 2}};
  w.Place({.key = "g", .roles = {role}});
  ASSERT_EQ(w.result.fit, Fit::kFits);
  EXPECT_EQ(w.Where(0, "rack"), "r1 r1 r2 r2 r2 r2");
}

TEST(RankAssigner, TheShortLastSliceStaysLast) {
  World w;
  w.AddMany("z/b/r1/a", 1, 1).AddMany("z/b/r2/b", 1, 2);
  Role role = MakeRole("w", 3, 1);
  role.topology.slices = {{"rack", 2}};
  w.Place({.key = "g", .roles = {role}});
  ASSERT_EQ(w.result.fit, Fit::kFits);
  EXPECT_EQ(w.Where(0, "rack"), "r2 r2 r1");
}

TEST(RankAssigner, TasksOfANodeFollowTheRingOfItsDevices) {
  World w;
  Node node = MakeNode({.path = "z/b/r/n", .gpus = 4});
  for (uint32_t d = 0; d < 4; ++d) {
    node.devices[d].island = d % 2 == 0 ? 1 : 0;
  }
  w.cluster.Upsert(node);
  w.Place({.key = "g", .roles = {MakeRole("w", 4, 1)}});
  ASSERT_EQ(w.result.fit, Fit::kFits);
  std::vector<DeviceSet> devices;
  for (const Assignment& a : w.result.tasks) devices.push_back(a.at.devices);
  EXPECT_THAT(devices, ElementsAre(DeviceSet({1}), DeviceSet({3}),
                                   DeviceSet({0}), DeviceSet({2})));
}

TEST(RankAssigner, HoldsForRandomGangs) {
  uint32_t placed = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    World w;
    for (uint32_t n = 0; n < 2 + random() % 8; ++n) {
      w.Add({.path = "z/b" + std::to_string(random() % 2) + "/r" +
                     std::to_string(random() % 3) + "/n" + std::to_string(n),
             .gpus = static_cast<uint32_t>(random() % 5)});
    }
    Gang gang{.key = "g"};
    const uint32_t roles = 1 + random() % 3;
    for (uint32_t r = 0; r < roles; ++r) {
      gang.roles.push_back(MakeRole("r" + std::to_string(r), 1 + random() % 6,
                                    1 + random() % 2));
    }
    const bool sliced = random() % 3 == 0;
    if (sliced) gang.roles[0].topology.slices = {{"rack", 4}, {kHostLevel, 2}};
    w.Place(gang);
    if (w.result.fit != Fit::kFits) continue;
    ++placed;
    for (uint32_t r = sliced ? 1 : 0; r < roles; ++r) {
      ASSERT_TRUE(InOrder(w, r)) << "role " << r;
    }
    if (!sliced) continue;
    const std::vector<std::string> nodes = w.NodesOf(0);
    for (size_t i = 0; i < nodes.size(); ++i) {
      ASSERT_EQ(nodes[i], nodes[i - i % 2]) << "task " << i;
    }
    if (nodes.size() % 4 == 0) {
      ASSERT_TRUE(InOrder(w, 0));
    }
  }
  EXPECT_GT(placed, 400u);
}

}  // namespace
}  // namespace muster::solver_test
