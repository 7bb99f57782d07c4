#include "lib/solver/failed_states.h"

#include <algorithm>

#include "lib/solver/row_hash.h"

namespace muster::solver {
namespace {

constexpr size_t kFirstSlots = 64;  // A power of two, like all sizes.

}  // namespace

void FailedStates::Start(size_t length) {
  length_ = length;
  count_ = 0;
  rows_.clear();
  slots_.assign(kFirstSlots, 0);
}

size_t FailedStates::Find(std::span<const uint32_t> row) const {
  size_t slot = HashRow(row) & (slots_.size() - 1);
  while (slots_[slot] != 0 &&
         !std::equal(row.begin(), row.end(),
                     rows_.begin() + (slots_[slot] - 1) * length_)) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

bool FailedStates::Contains(std::span<const uint32_t> row) const {
  return slots_[Find(row)] != 0;
}

void FailedStates::Add(std::span<const uint32_t> row) {
  if (rows_.size() + length_ > kMostNumbers) return;
  if (2 * (count_ + 1) > slots_.size()) Grow();
  const size_t slot = Find(row);
  if (slots_[slot] != 0) return;
  rows_.insert(rows_.end(), row.begin(), row.end());
  slots_[slot] = static_cast<uint32_t>(++count_);
}

void FailedStates::Grow() {
  slots_.assign(2 * slots_.size(), 0);
  for (size_t i = 0; i < count_; ++i) {
    const std::span row(rows_.begin() + i * length_, length_);
    slots_[Find(row)] = static_cast<uint32_t>(i + 1);
  }
}

}  // namespace muster::solver
