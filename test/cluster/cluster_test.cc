// Stories of nodes, capacity and transactions.

#include "lib/cluster/cluster.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/cluster/cluster_fixture.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> KeysOf(const Cluster& cluster) {
  std::vector<std::string> keys;
  for (const NodeIndex n : cluster.nodes()) {
    keys.push_back(cluster.node(n).key);
  }
  return keys;
}

TEST(ClusterTest, NodesComeAndGoAndKeepTheirNames) {
  Cluster cluster = EmptyCluster();
  const NodeId b = cluster.Upsert(GpuNode("b", 8));
  const NodeId a = cluster.Upsert(GpuNode("a", 8));
  EXPECT_THAT(KeysOf(cluster), ElementsAre("a", "b"));
  EXPECT_EQ(cluster.Find("a"), a);
  EXPECT_EQ(cluster.Upsert(GpuNode("b", 4)), b) << "replaced, not added";
  EXPECT_EQ(cluster.capacity(b.index, kGpu), 4000);

  cluster.Remove(b.index);
  EXPECT_FALSE(cluster.exists(b.index));
  EXPECT_FALSE(cluster.Find("b").valid());
  EXPECT_FALSE(cluster.id(b.index).valid());
  const NodeId c = cluster.Upsert(GpuNode("0", 8));
  EXPECT_EQ(c.index, b.index) << "indices stay dense";
  EXPECT_NE(c, b) << "and handles do not lie";
  EXPECT_THAT(KeysOf(cluster), ElementsAre("0", "a"));
  EXPECT_TRUE(cluster.Validate().ok());
}

TEST(ClusterTest, TheStructureVersionRisesOnlyWhenSomethingChanges) {
  Cluster cluster = EmptyCluster();
  const NodeIndex n = cluster.Upsert(GpuNode("a", 8)).index;
  uint64_t version = cluster.structure_version();
  cluster.Upsert(GpuNode("a", 8));
  cluster.SetAvailable(n, true);
  cluster.SetExternalUsage(n, {.node = "a"});
  const ShapeId shape = cluster.Intern(GpuRole(1), 0);
  MustTake(cluster, n, shape);
  EXPECT_EQ(cluster.structure_version(), version);
  cluster.SetExternalUsage(n, {.node = "a", .amount = {1}});
  EXPECT_GT(cluster.structure_version(), version);
}

TEST(ClusterTest, SlotsCountTheScarcestResource) {
  Cluster cluster = EmptyCluster();
  const NodeIndex n = cluster.Upsert(GpuNode("a", 8)).index;
  const ShapeId cpu = cluster.Intern(CpuRole(10, 100), 0);
  EXPECT_EQ(cluster.Slots(n, cpu, Ledger::kBoth, 100), 5u) << "512 / 100";
  EXPECT_EQ(cluster.Slots(n, cpu, Ledger::kBoth, 3), 3u);
  const ShapeId pair = cluster.Intern(GpuRole(2), 0);
  EXPECT_EQ(cluster.Slots(n, pair, Ledger::kBoth, 100), 4u);
  Role big = CpuRole(1);
  big.shape.resources = {1, int64_t{1} << 42};
  EXPECT_EQ(cluster.Slots(n, cluster.Intern(big, 0), Ledger::kBoth, 100), 0u);
}

TEST(ClusterTest, WhatIsEvictedIsFreeLaterAndWhatIsNominatedIsFreeNow) {
  Cluster cluster = EmptyCluster();
  const NodeIndex n = cluster.Upsert(GpuNode("a", 8)).index;
  const ShapeId all = cluster.Intern(GpuRole(8), 0);
  const Allocation running = MustTake(cluster, n, all);
  EXPECT_EQ(cluster.Slots(n, all, Ledger::kLater, 9), 0u);

  cluster.Credit(running, Ledger::kLater);  // Its eviction has begun.
  EXPECT_EQ(cluster.Slots(n, all, Ledger::kNow, 9), 0u);
  EXPECT_EQ(cluster.Slots(n, all, Ledger::kLater, 9), 1u);
  EXPECT_EQ(cluster.Slots(n, all, Ledger::kBoth, 9), 0u);

  const Allocation nominated =
      MustTake(cluster, n, all, Ledger::kLater);  // Its successor.
  EXPECT_EQ(nominated.devices, DeviceSet::FirstOf(8));
  EXPECT_FALSE(cluster.Fits(nominated, Ledger::kNow));

  cluster.Credit(running, Ledger::kNow);  // It is gone.
  EXPECT_TRUE(cluster.Fits(nominated, Ledger::kNow));
  EXPECT_EQ(cluster.Slots(n, all, Ledger::kBoth, 9), 0u)
      << "nothing is placed in between";
  cluster.Charge(nominated, Ledger::kNow);  // The successor starts.
  EXPECT_EQ(cluster.free(n, kGpu, Ledger::kNow), 0);
  EXPECT_EQ(cluster.free(n, kGpu, Ledger::kLater), 0);
}

