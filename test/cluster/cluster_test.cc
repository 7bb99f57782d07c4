// Stories of nodes, capacity and transactions.

#include "lib/cluster/cluster.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/cluster/cluster_fixture.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

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

TEST(ClusterTest, ANodeThatChangesInARowUnseenIsOneChange) {
  Cluster cluster = EmptyCluster();
  const NodeIndex a = cluster.Upsert(GpuNode("a", 8)).index;
  const NodeIndex b = cluster.Upsert(GpuNode("b", 8)).index;
  const ShapeId shape = cluster.Intern(GpuRole(1), 0);
  const uint64_t version = cluster.changed_version();
  MustTake(cluster, a, shape);
  MustTake(cluster, a, shape);
  MustTake(cluster, b, shape);
  std::vector<NodeIndex> changed;
  ASSERT_TRUE(cluster.ChangedSince(version, &changed));
  EXPECT_THAT(changed, ElementsAre(a, b));
  // A reader that has seen a change is told of the next one.
  const uint64_t seen = cluster.changed_version();
  MustTake(cluster, b, shape);
  EXPECT_GT(cluster.changed_version(), seen);
  ASSERT_TRUE(cluster.ChangedSince(seen, &changed));
  EXPECT_THAT(changed, ElementsAre(b));
}

TEST(ClusterTest, WhatIsUndoneUnseenIsNoChange) {
  Cluster cluster = EmptyCluster();
  const NodeIndex a = cluster.Upsert(GpuNode("a", 8)).index;
  const NodeIndex b = cluster.Upsert(GpuNode("b", 8)).index;
  const ShapeId shape = cluster.Intern(GpuRole(1), 0);
  const uint64_t before = cluster.changed_version();
  const Cluster::Mark outer = cluster.Begin();
  MustTake(cluster, a, shape);
  const Cluster::Mark inner = cluster.Begin();
  MustTake(cluster, b, shape);
  cluster.Rollback(inner);
  std::vector<NodeIndex> changed;
  ASSERT_TRUE(cluster.ChangedSince(before, &changed));
  EXPECT_THAT(changed, ElementsAre(a));
  cluster.Rollback(outer);
  EXPECT_EQ(cluster.changed_version(), before);
  ASSERT_TRUE(cluster.ChangedSince(before, &changed));
  EXPECT_THAT(changed, IsEmpty());
}

TEST(ClusterTest, WhoHasSeenWhatIsUndoneIsToldOfThat) {
  Cluster cluster = EmptyCluster();
  const NodeIndex a = cluster.Upsert(GpuNode("a", 8)).index;
  const NodeIndex b = cluster.Upsert(GpuNode("b", 8)).index;
  const ShapeId shape = cluster.Intern(GpuRole(1), 0);
  const Cluster::Mark mark = cluster.Begin();
  MustTake(cluster, a, shape);
  const uint64_t seen = cluster.changed_version();
  MustTake(cluster, b, shape);
  cluster.Rollback(mark);
  std::vector<NodeIndex> changed;
  ASSERT_TRUE(cluster.ChangedSince(seen, &changed));
  EXPECT_THAT(changed, IsSupersetOf({a, b}));
}

// Also where the same node was the last to change before.
TEST(ClusterTest, WhoHasSeenTheSameNodeOnceMoreIsToldOfThat) {
  Cluster cluster = EmptyCluster();
  const NodeIndex a = cluster.Upsert(GpuNode("a", 8)).index;
  const ShapeId shape = cluster.Intern(GpuRole(1), 0);
  MustTake(cluster, a, shape);
  const Cluster::Mark mark = cluster.Begin();
  MustTake(cluster, a, shape);
  const uint64_t seen = cluster.changed_version();
  cluster.Rollback(mark);
  std::vector<NodeIndex> changed;
  ASSERT_TRUE(cluster.ChangedSince(seen, &changed));
  EXPECT_THAT(changed, ElementsAre(a));
}

// They are written over those of before, which nobody is told of any more.
TEST(ClusterTest, MoreUndoneChangesThanTheLogHolds) {
  Cluster cluster = EmptyCluster();
  const NodeIndex a = cluster.Upsert(GpuNode("a", 8)).index;
  const NodeIndex b = cluster.Upsert(GpuNode("b", 8)).index;
  const ShapeId shape = cluster.Intern(GpuRole(1), 0);
  const uint64_t old = cluster.changed_version();
  MustTake(cluster, a, shape);
  const uint64_t before = cluster.changed_version();
  const Cluster::Mark mark = cluster.Begin();
  for (int i = 0; i < 100; ++i) {
    for (const NodeIndex n : {a, b}) {
      cluster.Credit(MustTake(cluster, n, shape), Ledger::kBoth);
    }
  }
  cluster.Rollback(mark);
  std::vector<NodeIndex> changed;
  EXPECT_FALSE(cluster.ChangedSince(old, &changed));
  ASSERT_TRUE(cluster.ChangedSince(before, &changed));
  EXPECT_THAT(changed, IsEmpty());
  MustTake(cluster, b, shape);
  ASSERT_TRUE(cluster.ChangedSince(before, &changed));
  EXPECT_THAT(changed, ElementsAre(b));
}

// Two who follow the log, one more often than the other, know what is free at
// any time, whatever is tried, undone and kept in between.
TEST(ClusterTest, FollowersOfTheLogKnowWhatIsFree) {
  struct Follower {
    void Follow(const Cluster& cluster) {
      const uint64_t now = cluster.changed_version();
      if (!cluster.ChangedSince(version, &nodes)) {
        nodes = {cluster.nodes().begin(), cluster.nodes().end()};
      }
      version = now;
      for (const NodeIndex n : nodes) {
        free[n] = cluster.free(n, cluster.device_kind(), Ledger::kLater);
      }
      for (const NodeIndex n : cluster.nodes()) {
        EXPECT_EQ(free[n],
                  cluster.free(n, cluster.device_kind(), Ledger::kLater));
      }
    }
    uint64_t version = 0;
    std::vector<NodeIndex> nodes{};
    std::map<NodeIndex, int64_t> free{};
  };
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto below = [&](uint32_t end) { return random() % end; };
    Cluster cluster = EmptyCluster();
    std::vector<NodeIndex> nodes;
    for (const char* key : {"a", "b", "c"}) {
      nodes.push_back(cluster.Upsert(GpuNode(key, 8)).index);
    }
    const ShapeId shape = cluster.Intern(GpuRole(1), 0);
    std::vector<Cluster::Mark> open;
    Follower often, rare;
    for (int step = 0; step < 2'000; ++step) {
      const NodeIndex node = nodes[below(3)];
      Allocation taken;
      switch (below(6)) {
        case 0:
          if (open.size() < 4) open.push_back(cluster.Begin());
          break;
        case 1:
          if (open.empty()) break;
          below(3) == 0 ? cluster.Commit(open.back())
                        : cluster.Rollback(open.back());
          open.pop_back();
          break;
        case 2:
          if (below(3) == 0) often.Follow(cluster);
          if (below(30) == 0) rare.Follow(cluster);
          break;
        default:
          if (cluster.Take(node, shape, Ledger::kBoth, &taken) &&
              below(3) > 0) {
            cluster.Credit(taken, Ledger::kBoth);
          }
      }
    }
    often.Follow(cluster);
    rare.Follow(cluster);
    if (testing::Test::HasFailure()) return;
  }
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
