// Where a gang of identical tasks goes on a tree: as few domains as possible at
// every level, exactly, with a proof.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/solver/gang_solver.h"
#include "lib/solver/tree_knapsack_bound.h"
#include "lib/solver/tree_knapsack_pruned.h"
#include "lib/solver/tree_knapsack_question.h"
#include "lib/solver/tree_knapsack_search.h"
#include "lib/solver/tree_knapsack_selection.h"

namespace muster::solver {

// What is chosen, and what is known about it.
struct TreeAnswer {
  struct PositionTasks {
    uint32_t position = 0;  // Of a node.
    uint32_t tasks = 0;     // At least 1.
    friend bool operator==(const PositionTasks&,
                           const PositionTasks&) = default;
  };

  // No placement is better; otherwise the budget ended before that was known.
  bool optimal = false;
  // Widest first, the nodes last; what is used, and the least that an optimal
  // placement has.
  std::vector<Certificate::Level> levels;
  std::vector<PositionTasks> shares;  // By rising position.
  uint64_t steps = 0;
};

// Minimises, in this order: the domains used at the widest level, ..., those
// used at the narrowest, the nodes used. Levels are settled one after the
// other: with the counts above at their minimum, the least count is searched
// for which some choice of domains can take all tasks. Such a question is a
// knapsack turned round: the counts are what is scarce, tasks are the profit.
// Lagrangian bounds raise the least count and shrink the tree, a dynamic
// program over counts decides the rest (docs/placement.md).
//
// Ties: the smallest enclosing domain that leaves the least over is preferred
// by the greedy and tried first by the search; in the end one chosen domain of
// the last level that matters is exchanged for another under the chosen ones
// while that leaves less over; then the lower index. Equal questions get equal
// answers, and whatever the budget, the counts are never worse than the
// greedy's.
//
// An object keeps its memory from one question to the next. Not thread-safe.
class TreeKnapsack {
 public:
  void Solve(const TreeQuestion& question, TreeAnswer* answer);

 private:
  // What is known about one root at the level being settled.
  struct Root {
    uint32_t least = 0;  // It needs at least so many.
    bool refined = false;
    bool open = true;  // It may have an optimal choice.
    knapsack::Bound::Prices prices;
    knapsack::Bound::Prices wide_prices;  // The best of the level before.
  };

  void SolveGreedily();
  bool Settle(int level);
  bool SettleFirst(int level);
  void PruneFirst(uint32_t root, int level);
  bool SettleByBounds(int level);
  knapsack::LabelSearch::Result TryRoot(uint32_t root, int level,
                                        uint32_t count);
  void Prune(int level);
  uint32_t FewestAlone(int level, uint32_t used);
  void PickChain(int level);
  void Offer(int level);
  void RoundPrices(int level);
  void Finish(TreeAnswer* answer);

  knapsack::Bound::BoundQuestion Ask(int level) const {
    return {&pruned_, level, least_, tree_->tasks};
  }

  const TreeQuestion* tree_ = nullptr;
  knapsack::Meter meter_;
  knapsack::PrunedTree pruned_;
  knapsack::Bound bound_, wide_bound_;
  knapsack::Bound::Prices prices_;
  knapsack::LabelSearch search_;
  knapsack::Selection best_;
  knapsack::Selection trial_;
  int settled_ = 0;              // Levels whose best count is known.
  std::vector<uint32_t> least_;  // By level; of settled ones, the minimum.
  std::vector<Root> roots_;
  std::vector<uint32_t> counts_;     // Scratch: allowed, by level.
  std::vector<uint32_t> positions_;  // Scratch: in a level of the pruned.
  std::vector<uint32_t> values_;     // Scratch.
};

}  // namespace muster::solver
