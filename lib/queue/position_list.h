// Gangs in the order of their queue positions, with how many stand before one
// of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lib/queue/queue_position.h"

namespace muster {

// A sorted list in blocks of at most kBlock positions: a change moves what
// stands in one block, a count adds up the sizes of those before it. For n
// positions all calls are O(log n + kBlock + n / kBlock): a microsecond at
// 10^5. Keys must outlive their positions here. Not synchronised.
class PositionList {
 public:
  // O(n log n).
  explicit PositionList(std::vector<QueuePosition> positions) {
    std::ranges::sort(positions);
    for (size_t i = 0; i < positions.size(); i += kBlock / 2) {
      const auto first = positions.begin() + static_cast<ptrdiff_t>(i);
      const size_t count = std::min(kBlock / 2, positions.size() - i);
      blocks_.emplace_back(first, first + static_cast<ptrdiff_t>(count));
    }
  }

  // It is not in the list.
  void Insert(const QueuePosition& position) {
    if (blocks_.empty()) {
      blocks_.push_back({position});
      return;
    }
    const size_t b = std::min(BlockOf(position), blocks_.size() - 1);
    Block& block = blocks_[b];
    block.insert(std::ranges::lower_bound(block, position), position);
    if (block.size() < kBlock) return;
    Block upper(block.begin() + kBlock / 2, block.end());
    block.resize(kBlock / 2);
    blocks_.insert(blocks_.begin() + static_cast<ptrdiff_t>(b) + 1,
                   std::move(upper));
  }

  // It is in the list.
  void Erase(const QueuePosition& position) {
    const size_t b = BlockOf(position);
    Block& block = blocks_[b];
    block.erase(std::ranges::lower_bound(block, position));
    if (block.empty()) {
      blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(b));
    }
  }

  // How many stand before it, whether it is in the list or not.
  uint32_t CountBefore(const QueuePosition& position) const {
    const size_t b = BlockOf(position);
    size_t count = 0;
    for (size_t i = 0; i < b; ++i) count += blocks_[i].size();
    if (b < blocks_.size()) {
      const Block& block = blocks_[b];
      count += static_cast<size_t>(std::ranges::lower_bound(block, position) -
                                   block.begin());
    }
    return static_cast<uint32_t>(count);
  }

 private:
  using Block = std::vector<QueuePosition>;  // Never empty, below kBlock.
  static constexpr size_t kBlock = 128;

  // The first block whose last position is not before it.
  size_t BlockOf(const QueuePosition& position) const {
    return static_cast<size_t>(
        std::ranges::partition_point(
            blocks_,
            [&](const Block& block) { return block.back() < position; }) -
        blocks_.begin());
  }

  std::vector<Block> blocks_{};
};

}  // namespace muster
