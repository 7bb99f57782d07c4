// Stories of gangs of identical tasks on small trees, and thousands of random
// trees against two oracles.
#include "lib/solver/tree_knapsack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "test/solver/tree_knapsack_oracle.h"

namespace muster::solver_test {
namespace {

using solver::TreeAnswer;
using solver::TreeKnapsack;
using solver::TreeQuestion;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using PositionTasks = TreeAnswer::PositionTasks;

TreeAnswer Solve(const TreeQuestion& question) {
  TreeKnapsack knapsack;
  TreeAnswer answer;
  knapsack.Solve(question, &answer);
  return answer;
}

TreeAnswer Solve(const std::string& tree, uint32_t tasks) {
  const NumberTree t = NumberTree::Parse(tree);
  const TreeQuestion question = t.Ask(tasks);
  TreeAnswer answer = Solve(question);
  EXPECT_EQ(Complaint(t, question, answer), "");
  return answer;
}

// --- Stories -----------------------------------------------------------------

TEST(TreeKnapsack, GoesToTheTightestNodeThatHoldsAll) {
  const TreeAnswer answer = Solve("((8 5) (6 2)) ((7))", 5);
  EXPECT_TRUE(answer.optimal);
  EXPECT_THAT(Used(answer), ElementsAre(1, 1, 1));
  EXPECT_THAT(answer.shares, ElementsAre(PositionTasks{1, 5}));
}

TEST(TreeKnapsack, GoesToTheTightestRackThatHoldsAll) {
  const TreeAnswer answer = Solve("((1 1 1 1) (1 1 1)) ((1 1 1 1 1))", 3);
  EXPECT_THAT(Used(answer), ElementsAre(1, 1, 3));
  EXPECT_THAT(answer.shares,
              ElementsAre(PositionTasks{4, 1}, PositionTasks{5, 1},
                          PositionTasks{6, 1}));
}

// One block can take everything, so two are worse, even with fewer racks.
TEST(TreeKnapsack, AWiderLevelCountsBeforeANarrowerOne) {
  const TreeAnswer answer = Solve("(2 2 2 2) (5) (3)", 8);
  EXPECT_THAT(Used(answer), ElementsAre(1, 4));
  EXPECT_TRUE(answer.optimal);
}

// Of two zones that can take all, one needs fewer blocks. The tighter one is
// what a greedy would take.
TEST(TreeKnapsack, TheTightestDomainIsNotAlwaysTheBest) {
  const TreeAnswer answer = Solve("((3) (3) (3)) ((5) (5))", 9);
  EXPECT_THAT(Used(answer), ElementsAre(1, 2, 2));
  EXPECT_THAT(answer.shares,
              ElementsAre(PositionTasks{3, 5}, PositionTasks{4, 4}));
}

// 10 tasks need two blocks. The two largest are those of small racks: together
// with any other they take six or seven racks, but the third and fourth block
// take the tasks in two.
TEST(TreeKnapsack, TheLargestBlocksAreNotAlwaysTheBest) {
  const std::string tree = "((1 1 1 1 1 1) (2 2 1 1) (5) (5))";
  const TreeAnswer answer = Solve(tree, 10);
  EXPECT_THAT(Used(answer), ElementsAre(1, 2, 2));
  EXPECT_TRUE(answer.optimal);

  const NumberTree t = NumberTree::Parse(tree);
  TreeQuestion hurried = t.Ask(10);
  hurried.budget = 0;
  const TreeAnswer greedy = Solve(hurried);
  EXPECT_THAT(Used(greedy), ElementsAre(1, 2, 6));
  EXPECT_THAT(Least(greedy), ElementsAre(1, 2, 2));
  EXPECT_FALSE(greedy.optimal);
}

// The choice of zones is good or bad because of what lies two levels below.
TEST(TreeKnapsack, LooksThroughSeveralLevels) {
  const TreeAnswer answer =
      Solve("(((4 4) (1)) ((1 1 1 1 1) (3))) (((6) (3)) ((1) (6)))", 12);
  EXPECT_THAT(Used(answer), ElementsAre(1, 2, 2, 2));
  EXPECT_THAT(answer.shares,
              ElementsAre(PositionTasks{9, 6}, PositionTasks{12, 6}));
}

TEST(TreeKnapsack, FewestNodesInTheFewestRacks) {
  // Two racks are needed; with the first, two nodes of 4 and one of 2.
  const TreeAnswer answer = Solve("((4 4 1) (2 2 2 2 2 2) (2 3))", 10);
  EXPECT_THAT(Used(answer), ElementsAre(1, 1, 5));
  const TreeAnswer split = Solve("((4 4 1) (2 2 2 2) (2 3))", 10);
  EXPECT_THAT(Used(split), ElementsAre(1, 2, 3));
}

// The second block, the tighter one, needs four racks. In the first, three just
// suffice: that of 6 and two of 3, one of which has them in one node.
TEST(TreeKnapsack, WhatJustSufficesIsNotDropped) {
  const TreeAnswer answer = Solve(
      "((1 1 1 1 1 1) (1 1 1) (1 1 1) (3)) ((1 1 1 1 1 1 1) (1 1 1) (1) (1))",
      12);
  EXPECT_THAT(Used(answer), ElementsAre(1, 3, 10));
}

TEST(TreeKnapsack, OfEqualsTheTightestThenTheFirst) {
  // Racks of 5 and 3 leave nothing over; so do both of 4.
  const TreeAnswer answer =
      Solve("((1 1 1 1 1) (1 1 1) (1 1 1 1 1) (1 1 1))", 8);
  EXPECT_THAT(Used(answer), ElementsAre(1, 2, 8));
  EXPECT_EQ(answer.shares.front(), (PositionTasks{0, 1}));
  EXPECT_EQ(answer.shares.back(), (PositionTasks{7, 1}));
}

TEST(TreeKnapsack, HugeCapacitiesDoNotOverflow) {
  const std::vector<uint16_t> nodes(60'000, UINT16_MAX);
  const std::vector<uint32_t> children = {0, 20'000, 40'000, 60'000};
  const uint32_t third = 20'000 * UINT16_MAX;
  const std::vector<uint32_t> slots = {third, third, third};
  const std::vector<TreeQuestion::LevelSlots> levels = {{children, slots}};
  TreeQuestion question;
  question.levels = levels;
  question.nodes = nodes;
  question.tasks = 3 * third;
  const TreeAnswer answer = Solve(question);
  EXPECT_THAT(Used(answer), ElementsAre(3, 60'000));
  EXPECT_THAT(answer.shares, Each(Field(&PositionTasks::tasks, UINT16_MAX)));
}

TEST(TreeKnapsack, EightLevelsOfDomainsAndNodes) {
  const TreeAnswer answer = Solve(
      "((((((((3 3) (1 1 1 1 1 1 1))))))))"
      "((((((((1)) ((2))) (((4))))))))",
      7);
  EXPECT_THAT(Used(answer), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 7));
  EXPECT_TRUE(answer.optimal);
}

// --- Random trees ------------------------------------------------------------

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint32_t Between(uint32_t low, uint32_t high) {
    return low + static_cast<uint32_t>(engine_() % (high - low + 1));
  }

 private:
  std::mt19937_64 engine_;
};

// How many random trees: MUSTER_PROPERTY_RUNS multiplies it.
uint32_t RunsOf(uint32_t usual) {
  const char* factor = std::getenv("MUSTER_PROPERTY_RUNS");
  return factor == nullptr ? usual : usual * std::max(1, std::atoi(factor));
}

NumberTree RandomTree(Random& random, int levels, uint32_t fanout,
                      uint32_t most_leaves) {
  while (true) {
    std::vector<std::function<uint32_t()>> fanouts(
        levels, [&] { return random.Between(1, fanout); });
    const uint32_t kind = random.Between(0, 4);
    const uint32_t most = random.Between(1, 9);
    NumberTree tree = NumberTree::Make(fanouts, [&]() -> uint32_t {
      switch (kind) {
        case 0:
          return random.Between(0, 1);
        case 1:
          return random.Between(0, most);
        case 2:
          return random.Between(0, 3) == 0 ? most : 0;
        case 3:
          return random.Between(0, 1) == 0 ? 1 : most;
        default:
          return random.Between(1, 30) * random.Between(0, 1);
      }
    });
    if (tree.size(levels - 1) <= most_leaves && tree.total() > 0) return tree;
  }
}

// A question about the tree and how it is to be answered.
struct Case {
  NumberTree tree;
  TreeQuestion question;
  Counts best;
};

void Check(const Case& c, const std::string& what) {
  const TreeAnswer answer = Solve(c.question);
  const std::string where = what + ": " + std::to_string(c.question.tasks) +
                            " on " + c.tree.ToString();
  ASSERT_EQ(Complaint(c.tree, c.question, answer), "") << where;
  ASSERT_TRUE(answer.optimal) << where;
  ASSERT_EQ(Used(answer), c.best) << where;

  // Whatever the budget: a placement no worse than the greedy's, and bounds
  // that the optimum keeps.
  Counts before;
  for (uint64_t budget = 0; budget <= answer.steps; budget = budget * 2 + 1) {
    TreeQuestion hurried = c.question;
    hurried.budget = budget;
    const TreeAnswer early = Solve(hurried);
    ASSERT_EQ(Complaint(c.tree, hurried, early), "") << where << " " << budget;
    const Counts used = Used(early), least = Least(early);
    ASSERT_GE(used, c.best) << where;
    if (!before.empty()) {
      ASSERT_LE(used, before) << where;
    }
    before = used;
    for (size_t l = 0; l < least.size(); ++l) {
      ASSERT_LE(least[l], c.best[l]) << where << " budget " << budget;
    }
  }
}

TEST(TreeKnapsackProperty, AgreesWithBruteForce) {
  for (uint32_t seed = 1; seed <= RunsOf(3000); ++seed) {
    Random random(seed);
    const int levels = static_cast<int>(random.Between(2, 5));
    Case c{RandomTree(random, levels, 3, 11), {}, {}};
    const auto total = static_cast<uint32_t>(c.tree.total());
    c.question = c.tree.Ask(random.Between(1, total));
    c.best = BruteForce(c.tree, c.question.tasks);
    Check(c, "seed " + std::to_string(seed));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(TreeKnapsackProperty, AgreesWithMinPlus) {
  for (uint32_t seed = 1; seed <= RunsOf(1000); ++seed) {
    Random random(seed);
    const int levels = static_cast<int>(random.Between(2, 5));
    Case c{RandomTree(random, levels, 5, 120), {}, {}};
    const auto total = static_cast<uint32_t>(c.tree.total());
    c.question = c.tree.Ask(random.Between(1, std::min(total, 60u)));
    c.best = MinPlus(c.tree, c.question.tasks);
    Check(c, "seed " + std::to_string(seed));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(TreeKnapsackProperty, AgreesWithMinPlusOnDeepTrees) {
  for (uint32_t seed = 1; seed <= RunsOf(500); ++seed) {
    Random random(seed);
    const int levels = static_cast<int>(random.Between(6, 9));
    Case c{RandomTree(random, levels, 2, 60), {}, {}};
    const auto total = static_cast<uint32_t>(c.tree.total());
    c.question = c.tree.Ask(random.Between(1, std::min(total, 60u)));
    c.best = MinPlus(c.tree, c.question.tasks);
    Check(c, "seed " + std::to_string(seed));
    if (testing::Test::HasFatalFailure()) return;
  }
}

// What an object answered before does not matter.
TEST(TreeKnapsackProperty, EqualQuestionsGetEqualAnswers) {
  TreeKnapsack used;
  TreeAnswer again;
  for (uint32_t seed = 1; seed <= RunsOf(500); ++seed) {
    Random random(seed);
    const NumberTree tree =
        RandomTree(random, static_cast<int>(random.Between(2, 6)), 4, 200);
    TreeQuestion question =
        tree.Ask(random.Between(1, static_cast<uint32_t>(tree.total())));
    if (random.Between(0, 1) == 0) question.budget = random.Between(0, 300);
    const TreeAnswer fresh = Solve(question);
    used.Solve(question, &again);
    ASSERT_EQ(fresh.steps, again.steps) << "seed " << seed;
    ASSERT_EQ(fresh.optimal, again.optimal) << "seed " << seed;
    ASSERT_EQ(Least(fresh), Least(again)) << "seed " << seed;
    ASSERT_EQ(fresh.shares, again.shares) << "seed " << seed;
  }
}

// No leaf that is used could be exchanged for one beside it that leaves less
// over.
TEST(TreeKnapsackProperty, NoExchangeOfOneLeafIsTighter) {
  for (uint32_t seed = 1; seed <= RunsOf(1000); ++seed) {
    Random random(seed);
    const int levels = static_cast<int>(random.Between(2, 4));
    const NumberTree tree = RandomTree(random, levels, 5, 100);
    const TreeQuestion question =
        tree.Ask(random.Between(1, static_cast<uint32_t>(tree.total())));
    const TreeAnswer answer = Solve(question);
    const int leaves = levels - 1;
    std::vector<bool> chosen(tree.size(leaves));
    uint64_t over = 0;
    for (const PositionTasks& share : answer.shares) {
      chosen[share.position] = true;
      over += tree.slots(leaves, share.position);
    }
    over -= question.tasks;
    for (const PositionTasks& out : answer.shares) {
      const uint32_t parent = tree.parent(leaves, out.position);
      for (uint32_t in = tree.first(leaves - 1, parent);
           in < tree.end(leaves - 1, parent); ++in) {
        const uint32_t from = tree.slots(leaves, out.position);
        const uint32_t to = tree.slots(leaves, in);
        if (!chosen[in] && to < from) {
          ASSERT_GT(from - to, over)
              << "seed " << seed << ": " << question.tasks << " on "
              << tree.ToString() << ": " << out.position << " for " << in;
        }
      }
    }
  }
}

}  // namespace
}  // namespace muster::solver_test
