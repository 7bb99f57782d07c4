// The parts of TreeKnapsack by themselves: at bad prices, where bounds say
// little and the search has to do everything.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

#include "lib/solver/tree_knapsack_bound.h"
#include "lib/solver/tree_knapsack_pruned.h"
#include "lib/solver/tree_knapsack_question.h"
#include "lib/solver/tree_knapsack_search.h"
#include "test/solver/tree_knapsack_oracle.h"

namespace muster::solver_test {
namespace {

using namespace solver::knapsack;  // NOLINT: the parts under test.

constexpr uint32_t kMostDomains = 11;

uint32_t Between(std::mt19937_64& random, uint32_t low, uint32_t high) {
  return low + static_cast<uint32_t>(random() % (high - low + 1));
}

// How many random worlds: MUSTER_PROPERTY_RUNS multiplies it.
uint32_t Runs(uint32_t usual) {
  const char* factor = std::getenv("MUSTER_PROPERTY_RUNS");
  return factor == nullptr ? usual : usual * std::max(1, std::atoi(factor));
}

// A random tree whose pruned is built to the level that is asked about, and one
// of its roots.
struct World {
  explicit World(uint64_t seed) : random(seed), tree(MakeTree(random)) {
    question =
        tree.Ask(Between(random, 1, static_cast<uint32_t>(tree.total())));
    meter.Reset(UINT64_MAX);
    pruned.Start(question);
    while (pruned.built() <= question.last()) pruned.Extend(question, &meter);
    if (pruned.top() + 2 > question.last()) return;
    level = static_cast<int>(Between(random,
                                     static_cast<uint32_t>(pruned.top() + 2),
                                     static_cast<uint32_t>(question.last())));
    root = Between(random, 0, pruned.roots() - 1);
    pruned.FindRanges(root, &ranges);
    domains = ranges[level].end - ranges[level].begin;
    counts.assign(tree.levels(), 1);
    for (int l = pruned.top() + 1; l <= level; ++l) {
      const uint32_t most = ranges[l].end - ranges[l].begin;
      counts[l] =
          std::clamp(Between(random, 1, most), counts[l - (l > 0)], most);
    }
  }

  static NumberTree MakeTree(std::mt19937_64& random) {
    while (true) {
      const uint32_t levels = Between(random, 2, 5);
      const uint32_t most = Between(random, 1, 12);
      NumberTree tree = NumberTree::Make(
          std::vector<std::function<uint32_t()>>(
              levels, [&] { return Between(random, 1, levels == 2 ? 6 : 3); }),
          [&] { return Between(random, 0, most); });
      const int leaves = tree.levels() - 1;
      if (tree.size(leaves) <= kMostDomains && tree.total() > 0) return tree;
    }
  }

  // Whether there is anything to ask.
  bool usable() const { return level > 0 && domains > 0; }

  // What a set of the level's domains under the root comes to.
  struct Choice {
    std::vector<uint32_t> counts;  // By level.
    uint64_t tasks = 0;
  };
  Choice Of(uint32_t set) const {
    Choice choice;
    choice.counts.assign(tree.levels(), 0);
    std::vector<uint32_t> positions;
    for (uint32_t i = 0; i < domains; ++i) {
      if ((set >> i & 1) == 0) continue;
      positions.push_back(ranges[level].begin + i);
      choice.tasks += pruned.level(level).slots[positions.back()];
    }
    for (int l = level; l > pruned.top(); --l) {
      choice.counts[l] = static_cast<uint32_t>(positions.size());
      for (uint32_t& p : positions) p = pruned.level(l).parent[p];
      std::sort(positions.begin(), positions.end());
      positions.erase(std::unique(positions.begin(), positions.end()),
                      positions.end());
    }
    return choice;
  }
  // No more than `allowed` from the level under the root to `to`.
  bool Within(const Choice& choice, const std::vector<uint32_t>& allowed,
              int to) const {
    for (int l = pruned.top() + 1; l <= to; ++l) {
      if (choice.counts[l] > allowed[l]) return false;
    }
    return true;
  }

  Bound::BoundQuestion Ask() const {
    return {&pruned, level, counts, question.tasks};
  }
  Bound::Prices RandomPrices() {
    Bound::Prices prices(tree.levels(), 0);
    for (int64_t& price : prices) {
      price = Between(random, 0, 3) * Between(random, 0, 8 << Bound::kShift);
    }
    return prices;
  }
  std::string What(uint64_t seed) const {
    return "seed " + std::to_string(seed) + ": " +
           std::to_string(question.tasks) + " at level " +
           std::to_string(level) + " of " + tree.ToString();
  }