TEST(ClusterTest, TransactionsNestAndLeaveNoTrace) {
  Cluster cluster = EmptyCluster();
  const NodeIndex n = cluster.Upsert(GpuNode("a", 8)).index;
  const ShapeId one = cluster.Intern(GpuRole(1), 0);
  const Allocation before = MustTake(cluster, n, one);
  const uint64_t empty = cluster.Hash();

  const Cluster::Mark outer = cluster.Begin();
  MustTake(cluster, n, one);
  const uint64_t half = cluster.Hash();
  const Cluster::Mark inner = cluster.Begin();
  cluster.Credit(before, Ledger::kBoth);
  MustTake(cluster, n, one, Ledger::kLater);
  EXPECT_NE(cluster.Hash(), half);
  cluster.Rollback(inner);
  EXPECT_EQ(cluster.Hash(), half);
  const Cluster::Mark kept = cluster.Begin();
  MustTake(cluster, n, one);
  cluster.Commit(kept);
  EXPECT_EQ(cluster.Slots(n, one, Ledger::kBoth, 9), 5u);
  cluster.Rollback(outer);
  EXPECT_EQ(cluster.Hash(), empty);
  EXPECT_TRUE(cluster.Validate().ok());
}

// What is taken back at once is not in the log of what is to be undone; but not
// what an outer transaction did, which stays when the inner one is undone.
TEST(ClusterTest, WhatIsTakenBackIsUndoneOnce) {
  Cluster cluster = EmptyCluster();
  const NodeIndex n = cluster.Upsert(GpuNode("a", 8)).index;
  const ShapeId one = cluster.Intern(GpuRole(1), 0);
  const uint64_t empty = cluster.Hash();
  const Cluster::Mark outer = cluster.Begin();
  const Allocation a = MustTake(cluster, n, one);
  const uint64_t half = cluster.Hash();
  const Cluster::Mark inner = cluster.Begin();
  cluster.Credit(a, Ledger::kBoth);
  cluster.Rollback(inner);
  EXPECT_EQ(cluster.Hash(), half);

  const Allocation b = MustTake(cluster, n, one);
  cluster.Credit(b, Ledger::kBoth);
  EXPECT_EQ(cluster.Hash(), half);
  cluster.Credit(a, Ledger::kLater);  // Not all of what was taken.
  cluster.Charge(b, Ledger::kLater);
  cluster.Rollback(outer);
  EXPECT_EQ(cluster.Hash(), empty);
  EXPECT_TRUE(cluster.Validate().ok());
}

TEST(ClusterTest, OthersUseBothLedgersAndMayOvercommit) {
  Cluster cluster = EmptyCluster();
  const NodeIndex n = cluster.Upsert(GpuNode("a", 2)).index;
  ExternalUsage external{.node = "a", .amount = {60}};
  cluster.SetExternalUsage(n, external);
  EXPECT_EQ(cluster.free(n, kCpu, Ledger::kNow), 4);
  EXPECT_EQ(cluster.free(n, kCpu, Ledger::kLater), 4);
  EXPECT_FALSE(cluster.Overcommitted(n));
  external.amount = {70};
  cluster.SetExternalUsage(n, external);
  EXPECT_EQ(cluster.free(n, kCpu, Ledger::kNow), -6);
  EXPECT_TRUE(cluster.Overcommitted(n));
  const ShapeId cpu = cluster.Intern(CpuRole(1), 0);
  EXPECT_EQ(cluster.Slots(n, cpu, Ledger::kBoth, 9), 0u);
  const ShapeId gpu = cluster.Intern(GpuRole(1), 0);
  EXPECT_EQ(cluster.Slots(n, gpu, Ledger::kBoth, 9), 2u)
      << "what a task does not ask for does not stop it";
  cluster.SetExternalUsage(n, {.node = "a"});
  EXPECT_EQ(cluster.free(n, kCpu, Ledger::kNow), 64);
}

TEST(ClusterTest, AChangedNodeKeepsItsChargesAndOthers) {
  Cluster cluster = EmptyCluster();
  const NodeIndex n = cluster.Upsert(GpuNode("a", 2)).index;
  cluster.SetExternalUsage(n, {.node = "a", .amount = {4}});
  const ShapeId cpu = cluster.Intern(CpuRole(10), 0);
  MustTake(cluster, n, cpu);
  Node smaller = GpuNode("a", 2);
  smaller.capacity = {12, 512};
  cluster.Upsert(smaller);
  EXPECT_EQ(cluster.free(n, kCpu, Ledger::kNow), 12 - 4 - 10);
  EXPECT_TRUE(cluster.Overcommitted(n));
  EXPECT_TRUE(cluster.Validate().ok());
}

