// Where a gang of identical tasks goes on a tree: as few domains as possible at
// every level, exactly, with a proof.
#ifndef MUSTER_LIB_SOLVER_TREE_KNAPSACK_H_
#define MUSTER_LIB_SOLVER_TREE_KNAPSACK_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace muster::solver {

// A tree in numbers, and how many tasks are to be placed on it. All spans stay
// the caller's and are only read.
struct TreeQuestion {
  // One level of domains.
  struct Level {
    // The children of domain i are children[i] to children[i + 1] - 1 in the
    // next level, or among the nodes if the level is the narrowest: one entry
    // more than domains. Empty if there are no nodes.
    std::span<const uint32_t> children;
    // Tasks that the domain can take: what its children can take together, or
    // 2^32 - 1 if that is more.
    std::span<const uint32_t> slots;
  };
  static constexpr int kAnywhere = -1;

  std::span<const Level> levels;  // Widest first; at least one.
  // Tasks that each node can take. Empty if the choice ends at the narrowest
  // level.
  std::span<const uint16_t> nodes;
  uint32_t tasks = 0;  // At least 1.
  // The domains of the widest level that may be used.
  uint32_t first = 0;
  uint32_t count = UINT32_MAX;  // Cut off at the level's end.
  // The level one domain of which has to hold the whole gang.
  int within = kAnywhere;
  // Steps of work; a step is a few nanoseconds. The first answer of the greedy
  // and its bounds are not counted and always given.
  uint64_t budget = 1'000'000;
};

// What is chosen, and what is known about it.
struct TreeAnswer {
  enum class Outcome : uint8_t {
    kOptimal,     // No placement is better.
    kBounded,     // The budget ended before that was known.
    kInfeasible,  // There is no placement.
  };
  struct Level {
    uint32_t used = 0;   // Domains (or nodes) with tasks.
    uint32_t least = 0;  // An optimal placement has at least so many.
  };
  struct Share {
    uint32_t domain = 0;  // Index in its level.
    uint32_t tasks = 0;   // At least 1.
    friend bool operator==(const Share&, const Share&) = default;
  };

  Outcome outcome = Outcome::kInfeasible;
  // By level, widest first, the nodes last if given. Empty if infeasible.
  std::vector<Level> levels;
  std::vector<std::vector<Share>> shares;  // By level; by rising index.
  // If infeasible: how many tasks too many there are for all the domains
  // together or, with `within`, for the domain `nearest` of that level, which
  // can take the most (of equals the first).
  uint64_t shortfall = 0;
  uint32_t nearest = 0;
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
  TreeKnapsack();
  TreeKnapsack(const TreeKnapsack&) = delete;
  TreeKnapsack& operator=(const TreeKnapsack&) = delete;
  ~TreeKnapsack();

  void Solve(const TreeQuestion& question, TreeAnswer* answer);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::solver

#endif  // MUSTER_LIB_SOLVER_TREE_KNAPSACK_H_
