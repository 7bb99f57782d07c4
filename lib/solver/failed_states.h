// A set of rows of numbers, all of one length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace muster::solver {

// The states of a search that are known to lead nowhere: an open-addressing
// hash table. Whole rows are kept and compared, so what it says is a proof.
// Once it is full it takes no more: a search that remembers less is slower, not
// wrong. Keeps its memory. O(length) a call.
class FailedStates {
 public:
  void Start(size_t length);
  bool Contains(std::span<const uint32_t> row) const;
  void Add(std::span<const uint32_t> row);

 private:
  static constexpr size_t kMostNumbers = size_t{1} << 20;

  // The row's slot, or the empty one where it would be.
  size_t Find(std::span<const uint32_t> row) const;
  void Grow();

  size_t length_ = 0;
  size_t count_ = 0;
  std::vector<uint32_t> rows_;
  std::vector<uint32_t> slots_;  // Positions of rows, + 1; 0: empty.
};

}  // namespace muster::solver
