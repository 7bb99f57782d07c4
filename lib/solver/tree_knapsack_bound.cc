#include "lib/solver/tree_knapsack_bound.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "lib/base/fraction.h"

namespace muster::solver::knapsack {
namespace {

constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();
// Prices this close to the best are good enough: an eighth of a task.
constexpr int64_t kClose = int64_t{1} << (Bound::kShift - 3);
constexpr int kRounds = 24;  // Of the search for one price.

}  // namespace

void Bound::Reset(const BoundQuestion& question, uint32_t root) {
  q_ = question;
  top_ = q_.pruned->top() + 1;
  q_.pruned->FindRanges(root, &ranges_);
  const auto levels = static_cast<size_t>(q_.level);
  if (values_.size() < levels) values_.resize(levels), used_.resize(levels);
  for (int l = top_; l < q_.level; ++l) {
    const size_t size = ranges_[l].end - ranges_[l].begin;
    values_[l].resize(size);
    used_[l].resize(size);
  }
}

// --- What a root is worth at some prices -------------------------------------

// What the domains of the level above are worth.
void Bound::Fold(int level) {
  if (level == q_.level) return FoldNarrowest();
  const PrunedTree::SortedLevel& wide = q_.pruned->level(level - 1);
  const PrunedTree::Range range = ranges_[level - 1];
  const int64_t price = prices_[level];
  const bool counted = IsFree(level);
  for (uint32_t p = range.begin; p < range.end; ++p) {
    int64_t value = 0;
    PerLevel used{};
    const uint32_t from = ranges_[level].begin;
    for (uint32_t c = wide.first[p] - from; c < wide.first[p + 1] - from; ++c) {
      if (values_[level][c] <= price) continue;
      value += values_[level][c] - price;
      for (int i = 0; i < kFree; ++i) used[i] += used_[level][c][i];
      if (counted) ++used[q_.level - level];
    }
    values_[level - 1][p - range.begin] = value;
    used_[level - 1][p - range.begin] = used;
  }
  meter_->Spend(1 + (ranges_[level].end - ranges_[level].begin) / 4);
}

// Running sums make it one search per domain.
void Bound::FoldNarrowest() {
  const int level = q_.level;
  const PrunedTree::SortedLevel& wide = q_.pruned->level(level - 1);
  const PrunedTree::SortedLevel& narrow = q_.pruned->level(level);
  const PrunedTree::Range range = ranges_[level - 1];
  const int64_t price = prices_[level];
  const auto limit = static_cast<uint64_t>(price >> kShift);
  for (uint32_t p = range.begin; p < range.end; ++p) {
    const uint32_t* slots = narrow.slots.data() + wide.first[p];
    const auto worth = static_cast<uint32_t>(
        std::partition_point(slots, slots + wide.children(p).size(),
                             [&](uint32_t s) { return s > limit; }) -
        slots);
    int64_t value = 0;
    if (worth > 0) {
      value = static_cast<int64_t>(narrow.sum[wide.first[p] + worth - 1]
                                   << kShift) -
              price * worth;
    }
    values_[level - 1][p - range.begin] = value;
    used_[level - 1][p - range.begin] = {worth};
  }
  meter_->Spend(1 + 2 * uint64_t{range.end - range.begin});
}

// The most valuable domains under the root: the whole bound.
Bound::Cut Bound::AtTop() {
  const std::vector<int64_t>& values = values_[top_];
  const size_t count = std::min<size_t>(q_.counts[top_], values.size());
  int64_t price = 0;
  if (count < values.size()) {
    sorted_ = values;
    std::nth_element(sorted_.begin(), sorted_.begin() + (count - 1),
                     sorted_.end(), std::greater<>());
    price = sorted_[count - 1];
  }
  prices_[top_] = price;
  Cut cut;
  size_t equals = count;  // To be taken of those worth just the price.
  for (const int64_t value : values) equals -= value > price;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < price) continue;
    if (values[i] == price && equals-- == 0) {
      equals = 0;
      continue;
    }
    cut.value += values[i];
    for (int f = 0; f < kFree; ++f) cut.slope[f] -= used_[top_][i][f] << kShift;
  }
  for (int l = top_ + 1; l < q_.level; ++l) {
    cut.value += prices_[l] * q_.counts[l];
    if (IsFree(l)) cut.slope[q_.level - l] += int64_t{q_.counts[l]} << kShift;
  }
  rest_ = cut.value;
  meter_->Spend(1 + values.size() / 2);
  return cut;
}

void Bound::Evaluate(const Prices& prices, Meter* meter) {
  meter_ = meter;
  prices_ = prices;
  for (int l = q_.level; l > top_; --l) Fold(l);
  AtTop();
}

// --- The search for prices ---------------------------------------------------

void Bound::Raise(uint32_t stop, uint32_t* least, Prices* prices,
                  Meter* meter) {
  meter_ = meter;
  stop_ = stop;
  least_ = *least;
  lowest_ = kUnknown;
  enough_ = least_ >= stop_;
  best_ = prices_ = *prices;
  if (!enough_) Least(q_.level);
  *least = least_;
  *prices = best_;
}

// Learns from an evaluation.
void Bound::Learn() {
  const auto needed = static_cast<int64_t>(q_.tasks << kShift);
  if (Most(least_) < needed) {
    const int64_t price = prices_[q_.level];
    const int64_t count =
        price > 0 ? CeilDiv(needed - rest_, price) : int64_t{stop_};
    least_ = static_cast<uint32_t>(std::min<int64_t>(count, stop_));
    lowest_ = kUnknown;
  }
  if (Most(least_) < lowest_) {
    lowest_ = Most(least_);
    best_ = prices_;
  }
  enough_ = least_ >= stop_ || meter_->out();
}

