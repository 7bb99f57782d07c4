// A TreeQuestion as the parts of TreeKnapsack read it.
#ifndef MUSTER_LIB_SOLVER_TREE_KNAPSACK_VIEW_H_
#define MUSTER_LIB_SOLVER_TREE_KNAPSACK_VIEW_H_

#include <algorithm>
#include <cstdint>

#include "lib/solver/tree_knapsack.h"

namespace muster::solver::knapsack {

// Levels are numbered from the widest, 0; the nodes, if given, are the last.
class View {
 public:
  void Reset(const TreeQuestion& question) {
    q_ = &question;
    domains_ = static_cast<int>(question.levels.size());
    const auto all = static_cast<uint32_t>(question.levels[0].slots.size());
    begin_ = std::min(question.first, all);
    end_ = begin_ + std::min(question.count, all - begin_);
  }

  bool has_nodes() const { return !q_->nodes.empty(); }
  // The narrowest level, where tasks are counted out.
  int last() const { return has_nodes() ? domains_ : domains_ - 1; }
  uint32_t tasks() const { return q_->tasks; }
  // The domains of a level that may be used are [begin, end).
  uint32_t begin(int level) const { return Within(level, begin_); }
  uint32_t end(int level) const { return Within(level, end_); }

  uint32_t slots(int level, uint32_t i) const {
    return level < domains_ ? q_->levels[level].slots[i] : q_->nodes[i];
  }
  // The children of domain i of `level` are [first_child, end_child).
  uint32_t first_child(int level, uint32_t i) const {
    return q_->levels[level].children[i];
  }
  uint32_t end_child(int level, uint32_t i) const {
    return q_->levels[level].children[i + 1];
  }

 private:
  uint32_t Within(int level, uint32_t i) const {
    for (int l = 0; l < level; ++l) i = q_->levels[l].children[i];
    return i;
  }

  const TreeQuestion* q_ = nullptr;
  int domains_ = 0;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
};

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

}  // namespace muster::solver::knapsack

#endif  // MUSTER_LIB_SOLVER_TREE_KNAPSACK_VIEW_H_
