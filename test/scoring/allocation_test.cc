// Counts allocations: none for a node that a policy has seen before.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "test/allocation_count.h"
#include "test/scoring/policy_world.h"

namespace muster::policy_test {
namespace {

TEST(PolicyAllocationTest, CostsAndChoicesAllocateNothing) {
  for (uint8_t p = 0; p <= static_cast<uint8_t>(PlacementPolicy::kRandom);
       ++p) {
    const PlacementPolicy name = static_cast<PlacementPolicy>(p);
    PolicyWorld w;
    w.Add("a-node-with-a-long-name", 64'000, {1000, 500, 1000});
    w.Add("b", 64'000, {300, 500}, "H");
    w.Use(
        {.policy = name,
         .typical_tasks = {Typical(Task(2000, 1, 300)), Typical(Task(2000, 2)),
                           Typical(TaskOn({"H"}, 1000, 1))},
         .supply = {{"G", 3}, {"H", 2}}});
    const ShapeId share = w.cluster.Intern(Task(1000, 1, 250), 0);
    const ShapeId whole = w.cluster.Intern(Task(1000, 1), 0);
    const auto ask = [&] {
      for (const NodeIndex n : {0u, 1u}) {
        for (const ShapeId shape : {share, whole}) {
          if (w.cluster.Slots(n, shape, Ledger::kBoth, 1) == 0) continue;
          (void)w.policy->NodeCost({w.cluster, n, Ledger::kBoth},
                                   {shape, "gang"});
          (void)w.policy->Choose({w.cluster, n, Ledger::kBoth},
                                 {shape, "gang"});
        }
      }
    };
    ask();
    const Allocation more{0, share, {1}};
    w.cluster.Charge(more, Ledger::kBoth);
    const size_t before = test::Allocations();
    ask();
    EXPECT_EQ(test::Allocations() - before, 0u) << Name(name);
  }
}

}  // namespace
}  // namespace muster::policy_test
