// Stories of the log of freed nodes.

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/cluster.h"
#include "test/topology/cluster_fixture.h"

namespace muster {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ClusterFreedTest : public ::testing::Test {
 protected:
  std::vector<NodeIndex> Since(uint64_t version) {
    std::vector<NodeIndex> nodes = {77};
    EXPECT_TRUE(cluster_.FreedSince(version, &nodes));
    return nodes;
  }
  bool Knows(uint64_t version) {
    std::vector<NodeIndex> nodes;
    return cluster_.FreedSince(version, &nodes);
  }

  Cluster cluster_ = EmptyCluster();
  NodeIndex a_ = cluster_.Upsert(GpuNode("a", 8)).index;
  NodeIndex b_ = cluster_.Upsert(GpuNode("b", 8)).index;
  ShapeId one_ = cluster_.Intern(GpuRole(1), 0);
};

TEST_F(ClusterFreedTest, CreditsFreeAndChargesDoNot) {
  const uint64_t start = cluster_.freed_version();
  const Allocation a = MustTake(cluster_, a_, one_);
  const Allocation b = MustTake(cluster_, b_, one_);
  EXPECT_THAT(Since(start), IsEmpty());
  cluster_.Credit(b, Ledger::kLater);
  EXPECT_THAT(Since(start), ElementsAre(b_));
  const uint64_t later = cluster_.freed_version();
  cluster_.Credit(a, Ledger::kBoth);
  EXPECT_THAT(Since(later), ElementsAre(a_));
}

TEST_F(ClusterFreedTest, WhatMakesRoomInTheStructureCounts) {
  uint64_t version = cluster_.freed_version();
  const auto freed = [&] {
    const std::vector<NodeIndex> nodes = Since(version);
    version = cluster_.freed_version();
    return nodes;
  };
  const NodeIndex c = cluster_.Upsert(GpuNode("c", 8)).index;
  EXPECT_THAT(freed(), ElementsAre(c));
  cluster_.SetAvailable(c, false);
  EXPECT_THAT(freed(), IsEmpty());
  cluster_.SetAvailable(c, true);
  EXPECT_THAT(freed(), ElementsAre(c));
  cluster_.SetOthers(c, {.node = "c", .amount = {5}});
  EXPECT_THAT(freed(), IsEmpty());
  cluster_.SetOthers(c, {.node = "c", .amount = {4, 9}});
  EXPECT_THAT(freed(), ElementsAre(c));
  cluster_.SetNodeSet({.key = "set", .nodes = {"b", "unknown"}});
  EXPECT_THAT(freed(), ElementsAre(b_));
  Node labelled = GpuNode("c", 8);
  labelled.labels = {{"zone", "z"}};
  cluster_.Upsert(labelled);
  EXPECT_THAT(freed(), ElementsAre(c));
  cluster_.Remove(c);
  EXPECT_THAT(freed(), IsEmpty());
}

TEST_F(ClusterFreedTest, ATryLeavesNoTraceForThoseOutsideIt) {
  const Allocation a = MustTake(cluster_, a_, one_);
  const uint64_t before = cluster_.freed_version();
  const Cluster::Mark mark = cluster_.Begin();
  cluster_.Credit(a, Ledger::kLater);
  MustTake(cluster_, b_, one_, Ledger::kLater);
  EXPECT_THAT(Since(before), ElementsAre(a_));
  const uint64_t inside = cluster_.freed_version();
  cluster_.Rollback(mark);
  EXPECT_THAT(Since(before), IsEmpty());
  EXPECT_FALSE(Knows(inside)) << "b had less room inside than it has now";
  cluster_.Credit(a, Ledger::kBoth);
  EXPECT_THAT(Since(before), ElementsAre(a_));
  EXPECT_FALSE(Knows(inside));
}

TEST_F(ClusterFreedTest, ACommittedTryIsRemembered) {
  const Allocation a = MustTake(cluster_, a_, one_);
  const uint64_t before = cluster_.freed_version();
  const Cluster::Mark outer = cluster_.Begin();
  cluster_.Credit(a, Ledger::kBoth);
  const uint64_t inside = cluster_.freed_version();
  const Cluster::Mark inner = cluster_.Begin();
  const Allocation b = MustTake(cluster_, b_, one_);
  cluster_.Credit(b, Ledger::kNow);
  cluster_.Rollback(inner);
  cluster_.Commit(outer);
  EXPECT_THAT(Since(before), ElementsAre(a_));
  EXPECT_THAT(Since(inside), IsEmpty());
}

TEST_F(ClusterFreedTest, TheLogForgetsInTheEnd) {
  const Allocation a = MustTake(cluster_, a_, one_);
  const uint64_t before = cluster_.freed_version();
  cluster_.Credit(a, Ledger::kBoth);
  EXPECT_TRUE(Knows(before));
  for (int i = 0; i < 1'000'000 && Knows(before); ++i) {
    cluster_.Charge(a, Ledger::kBoth);
    cluster_.Credit(a, Ledger::kBoth);
  }
  EXPECT_FALSE(Knows(before));
  EXPECT_FALSE(Knows(cluster_.freed_version() + 1)) << "not yet written";
  const uint64_t recent = cluster_.freed_version();
  cluster_.Charge(a, Ledger::kBoth);
  cluster_.Credit(a, Ledger::kBoth);
  EXPECT_THAT(Since(recent), Contains(a_));
}

}  // namespace
}  // namespace muster
