// Stories of shapes: interning, which nodes admit them, what they demand.

#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "lib/cluster/cluster.h"
#include "test/cluster/cluster_fixture.h"

namespace muster {
namespace {

Node Labelled(const char* key, Labels labels) {
  Node node = GpuNode(key, 8);
  node.labels = std::move(labels);
  return node;
}

Role WithSelector(const char* key, const char* value) {
  Role role = GpuRole(1);
  role.shape.selector = {{{{{key, SelectorOp::kIn, {value}}}}}};
  return role;
}

TEST(ClusterShapesTest, EqualShapesShareAnId) {
  Cluster cluster = EmptyCluster();
  Role role = CpuRole(2);
  role.alternatives = {CpuRole(1).shape};
  const ShapeId two = cluster.Intern(role, 0);
  const ShapeId one = cluster.Intern(role, 1);
  EXPECT_NE(one, two);
  Role other = CpuRole(1);
  other.name = "another role";
  other.shape.resources = {1, 0, 0};
  EXPECT_EQ(cluster.Intern(other, 0), one) << "trailing zeros aside";
  other.tolerations = {{"spot", TolerationOp::kExists}};
  EXPECT_NE(cluster.Intern(other, 0), one);

  cluster.Unref(one);
  EXPECT_EQ(cluster.Intern(CpuRole(1), 0), one) << "one of two was left";
  EXPECT_TRUE(cluster.Validate().ok());
}

TEST(ClusterShapesTest, AShapeThatComesBackIsTheSameOne) {
  Cluster cluster = EmptyCluster();
  const ShapeId shape = cluster.Intern(WithSelector("i", "7"), 0);
  const uint64_t serial = cluster.shape_serial(shape);
  const uint64_t filter = cluster.filter_serial(shape);
  for (int i = 100; i < 200; ++i) {
    cluster.Unref(cluster.Intern(WithSelector("i", "7"), 0));
    cluster.Unref(shape);
    cluster.Unref(cluster.Intern(CpuRole(i), 0));
    ASSERT_EQ(cluster.Intern(WithSelector("i", "7"), 0), shape);
    ASSERT_EQ(cluster.shape_serial(shape), serial);
    ASSERT_EQ(cluster.filter_serial(shape), filter);
  }
  EXPECT_TRUE(cluster.Validate().ok());
}

TEST(ClusterShapesTest, ShapesThatNobodyHasAreForgottenForOthers) {
  Cluster cluster = EmptyCluster();
  const ShapeId kept = cluster.Intern(CpuRole(7), 0);
  const uint64_t kept_serial = cluster.shape_serial(kept);
  const ShapeId shape = cluster.Intern(WithSelector("i", "7"), 0);
  const uint64_t serial = cluster.shape_serial(shape);
  cluster.Unref(shape);
  ShapeId most = 0;
  for (int i = 0; i < 1000; ++i) {
    cluster.Unref(cluster.Intern(CpuRole(7), 0));
    const ShapeId other =
        cluster.Intern(WithSelector("j", std::to_string(i).c_str()), 0);
    most = std::max(most, other);
    cluster.Unref(other);
  }
  EXPECT_LT(most, 300u) << "ids are used again";
  EXPECT_NE(cluster.shape_serial(cluster.Intern(WithSelector("i", "7"), 0)),
            serial);
  EXPECT_EQ(cluster.Intern(CpuRole(7), 0), kept);
  EXPECT_EQ(cluster.shape_serial(kept), kept_serial);
  EXPECT_TRUE(cluster.Validate().ok());
}

TEST(ClusterShapesTest, ManyFiltersComeAndGo) {
  Cluster cluster = EmptyCluster();
  const NodeIndex n = cluster.Upsert(Labelled("a", {{"i", "7"}})).index;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 200; ++i) {
      const Role role = WithSelector("i", std::to_string(i).c_str());
      const ShapeId shape = cluster.Intern(role, 0);
      EXPECT_EQ(cluster.Admits(n, shape), i == 7);
      cluster.Unref(shape);
    }
  }
  EXPECT_TRUE(cluster.Validate().ok());
}

