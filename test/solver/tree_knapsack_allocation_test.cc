// Counts allocations: a TreeKnapsack that has answered such questions before
// needs none.
#include <gtest/gtest.h>

#include <cstddef>

#include "lib/solver/tree_knapsack.h"
#include "test/allocation_count.h"
#include "test/solver/tree_knapsack_oracle.h"

namespace muster::solver_test {
namespace {

// Every stage has work: bounds, search, exchanges.
TEST(TreeKnapsackAllocation, NoneInTheSteadyState) {
  uint32_t state = 1;
  const auto next = [&] { return state = state * 1664525 + 1013904223; };
  uint32_t node = 0, load = 0;
  const NumberTree tree = NumberTree::Make(
      {[] { return 3; }, [] { return 6; }, [] { return 8; }, [] { return 10; }},
      [&]() -> uint32_t {
        if (node++ % 10 == 0) load = next() >> 16 & 7;
        return (next() >> 16 & 7) < load ? next() >> 16 & 3 : 0;
      });
  solver::TreeKnapsack knapsack;
  solver::TreeAnswer answer;
  const auto total = static_cast<uint32_t>(tree.total());
  for (const uint32_t tasks : {3u, 40u, total / 3, total / 2, total}) {
    const solver::TreeQuestion question = tree.Ask(tasks);
    size_t counted = 0;
    for (int i = 0; i < 4; ++i) {
      const size_t before = test::Allocations();
      knapsack.Solve(question, &answer);
      counted = test::Allocations() - before;
    }
    EXPECT_EQ(counted, 0u) << tasks << " tasks";
  }
}

}  // namespace
}  // namespace muster::solver_test
