#include "lib/solver/tree_knapsack_search.h"

#include <algorithm>
#include <bit>

namespace muster::solver::knapsack {
namespace {

constexpr size_t kSmallTable = 64;  // A power of two.

size_t SlotOf(uint64_t key, size_t size) {
  const int bits = std::countr_zero(size);
  return static_cast<size_t>(key * 0x9e3779b97f4a7c15u >> (64 - bits));
}

}  // namespace

bool LabelSearch::Pack(std::span<const uint32_t> counts) {
  fields_.assign(level_ + 1, {});
  int shift = 0;
  for (int l = top_; l <= level_; ++l) {
    const int width = std::bit_width(counts[l]);
    fields_[l] = {shift, (uint64_t{1} << width) - 1, counts[l]};
    shift += width;
  }
  return shift < 64;
}

LabelSearch::Result LabelSearch::Decide(const PrunedTree& pruned, int level,
                                        const Bounds& bounds,
                                        std::span<const uint32_t> counts,
                                        uint64_t tasks, Meter* meter) {
  pruned_ = &pruned;
  bounds_ = bounds;
  meter_ = meter;
  top_ = pruned.top() + 1;
  level_ = level;
  tasks_ = tasks;
  found_ = false;
  groups_.clear();
  if (!Pack(counts)) return Result::kUnknown;
  for (int b = 0; b < kBounds; ++b) {
    needed_[b] = static_cast<int64_t>(tasks << Bound::kShift);
    for (int l = top_; l <= level_; ++l) {
      needed_[b] -= bounds[b]->prices()[l] * counts[l];
    }
  }
  if (labels_.size() <= static_cast<size_t>(level_)) labels_.resize(level_ + 1);
  steps_.clear();
  labels_[top_].assign(1, {});
  VisitInside(top_, kNone, {});
  if (found_) return Result::kYes;
  return meter->out() ? Result::kUnknown : Result::kNo;
}

LabelSearch::Values LabelSearch::Worth(int level, uint32_t p) const {
  Values worth;
  for (int b = 0; b < kBounds; ++b) {
    worth[b] = std::max<int64_t>(bounds_[b]->value(level, p), 0);
  }
  return worth;
}

bool LabelSearch::Promising(const Values& label, const Values& more) const {
  bool promising = true;
  for (int b = 0; b < kBounds; ++b) {
    promising &= label[b] + more[b] >= needed_[b];
  }
  return promising;
}

void LabelSearch::Visit(int level, uint32_t p, const Values& after) {
  if (level + 1 == level_) return VisitSiblings(p, after);
  std::vector<Label>& outside = labels_[level];
  std::vector<Label>& inside = labels_[level + 1];
  inside.clear();
  Values with = after;
  for (int b = 0; b < kBounds; ++b) with[b] += bounds_[b]->value(level, p);
  for (Label label : outside) {
    if (Count(label.key, level) == fields_[level].limit) continue;
    if (!Promising(label.value, with)) continue;
    label.key += One(level);
    for (int b = 0; b < kBounds; ++b) {
      label.value[b] -= bounds_[b]->prices()[level];
    }
    inside.push_back(label);
  }
  if (!meter_->Spend(1 + outside.size() / 4) || inside.empty()) return;
  VisitInside(level + 1, p, after);
  if (done()) return;
  StartLabels();
  for (const std::vector<Label>* labels : {&outside, &inside}) {
    for (const Label& label : *labels) {
      if (Promising(label.value, after)) AddLabel(label);
    }
  }
  meter_->Spend(outside.size() + inside.size());
  outside.swap(next_);
}

void LabelSearch::VisitInside(int level, uint32_t parent, Values after) {
  PrunedTree::Range range = bounds_[0]->ranges()[level];
  if (parent != kNone) range = pruned_->level(level - 1).children(parent);
  for (uint32_t p = range.begin; p < range.end; ++p) {
    const Values worth = Worth(level, p);
    for (int b = 0; b < kBounds; ++b) after[b] += worth[b];
  }
  for (uint32_t p = range.begin; p < range.end && !done(); ++p) {
    const Values worth = Worth(level, p);
    for (int b = 0; b < kBounds; ++b) after[b] -= worth[b];
    Visit(level, p, after);
  }
}

void LabelSearch::VisitSiblings(uint32_t p, const Values& after) {
  const int level = level_ - 1;
  std::vector<Label>& labels = labels_[level];
  Values with = after;
  for (int b = 0; b < kBounds; ++b) with[b] += bounds_[b]->value(level, p);
  const bool useful = std::ranges::any_of(
      labels, [&](const Label& label) { return Promising(label.value, with); });
  if (!meter_->Spend(1 + labels.size() / 4) || !useful) return;
  StartLabels();
  for (const Label& label : labels) {
    if (Promising(label.value, after)) AddLabel(label);
  }
  for (const Label& label : labels) {
    if (!Promising(label.value, with)) continue;
    const uint32_t used = Count(label.key, level);
    if (used == fields_[level].limit) continue;
    const SiblingGroup most = {
        p, std::min(fields_[level_].limit - Count(label.key, level_),
                    pruned_->level(level).children(p).size())};
    if (most.children == 0) continue;
    if (TryLast(label, most)) return;
    if (used + 1 < fields_[level].limit) Widen(label, most, after);
  }
  meter_->Spend(labels.size());
  labels.swap(next_);
}

// Whether the tasks are all taken with this group.
bool LabelSearch::TryLast(const Label& label, SiblingGroup group) {
  const PrunedTree::SortedLevel& narrow = pruned_->level(level_);
  const uint32_t first = pruned_->level(level_ - 1).first[group.position];
  if (label.tasks + narrow.sum[first + group.children - 1] < tasks_) {
    return false;
  }
  const auto sum = narrow.sum.begin() + first;
  const auto enough = std::partition_point(
      sum, sum + group.children,
      [&](uint64_t s) { return label.tasks + s < tasks_; });
  groups_.push_back({group.position, static_cast<uint32_t>(enough - sum) + 1});
  for (uint32_t s = label.step; s != kNone; s = steps_[s].before) {
    groups_.push_back(steps_[s].group);
  }
  found_ = true;
  return true;
}

// Makes the labels with 1 to most.children of the group. Both values are
// concave in the number of children and largest where these are worth their
// price: beyond that number, on either side, the first that is not promising
// ends the search.
void LabelSearch::Widen(const Label& label, SiblingGroup most,
                        const Values& after) {
  const uint32_t p = most.position;
  const PrunedTree::SortedLevel& narrow = pruned_->level(level_);
  const uint64_t* sum = narrow.sum.data() + pruned_->level(level_ - 1).first[p];
  const uint32_t best = std::clamp(bounds_[0]->worth(p), 1u, most.children);
  const auto add = [&](uint32_t children) {
    Label next = {label.key + One(level_ - 1) + One(level_) * children,
                  label.tasks + sum[children - 1], label.value, kNone};
    for (int b = 0; b < kBounds; ++b) {
      const Bound::Prices& prices = bounds_[b]->prices();
      next.value[b] +=
          static_cast<int64_t>(sum[children - 1] << Bound::kShift) -
          prices[level_] * children - prices[level_ - 1];
    }
    meter_->Spend(1);
    if (!Promising(next.value, after)) return false;
    next.step = static_cast<uint32_t>(steps_.size());
    steps_.push_back({label.step, {p, children}});
    AddLabel(next);
    return true;
  };
  const uint32_t second = bounds_[1]->worth(p);
  for (uint32_t k = best; k >= 1; --k) {
    if (!add(k) && k <= second) break;
  }
  for (uint32_t k = best + 1; k <= most.children; ++k) {
    if (!add(k) && k >= second) break;
  }
}

void LabelSearch::StartLabels() {
  next_.clear();
  table_.assign(kSmallTable, kNone);
}

// Of two labels with the same counts, the one with more tasks stays.
void LabelSearch::AddLabel(const Label& label) {
  if (2 * next_.size() >= table_.size()) Grow();
  size_t slot = SlotOf(label.key, table_.size());
  while (table_[slot] != kNone) {
    Label& old = next_[table_[slot]];
    if (old.key == label.key) {
      if (label.tasks > old.tasks) old = label;
      return;
    }
    slot = (slot + 1) & (table_.size() - 1);
  }
  table_[slot] = static_cast<uint32_t>(next_.size());
  next_.push_back(label);
}

void LabelSearch::Grow() {
  table_.assign(2 * table_.size(), kNone);
  for (uint32_t i = 0; i < next_.size(); ++i) {
    size_t slot = SlotOf(next_[i].key, table_.size());
    while (table_[slot] != kNone) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = i;
  }
}

}  // namespace muster::solver::knapsack
