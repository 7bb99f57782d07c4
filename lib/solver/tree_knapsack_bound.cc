#include "lib/solver/tree_knapsack_bound.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace muster::solver::knapsack {
namespace {

constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();
// Rounds of the subgradient method, and how many without a lower bound halve
// its steps.
constexpr int kRounds = 48;
constexpr int kPatience = 5;

}  // namespace

void Bound::Reset(const Question& question, uint32_t root) {
  q_ = question;
  top_ = q_.core->top() + 1;
  q_.core->FindRanges(root, &ranges_);
  const auto levels = static_cast<size_t>(q_.level);
  if (values_.size() < levels) values_.resize(levels), chosen_.resize(levels);
  for (int l = top_; l < q_.level; ++l) {
    const size_t size = ranges_[l].end - ranges_[l].begin;
    values_[l].resize(size);
    chosen_[l].resize(size);
  }
  worth_.resize(values_[q_.level - 1].size());
  used_.assign(levels + 1, 0);
}

void Bound::Evaluate(Prices* prices, Meter* meter) {
  ValueGroups(*prices);
  uint64_t seen = 2 * values_[q_.level - 1].size();
  for (int l = q_.level - 2; l >= top_; --l) {
    const Core::Level& wide = q_.core->level(l);
    const Core::Range range = ranges_[l];
    for (uint32_t p = range.begin; p < range.end; ++p) {
      int64_t value = l > top_ ? -(*prices)[l] : 0;
      const int64_t* child =
          values_[l + 1].data() + (wide.first[p] - ranges_[l + 1].begin);
      for (uint32_t c = 0; c < wide.count[p]; ++c) {
        value += std::max<int64_t>(child[c], 0);
      }
      values_[l][p - range.begin] = value;
    }
    seen += values_[l].size();
  }
  ValueTop(prices);
  CountUsed();
  meter->Spend(1 + seen);
}

// The level above the narrowest: running sums make it one search per domain.
void Bound::ValueGroups(const Prices& prices) {
  const int l = q_.level - 1;
  const Core::Level& wide = q_.core->level(l);
  const Core::Level& narrow = q_.core->level(q_.level);
  const int64_t price = prices[q_.level];
  const auto limit = static_cast<uint64_t>(price >> kShift);
  for (uint32_t p = ranges_[l].begin; p < ranges_[l].end; ++p) {
    const uint32_t* slots = narrow.slots.data() + wide.first[p];
    const uint32_t* end = slots + wide.count[p];
    const auto worth = static_cast<uint32_t>(
        std::partition_point(slots, end,
                             [&](uint32_t s) { return s > limit; }) -
        slots);
    int64_t value = l > top_ ? -prices[l] : 0;
    if (worth > 0) {
      value += static_cast<int64_t>(narrow.sum[wide.first[p] + worth - 1]
                                    << kShift) -
               price * worth;
    }
    values_[l][p - ranges_[l].begin] = value;
    worth_[p - ranges_[l].begin] = worth;
  }
}

void Bound::ValueTop(Prices* prices) {
  std::vector<int64_t>& values = values_[top_];
  const size_t count = std::min<size_t>(q_.counts[top_], values.size());
  sorted_ = values;
  int64_t price = 0;
  rest_ = 0;
  if (count > 0) {
    std::nth_element(sorted_.begin(), sorted_.begin() + (count - 1),
                     sorted_.end(), std::greater<>());
    for (size_t i = 0; i < count; ++i) {
      rest_ += std::max<int64_t>(sorted_[i], 0);
    }
    price = std::max<int64_t>(sorted_[count - 1], 0);
  }
  (*prices)[top_] = price;
  for (int l = top_ + 1; l < q_.level; ++l) {
    rest_ += (*prices)[l] * q_.counts[l];
  }
  size_t free = count;  // Beyond those worth more than the price.
  for (const int64_t value : values) free -= value > price;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool equal = values[i] == price && price > 0 && free > 0;
    chosen_[top_][i] = values[i] > price || equal;
    free -= equal;
    values[i] -= price;
  }
}

void Bound::CountUsed() {
  for (int l = top_; l < q_.level; ++l) {
    const bool narrowest = l + 1 == q_.level;
    const Core::Level& wide = q_.core->level(l);
    int64_t used = 0;
    for (uint32_t p = ranges_[l].begin; p < ranges_[l].end; ++p) {
      const uint8_t chosen = chosen_[l][p - ranges_[l].begin];
      if (narrowest) {
        if (chosen) used += worth(p);
        continue;
      }
      const uint32_t child = wide.first[p] - ranges_[l + 1].begin;
      for (uint32_t c = child; c < child + wide.count[p]; ++c) {
        const bool taken = chosen && values_[l + 1][c] > 0;
        chosen_[l + 1][c] = taken;
        used += taken;
      }
    }
    used_[l + 1] = used;
  }
}

