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

bool Search::Pack(std::span<const uint32_t> counts) {
  fields_.assign(level_ + 1, {});
  int shift = 0;
  for (int l = top_; l <= level_; ++l) {
    const int width = std::bit_width(counts[l]);
    fields_[l] = {shift, (uint64_t{1} << width) - 1, counts[l]};
    shift += width;
  }
  return shift < 64;
}

Search::Result Search::Decide(const Core& core, int level, const Bound& bound,
                              const Bound::Prices& prices,
                              std::span<const uint32_t> counts, uint64_t tasks,
                              Meter* meter) {
  core_ = &core;
  bound_ = &bound;
  prices_ = &prices;
  meter_ = meter;
  top_ = core.top() + 1;
  level_ = level;
  tasks_ = tasks;
  found_ = false;
  groups_.clear();
  if (!Pack(counts)) return Result::kUnknown;
  needed_ = static_cast<int64_t>(tasks << Bound::kShift);
  for (int l = top_; l <= level_; ++l) needed_ -= prices[l] * counts[l];
  if (labels_.size() <= static_cast<size_t>(level_)) {
    labels_.resize(level_ + 1);
  }
  steps_.clear();
  labels_[top_].assign(1, {});
  VisitInside(top_, kNone, 0);
  if (found_) return Result::kYes;
  return meter->out() ? Result::kUnknown : Result::kNo;
}

void Search::Visit(int level, uint32_t p, int64_t after) {
  if (level + 1 == level_) return VisitGroup(p, after);
  std::vector<Label>& outside = labels_[level];
  std::vector<Label>& inside = labels_[level + 1];
  inside.clear();
  for (Label label : outside) {
    if (Count(label.key, level) == fields_[level].limit) continue;
    if (label.value + bound_->value(level, p) + after < needed_) continue;
    label.key += One(level);
    label.value -= (*prices_)[level];
    inside.push_back(label);
  }
  if (inside.empty() || !meter_->Spend(inside.size())) return;
  VisitInside(level + 1, p, after);
  if (done()) return;
  StartLabels();
  for (const Label& label : outside) {
    if (label.value + after >= needed_) AddLabel(label);
  }
  for (const Label& label : inside) {
    if (label.value + after >= needed_) AddLabel(label);
  }
  outside.swap(next_);
}

void Search::VisitInside(int level, uint32_t parent, int64_t after) {
  Core::Range range = bound_->ranges()[level];
  if (parent != kNone) {
    const Core::Level& wide = core_->level(level - 1);
    range = {wide.first[parent], wide.first[parent] + wide.count[parent]};
  }
  for (uint32_t p = range.begin; p < range.end; ++p) after += Worth(level, p);
  for (uint32_t p = range.begin; p < range.end && !done(); ++p) {
    after -= Worth(level, p);
    Visit(level, p, after);
  }
}

void Search::VisitGroup(uint32_t p, int64_t after) {
  const int level = level_ - 1;
  std::vector<Label>& labels = labels_[level];
  const int64_t value = bound_->value(level, p);
  bool useful = false;
  for (const Label& label : labels) {
    useful |= label.value + value + after >= needed_;
  }
  if (!meter_->Spend(1 + labels.size() / 8) || !useful) return;
  StartLabels();
  for (const Label& label : labels) {
    if (label.value + after >= needed_) AddLabel(label);
  }
  const Group best = {p, bound_->worth(p)};
  for (const Label& label : labels) {
    if (label.value + value + after < needed_) continue;
    const uint32_t used = Count(label.key, level);
    if (used == fields_[level].limit) continue;
    const uint32_t most =
        std::min(fields_[level_].limit - Count(label.key, level_),
                 core_->level(level).count[p]);
    if (most == 0) continue;
    if (TryLast(label, {p, most})) return;
    if (used + 1 == fields_[level].limit) continue;
    Widen(label, {p, std::clamp(best.children, 1u, most)}, after);
  }
  meter_->Spend(next_.size());
  labels.swap(next_);
}

// Whether the tasks are all taken with this group.
bool Search::TryLast(const Label& label, Group group) {
  const Core::Level& narrow = core_->level(level_);
  const uint32_t first = core_->level(level_ - 1).first[group.position];
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

// The value is concave in the number of children: around the best number those
// that lose too much are all further out.
void Search::Widen(const Label& label, Group best, int64_t after) {
  const uint32_t most =
      std::min(fields_[level_].limit - Count(label.key, level_),
               core_->level(level_ - 1).count[best.position]);
  for (uint32_t k = best.children; k >= 1; --k) {
    if (!AddWith(label, {best.position, k}, after)) break;
  }
  for (uint32_t k = best.children + 1; k <= most; ++k) {
    if (!AddWith(label, {best.position, k}, after)) break;
  }
}

bool Search::AddWith(const Label& label, Group group, int64_t after) {
  const Core::Level& narrow = core_->level(level_);
  const uint32_t first = core_->level(level_ - 1).first[group.position];
  const uint64_t sum = narrow.sum[first + group.children - 1];
  const int64_t value =
      label.value + static_cast<int64_t>(sum << Bound::kShift) -
      (*prices_)[level_] * group.children - (*prices_)[level_ - 1];
  if (value + after < needed_) return false;
  const uint64_t key =
      label.key + One(level_ - 1) + One(level_) * group.children;
  steps_.push_back({label.step, group});
  AddLabel({key, label.tasks + sum, value,
            static_cast<uint32_t>(steps_.size() - 1)});
  return true;
}

void Search::StartLabels() {
  next_.clear();
  table_.assign(kSmallTable, kNone);
}

// Of two labels with the same counts, the one with more tasks stays.
void Search::AddLabel(const Label& label) {
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

void Search::Grow() {
  table_.assign(2 * table_.size(), kNone);
  for (uint32_t i = 0; i < next_.size(); ++i) {
    size_t slot = SlotOf(next_[i].key, table_.size());
    while (table_[slot] != kNone) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = i;
  }
}

}  // namespace muster::solver::knapsack
