// Parts that each go whole into one bin: whether all find room, and how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/solver/failed_states.h"
#include "lib/solver/part_prices.h"
#include "lib/solver/placement_problem.h"

namespace muster::solver {

// An exact search where parts and bins come in few types. Parts and bins have
// amounts in several dimensions; the parts in a bin need no more than its room
// in each.
//
// Bin completion: the part that is hardest to place must be in some bin, so one
// bin after the other is filled whole, with that part and with as many others
// that no further one fits in. (In any packing parts can be moved from bins
// that are still open into this one, so other fillings need not be tried.) Bins
// with equal room are one type: one of each is tried, the tightest first;
// fillings in lexicographic order, the most of the hardest parts first. A
// branch ends
//   - when by some prices (PartPrices) the bins left are worth less than the
//     parts left,
//   - at parts and bins left over that have failed before.
// So the work is bounded by the states (parts left by type, bins left by type)
// times the fillings of a bin; where a packing exists it is mostly found at
// once, also if it has no gap. O(types x dimensions + prices x types) a step.
//
// Sources: Korf, An improved algorithm for optimal bin packing, 2003; Fukunaga
// and Korf, Bin completion algorithms for multicontainer packing, knapsack, and
// covering problems, 2007. Prices: part_prices.h.
class BinPacking {
 public:
  // Spans stay the caller's until Start returns.
  struct PackingQuestion {
    uint32_t dims = 0;
    std::span<const int64_t> need{};    // [type * dims + dim], not all 0.
    std::span<const uint32_t> parts{};  // By type: 1 at least.
    std::span<const int64_t> room{};    // [bin * dims + dim], 0 at least.
  };

  // Sets out with no filling forbidden. Its steps() are those of all prices.
  void Start(const PackingQuestion& question);

  // Whether prices prove that there is no packing.
  bool refuted() const { return refuted_; }
  // kNone is a proof. kCutShort: `budget` steps, counted in steps(), were too
  // few, or what is forbidden is all there is.
  SearchOutcome Solve(uint64_t budget);
  uint64_t steps() const { return steps_; }

  // After kFound: the bins that are used, each with its parts.
  size_t loads() const { return frames_.size(); }
  uint32_t BinOf(size_t load) const { return bin_of_[load]; }
  uint32_t PartsOf(size_t load, uint32_t type) const {
    return fillings_[load * types() + position_[type]];
  }
  // For the next Solve: these parts together are in no bin that has room like
  // this load's.
  void Forbid(size_t load);

  // After kNone by a sum: filled with whole parts as far as that goes, the bins
  // hold `available` of the dimension, and more is needed. Else needed is 0.
  struct Shortage {
    uint32_t dim = 0;
    int64_t needed = 0;
    int64_t available = 0;
  };
  const Shortage& shortage() const { return shortage_; }

 private:
  // A bin that is filled: of this type, with this part and others.
  struct Frame {
    uint32_t part = 0;
    uint32_t bin = 0;
    bool fresh = true;  // No filling of the type was tried.
  };

  // How hard a type is to place.
  struct Hardness {
    uint64_t bins = 0;  // That it fits into.
    int64_t size = 0;
    uint32_t type = 0;  // As given.
  };

  uint32_t types() const { return static_cast<uint32_t>(parts_.size()); }
  uint32_t bin_types() const {
    return static_cast<uint32_t>(first_bin_.size()) - 1;
  }
  std::span<const int64_t> Need(uint32_t type) const {
    return std::span(need_).subspan(size_t{type} * dims_, dims_);
  }
  std::span<const int64_t> Room(uint32_t bin) const {
    return std::span(room_).subspan(size_t{bin} * dims_, dims_);
  }
  std::span<uint32_t> Filling(size_t load) {
    return std::span(fillings_).subspan(load * types(), types());
  }
  std::span<int64_t> Left(size_t load) {
    return std::span(left_).subspan(load * dims_, dims_);
  }
  bool Scale(uint32_t dim);
  bool FindBins();
  bool SortParts();
  bool Price();
  void Begin();
  void Open();
  bool NextFilling();
  bool Lessen(const Frame& frame);
  void FillFrom(uint32_t type);
  bool Fits(uint32_t type, std::span<const int64_t> room) const;
  bool IsWorthIt(const Frame& frame);
  void Take(bool take);
  void NameBins();

  uint32_t dims_ = 0;
  std::vector<int64_t> need_;
  std::vector<uint32_t> parts_;
  std::vector<uint32_t> position_;  // By type as given: the one here.
  std::vector<int64_t> room_;       // By bin; in the end by bin type.
  std::vector<int64_t> type_room_;
  // Scratch: what was given, and one dimension of what is here.
  std::vector<Hardness> by_hardness_;
  std::vector<int64_t> told_need_;
  std::vector<uint32_t> told_parts_;
  std::vector<int64_t> column_;
  std::vector<int64_t> bin_room_;
  std::vector<uint32_t> bin_count_;
  // By bin type those of bins_ from first_bin_[type] up to that of the next.
  std::vector<uint32_t> bins_;
  std::vector<uint32_t> first_bin_;
  Knapsack knapsack_;
  PartPrices prices_;
  bool refuted_ = false;
  Shortage shortage_{};
  std::vector<uint32_t> forbidden_;  // A bin type and a filling, each.

  uint64_t steps_ = 0;
  uint64_t budget_ = 0;
  uint32_t parts_left_ = 0;
  std::vector<uint32_t> state_;  // Parts left by type, bins left by type.
  std::vector<int64_t> slack_;   // By price: what may still be wasted.
  std::vector<Frame> frames_;
  std::vector<uint32_t> fillings_;  // By frame.
  std::vector<int64_t> left_;       // By frame: room.
  std::vector<uint32_t> bin_of_;    // By frame, in the end.
  std::vector<uint32_t> next_bin_;
  FailedStates failed_;
};

}  // namespace muster::solver
