#include "lib/topology/freed_log.h"

#include <algorithm>
#include <bit>

namespace muster {

void FreedLog::Reserve(size_t entries) {
  const size_t wanted = std::bit_ceil(std::min(entries, kMaxEntries));
  if (wanted <= ring_.size()) return;
  std::rotate(ring_.begin(), ring_.begin() + static_cast<ptrdiff_t>(first_),
              ring_.end());
  first_ = 0;
  ring_.resize(wanted);
}

void FreedLog::Undo(uint64_t begin) {
  while (count_ > 0 && At(count_ - 1).version > begin) --count_;
  Push({++version_, begin, kUndone});
}

bool FreedLog::Since(uint64_t version, std::vector<NodeIndex>* nodes) const {
  if (version < forgotten_ || version > version_) return false;
  for (size_t i = count_; i > 0 && At(i - 1).version > version; --i) {
    const Entry& entry = At(i - 1);
    if (entry.node == kUndone) {
      if (entry.from < version) return false;
    } else {
      nodes->push_back(entry.node);
    }
  }
  return true;
}

void FreedLog::Push(const Entry& entry) {
  if (count_ == ring_.size()) {
    forgotten_ = ring_[first_].version;
    first_ = (first_ + 1) & (ring_.size() - 1);
    --count_;
  }
  ring_[(first_ + count_) & (ring_.size() - 1)] = entry;
  ++count_;
}

}  // namespace muster
