#include "lib/solver/tree_knapsack.h"

#include <algorithm>
#include <span>

#include "lib/base/fraction.h"
#include "lib/solver/fewest.h"

namespace muster::solver {

using knapsack::LabelSearch;
using knapsack::PrunedTree;
using knapsack::Selection;

void TreeKnapsack::Solve(const TreeQuestion& question, TreeAnswer* answer) {
  tree_ = &question;
  meter_.Reset(question.budget);
  least_.assign(tree_->last() + 1, 1);
  pruned_.Start(*tree_);
  SolveGreedily();
  settled_ = pruned_.top() + 1;
  roots_.resize(std::max<size_t>(roots_.size(), pruned_.roots()));
  for (uint32_t r = 0; r < pruned_.roots(); ++r) {
    roots_[r].open = true;
    roots_[r].prices.assign(tree_->last() + 1, 0);
    roots_[r].wide_prices = roots_[r].prices;
  }
  while (settled_ <= tree_->last() && Settle(settled_)) ++settled_;
  Finish(answer);
}

// From the tightest of the smallest enclosing domains downwards.
void TreeKnapsack::SolveGreedily() {
  best_.Reset(tree_->last() + 1);
  if (pruned_.top() < 0) {
    best_.PickFewest(*tree_, 0);
    best_.Complete(*tree_, 0);
    return;
  }
  positions_.assign(1, 0);
  PickChain(pruned_.top());
  std::swap(best_, trial_);
  best_.Complete(*tree_, pruned_.top());
}

// Puts the domains at positions_ of the level, and those around them, down in
// trial_. Until the level above is there, `parent` holds a pick's position in
// the pruned.
void TreeKnapsack::PickChain(int level) {
  trial_.Reset(tree_->last() + 1);
  for (int l = level; l >= 0; --l) {
    const PrunedTree::SortedLevel& pruned = pruned_.level(l);
    std::ranges::sort(positions_);
    positions_.erase(std::unique(positions_.begin(), positions_.end()),
                     positions_.end());
    for (const uint32_t p : positions_) {
      trial_.level(l).push_back(
          {pruned.id[p], p, tree_->slots(l, pruned.id[p])});
    }
    if (l < level) {
      for (Selection::PickedDomain& pick : trial_.level(l + 1)) {
        const uint32_t parent = pruned_.level(l + 1).parent[pick.parent];
        pick.parent = static_cast<uint32_t>(
            std::ranges::lower_bound(positions_, parent) - positions_.begin());
      }
    }
    if (l > 0) {
      for (uint32_t& p : positions_) p = pruned.parent[p];
    }
  }
  for (Selection::PickedDomain& pick : trial_.level(0)) pick.parent = 0;
}

// A choice of domains at the level, in positions_, that can take all tasks:
// the best placement from now on if it is one.
void TreeKnapsack::Offer(int level) {
  PickChain(level);
  trial_.Complete(*tree_, level);
  meter_.Spend(trial_.used(tree_->last()));
  if (trial_.BetterThan(best_)) std::swap(best_, trial_);
}

// Finds the least count at the level, those above being settled. False if the
// budget ended before.
bool TreeKnapsack::Settle(int level) {
  while (pruned_.built() < level) pruned_.Extend(*tree_, &meter_);
  pruned_.SpreadDeath();
  if (level > 0) least_[level] = std::max(least_[level], least_[level - 1]);
  if (meter_.out()) return false;
  const uint32_t used = best_.used(level);
  least_[level] = std::max(least_[level], FewestAlone(level, used));
  if (least_[level] == used) return true;
  if (pruned_.built() == level) pruned_.Extend(*tree_, &meter_);
  if (meter_.out()) return false;
  return level == pruned_.top() + 1 ? SettleFirst(level)
                                    : SettleByBounds(level);
}

// How many of the level's domains are needed if it does not matter where they
// are; at most `used`.
uint32_t TreeKnapsack::FewestAlone(int level, uint32_t used) {
  values_.clear();
  uint32_t most = 0;
  const auto add = [&](TreeQuestion::Range range) {
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const uint32_t slots = tree_->slots(level, i);
      most = std::max(most, slots);
      values_.push_back(slots);
    }
  };
  if (level == 0) {
    add(tree_->all(0));
  } else {
    const PrunedTree::SortedLevel& wide = pruned_.level(level - 1);
    for (uint32_t p = 0; p < wide.size(); ++p) {
      if (!wide.dead[p]) add(tree_->children(level - 1, wide.id[p]));
    }
  }
  meter_.Spend(1 + values_.size() / 8);
  if (CeilDiv<uint64_t>(tree_->tasks, most) >= used) return used;
  const std::span<const uint32_t> values(values_);
  return std::min(used, Fewest(values, most, tree_->tasks));
}

