// Counts allocations: once warm, transactions need none.

#include <cstddef>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lib/cluster/cluster.h"
#include "test/allocation_count.h"
#include "test/cluster/cluster_fixture.h"

namespace muster {
namespace {

// Fills the cluster with every form of request, thrice nested, and undoes it.
void TryEverything(Cluster& cluster, const std::vector<ShapeId>& shapes) {
  const Cluster::Mark outer = cluster.Begin();
  for (const ShapeId shape : shapes) {
    const Cluster::Mark middle = cluster.Begin();
    for (const NodeIndex n : cluster.nodes()) {
      const Cluster::Mark inner = cluster.Begin();
      Allocation a;
      while (cluster.Slots(n, shape, Ledger::kBoth, 100) > 0 &&
             cluster.Take(n, shape, Ledger::kBoth, &a)) {
      }
      cluster.Credit(a, Ledger::kLater);
      cluster.Commit(inner);
    }
    cluster.Rollback(middle);
  }
  cluster.Rollback(outer);
}

TEST(ClusterAllocationTest, AWarmTransactionAllocatesNothing) {
  Cluster cluster = EmptyCluster({{"fabric", {"rack"}}});
  for (int i = 0; i < 100; ++i) {
    Node node = GpuNode("n" + std::to_string(i), 8);
    node.labels = {{"rack", std::to_string(i % 10)}};
    cluster.Upsert(node);
  }
  const std::vector<ShapeId> shapes = {
      cluster.Intern(CpuRole(10), 0), cluster.Intern(GpuRole(2), 0),
      cluster.Intern(GpuRole(1, 300), 0), cluster.Intern(GpuRole(3, 300), 0),
      cluster.Intern(GpuMemoryRole(2, 12'345), 0)};
  TryEverything(cluster, shapes);
  const uint64_t hash = cluster.Hash();
  ASSERT_EQ(cluster.index(0).nodes.size(), 100u);  // These two are lazy.
  ASSERT_GT(cluster.demand(shapes[4])[kGpu], 0);
  const size_t before = test::Allocations();
  for (int round = 0; round < 20; ++round) {
    TryEverything(cluster, shapes);
    ASSERT_EQ(cluster.index(0).nodes.size(), 100u);
    ASSERT_GT(cluster.demand(shapes[4])[kGpu], 0);
  }
  EXPECT_EQ(test::Allocations(), before);
  EXPECT_EQ(cluster.Hash(), hash);
}

}  // namespace
}  // namespace muster
