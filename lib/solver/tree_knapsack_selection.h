// A choice of domains at every level, and how it is completed downwards.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/solver/tree_knapsack_question.h"

namespace muster::solver::knapsack {

// Built from the widest level to the narrowest: the caller puts down the
// domains of the first levels, Complete does the rest.
class Selection {
 public:
  struct PickedDomain {
    uint32_t id = 0;      // Index in the question's level.
    uint32_t parent = 0;  // Position in the level above.
    uint32_t slots = 0;
  };

  void Reset(int levels);
  std::vector<PickedDomain>& level(int l) { return levels_[l]; }
  const std::vector<PickedDomain>& level(int l) const { return levels_[l]; }
  uint32_t used(int l) const {
    return static_cast<uint32_t>(levels_[l].size());
  }

  // Of all children of the picks of `level` - 1 (or all domains at level 0),
  // picks the fewest that can take all tasks: the largest, but as the last one
  // the tightest that serves.
  void PickFewest(const TreeQuestion& tree, int level);
  // With the picks of the levels to `level`, which can take all tasks, given:
  // picks the fewest at every further level. The given picks must be as few as
  // possible, level by level: one less at a level, those above it as they are,
  // could not take all tasks. So nodes, which stand largest first, all get
  // some when they are filled in order, and at most one is not full.
  void Complete(const TreeQuestion& tree, int level);

  // Lexicographically fewer domains.
  bool BetterThan(const Selection& other) const;
  // Exchanges picks for others under the same picks of the level above while
  // that leaves less over, at the narrowest level where capacities differ; each
  // time the exchange that leaves the least. No count changes.
  void Tighten(const TreeQuestion& tree);

 private:
  static constexpr size_t kNone = SIZE_MAX;

  void Gather(const TreeQuestion& tree, int level);
  static uint32_t NodeSize(const TreeQuestion& tree, int level, uint32_t id);
  size_t TighterThan(const PickedDomain& pick, uint64_t over) const;
  bool ExchangeOne(int level, uint64_t* over);

  std::vector<std::vector<PickedDomain>> levels_;
  std::vector<PickedDomain> offers_;  // Scratch: children of picks, sorted.
  std::vector<uint32_t> children_;    // Scratch: by pick of the level above.
  std::vector<uint32_t> taken_;       // Scratch: indices of picks, sorted.
};

}  // namespace muster::solver::knapsack
