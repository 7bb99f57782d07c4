// The part of a tree that an optimal choice can be in, sorted for the search.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "lib/solver/tree_knapsack_question.h"

namespace muster::solver::knapsack {

// Levels of domains with slots. Siblings stand together, largest first (of
// equals the lower index), with running sums: what the best k of them can take
// is one look-up. The descendants of any run of siblings are a run of each
// narrower level.
//
// The search for one gang has roots: if single domains can take all tasks, the
// domains of the narrowest such level, called top() (an optimal choice lies in
// one of them, as more than one would be worse at some level from there up);
// otherwise one root that stands for the whole tree, and top() is -1.
class PrunedTree {
 public:
  using Range = TreeQuestion::Range;  // Of positions.
  struct SortedLevel {
    std::vector<uint32_t> id;      // Index in the question's level.
    std::vector<uint32_t> parent;  // Position in the level above.
    std::vector<uint32_t> slots;   // At most the gang's tasks.
    std::vector<uint64_t> sum;     // Of slots, from the first sibling to this.
    std::vector<uint32_t> first;   // Position of the first child, once the next
                                   // level is there; one entry more.
    std::vector<uint8_t> dead;     // In no choice still looked for.
    uint32_t size() const { return static_cast<uint32_t>(id.size()); }
    Range children(uint32_t p) const { return {first[p], first[p + 1]}; }
  };

  // Finds the roots and builds the levels from the widest to theirs (with -1,
  // level 0). The roots stand tightest first.
  void Start(const TreeQuestion& tree);
  int top() const { return top_; }
  int built() const { return built_; }  // Levels so far.
  // Builds the next level, from the children of what is not dead.
  void Extend(const TreeQuestion& tree, Meter* meter);
  // What lies below something dead is dead.
  void SpreadDeath();

  SortedLevel& level(int l) { return levels_[l]; }
  const SortedLevel& level(int l) const { return levels_[l]; }
  // The roots: positions in level top(); with -1 just one, 0.
  uint32_t roots() const { return top_ < 0 ? 1 : levels_[top_].size(); }
  // The children of the root, at `level` = top() + 1.
  Range Children(int level, uint32_t root) const {
    if (top_ < 0) return {0, levels_[level].size()};
    return levels_[top_].children(root);
  }
  // What lies under the root at each level from top() + 1 to the last built.
  void FindRanges(uint32_t root, std::vector<Range>* ranges) const;

 private:
  void Clear(int level);
  void Add(const TreeQuestion& tree, int level, uint32_t parent, Range range);
  void FindFitting(const TreeQuestion& tree, int level, uint32_t parent,
                   Range range);
  void TakeRoots(int level);

  std::vector<SortedLevel> levels_;
  int top_ = -1;
  int built_ = 0;
  struct Root {
    uint32_t slots = 0;
    uint32_t id = 0;
    uint32_t parent = 0;

    friend auto operator<=>(const Root&, const Root&) = default;
  };
  std::vector<uint64_t> order_;  // Scratch: slots and index, packed.
  std::vector<Root> roots_;      // Scratch.
};

}  // namespace muster::solver::knapsack