// The least bound over the prices of this level and those above it, the
// narrower ones being given and the values of this level computed.
Bound::Cut Bound::Least(int level) {
  if (level == top_) {
    const Cut cut = AtTop();
    Learn();
    return cut;
  }
  if (IsFree(level)) return LeastOfOne(level);
  Fold(level);
  return Least(level - 1);
}

int64_t Bound::MostValuable(int level) const {
  int64_t most = 0;
  if (level < q_.level) {
    for (const int64_t value : values_[level]) most = std::max(most, value);
    return most;
  }
  const PrunedTree::SortedLevel& wide = q_.pruned->level(level - 1);
  const PrunedTree::SortedLevel& narrow = q_.pruned->level(level);
  const PrunedTree::Range range = ranges_[level - 1];
  for (uint32_t p = range.begin; p < range.end; ++p) {
    if (wide.children(p).size() == 0) continue;
    most = std::max<int64_t>(most, narrow.slots[wide.first[p]]);
  }
  return most << kShift;
}

// Of the narrowest level cuts know nothing of the count, which rises.
int64_t Bound::CountAt(int level) const {
  return level == q_.level ? least_ : 0;
}
int64_t Bound::SlopeOf(const Cut& cut, int level) const {
  return cut.slope[q_.level - level] + (CountAt(level) << kShift);
}
int64_t Bound::ValueOf(const Cut& cut, int level, int64_t price) const {
  return cut.value + price * CountAt(level);
}

// The bound is convex in the price. Of a cut that falls and one that rises the
// crossing is the next price tried: no price can be better than that point.
Bound::Cut Bound::LeastOfOne(int level) {
  int64_t low = -1, high = MostValuable(level);
  Cut left, right;  // At those prices; low -1: unknown.
  // At the highest price nothing is used, and prices further up may be 0.
  for (int l = top_ + 1; l < q_.level; ++l) {
    if (l < level && IsFree(l)) continue;
    right.value += (l == level ? high : prices_[l]) * q_.counts[l];
    if (IsFree(l)) right.slope[q_.level - l] = int64_t{q_.counts[l]} << kShift;
  }
  int64_t price = std::min(prices_[level], high);
  for (int round = 0; round < kRounds; ++round) {
    prices_[level] = price;
    Fold(level);
    const Cut cut = Least(level - 1);
    if (enough_) return cut;
    if (SlopeOf(cut, level) > 0) {
      if (price == 0) return cut;
      high = price, right = cut;
    } else {
      low = price, left = cut;
    }
    if (low < 0) {
      price = high / 2;
      continue;
    }
    const Wide fall = SlopeOf(left, level), rise = SlopeOf(right, level);
    if (rise <= fall) break;  // Both flat.
    const Wide at_left =
        (Wide{ValueOf(left, level, low)} << kShift) - fall * low;
    const Wide at_right =
        (Wide{ValueOf(right, level, high)} << kShift) - rise * high;
    price = static_cast<int64_t>((at_left - at_right) / (rise - fall));
    const auto crossing =
        static_cast<int64_t>((at_left + fall * price) >> kShift);
    if (price <= low || price >= high) break;
    if (ValueOf(cut, level, prices_[level]) - crossing < kClose) break;
  }
  if (low < 0) return right;
  prices_[level] = price;
  return Join(level, left, right);
}

// The cut of the best mixture of both: flat in this level's price.
Bound::Cut Bound::Join(int level, const Cut& left, const Cut& right) const {
  const Wide fall = SlopeOf(left, level), rise = SlopeOf(right, level);
  if (rise <= fall) return left;
  const auto mix = [&](int64_t l, int64_t r) {
    return static_cast<int64_t>((rise * l - fall * r) / (rise - fall));
  };
  Cut cut;
  cut.value = mix(left.value, right.value);
  for (int f = 0; f < kFree; ++f)
    cut.slope[f] = mix(left.slope[f], right.slope[f]);
  return cut;
}

// --- What is excluded --------------------------------------------------------

// Taking a domain against its value costs that value, and so upwards.
void Bound::Kill(uint32_t count, PrunedTree* pruned) {
  const int64_t slack = Most(count) - static_cast<int64_t>(q_.tasks << kShift);
  for (int l = top_; l < q_.level; ++l) {
    const PrunedTree::SortedLevel& wide = pruned->level(l);
    const PrunedTree::Range range = ranges_[l];
    if (l == top_) loss_.assign(values_[l].size(), 0);
    next_.assign(ranges_[l + 1].end - ranges_[l + 1].begin, 0);
    for (uint32_t p = range.begin; p < range.end; ++p) {
      const int64_t mine =
          loss_[p - range.begin] + std::max<int64_t>(-value(l, p), 0);
      for (uint32_t c = wide.first[p]; c < wide.first[p + 1]; ++c) {
        next_[c - ranges_[l + 1].begin] = mine;
      }
    }
    loss_.swap(next_);
  }
  PrunedTree::SortedLevel& narrow = pruned->level(q_.level);
  const PrunedTree::Range range = ranges_[q_.level];
  for (uint32_t p = range.begin; p < range.end; ++p) {
    const int64_t own =
        prices_[q_.level] - (int64_t{narrow.slots[p]} << kShift);
    narrow.dead[p] |=
        loss_[p - range.begin] + std::max<int64_t>(own, 0) > slack;
  }
}

}  // namespace muster::solver::knapsack
