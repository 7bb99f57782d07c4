// What TreeKnapsack is asked.
#pragma once

#include <cstdint>
#include <span>

namespace muster::solver {

// A tree in numbers, and how many tasks are to be placed on it, for which it
// has room. All spans stay the caller's and are only read.
struct TreeQuestion {
  // One level of domains.
  struct LevelSlots {
    // The children of domain i are children[i] to children[i + 1] - 1 in the
    // next level, or among the nodes if the level is the narrowest: one entry
    // more than domains.
    std::span<const uint32_t> children;
    // Tasks that the domain can take: what its children can take together. All
    // of a level fit into 32 bits.
    std::span<const uint32_t> slots;
  };
  // Domains of one level that stand together.
  struct Range {
    uint32_t begin = 0;
    uint32_t end = 0;
    uint32_t size() const { return end - begin; }
  };

  std::span<const LevelSlots> levels;  // Widest first; at least one.
  std::span<const uint16_t> nodes;     // Tasks that each can take.
  uint32_t tasks = 0;                  // At least 1.
  // Steps of work; a step is a few nanoseconds. The first answer of the greedy
  // and its bounds are not counted and always given.
  uint64_t budget = 1'000'000;

  // Levels are numbered from the widest, 0; the nodes are the last.
  int last() const { return static_cast<int>(levels.size()); }
  uint32_t size(int level) const {
    return static_cast<uint32_t>(level < last() ? levels[level].slots.size()
                                                : nodes.size());
  }
  uint32_t slots(int level, uint32_t i) const {
    return level < last() ? levels[level].slots[i] : nodes[i];
  }
  Range all(int level) const { return {0, size(level)}; }
  // The children of domain i of `level`.
  Range children(int level, uint32_t i) const {
    return {levels[level].children[i], levels[level].children[i + 1]};
  }
};

namespace knapsack {

// Counts work in steps that are the same on every machine.
class Meter {
 public:
  void Reset(uint64_t budget) { steps_ = 0, budget_ = budget; }
  // False once the budget is used up.
  bool Spend(uint64_t steps) {
    steps_ += steps;
    return !out();
  }
  bool out() const { return steps_ > budget_; }
  uint64_t steps() const { return steps_; }

 private:
  uint64_t steps_ = 0;
  uint64_t budget_ = 0;
};

}  // namespace knapsack
}  // namespace muster::solver
