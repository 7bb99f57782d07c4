// Stories of topologies: domains, nodes outside, several over the same nodes.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/cluster/cluster.h"
#include "test/cluster/cluster_fixture.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

constexpr uint32_t kOutside = TopologyIndex::kOutside;

NodeIndex Add(Cluster& cluster, const char* key, Labels labels) {
  Node node = GpuNode(key, 8);
  node.labels = std::move(labels);
  return cluster.Upsert(node).index;
}

std::vector<std::string> KeysIn(const Cluster& cluster, int topology,
                                const Domain& domain) {
  std::vector<std::string> keys;
  for (uint32_t i = 0; i < domain.node_count; ++i) {
    const NodeIndex n = cluster.index(topology).nodes[domain.first_node + i];
    keys.push_back(cluster.node(n).key);
  }
  return keys;
}

TEST(ClusterTopologyTest, DomainsAreOrderedByTheirPathsAndNodesByKey) {
  Cluster cluster = EmptyCluster({{"fabric", {"block", "rack"}}});
  Add(cluster, "e", {{"block", "b2"}, {"rack", "r1"}});
  Add(cluster, "d", {{"block", "b1"}, {"rack", "r2"}});
  Add(cluster, "c", {{"block", "b1"}, {"rack", "r1"}});
  Add(cluster, "b", {{"block", "b1"}, {"rack", "r2"}});
  const NodeIndex a = Add(cluster, "a", {{"block", "b1"}});
  const TopologyIndex& index = cluster.index(0);
  ASSERT_EQ(index.levels.size(), 2u);
  ASSERT_EQ(index.levels[0].size(), 2u);
  ASSERT_EQ(index.levels[1].size(), 3u) << "r1 of b1 is not r1 of b2";
  const std::vector<Domain>& racks = index.levels[1];
  EXPECT_EQ(racks[0].name, "r1");
  EXPECT_EQ(racks[1].name, "r2");
  EXPECT_EQ(racks[2].name, "r1");
  EXPECT_EQ(racks[2].parent, 1u);
  EXPECT_THAT(KeysIn(cluster, 0, racks[1]), ElementsAre("b", "d"));
  const Domain& b1 = index.levels[0][0];
  EXPECT_EQ(b1.name, "b1");
  EXPECT_EQ(b1.first_child, 0u);
  EXPECT_EQ(b1.child_count, 2u);
  EXPECT_THAT(KeysIn(cluster, 0, b1), ElementsAre("c", "b", "d"));
  EXPECT_EQ(index.position[a], kOutside) << "it lacks a rack";
  EXPECT_EQ(index.domain_of[0][a], kOutside);
  EXPECT_EQ(index.domain_of[1][cluster.Find("e").index], 2u);
}

TEST(ClusterTopologyTest, SeveralLieOverTheSameNodes) {
  Cluster cluster =
      EmptyCluster({{"fabric", {"rack"}}, {"power", {"feed", "rack"}}});
  Add(cluster, "a", {{"rack", "r1"}, {"feed", "f2"}});
  Add(cluster, "b", {{"rack", "r2"}, {"feed", "f1"}});
  Add(cluster, "c", {{"feed", "f1"}});
  EXPECT_EQ(cluster.FindTopology(""), 0);
  EXPECT_EQ(cluster.FindTopology("power"), 1);
  EXPECT_EQ(cluster.FindTopology("nonsense"), -1);
  EXPECT_EQ(cluster.FindLevel(1, "rack"), 1);
  EXPECT_EQ(cluster.FindLevel(1, kHostLevel), 2);
  EXPECT_EQ(cluster.FindLevel(0, "feed"), -1);
  EXPECT_EQ(cluster.FindLevel(-1, kHostLevel), -1);
  EXPECT_EQ(EmptyCluster().FindTopology(""), -1);
  EXPECT_EQ(cluster.node(cluster.index(0).nodes[0]).key, "a");
  EXPECT_EQ(cluster.node(cluster.index(1).nodes[0]).key, "b");
  EXPECT_EQ(cluster.index(0).nodes.size(), 2u);
}

TEST(ClusterTopologyTest, TheIndexFollowsTheLabels) {
  Cluster cluster = EmptyCluster({{"fabric", {"rack"}}});
  const NodeIndex a = Add(cluster, "a", {{"rack", "r1"}});
  const NodeIndex b = Add(cluster, "b", {{"rack", "r1"}});
  EXPECT_EQ(cluster.index(0).levels[0].size(), 1u);
  Add(cluster, "b", {{"rack", "r0"}});
  EXPECT_EQ(cluster.index(0).levels[0].size(), 2u);
  EXPECT_THAT(cluster.index(0).nodes, ElementsAre(b, a));
  // The same label in another string: names must not dangle.
  Node node = cluster.node(b);
  node.capacity = {1};
  cluster.Upsert(node);
  EXPECT_EQ(cluster.index(0).levels[0][0].name, "r0");
  cluster.Remove(b);
  EXPECT_THAT(cluster.index(0).nodes, ElementsAre(a));
  EXPECT_EQ(cluster.index(0).position[b], kOutside);
}

TEST(ClusterTopologyTest, AHundredThousandNodesAreNoMatter) {
  Cluster cluster = EmptyCluster({{"fabric", {"block", "rack"}}});
  for (int i = 0; i < 100'000; ++i) {
    // Keys arrive in a scattered order.
    const int k = static_cast<int>(int64_t{i} * 7919 % 100'000);
    Add(cluster, std::to_string(k).c_str(),
        {{"block", std::to_string(k / 1000)},
         {"rack", std::to_string(k / 20)}});
    if (i % 10'000 == 0) {
      EXPECT_EQ(cluster.nodes().size(), size_t(i) + 1);
    }
  }
  EXPECT_EQ(cluster.index(0).levels[0].size(), 100u);
  EXPECT_EQ(cluster.index(0).levels[1].size(), 5000u);
  const ShapeId shape = cluster.Intern(GpuRole(1), 0);
  uint64_t slots = 0;
  for (const NodeIndex n : cluster.nodes()) {
    slots += cluster.Slots(n, shape, Ledger::kBoth, 100);
  }
  EXPECT_EQ(slots, 800'000u);
  while (!cluster.nodes().empty() && cluster.nodes().size() > 99'000) {
    for (int i = 0; i < 500; ++i) cluster.Remove(cluster.nodes()[0]);
  }
  EXPECT_EQ(cluster.index(0).nodes.size(), 99'000u);
}

}  // namespace
}  // namespace muster