  std::mt19937_64 random;
  NumberTree tree;
  solver::TreeQuestion question;
  Meter meter;
  PrunedTree pruned;
  int level = -1;
  uint32_t root = 0;
  uint32_t domains = 0;
  std::vector<PrunedTree::Range> ranges;
  std::vector<uint32_t> counts;  // Allowed, by level.
};

TEST(TreeKnapsackParts, TheSearchFindsWhatThereIsAtAnyPrices) {
  LabelSearch search;
  Bound first, second;
  uint32_t yes = 0, no = 0;
  for (uint32_t seed = 1; seed <= Runs(10000); ++seed) {
    World w(seed);
    if (!w.usable()) continue;
    first.Reset(w.Ask(), w.root);
    first.Evaluate(w.RandomPrices(), &w.meter);
    second.Reset(w.Ask(), w.root);
    second.Evaluate(w.RandomPrices(), &w.meter);
    const LabelSearch::Result result =
        search.Decide(w.pruned, w.level, {&first, &second}, w.counts,
                      w.question.tasks, &w.meter);
    bool possible = false;
    for (uint32_t set = 1; set < 1u << w.domains; ++set) {
      const World::Choice choice = w.Of(set);
      possible |= choice.tasks >= w.question.tasks &&
                  w.Within(choice, w.counts, w.level);
    }
    ASSERT_EQ(result,
              possible ? LabelSearch::Result::kYes : LabelSearch::Result::kNo)
        << w.What(seed);
    ++(possible ? yes : no);
    if (!possible) continue;
    uint32_t set = 0;
    for (const LabelSearch::SiblingGroup& group : search.groups()) {
      for (uint32_t k = 0; k < group.children; ++k) {
        set |= 1u << (w.pruned.level(w.level - 1).first[group.position] + k -
                      w.ranges[w.level].begin);
      }
    }
    const World::Choice choice = w.Of(set);
    ASSERT_GE(choice.tasks, w.question.tasks) << w.What(seed);
    ASSERT_TRUE(w.Within(choice, w.counts, w.level)) << w.What(seed);
  }
  EXPECT_GT(yes, 1000u);
  EXPECT_GT(no, 1000u);
}

TEST(TreeKnapsackParts, NoChoiceIsAboveTheBoundAtAnyPrices) {
  Bound bound;
  for (uint32_t seed = 1; seed <= Runs(3000); ++seed) {
    World w(seed);
    if (!w.usable()) continue;
    bound.Reset(w.Ask(), w.root);
    bound.Evaluate(w.RandomPrices(), &w.meter);
    for (uint32_t set = 1; set < 1u << w.domains; ++set) {
      const World::Choice choice = w.Of(set);
      if (!w.Within(choice, w.counts, w.level - 1)) continue;
      ASSERT_GE(bound.Most(choice.counts[w.level]),
                static_cast<int64_t>(choice.tasks << Bound::kShift))
          << w.What(seed);
    }
  }
}

// What is raised is a true bound, and what is killed is in no choice.
TEST(TreeKnapsackParts, NothingUsefulIsExcluded) {
  Bound bound;
  uint32_t killed = 0, raised = 0;
  for (uint32_t seed = 1; seed <= Runs(5000); ++seed) {
    World w(seed);
    if (!w.usable()) continue;
    uint32_t fewest = w.domains + 1;
    for (uint32_t set = 1; set < 1u << w.domains; ++set) {
      const World::Choice choice = w.Of(set);
      if (choice.tasks < w.question.tasks) continue;
      if (!w.Within(choice, w.counts, w.level - 1)) continue;
      fewest = std::min(fewest, choice.counts[w.level]);
    }
    bound.Reset(w.Ask(), w.root);
    uint32_t least = 1;
    Bound::Prices prices = w.RandomPrices();
    bound.Raise(w.domains + 1, &least, &prices, &w.meter);
    ASSERT_LE(least, fewest) << w.What(seed);
    raised += least > 1;
    if (fewest > w.domains) continue;

    bound.Evaluate(prices, &w.meter);
    bound.Kill(fewest, &w.pruned);
    const std::vector<uint8_t>& dead = w.pruned.level(w.level).dead;
    killed += static_cast<uint32_t>(std::count(dead.begin(), dead.end(), 1));
    w.counts[w.level] = fewest;
    for (uint32_t set = 1; set < 1u << w.domains; ++set) {
      const World::Choice choice = w.Of(set);
      if (choice.tasks < w.question.tasks) continue;
      if (!w.Within(choice, w.counts, w.level)) continue;
      for (uint32_t i = 0; i < w.domains; ++i) {
        ASSERT_FALSE((set >> i & 1) && dead[w.ranges[w.level].begin + i])
            << w.What(seed);
      }
    }
  }
  EXPECT_GT(killed, 500u);
  EXPECT_GT(raised, 500u);
}

}  // namespace
}  // namespace muster::solver_test
