#include "lib/policy/memo.h"

#include <algorithm>

namespace muster::policy {

Memo::Key::Key(uint64_t kind, uint64_t request, const NodeState& state,
               ResourceKind device_kind) {
  Add(kind);
  Add(request);
  for (ResourceKind k = 0; k < state.free.size(); ++k) {
    if (k != device_kind) Add(static_cast<uint64_t>(state.free[k]));
  }
  // The kind of node says how many words follow; a share has 11 bits.
  bool any_memory = false;
  for (uint32_t d = 0; d < state.devices;) {
    uint64_t word = 0;
    for (int shift = 0; shift < 64 && d < state.devices; shift += 16, ++d) {
      word |= static_cast<uint64_t>(state.milli[d] + 1) << shift;
      any_memory = any_memory || state.memory[d] != 0;
    }
    Add(word);
  }
  if (!any_memory) return;
  for (uint32_t d = 0; d < state.devices; ++d) {
    Add(static_cast<uint64_t>(state.memory[d]));
  }
}

const Memo::Answer* Memo::Find(const Key& key) const {
  if (entries_.empty()) return nullptr;
  const Entry& entry = entries_[key.hash_ % kEntries];
  if (entry.size != key.size_ ||
      !std::equal(key.words_.begin(),
                  key.words_.begin() + static_cast<ptrdiff_t>(key.size_),
                  entry.words.begin())) {
    return nullptr;
  }
  return &entry.answer;
}

void Memo::Store(const Key& key, const Answer& answer) {
  if (entries_.empty()) entries_.resize(kEntries);
  Entry& entry = entries_[key.hash_ % kEntries];
  entry.size = key.size_;
  std::copy_n(key.words_.begin(), key.size_, entry.words.begin());
  entry.answer = answer;
}

}  // namespace muster::policy