// Learns from the last evaluation; false when enough is known.
bool Bound::Consider(const Prices& trial, uint32_t stop, uint32_t* least,
                     Prices* best) {
  const auto needed = static_cast<int64_t>(q_.tasks << kShift);
  if (Most(trial, *least) < needed) {
    const int64_t price = trial[q_.level];
    const int64_t count =
        price > 0 ? (needed - rest_ + price - 1) / price : int64_t{stop};
    *least = static_cast<uint32_t>(std::min<int64_t>(count, stop));
    lowest_ = kUnknown;
  }
  if (Most(trial, *least) < lowest_) {
    lowest_ = Most(trial, *least);
    *best = trial;
  }
  return *least < stop;
}

void Bound::Raise(uint32_t stop, uint32_t* least, Prices* prices,
                  Meter* meter) {
  lowest_ = kUnknown;
  Bisect(stop, least, prices, meter);
  if (q_.level > top_ + 2 - 1 && *least < stop) {
    Descend(stop, least, prices, meter);
  }
}

// The bound is convex in the narrowest level's price, with the others fixed:
// its slope is the allowed count less the count taken.
void Bound::Bisect(uint32_t stop, uint32_t* least, Prices* prices,
                   Meter* meter) {
  int64_t low = 0, high = 0;
  for (uint32_t p = ranges_[q_.level - 1].begin; p < ranges_[q_.level - 1].end;
       ++p) {
    const Core::Level& wide = q_.core->level(q_.level - 1);
    if (wide.count[p] == 0) continue;
    high =
        std::max<int64_t>(high, q_.core->level(q_.level).slots[wide.first[p]]);
  }
  high = (high << kShift) + 1;
  trial_ = *prices;
  while (low < high && !meter->out()) {
    const int64_t middle = low + (high - low) / 2;
    trial_[q_.level] = middle;
    Evaluate(&trial_, meter);
    if (!Consider(trial_, stop, least, prices)) return;
    if (used_[q_.level] > *least) {
      low = middle + 1;
    } else if (used_[q_.level] < *least) {
      high = middle;
    } else {
      return;
    }
  }
}

// Polyak's subgradient method: the steps are as long as it takes for the bound
// to fall just below the tasks, were it linear. Counts are weighted by what a
// domain of the level takes on average.
void Bound::Descend(uint32_t stop, uint32_t* least, Prices* prices,
                    Meter* meter) {
  const auto target = static_cast<int64_t>(q_.tasks << kShift) - 1;
  trial_ = *prices;
  int idle = 0, halved = 0;
  for (int round = 0; round < kRounds && !meter->out(); ++round) {
    Evaluate(&trial_, meter);
    const int64_t before = lowest_;
    if (!Consider(trial_, stop, least, prices)) return;
    if (lowest_ >= before && ++idle == kPatience) {
      idle = 0, ++halved;
    }
    const auto weight = [&](int l) {
      const uint64_t count = l == q_.level ? *least : q_.counts[l];
      return static_cast<__int128>(std::max<uint64_t>(q_.tasks / count, 1));
    };
    const auto slope = [&](int l) {
      const int64_t count = l == q_.level ? *least : q_.counts[l];
      return count - used_[l];
    };
    __int128 norm = 0;
    for (int l = top_ + 1; l <= q_.level; ++l) {
      norm += weight(l) * weight(l) * slope(l) * slope(l);
    }
    if (norm == 0) return;
    const __int128 gap = (Most(trial_, *least) - target) >> halved;
    for (int l = top_ + 1; l <= q_.level; ++l) {
      const __int128 step = gap * weight(l) * weight(l) * slope(l) / norm;
      trial_[l] = std::max<int64_t>(trial_[l] - static_cast<int64_t>(step), 0);
    }
  }
}

// Taking a domain against its value costs that value, and so upwards.
void Bound::Kill(const Prices& prices, uint32_t count, Core* core) {
  const auto needed = static_cast<int64_t>(q_.tasks << kShift);
  const int64_t slack = Most(prices, count) - needed;
  for (int l = top_; l < q_.level; ++l) {
    const Core::Level& wide = core->level(l);
    const Core::Range range = ranges_[l];
    if (l == top_) loss_.assign(values_[l].size(), 0);
    next_.assign(ranges_[l + 1].end - ranges_[l + 1].begin, 0);
    for (uint32_t p = range.begin; p < range.end; ++p) {
      const int64_t mine = loss_[p - range.begin] +
                           std::max<int64_t>(-values_[l][p - range.begin], 0);
      for (uint32_t c = wide.first[p]; c < wide.first[p] + wide.count[p]; ++c) {
        next_[c - ranges_[l + 1].begin] = mine;
      }
    }
    loss_.swap(next_);
  }
  Core::Level& narrow = core->level(q_.level);
  const Core::Range range = ranges_[q_.level];
  for (uint32_t p = range.begin; p < range.end; ++p) {
    const int64_t own = prices[q_.level] - (int64_t{narrow.slots[p]} << kShift);
    narrow.dead[p] |=
        loss_[p - range.begin] + std::max<int64_t>(own, 0) > slack;
  }
}

}  // namespace muster::solver::knapsack
