// Gangs in the order of their ranks, with how many stand before one of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lib/queue/gang_rank.h"

namespace muster {

// A sorted list in blocks of at most kBlock ranks: a change moves what stands
// in one block, a count adds up the sizes of those before it. For n ranks all
// calls are O(log n + kBlock + n / kBlock): a microsecond at 10^5. Keys must
// outlive their ranks here. Not synchronised.
class RankList {
 public:
  // O(n log n).
  explicit RankList(std::vector<GangRank> ranks) {
    std::ranges::sort(ranks);
    for (size_t i = 0; i < ranks.size(); i += kBlock / 2) {
      const auto first = ranks.begin() + static_cast<ptrdiff_t>(i);
      const size_t count = std::min(kBlock / 2, ranks.size() - i);
      blocks_.emplace_back(first, first + static_cast<ptrdiff_t>(count));
    }
  }

  // It is not in the list.
  void Insert(const GangRank& rank) {
    if (blocks_.empty()) {
      blocks_.push_back({rank});
      return;
    }
    const size_t b = std::min(BlockOf(rank), blocks_.size() - 1);
    Block& block = blocks_[b];
    block.insert(std::ranges::lower_bound(block, rank), rank);
    if (block.size() < kBlock) return;
    Block upper(block.begin() + kBlock / 2, block.end());
    block.resize(kBlock / 2);
    blocks_.insert(blocks_.begin() + static_cast<ptrdiff_t>(b) + 1,
                   std::move(upper));
  }

  // It is in the list.
  void Erase(const GangRank& rank) {
    const size_t b = BlockOf(rank);
    Block& block = blocks_[b];
    block.erase(std::ranges::lower_bound(block, rank));
    if (block.empty()) {
      blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(b));
    }
  }

  // How many rank before it, whether it is in the list or not.
  uint32_t CountBefore(const GangRank& rank) const {
    const size_t b = BlockOf(rank);
    size_t count = 0;
    for (size_t i = 0; i < b; ++i) count += blocks_[i].size();
    if (b < blocks_.size()) {
      const Block& block = blocks_[b];
      count += static_cast<size_t>(std::ranges::lower_bound(block, rank) -
                                   block.begin());
    }
    return static_cast<uint32_t>(count);
  }

 private:
  using Block = std::vector<GangRank>;  // Never empty, below kBlock.
  static constexpr size_t kBlock = 128;

  // The first block whose last rank is not before it.
  size_t BlockOf(const GangRank& rank) const {
    return static_cast<size_t>(
        std::ranges::partition_point(
            blocks_, [&](const Block& block) { return block.back() < rank; }) -
        blocks_.begin());
  }

  std::vector<Block> blocks_{};
};

}  // namespace muster
