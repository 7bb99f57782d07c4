#include "lib/solver/tree_knapsack_pruned.h"

#include <algorithm>

namespace muster::solver::knapsack {
namespace {

// Sorts by slots, largest first, then by index.
uint64_t LargestFirst(uint32_t slots, uint32_t id) {
  return uint64_t{~slots} << 32 | id;
}

}  // namespace

void PrunedTree::Clear(int level) {
  if (levels_.size() <= static_cast<size_t>(level)) levels_.resize(level + 1);
  SortedLevel& l = levels_[level];
  l.id.clear(), l.parent.clear(), l.slots.clear(), l.sum.clear();
  l.first.clear(), l.dead.clear();
}

void PrunedTree::Add(const TreeQuestion& tree, int level, uint32_t parent,
                     Range range) {
  order_.clear();
  for (uint32_t i = range.begin; i < range.end; ++i) {
    const uint32_t slots = std::min(tree.slots(level, i), tree.tasks);
    if (slots > 0) order_.push_back(LargestFirst(slots, i));
  }
  std::ranges::sort(order_);
  SortedLevel& l = levels_[level];
  uint64_t sum = 0;
  for (const uint64_t key : order_) {
    const uint32_t slots = ~static_cast<uint32_t>(key >> 32);
    sum += slots;
    l.id.push_back(static_cast<uint32_t>(key));
    l.parent.push_back(parent);
    l.slots.push_back(slots);
    l.sum.push_back(sum);
    l.dead.push_back(0);
  }
}

void PrunedTree::FindFitting(const TreeQuestion& tree, int level,
                             uint32_t parent, Range range) {
  for (uint32_t i = range.begin; i < range.end; ++i) {
    const uint32_t slots = tree.slots(level, i);
    if (slots >= tree.tasks) roots_.push_back({slots, i, parent});
  }
}

// The level consists of those found.
void PrunedTree::TakeRoots(int level) {
  Clear(level);
  std::ranges::sort(roots_);
  SortedLevel& l = levels_[level];
  for (const Root& root : roots_) {
    l.id.push_back(root.id);
    l.parent.push_back(root.parent);
    l.slots.push_back(root.slots);
    l.dead.push_back(0);
  }
  roots_.clear();
}

void PrunedTree::Start(const TreeQuestion& tree) {
  top_ = -1;
  roots_.clear();
  FindFitting(tree, 0, 0, tree.all(0));
  while (!roots_.empty()) {
    TakeRoots(++top_);
    if (top_ == tree.last()) break;
    const SortedLevel& wide = levels_[top_];
    for (uint32_t p = 0; p < wide.size(); ++p) {
      FindFitting(tree, top_ + 1, p, tree.children(top_, wide.id[p]));
    }
  }
  built_ = std::max(top_, 0) + 1;
  if (top_ >= 0) return;
  Clear(0);
  Add(tree, 0, 0, tree.all(0));
}

void PrunedTree::Extend(const TreeQuestion& tree, Meter* meter) {
  const int level = built_++;
  Clear(level);
  SortedLevel& wide = levels_[level - 1];
  wide.first.assign(1, 0);
  uint64_t seen = 0;
  for (uint32_t p = 0; p < wide.size(); ++p) {
    if (!wide.dead[p]) {
      const Range children = tree.children(level - 1, wide.id[p]);
      seen += 1 + 2 * uint64_t{children.size()};
      Add(tree, level, p, children);
    }
    wide.first.push_back(levels_[level].size());
  }
  meter->Spend(seen);
}

void PrunedTree::SpreadDeath() {
  for (int l = std::max(top_, 0) + 1; l < built_; ++l) {
    SortedLevel& narrow = levels_[l];
    for (uint32_t p = 0; p < narrow.size(); ++p) {
      narrow.dead[p] |= levels_[l - 1].dead[narrow.parent[p]];
    }
  }
}

void PrunedTree::FindRanges(uint32_t root, std::vector<Range>* ranges) const {
  ranges->assign(built_, {});
  if (top_ + 1 >= built_) return;
  Range range = Children(top_ + 1, root);
  (*ranges)[top_ + 1] = range;
  for (int l = top_ + 2; l < built_; ++l) {
    const SortedLevel& wide = levels_[l - 1];
    range = {wide.first[range.begin], wide.first[range.end]};
    (*ranges)[l] = range;
  }
}

}  // namespace muster::solver::knapsack