TEST(ClusterTest, AnUnavailableNodeKeepsItsChargesAndOffersNothing) {
  Cluster cluster = EmptyCluster();
  const NodeIndex n = cluster.Upsert(GpuNode("a", 2)).index;
  cluster.Upsert(GpuNode("b", 4));
  const ShapeId gpu = cluster.Intern(GpuRole(1), 0);
  const Allocation a = MustTake(cluster, n, gpu);
  EXPECT_EQ(cluster.total_capacity(), Resources({128, 1024, 6000}));

  cluster.SetAvailable(n, false);
  EXPECT_FALSE(cluster.Admits(n, gpu));
  EXPECT_EQ(cluster.Slots(n, gpu, Ledger::kBoth, 9), 0u);
  EXPECT_FALSE(cluster.Fits(a, Ledger::kBoth));
  EXPECT_EQ(cluster.total_capacity(), Resources({64, 512, 4000}));
  EXPECT_EQ(cluster.free(n, kGpu, Ledger::kNow), 1000);

  cluster.SetAvailable(n, true);
  EXPECT_EQ(cluster.Slots(n, gpu, Ledger::kBoth, 9), 1u);
  EXPECT_EQ(cluster.total_capacity(), Resources({128, 1024, 6000}));
}

TEST(ClusterTest, ARemovedNodeForgetsItsChargesForGood) {
  Cluster cluster = EmptyCluster();
  const NodeIndex n = cluster.Upsert(GpuNode("a", 2)).index;
  const ShapeId gpu = cluster.Intern(GpuRole(1), 0);
  const Allocation a = MustTake(cluster, n, gpu);
  cluster.Remove(n);
  cluster.Credit(a, Ledger::kBoth);
  EXPECT_EQ(cluster.total_capacity(), Resources());
  cluster.Upsert(GpuNode("z", 2));
  EXPECT_EQ(cluster.Slots(n, gpu, Ledger::kBoth, 9), 2u);
  EXPECT_TRUE(cluster.Validate().ok());
}

TEST(ClusterTest, ACopyGoesItsOwnWay) {
  Cluster cluster = EmptyCluster({{"t", {"rack"}}});
  Node node = GpuNode("a", 8);
  node.labels = {{"rack", "a name too long to be stored in place"}};
  const NodeIndex n = cluster.Upsert(node).index;
  const ShapeId gpu = cluster.Intern(GpuRole(1), 0);
  EXPECT_EQ(cluster.index(0).levels[0].size(), 1u);
  Cluster copy = cluster;
  EXPECT_EQ(copy.Hash(), cluster.Hash());
  MustTake(copy, n, gpu);
  EXPECT_EQ(cluster.Slots(n, gpu, Ledger::kBoth, 9), 8u);
  EXPECT_EQ(copy.Slots(n, gpu, Ledger::kBoth, 9), 7u);
  cluster = EmptyCluster();
  EXPECT_EQ(copy.index(0).levels[0][0].name, node.labels[0].value);
  const Cluster moved = std::move(copy);
  EXPECT_TRUE(moved.Validate().ok());
}

TEST(ClusterTest, TheHashSeesKeysAndNotIndices) {
  Cluster forward = EmptyCluster();
  Cluster backward = EmptyCluster();
  forward.Upsert(GpuNode("a", 8));
  forward.Upsert(GpuNode("b", 4));
  backward.Upsert(GpuNode("gone", 1));
  backward.Upsert(GpuNode("b", 4));
  backward.Upsert(GpuNode("a", 8));
  backward.Remove(backward.Find("gone").index);
  backward.Intern(CpuRole(1), 0);
  EXPECT_EQ(forward.Hash(), backward.Hash());
  const ShapeId one = forward.Intern(GpuRole(1), 0);
  MustTake(forward, forward.Find("b").index, one);
  EXPECT_NE(forward.Hash(), backward.Hash());
  const ShapeId other = backward.Intern(GpuRole(1), 0);
  EXPECT_NE(one, other);
  MustTake(backward, backward.Find("b").index, other);
  EXPECT_EQ(forward.Hash(), backward.Hash());
}

TEST(ClusterTest, WithoutADeviceKindDevicesAreCountedAllTheSame) {
  Cluster cluster(2, 2, {});
  const NodeIndex n = cluster.Upsert(GpuNode("a", 2)).index;
  const ShapeId gpu = cluster.Intern(GpuRole(1), 0);
  EXPECT_EQ(cluster.Slots(n, gpu, Ledger::kBoth, 9), 2u);
  EXPECT_EQ(cluster.total_capacity(), Resources({64, 512}));
  EXPECT_TRUE(cluster.demand(gpu).IsZero());
  MustTake(cluster, n, gpu);
  EXPECT_EQ(cluster.Slots(n, gpu, Ledger::kBoth, 9), 1u);
  EXPECT_TRUE(cluster.Validate().ok());
}

}  // namespace
}  // namespace muster
