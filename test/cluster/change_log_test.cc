// What caches outside the cluster are told: which nodes have changed since
// when.

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/cluster/cluster.h"
#include "test/cluster/cluster_fixture.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

class ChangeLogTest : public ::testing::Test {
 protected:
  Cluster cluster_ = EmptyCluster();
  const NodeIndex a_ = cluster_.Upsert(GpuNode("a", 8)).index;
  const NodeIndex b_ = cluster_.Upsert(GpuNode("b", 8)).index;
  const ShapeId shape_ = cluster_.Intern(GpuRole(1), 0);
};

TEST_F(ChangeLogTest, ANodeThatChangesInARowUnseenIsOneChange) {
  const uint64_t version = cluster_.changed_version();
  MustTake(cluster_, a_, shape_);
  MustTake(cluster_, a_, shape_);
  MustTake(cluster_, b_, shape_);
  std::vector<NodeIndex> changed;
  ASSERT_TRUE(cluster_.ChangedSince(version, &changed));
  EXPECT_THAT(changed, ElementsAre(a_, b_));
  // A reader that has seen a change is told of the next one.
  const uint64_t seen = cluster_.changed_version();
  MustTake(cluster_, b_, shape_);
  EXPECT_GT(cluster_.changed_version(), seen);
  ASSERT_TRUE(cluster_.ChangedSince(seen, &changed));
  EXPECT_THAT(changed, ElementsAre(b_));
}

TEST_F(ChangeLogTest, WhatIsUndoneUnseenIsNoChange) {
  const uint64_t before = cluster_.changed_version();
  const Cluster::Mark outer = cluster_.Begin();
  MustTake(cluster_, a_, shape_);
  const Cluster::Mark inner = cluster_.Begin();
  MustTake(cluster_, b_, shape_);
  cluster_.Rollback(inner);
  std::vector<NodeIndex> changed;
  ASSERT_TRUE(cluster_.ChangedSince(before, &changed));
  EXPECT_THAT(changed, ElementsAre(a_));
  cluster_.Rollback(outer);
  EXPECT_EQ(cluster_.changed_version(), before);
  ASSERT_TRUE(cluster_.ChangedSince(before, &changed));
  EXPECT_THAT(changed, IsEmpty());
}

TEST_F(ChangeLogTest, WhoHasSeenWhatIsUndoneIsToldOfThat) {
  const Cluster::Mark mark = cluster_.Begin();
  MustTake(cluster_, a_, shape_);
  const uint64_t seen = cluster_.changed_version();
  MustTake(cluster_, b_, shape_);
  cluster_.Rollback(mark);
  std::vector<NodeIndex> changed;
  ASSERT_TRUE(cluster_.ChangedSince(seen, &changed));
  EXPECT_THAT(changed, IsSupersetOf({a_, b_}));
}

// Also where the same node was the last to change before.
TEST_F(ChangeLogTest, WhoHasSeenTheSameNodeOnceMoreIsToldOfThat) {
  MustTake(cluster_, a_, shape_);
  const Cluster::Mark mark = cluster_.Begin();
  MustTake(cluster_, a_, shape_);
  const uint64_t seen = cluster_.changed_version();
  cluster_.Rollback(mark);
  std::vector<NodeIndex> changed;
  ASSERT_TRUE(cluster_.ChangedSince(seen, &changed));
  EXPECT_THAT(changed, ElementsAre(a_));
}

// They are written over those of before, which nobody is told of any more.
TEST_F(ChangeLogTest, MoreUndoneChangesThanTheLogHolds) {
  const uint64_t old = cluster_.changed_version();
  MustTake(cluster_, a_, shape_);
  const uint64_t before = cluster_.changed_version();
  const Cluster::Mark mark = cluster_.Begin();
  for (int i = 0; i < 100; ++i) {
    for (const NodeIndex n : {a_, b_}) {
      cluster_.Credit(MustTake(cluster_, n, shape_), Ledger::kBoth);
    }
  }
  cluster_.Rollback(mark);
  std::vector<NodeIndex> changed;
  EXPECT_FALSE(cluster_.ChangedSince(old, &changed));
  ASSERT_TRUE(cluster_.ChangedSince(before, &changed));
  EXPECT_THAT(changed, IsEmpty());
  MustTake(cluster_, b_, shape_);
  ASSERT_TRUE(cluster_.ChangedSince(before, &changed));
  EXPECT_THAT(changed, ElementsAre(b_));
}

class Follower {
 public:
  void Follow(const Cluster& cluster) {
    const uint64_t now = cluster.changed_version();
    if (!cluster.ChangedSince(version_, &nodes_)) {
      nodes_.assign(cluster.nodes().begin(), cluster.nodes().end());
    }
    version_ = now;
    for (const NodeIndex n : nodes_) free_[n] = FreeOn(cluster, n);
    for (const NodeIndex n : cluster.nodes()) {
      EXPECT_EQ(free_[n], FreeOn(cluster, n));
    }
  }

 private:
  static int64_t FreeOn(const Cluster& cluster, NodeIndex n) {
    return cluster.free(n, cluster.device_kind(), Ledger::kLater);
  }

  uint64_t version_ = 0;
  std::vector<NodeIndex> nodes_;
  std::map<NodeIndex, int64_t> free_;
};

// Two who follow the log, one more often than the other, know what is free at
// any time, whatever is tried, undone and kept in between.
void LiveAndFollow(uint32_t seed) {
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
        if (cluster.Take(node, shape, Ledger::kBoth, &taken) && below(3) > 0) {
          cluster.Credit(taken, Ledger::kBoth);
        }
    }
  }
  often.Follow(cluster);
  rare.Follow(cluster);
}

TEST_F(ChangeLogTest, FollowersKnowWhatIsFree) {
  for (uint32_t seed = 1; seed <= 50 && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    LiveAndFollow(seed);
  }
}

}  // namespace
}  // namespace muster
