#include "lib/solver/part_prices.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace muster::solver {
namespace {

// Of one knapsack.
constexpr uint64_t kMostWork = uint64_t{1} << 16;
constexpr int64_t kMostRoom = int64_t{1} << 14;
// Prices for the descent: what all parts cost at its outset, and its steps.
constexpr int64_t kCost = int64_t{1} << 20;
constexpr int kDescent = 48;
// It aims at bins that hold this part less than what the parts cost.
constexpr int64_t kAim = 512;
// Parts, and bins, so that numbers stay below 2^60.
constexpr uint64_t kMostCount = 1024;
// Different sizes from which on parts are counted.
constexpr size_t kMostSizes = 6;

}  // namespace

bool Knapsack::Solve(std::span<const int64_t> need,
                     std::span<const uint32_t> parts,
                     std::span<const int64_t> price, int64_t most_room) {
  if (most_room > kMostRoom) return false;
  const size_t rooms = static_cast<size_t>(most_room) + 1;
  uint64_t work = 0;
  for (size_t t = 0; t < need.size(); ++t) {
    work +=
        rooms * (need[t] == 0
                     ? 1
                     : std::min<uint64_t>(parts[t], most_room / need[t]) + 1);
  }
  if (work > kMostWork) return false;
  work_ += work;
  most_room_ = most_room;
  worth_.assign(rooms, 0);
  filled_.assign(need.size() * rooms, 0);
  for (size_t t = 0; t < need.size(); ++t) {
    if (price[t] == 0) continue;
    uint32_t* filled = filled_.data() + t * rooms;
    if (need[t] == 0) {
      for (int64_t& worth : worth_) worth += price[t] * parts[t];
      std::fill_n(filled, rooms, parts[t]);
      continue;
    }
    before_ = worth_;
    for (int64_t room = need[t]; room <= most_room; ++room) {
      int64_t rest = room;
      for (uint32_t n = 1; n <= parts[t] && rest >= need[t]; ++n) {
        rest -= need[t];
        const int64_t worth = before_[rest] + price[t] * n;
        if (worth <= worth_[room]) continue;
        worth_[room] = worth;
        filled[room] = n;
      }
    }
  }
  return true;
}

void Knapsack::Collect(std::span<const int64_t> need, int64_t room,
                       std::span<uint32_t> filling) const {
  for (size_t t = need.size(); t-- > 0;) {
    filling[t] = filled_[t * (most_room_ + 1) + room];
    room -= need[t] * filling[t];
  }
}

void PartPrices::Start(size_t types, size_t bin_types) {
  types_ = types;
  bin_types_ = bin_types;
  price_.assign(types, 0);
  worth_.assign(bin_types, 0);
  filling_.assign(types, 0);
  prices_.clear();
  worths_.clear();
  slack_.clear();
}

// What the bins hold by price_, and what the parts cost; false if the knapsack
// is too much work.
bool PartPrices::Try(const Dimension& d) {
  const int64_t most = *std::ranges::max_element(d.room);
  if (!knapsack_.Solve(d.need, d.parts, price_, most)) return false;
  cost_ = surplus_ = 0;
  for (size_t t = 0; t < types_; ++t) cost_ += price_[t] * d.parts[t];
  for (size_t b = 0; b < bin_types_; ++b) {
    worth_[b] = knapsack_.Worth(d.room[b]);
    surplus_ += worth_[b] * d.bins[b];
  }
  surplus_ -= cost_;
  return true;
}

// Keeps the prices just tried, the last ones kept giving way.
void PartPrices::Keep() {
  if (size() == kMostPrices) Drop();
  prices_.insert(prices_.end(), price_.begin(), price_.end());
  worths_.insert(worths_.end(), worth_.begin(), worth_.end());
  slack_.push_back(surplus_);
}

void PartPrices::Drop() {
  prices_.resize(prices_.size() - types_);
  worths_.resize(worths_.size() - bin_types_);
  slack_.pop_back();
}

// The bins' rooms are told as whole parts fill them.
void PartPrices::PriceByNeed(const Dimension& d) {
  std::ranges::copy(d.need, price_.begin());
  std::ranges::copy(d.room, worth_.begin());
  cost_ = surplus_ = 0;
  for (size_t t = 0; t < types_; ++t) cost_ += d.need[t] * d.parts[t];
  for (size_t b = 0; b < bin_types_; ++b) surplus_ += d.room[b] * d.bins[b];
  surplus_ -= cost_;
}

// What the bins hold beyond the parts' cost, of so much cost: kCost if it is as
// much or more.
int64_t PartPrices::Looseness() const {
  return std::min(surplus_, cost_) * (kCost / cost_);
}

bool PartPrices::Add(const Dimension& d) {
  PriceByNeed(d);
  if (surplus_ < 0) return false;
  Keep();
  // Of equal parts the need says all.
  sizes_.assign(d.need.begin(), d.need.end());
  std::ranges::sort(sizes_, std::ranges::greater());
  sizes_.erase(std::unique(sizes_.begin(), sizes_.end()), sizes_.end());
  if (sizes_.size() == 1) return true;
  best_ = price_;
  int64_t cost = cost_;
  int64_t looseness = Looseness();
  const size_t stride = (sizes_.size() + kMostSizes - 1) / kMostSizes;
  for (size_t i = 0; i < sizes_.size() && sizes_[i] > 0; i += stride) {
    for (size_t t = 0; t < types_; ++t) price_[t] = d.need[t] >= sizes_[i];
    if (!Try(d)) return true;
    if (surplus_ < 0) return false;
    Keep();
    if (Looseness() >= looseness) continue;
    best_ = price_;
    cost = cost_;
    looseness = Looseness();
  }
  for (size_t t = 0; t < types_; ++t) price_[t] = best_[t] * kCost / cost;
  return Descend(d);
}

// From price_ on. False if prices are found that prove that there is no
// packing; else the best are kept.
bool PartPrices::Descend(const Dimension& d) {
  const auto sum = [](std::span<const uint32_t> counts) {
    return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  };
  if (sum(d.parts) > kMostCount || sum(d.bins) > kMostCount) return true;
  int64_t least = -1;
  for (int step = 0; step < kDescent; ++step) {
    if (!Try(d)) return true;
    if (surplus_ < 0) return false;
    if (least < 0 || surplus_ < least) {
      if (least >= 0) Drop();
      Keep();
      least = surplus_;
    }
    const int64_t norm = FindSlope(d);
    if (norm == 0) return true;
    const int64_t fall = surplus_ + kCost / kAim;
    for (size_t t = 0; t < types_; ++t) {
      price_[t] =
          std::clamp<int64_t>(price_[t] - fall * slope_[t] / norm, 0, kCost);
    }
  }
  return true;
}

// How many more of each type the bins hold than there are, if each is filled
// as dearly as it can be; the sum of the squares.
int64_t PartPrices::FindSlope(const Dimension& d) {
  slope_.assign(types_, 0);
  for (size_t b = 0; b < bin_types_; ++b) {
    knapsack_.Collect(d.need, d.room[b], filling_);
    for (size_t t = 0; t < types_; ++t) {
      slope_[t] += int64_t{filling_[t]} * d.bins[b];
    }
  }
  int64_t norm = 0;
  for (size_t t = 0; t < types_; ++t) {
    slope_[t] -= d.parts[t];
    norm += slope_[t] * slope_[t];
  }
  return norm;
}

}  // namespace muster::solver
