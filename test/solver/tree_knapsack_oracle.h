// Small trees for TreeKnapsack, and two programs that share nothing with it to
// say what the best placement on them is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/solver/tree_knapsack.h"

namespace muster::solver_test {

// Counts by level, widest first, the leaves last: what is to be as small as
// possible, the first count before the second and so on.
using Counts = std::vector<uint32_t>;

// A tree with numbers at its leaves.
class NumberTree {
 public:
  NumberTree(NumberTree&&) = default;
  // "((8 4) (2)) ((1 1))": two domains of level 0, the first of which has two
  // domains of level 1 with the leaves 8 4 and 2. All leaves lie equally deep.
  static NumberTree Parse(std::string_view text);
  // As many levels as `fanouts`; fanouts[l]() children for each domain of level
  // l - 1, or at the top; the last ones are leaves, with leaf() slots.
  static NumberTree Make(const std::vector<std::function<uint32_t()>>& fanouts,
                         const std::function<uint32_t()>& leaf);

  // Leaves are nodes. Valid as long as the tree.
  solver::TreeQuestion Ask(uint32_t tasks) const;

  int levels() const { return static_cast<int>(slots_.size()); }
  uint32_t size(int level) const {
    return static_cast<uint32_t>(slots_[level].size());
  }
  uint32_t slots(int level, uint32_t i) const { return slots_[level][i]; }
  // The children of a domain: the first, and one past the last.
  uint32_t first(int level, uint32_t i) const { return children_[level][i]; }
  uint32_t end(int level, uint32_t i) const { return children_[level][i + 1]; }
  uint32_t parent(int level, uint32_t i) const { return parent_[level][i]; }
  uint64_t total() const;
  std::string ToString() const;

 private:
  explicit NumberTree(size_t levels);
  void Finish();

  // By level; the leaves are the last.
  std::vector<std::vector<uint32_t>> children_, slots_, parent_;
  std::vector<uint16_t> nodes_;
  std::vector<solver::TreeQuestion::LevelSlots> spans_;
};

// The best counts by trying every set of leaves (at most 20).
Counts BruteForce(const NumberTree& tree, uint32_t tasks);

// The same by dynamic programming over tasks: the least counts with which a
// domain takes t tasks or more, for every t, merged child by child. Adding the
// same counts to two others does not change which is less: that makes the
// order of counts as good as a number. O(leaves x tasks^2).
Counts MinPlus(const NumberTree& tree, uint32_t tasks);

// Why the answer is no placement of the tasks, or contradicts itself; empty if
// all is well.
std::string Complaint(const NumberTree& tree,
                      const solver::TreeQuestion& question,
                      const solver::TreeAnswer& answer);
// The used (the proven least) counts of an answer.
Counts Used(const solver::TreeAnswer& answer);
Counts Least(const solver::TreeAnswer& answer);

}  // namespace muster::solver_test
