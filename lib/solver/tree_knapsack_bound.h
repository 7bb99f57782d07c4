// Lagrangian bounds on what a root can take with so many domains per level.
#ifndef MUSTER_LIB_SOLVER_TREE_KNAPSACK_BOUND_H_
#define MUSTER_LIB_SOLVER_TREE_KNAPSACK_BOUND_H_

#include <cstdint>
#include <span>
#include <vector>

#include "lib/solver/tree_knapsack_core.h"

namespace muster::solver::knapsack {

// A price is paid per domain used, level by level; what a domain is worth is
// what its best children are worth together, less the price. For any prices,
//
//   sum over levels of price x allowed count + what the root is then worth
//
// is at least the tasks that the root can take with the allowed counts. At the
// level under the root no price is needed: the allowed number of most valuable
// domains is taken, and the value of the last of them serves as the price.
//
// Values are fixed-point numbers: tasks << kShift.
class Bound {
 public:
  static constexpr int kShift = 8;

  // Prices by level; 0 where there is none.
  using Prices = std::vector<int64_t>;

  // What is asked: `counts` domains at each level above `level`, as few as
  // possible there. All levels to `level` are built, `level` - 1 > top.
  struct Question {
    const Core* core = nullptr;
    int level = 0;
    std::span<const uint32_t> counts;
    uint64_t tasks = 0;
  };

  // Starts with a root.
  void Reset(const Question& question, uint32_t root);
  // Searches prices that show that the root needs many domains at the level.
  // `least` is a number known before and is raised; never to more than `stop`.
  // `prices` are where to begin and become those with the lowest bound for
  // `least` domains.
  void Raise(uint32_t stop, uint32_t* least, Prices* prices, Meter* meter);
  // Sets the values below by these prices; fills in the price at the level
  // under the root.
  void Evaluate(Prices* prices, Meter* meter);

  // --- After Evaluate ---
  // The tasks that the root can take with `count` domains at the level, at
  // most: a fixed-point number.
  int64_t Most(const Prices& prices, uint32_t count) const {
    return rest_ + prices[q_.level] * count;
  }
  // The value of a domain of a level above `level`, its price paid.
  int64_t value(int level, uint32_t position) const {
    return values_[level][position - ranges_[level].begin];
  }
  const std::vector<Core::Range>& ranges() const { return ranges_; }
  // How many children of a domain of the level above `level` are worth their
  // price.
  uint32_t worth(uint32_t position) const {
    return worth_[position - ranges_[q_.level - 1].begin];
  }
  // Marks what would push the bound for `count` domains below the tasks.
  void Kill(const Prices& prices, uint32_t count, Core* core);

 private:
  bool Consider(const Prices& trial, uint32_t stop, uint32_t* least,
                Prices* best);
  void Bisect(uint32_t stop, uint32_t* least, Prices* prices, Meter* meter);
  void Descend(uint32_t stop, uint32_t* least, Prices* prices, Meter* meter);
  void ValueGroups(const Prices& prices);
  void ValueTop(Prices* prices);
  void CountUsed();

  Question q_;
  int top_ = 0;  // The level under the root.
  std::vector<Core::Range> ranges_;
  std::vector<std::vector<int64_t>> values_;  // By level, from range begin.
  std::vector<uint32_t> worth_;
  std::vector<std::vector<uint8_t>> chosen_;  // By level: taken at the prices.
  std::vector<int64_t> used_;                 // By level: how many are taken.
  std::vector<int64_t> sorted_;               // Scratch.
  std::vector<int64_t> loss_, next_;          // Scratch.
  int64_t rest_ = 0;    // The bound without the narrowest level's price.
  int64_t lowest_ = 0;  // The lowest bound met for `least` domains.
  Prices trial_;
};

}  // namespace muster::solver::knapsack

#endif  // MUSTER_LIB_SOLVER_TREE_KNAPSACK_BOUND_H_
