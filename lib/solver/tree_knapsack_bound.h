// Lagrangian bounds on what a root can take with so many domains per level.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/solver/tree_knapsack_pruned.h"

namespace muster::solver::knapsack {

// A price is paid per domain used, level by level; what a domain is worth is
// what its best children are worth together, each less its price. For any
// prices,
//
//   sum over levels of price x allowed count + what the root is then worth
//
// is at least the tasks that the root can take with the allowed counts. At the
// level under the root no price is searched: the allowed number of most
// valuable domains is taken, and the value of the last of them serves as price.
//
// Values are fixed-point numbers: tasks << kShift.
class Bound {
 public:
  static constexpr int kShift = 8;

  // Prices by level; 0 where there is none.
  using Prices = std::vector<int64_t>;

  // What is asked: `counts` domains at each level above `level`, as few as
  // possible there. All levels to `level` are built, `level` - 1 > top.
  struct BoundQuestion {
    const PrunedTree* pruned = nullptr;
    int level = 0;
    std::span<const uint32_t> counts;
    uint64_t tasks = 0;
  };

  // Starts with a root.
  void Reset(const BoundQuestion& question, uint32_t root);
  // Searches prices that show that the root needs many domains at the level.
  // `least` is a number known before and is raised; never to more than `stop`.
  // `prices` are where to begin and become those with the lowest bound met for
  // `least` domains.
  void Raise(uint32_t stop, uint32_t* least, Prices* prices, Meter* meter);

  // Sets what follows by these prices (the price at the level under the root
  // is found, not read).
  void Evaluate(const Prices& prices, Meter* meter);
  // The tasks that the root can take with `count` domains at the level, at
  // most: a fixed-point number.
  int64_t Most(uint32_t count) const {
    return rest_ + prices_[q_.level] * count;
  }
  const Prices& prices() const { return prices_; }
  // The value of a domain of a level above `level`, its price paid.
  int64_t value(int level, uint32_t position) const {
    return values_[level][position - ranges_[level].begin] - prices_[level];
  }
  const std::vector<PrunedTree::Range>& ranges() const { return ranges_; }
  // How many children of a domain of the level above `level` are worth their
  // price.
  uint32_t worth(uint32_t position) const {
    const uint32_t i = position - ranges_[q_.level - 1].begin;
    return static_cast<uint32_t>(used_[q_.level - 1][i][0]);
  }
  // Marks what would push the bound for `count` domains below the tasks.
  void Kill(uint32_t count, PrunedTree* pruned);

 private:
  // Prices are searched at the narrowest levels, this many; those further up
  // stay as they were when their level was the narrowest.
  static constexpr int kFree = 4;
  // A number per free level: [0] is the narrowest.
  using PerLevel = std::array<int64_t, kFree>;

  // The bound around some prices, less the narrowest level's price x count: it
  // is nowhere below this linear function of the free prices.
  struct Cut {
    int64_t value = 0;
    PerLevel slope{};  // Fixed-point, too.
  };

  bool IsFree(int level) const { return q_.level - level < kFree; }
  void Fold(int level);
  void FoldNarrowest();
  Cut AtTop();
  Cut Least(int level);
  Cut LeastOfOne(int level);
  Cut Join(int level, const Cut& left, const Cut& right) const;
  void Learn();
  int64_t MostValuable(int level) const;
  int64_t CountAt(int level) const;
  int64_t SlopeOf(const Cut& cut, int level) const;
  int64_t ValueOf(const Cut& cut, int level, int64_t price) const;

  BoundQuestion q_;
  int top_ = 0;  // The level under the root.
  std::vector<PrunedTree::Range> ranges_;
  // By level above the narrowest, from the range's begin: values before the
  // own price, and the domains of free levels used below.
  std::vector<std::vector<int64_t>> values_;
  std::vector<std::vector<PerLevel>> used_;
  Prices prices_;
  int64_t rest_ = 0;  // The bound without the narrowest level's price x count.

  // Of Raise.
  Meter* meter_ = nullptr;
  bool enough_ = false;
  uint32_t stop_ = 0;
  uint32_t least_ = 0;
  int64_t lowest_ = 0;  // The lowest bound met for least_ domains.
  Prices best_;

  std::vector<int64_t> sorted_;       // Scratch.
  std::vector<int64_t> loss_, next_;  // Scratch.
};

}  // namespace muster::solver::knapsack
