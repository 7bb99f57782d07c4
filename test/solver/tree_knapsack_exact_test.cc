// Trees beyond brute force, against an integer program: HiGHS, which ./dev
// setup installs; skipped without it.
#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "lib/solver/tree_knapsack.h"
#include "test/solver/integer_program.h"
#include "test/solver/tree_knapsack_oracle.h"

namespace muster::solver_test {
namespace {

std::string QuestionLine(const NumberTree& tree, uint32_t tasks) {
  std::ostringstream line;
  line << "{\"tasks\": " << tasks << ", \"parents\": [";
  for (int l = 0; l < tree.levels(); ++l) {
    for (uint32_t i = 0; i < tree.size(l); ++i) {
      line << (i > 0 ? ", " : l > 0 ? "], [" : "[") << tree.parent(l, i);
    }
  }
  line << "]], \"slots\": [";
  const int leaves = tree.levels() - 1;
  for (uint32_t i = 0; i < tree.size(leaves); ++i) {
    line << (i > 0 ? ", " : "") << tree.slots(leaves, i);
  }
  line << "]}\n";
  return line.str();
}

// Racks with loads of their own, as a scheduler that fills racks unevenly
// leaves them; whole nodes or parts of nodes. 2 x 4 x about 5 x 8 nodes, or, if
// large, 3 x 6 x about 8 x 16.
NumberTree UnevenTree(std::mt19937_64& random, bool whole, bool large) {
  const auto below = [&](uint32_t n) {
    return static_cast<uint32_t>(random() % n);
  };
  const uint32_t rack = large ? 16 : 8;
  uint32_t node = 0, load = 0;
  return NumberTree::Make(
      {[&] { return large ? 3 : 2; }, [&] { return large ? 6 : 4; },
       [&] { return (large ? 6 : 3) + below(4); }, [&] { return rack; }},
      [&]() -> uint32_t {
        if (node++ % rack == 0) load = below(100);
        const uint32_t most = whole ? 1 : 4;
        return below(100) < load ? 1 + below(most) : 0;
      });
}

TEST(TreeKnapsackExact, AgreesWithAnIntegerProgram) {
  struct Case {
    uint32_t seed = 0;
    NumberTree tree;
    uint32_t tasks = 0;
  };
  std::vector<Case> cases;
  std::string questions;
  for (uint32_t seed = 1; seed <= 34; ++seed) {
    std::mt19937_64 random(seed);
    NumberTree tree = UnevenTree(random, seed % 2 == 0, seed > 32);
    const auto tasks = static_cast<uint32_t>(tree.total() * (1 + seed % 5) / 8);
    questions += QuestionLine(tree, tasks);
    cases.push_back({seed, std::move(tree), tasks});
  }

  const ProgramAnswer answered =
      AskIntegerProgram("solver/tree_knapsack_exact.py", questions);
  if (!answered.skipped.empty()) GTEST_SKIP() << answered.skipped;
  ASSERT_EQ(answered.status, 0);

  std::istringstream lines(answered.output);
  solver::TreeKnapsack knapsack;
  solver::TreeAnswer answer;
  for (const Case& c : cases) {
    Counts best(c.tree.levels());
    for (uint32_t& count : best) ASSERT_TRUE(lines >> count);
    const solver::TreeQuestion question = c.tree.Ask(c.tasks);
    knapsack.Solve(question, &answer);
    EXPECT_EQ(Complaint(c.tree, question, answer), "") << "seed " << c.seed;
    EXPECT_TRUE(answer.optimal);
    EXPECT_EQ(Used(answer), best)
        << "seed " << c.seed << ": " << c.tasks << " on " << c.tree.ToString();
  }
}

}  // namespace
}  // namespace muster::solver_test
