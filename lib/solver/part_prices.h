// Proofs that parts find no room in bins: prices of parts, and what bins can
// hold of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace muster::solver {

// The most that parts in one bin can be worth, for every room up to some
// bound: a bounded knapsack. O(sum over types of room x parts in a bin).
class Knapsack {
 public:
  // False if that is more than some work: then nothing is known. All by type;
  // a part with no need is in every bin.
  bool Solve(std::span<const int64_t> need, std::span<const uint32_t> parts,
             std::span<const int64_t> price, int64_t most_room);
  int64_t Worth(int64_t room) const { return worth_[room]; }
  // How many of each type are in the bin that is worth that.
  void Collect(std::span<const int64_t> need, int64_t room,
               std::span<uint32_t> filling) const;
  // Sums of two numbers that Solve made, all in all.
  uint64_t work() const { return work_; }

 private:
  uint64_t work_ = 0;
  int64_t most_room_ = 0;
  std::vector<int64_t> worth_;    // By room.
  std::vector<int64_t> before_;   // The same without the last type.
  std::vector<uint32_t> filled_;  // [type][room]
};

// Give each type of parts a price. If all parts together cost more than the
// bins can hold, each filled as dearly as it can be, there is no packing. This
// is true for any prices, and with the best ones it is the bound of the linear
// program over fillings (Gilmore and Gomory, A linear programming approach to
// the cutting-stock problem, 1961). Tried are:
//   - a part's need: the sum of all, bins counted as far as whole parts go;
//   - 1 for parts of some size or more, 0 for others: so many parts, so many
//     places (the pigeonhole);
//   - from the best of these on, some steps down the slope of what the bins can
//     hold beyond the parts' cost (Held and Karp, 1971; step lengths by Polyak,
//     1969).
// For a search: a bin that is filled for less than it can hold wastes the
// difference; by no prices may more be wasted than the slack at the outset.
class PartPrices {
 public:
  // Parts and bins, both by type, in one dimension.
  struct Dimension {
    std::span<const int64_t> need{};
    std::span<const uint32_t> parts{};
    std::span<const int64_t> room{};
    std::span<const uint32_t> bins{};  // How many.
  };

  void Start(size_t types, size_t bin_types);
  // False if some prices prove that there is no packing.
  bool Add(const Dimension& dimension);
  uint64_t work() const { return knapsack_.work(); }

  // The prices kept.
  size_t size() const { return slack_.size(); }
  int64_t slack(size_t i) const { return slack_[i]; }
  // What a bin of the type wastes that is filled so.
  int64_t Waste(size_t i, uint32_t bin_type,
                std::span<const uint32_t> filling) const {
    const int64_t* price = prices_.data() + i * types_;
    int64_t waste = worths_[i * bin_types_ + bin_type];
    for (size_t t = 0; t < types_; ++t) waste -= price[t] * filling[t];
    return waste;
  }

 private:
  static constexpr size_t kMostPrices = 8;

  bool Try(const Dimension& dimension);
  void Keep();
  void Drop();
  void PriceByNeed(const Dimension& dimension);
  int64_t Looseness() const;
  bool Descend(const Dimension& dimension);
  int64_t FindSlope(const Dimension& dimension);

  size_t types_ = 0;
  size_t bin_types_ = 0;
  Knapsack knapsack_;
  std::vector<int64_t> price_;  // The one tried,
  std::vector<int64_t> worth_;  // what bins hold by it,
  int64_t cost_ = 0;            // and what all parts cost.
  int64_t surplus_ = 0;         // What the bins hold beyond.
  std::vector<int64_t> best_;
  std::vector<int64_t> slope_;
  std::vector<uint32_t> filling_;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> prices_;  // Of those kept.
  std::vector<int64_t> worths_;
  std::vector<int64_t> slack_;
};

}  // namespace muster::solver