// The level under the roots: the largest children are the fewest.
bool TreeKnapsack::SettleFirst(int level) {
  uint32_t fewest = UINT32_MAX, best = 0;
  for (uint32_t r = 0; r < pruned_.roots(); ++r) {
    const PrunedTree::Range children = pruned_.Children(level, r);
    const auto sum = pruned_.level(level).sum.begin();
    const auto enough =
        std::partition_point(sum + children.begin, sum + children.end,
                             [&](uint64_t s) { return s < tree_->tasks; });
    roots_[r].least = static_cast<uint32_t>(enough - sum) - children.begin + 1;
    if (roots_[r].least < fewest) fewest = roots_[r].least, best = r;
  }
  least_[level] = fewest;
  for (uint32_t r = 0; r < pruned_.roots(); ++r) {
    roots_[r].open = roots_[r].least == fewest;
    PruneFirst(r, level);
  }
  if (best_.used(level) > fewest) {
    // The tightest root that needs so few.
    positions_.assign(1, best);
    Offer(pruned_.top());
  }
  return true;
}

// Drops the children that not even the largest others make up for.
void TreeKnapsack::PruneFirst(uint32_t r, int level) {
  PrunedTree::SortedLevel& narrow = pruned_.level(level);
  const PrunedTree::Range children = pruned_.Children(level, r);
  const uint32_t others = least_[level] - 1;
  const uint64_t largest =
      others > 0 ? narrow.sum[children.begin + others - 1] : 0;
  for (uint32_t p = children.begin; p < children.end; ++p) {
    narrow.dead[p] =
        !roots_[r].open || (p >= children.begin + others &&
                            largest + narrow.slots[p] < tree_->tasks);
  }
}

bool TreeKnapsack::SettleByBounds(int level) {
  for (uint32_t r = 0; r < pruned_.roots(); ++r) {
    roots_[r].least = least_[level];
    roots_[r].refined = false;
  }
  while (true) {
    const uint32_t used = best_.used(level);
    uint32_t next = used;
    bool found = false;
    for (uint32_t r = 0; r < pruned_.roots() && !found; ++r) {
      Root& root = roots_[r];
      if (!root.open) continue;
      if (root.least <= least_[level]) {
        const LabelSearch::Result result = TryRoot(r, level, least_[level]);
        if (result == LabelSearch::Result::kUnknown) return false;
        found = result == LabelSearch::Result::kYes;
      }
      if (!found) next = std::min(next, root.least);
    }
    if (found) break;
    least_[level] = next;
    if (next >= best_.used(level)) break;
  }
  Prune(level);
  return true;
}

// Whether the root can do with `count` domains at the level; if so best_ is
// such a choice, otherwise the root's bound is above it.
LabelSearch::Result TreeKnapsack::TryRoot(uint32_t r, int level,
                                          uint32_t count) {
  Root& root = roots_[r];
  bound_.Reset(Ask(level), r);
  if (!root.refined) {
    bound_.Raise(best_.used(level), &root.least, &root.prices, &meter_);
    root.refined = true;
    if (root.least > count) return LabelSearch::Result::kNo;
  }
  if (meter_.out()) return LabelSearch::Result::kUnknown;
  bound_.Evaluate(root.prices, &meter_);
  RoundPrices(level);
  if (best_.used(level) <= count) return LabelSearch::Result::kYes;
  counts_ = least_;
  counts_[level] = count;
  // The narrowest level for free.
  wide_bound_.Reset(Ask(level), r);
  prices_ = root.wide_prices;
  prices_[level] = 0;
  wide_bound_.Evaluate(prices_, &meter_);
  const LabelSearch::Result result = search_.Decide(
      pruned_, level, {&bound_, &wide_bound_}, counts_, tree_->tasks, &meter_);
  if (result == LabelSearch::Result::kNo) {
    root.least = count + 1;
    root.refined = false;
  }
  if (result != LabelSearch::Result::kYes) return result;
  positions_.clear();
  for (const LabelSearch::SiblingGroup group : search_.groups()) {
    const uint32_t first = pruned_.level(level - 1).first[group.position];
    for (uint32_t k = 0; k < group.children; ++k)
      positions_.push_back(first + k);
  }
  Offer(level);
  return result;
}

