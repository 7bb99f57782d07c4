#include "lib/solver/bin_packing.h"

#include <algorithm>
#include <compare>
#include <numeric>
#include <utility>

namespace muster::solver {
namespace {

// Sums of a knapsack that are one step.
constexpr uint64_t kSumsPerStep = 16;
// What all bins have of a dimension, for the sizes of parts.
constexpr int64_t kScale = int64_t{1} << 20;

}  // namespace

void BinPacking::Start(const PackingQuestion& question) {
  dims_ = question.dims;
  need_.assign(question.need.begin(), question.need.end());
  parts_.assign(question.parts.begin(), question.parts.end());
  room_.assign(question.room.begin(), question.room.end());
  shortage_ = {};
  forbidden_.clear();
  frames_.clear();
  const uint64_t before = prices_.work() + knapsack_.work();
  refuted_ = false;
  for (uint32_t d = 0; d < dims_ && !refuted_; ++d) refuted_ = !Scale(d);
  refuted_ = refuted_ || !FindBins() || !SortParts() || !Price();
  steps_ = (prices_.work() + knapsack_.work() - before) / kSumsPerStep;
}

// Counts the dimension in what all needs are multiples of, and rooms as far as
// whole parts go. False if there is too little in all.
bool BinPacking::Scale(uint32_t dim) {
  column_.clear();
  int64_t unit = 0;
  int64_t total = 0;
  for (uint32_t t = 0; t < types(); ++t) {
    column_.push_back(need_[t * dims_ + dim]);
    unit = std::gcd(unit, column_[t]);
    total += column_[t] * parts_[t];
  }
  const int64_t all = total;
  unit = std::max<int64_t>(unit, 1);
  total /= unit;
  for (uint32_t t = 0; t < types(); ++t) {
    need_[t * dims_ + dim] = column_[t] /= unit;
  }
  int64_t most = 0;
  for (size_t i = dim; i < room_.size(); i += dims_) {
    room_[i] = std::min(room_[i] / unit, total);
    most = std::max(most, room_[i]);
  }
  const bool known = knapsack_.Solve(column_, parts_, column_, most);
  int64_t sum = 0;
  for (size_t i = dim; i < room_.size(); i += dims_) {
    if (known) room_[i] = knapsack_.Worth(room_[i]);
    sum += std::min(room_[i], total - sum);
  }
  if (sum >= total) return true;
  shortage_ = {.dim = dim, .needed = all, .available = sum * unit};
  return false;
}

bool BinPacking::Fits(uint32_t type, std::span<const int64_t> room) const {
  const std::span<const int64_t> need = Need(type);
  for (uint32_t d = 0; d < dims_; ++d) {
    if (need[d] > room[d]) return false;
  }
  return true;
}

// Types of bins, in order of room; those that take no part are left out. False
// if there is none.
bool BinPacking::FindBins() {
  bins_.clear();
  for (uint32_t b = 0; b < room_.size() / dims_; ++b) {
    for (uint32_t t = 0; t < types(); ++t) {
      if (!Fits(t, Room(b))) continue;
      bins_.push_back(b);
      break;
    }
  }
  std::ranges::sort(bins_, [&](uint32_t a, uint32_t b) {
    const auto order = std::lexicographical_compare_three_way(
        Room(a).begin(), Room(a).end(), Room(b).begin(), Room(b).end());
    return order != 0 ? order < 0 : a < b;
  });
  first_bin_.clear();
  type_room_.clear();
  for (uint32_t i = 0; i < bins_.size(); ++i) {
    const std::span<const int64_t> room = Room(bins_[i]);
    if (i > 0 && std::ranges::equal(room, Room(bins_[i - 1]))) continue;
    first_bin_.push_back(i);
    type_room_.insert(type_room_.end(), room.begin(), room.end());
  }
  first_bin_.push_back(static_cast<uint32_t>(bins_.size()));
  room_.swap(type_room_);
  return !bins_.empty();
}

// The types that fit into the fewest bins first, then the largest, each
// dimension measured by what all bins have of it. False if one fits nowhere.
bool BinPacking::SortParts() {
  by_hardness_.assign(types(), {});
  for (uint32_t t = 0; t < types(); ++t) {
    by_hardness_[t].type = t;
    for (uint32_t b = 0; b < bin_types(); ++b) {
      if (Fits(t, Room(b)))
        by_hardness_[t].bins += first_bin_[b + 1] - first_bin_[b];
    }
    if (by_hardness_[t].bins == 0) return false;
  }
  for (uint32_t d = 0; d < dims_; ++d) {
    int64_t all = 1;
    for (uint32_t b = 0; b < bin_types(); ++b) {
      all += Room(b)[d] * (first_bin_[b + 1] - first_bin_[b]);
    }
    for (Hardness& h : by_hardness_) {
      const int64_t need = Need(h.type)[d];
      h.size +=
          all < kScale * kScale ? need * kScale / all : need / (all / kScale);
    }
  }
  std::ranges::sort(by_hardness_, [](const Hardness& a, const Hardness& b) {
    if (a.bins != b.bins) return a.bins < b.bins;
    return a.size != b.size ? a.size > b.size : a.type < b.type;
  });
  told_need_ = need_;
  told_parts_ = parts_;
  position_.resize(types());
  for (uint32_t t = 0; t < types(); ++t) {
    const uint32_t told = by_hardness_[t].type;
    position_[told] = t;
    parts_[t] = told_parts_[told];
    std::copy_n(told_need_.begin() + told * dims_, dims_,
                need_.begin() + t * dims_);
  }
  return true;
}

bool BinPacking::Price() {
  bin_room_.resize(bin_types());
  bin_count_.resize(bin_types());
  prices_.Start(types(), bin_types());
  for (uint32_t d = 0; d < dims_; ++d) {
    for (uint32_t t = 0; t < types(); ++t) column_[t] = Need(t)[d];
    for (uint32_t b = 0; b < bin_types(); ++b) {
      bin_room_[b] = Room(b)[d];
      bin_count_[b] = first_bin_[b + 1] - first_bin_[b];
    }
    if (!prices_.Add({column_, parts_, bin_room_, bin_count_})) return false;
  }
  failed_.Start(types() + bin_types());
  return true;
}

void BinPacking::Begin() {
  state_.assign(parts_.begin(), parts_.end());
  for (uint32_t b = 0; b < bin_types(); ++b) {
    state_.push_back(first_bin_[b + 1] - first_bin_[b]);
  }
  parts_left_ = std::accumulate(parts_.begin(), parts_.end(), uint32_t{0});
  slack_.clear();
  for (size_t i = 0; i < prices_.size(); ++i)
    slack_.push_back(prices_.slack(i));
  frames_.clear();
  Open();
}

// The next bin gets the hardest part that is left.
void BinPacking::Open() {
  Frame& frame = frames_.emplace_back();
  while (state_[frame.part] == 0) ++frame.part;
  if (fillings_.size() < frames_.size() * types()) {
    fillings_.resize(frames_.size() * types());
  }
  if (left_.size() < frames_.size() * dims_) {
    left_.resize(frames_.size() * dims_);
  }
}

// As many parts of each type from this one on as there is room for.
void BinPacking::FillFrom(uint32_t type) {
  const std::span<uint32_t> filling = Filling(frames_.size() - 1);
  const std::span<int64_t> left = Left(frames_.size() - 1);
  for (uint32_t t = type; t < types(); ++t) {
    const std::span<const int64_t> need = Need(t);
    int64_t count = state_[t];
    for (uint32_t d = 0; d < dims_ && count > 0; ++d) {
      if (need[d] * count > left[d]) count = left[d] / need[d];
    }
    filling[t] = static_cast<uint32_t>(count);
    if (count == 0) continue;
    for (uint32_t d = 0; d < dims_; ++d) left[d] -= need[d] * count;
  }
}

// One part less of the last type that can do without, and more of those after
// it. False if there is none.
bool BinPacking::Lessen(const Frame& frame) {
  const std::span<uint32_t> filling = Filling(frames_.size() - 1);
  const std::span<int64_t> left = Left(frames_.size() - 1);
  for (uint32_t t = types(); t-- > frame.part;) {
    if (filling[t] == (t == frame.part ? 1 : 0)) continue;
    --filling[t];
    for (uint32_t d = 0; d < dims_; ++d) left[d] += Need(t)[d];
    FillFrom(t + 1);
    return true;
  }
  return false;
}

// Whether the bin takes no other part, wastes no more than it may, and is not
// forbidden.
bool BinPacking::IsWorthIt(const Frame& frame) {
  const std::span<const uint32_t> filling = Filling(frames_.size() - 1);
  const std::span<const int64_t> left = Left(frames_.size() - 1);
  for (uint32_t t = frame.part; t < types(); ++t) {
    if (filling[t] < state_[t] && Fits(t, left)) return false;
  }
  for (size_t i = 0; i < prices_.size(); ++i) {
    if (prices_.Waste(i, frame.bin, filling) > slack_[i]) return false;
  }
  const size_t length = 1 + types();
  for (size_t i = 0; i < forbidden_.size(); i += length) {
    if (forbidden_[i] == frame.bin && std::equal(filling.begin(), filling.end(),
                                                 forbidden_.begin() + i + 1)) {
      return false;
    }
  }
  return true;
}

// The last frame's next filling; false if there is none or the steps end.
bool BinPacking::NextFilling() {
  Frame& frame = frames_.back();
  while (steps_ < budget_) {
    if (frame.fresh) {
      while (frame.bin < bin_types() && (state_[types() + frame.bin] == 0 ||
                                         !Fits(frame.part, Room(frame.bin)))) {
        ++frame.bin;
      }
      if (frame.bin == bin_types()) return false;
      frame.fresh = false;
      std::ranges::fill(Filling(frames_.size() - 1), 0);
      std::ranges::copy(Room(frame.bin), Left(frames_.size() - 1).begin());
      FillFrom(frame.part);
    } else if (!Lessen(frame)) {
      ++frame.bin;
      frame.fresh = true;
      continue;
    }
    ++steps_;
    if (IsWorthIt(frame)) return true;
  }
  return false;
}

// The last frame's filling comes into the state, or goes.
void BinPacking::Take(bool take) {
  const Frame& frame = frames_.back();
  const std::span<const uint32_t> filling = Filling(frames_.size() - 1);
  const int sign = take ? -1 : 1;
  for (uint32_t t = frame.part; t < types(); ++t) {
    state_[t] += sign * filling[t];
    parts_left_ += sign * filling[t];
  }
  state_[types() + frame.bin] += sign;
  for (size_t i = 0; i < prices_.size(); ++i) {
    slack_[i] += sign * prices_.Waste(i, frame.bin, filling);
  }
}

SearchOutcome BinPacking::Solve(uint64_t budget) {
  if (refuted_) return SearchOutcome::kNone;
  budget_ = steps_ + budget;
  Begin();
  while (!frames_.empty()) {
    if (NextFilling()) {
      Take(true);
      if (parts_left_ == 0) {
        NameBins();
        return SearchOutcome::kFound;
      }
      failed_.Contains(state_) ? Take(false) : Open();
      continue;
    }
    if (steps_ >= budget_) return SearchOutcome::kCutShort;
    failed_.Add(state_);
    frames_.pop_back();
    if (!frames_.empty()) Take(false);
  }
  return forbidden_.empty() ? SearchOutcome::kNone : SearchOutcome::kCutShort;
}

// Bins of a type in the order in which they were told.
void BinPacking::NameBins() {
  next_bin_ = first_bin_;
  bin_of_.clear();
  for (const Frame& frame : frames_) {
    bin_of_.push_back(bins_[next_bin_[frame.bin]++]);
  }
}

void BinPacking::Forbid(size_t load) {
  forbidden_.push_back(frames_[load].bin);
  const std::span<const uint32_t> filling = Filling(load);
  forbidden_.insert(forbidden_.end(), filling.begin(), filling.end());
}

}  // namespace muster::solver