TEST(ClusterShapesTest, LabelsTaintsAndCordonsDecideWhoComes) {
  Cluster cluster = EmptyCluster();
  Node node = Labelled("a", {{"zone", "z1"}});
  const NodeIndex n = cluster.Upsert(node).index;
  const ShapeId z1 = cluster.Intern(WithSelector("zone", "z1"), 0);
  Role tolerant = WithSelector("zone", "z1");
  tolerant.tolerations = {{"spot", TolerationOp::kExists}};
  const ShapeId z1_spot = cluster.Intern(tolerant, 0);
  EXPECT_TRUE(cluster.Admits(n, z1));

  node.labels = {{"zone", "z2"}};
  cluster.Upsert(node);
  EXPECT_FALSE(cluster.Admits(n, z1));
  node.labels = {{"zone", "z1"}};
  node.taints = {{"spot", "", TaintEffect::kNoSchedule}};
  cluster.Upsert(node);
  EXPECT_FALSE(cluster.Admits(n, z1));
  EXPECT_TRUE(cluster.Admits(n, z1_spot));
  node.taints = {{"spot", "", TaintEffect::kPreferNoSchedule},
                 {"old", "", TaintEffect::kPreferNoSchedule}};
  cluster.Upsert(node);
  EXPECT_TRUE(cluster.Admits(n, z1));
  EXPECT_EQ(cluster.SoftTaints(n, z1), 2u);
  EXPECT_EQ(cluster.SoftTaints(n, z1_spot), 1u);
  node.schedulable = false;
  cluster.Upsert(node);
  EXPECT_FALSE(cluster.Admits(n, z1));
  cluster.Remove(n);
  EXPECT_FALSE(cluster.Admits(n, z1));
  EXPECT_FALSE(cluster.Admits(n + 1000, z1));
}

TEST(ClusterShapesTest, NodeSetsHoldForNodesThatComeLater) {
  Cluster cluster = EmptyCluster();
  const NodeIndex a = cluster.Upsert(GpuNode("a", 8)).index;
  Role role = GpuRole(1);
  role.node_sets = {"volume"};
  const ShapeId shape = cluster.Intern(role, 0);
  EXPECT_FALSE(cluster.Admits(a, shape))
      << "a set that is not defined is empty";
  cluster.SetNodeSet({.key = "volume", .nodes = {"a", "b"}});
  EXPECT_TRUE(cluster.HasNodeSet("volume"));
  EXPECT_TRUE(cluster.Admits(a, shape));
  const NodeIndex b = cluster.Upsert(GpuNode("b", 8)).index;
  EXPECT_TRUE(cluster.Admits(b, shape));
  cluster.SetNodeSet({.key = "volume", .nodes = {"b"}});
  EXPECT_FALSE(cluster.Admits(a, shape));
  cluster.RemoveNodeSet("volume");
  EXPECT_FALSE(cluster.Admits(b, shape));
  EXPECT_FALSE(cluster.HasNodeSet("volume"));
}

TEST(ClusterShapesTest, DemandCountsDevicesInThousandths) {
  Cluster cluster = EmptyCluster();
  Role role = GpuRole(2, 300);
  role.shape.resources = {5};
  EXPECT_EQ(cluster.demand(cluster.Intern(role, 0)), Resources({5, 0, 600}));
  EXPECT_EQ(cluster.demand(cluster.Intern(GpuRole(4), 0)),
            Resources({0, 0, 4000}));
  EXPECT_EQ(cluster.device_request(cluster.Intern(role, 0)),
            role.shape.devices);
}

TEST(ClusterShapesTest, AMemoryShareIsMeasuredOnTheLargestDevice) {
  Cluster cluster = EmptyCluster();
  const ShapeId piece = cluster.Intern(GpuMemoryRole(2, 20'000), 0);
  EXPECT_EQ(cluster.demand(piece), Resources({0, 0, 2000})) << "none known";
  Node node = GpuNode("a", 1);
  node.devices[0].memory_bytes = 40'000;
  cluster.Upsert(node);
  EXPECT_EQ(cluster.demand(piece), Resources({0, 0, 1000}));
  const NodeIndex b = cluster.Upsert(GpuNode("b", 1)).index;
  EXPECT_EQ(cluster.demand(piece), Resources({0, 0, 500}));
  cluster.SetAvailable(b, false);
  EXPECT_EQ(cluster.demand(piece), Resources({0, 0, 1000}));
}

}  // namespace
}  // namespace muster