// The prices' own choice above the level, with the fewest domains below it.
void TreeKnapsack::RoundPrices(int level) {
  const int top = pruned_.top() + 1;
  positions_.clear();
  const PrunedTree::Range range = bound_.ranges()[top];
  for (uint32_t p = range.begin; p < range.end; ++p) positions_.push_back(p);
  for (int l = top; l < level; ++l) {
    const size_t count = std::min<size_t>(least_[l], positions_.size());
    meter_.Spend(1 + positions_.size());
    std::partial_sort(positions_.begin(), positions_.begin() + count,
                      positions_.end(), [&](uint32_t a, uint32_t b) {
                        const int64_t va = bound_.value(l, a);
                        const int64_t vb = bound_.value(l, b);
                        return va != vb ? va > vb : a < b;
                      });
    positions_.resize(count);
    if (l + 1 == level) break;
    values_.swap(positions_);
    positions_.clear();
    for (const uint32_t p : values_) {
      const PrunedTree::Range children = pruned_.level(l).children(p);
      for (uint32_t c = children.begin; c < children.end; ++c) {
        positions_.push_back(c);
      }
    }
  }
  uint64_t slots = 0;
  for (const uint32_t p : positions_) {
    const PrunedTree::Range children = pruned_.level(level - 1).children(p);
    if (children.size() > 0)
      slots += pruned_.level(level).sum[children.end - 1];
  }
  if (slots >= tree_->tasks) Offer(level - 1);
}

// Drops what the bounds exclude now that the level's count is known.
void TreeKnapsack::Prune(int level) {
  if (level == tree_->last()) return;
  for (uint32_t r = 0; r < pruned_.roots(); ++r) {
    Root& root = roots_[r];
    if (!root.open) continue;
    if (root.least > least_[level]) {
      root.open = false;
      pruned_.level(pruned_.top()).dead[r] = 1;
      continue;
    }
    bound_.Reset(Ask(level), r);
    uint32_t least = least_[level];
    bound_.Raise(least + 1, &least, &root.prices, &meter_);
    bound_.Evaluate(root.prices, &meter_);
    bound_.Kill(least_[level], &pruned_);
    root.wide_prices = root.prices;
  }
}

void TreeKnapsack::Finish(TreeAnswer* answer) {
  best_.Tighten(*tree_);
  const int last = tree_->last();
  for (int l = 1; l <= last; ++l) {
    least_[l] = std::max(least_[l], least_[l - 1]);
    if (l > settled_) {
      // Levels behind the one where the budget ended.
      while (pruned_.built() < l) pruned_.Extend(*tree_, &meter_);
      pruned_.SpreadDeath();
      least_[l] = std::max(least_[l], FewestAlone(l, best_.used(l)));
    }
  }
  answer->levels.clear();
  answer->optimal = true;
  for (int l = 0; l <= last; ++l) {
    answer->levels.push_back({best_.used(l), least_[l]});
    answer->optimal &= least_[l] == best_.used(l);
  }
  answer->shares.clear();
  uint32_t rest = tree_->tasks;
  for (const Selection::PickedDomain& pick : best_.level(last)) {
    const uint32_t tasks = std::min(rest, pick.slots);
    answer->shares.push_back({pick.id, tasks});
    rest -= tasks;
  }
  std::ranges::sort(answer->shares, {}, &TreeAnswer::PositionTasks::position);
  answer->steps = meter_.steps();
}

}  // namespace muster::solver
