// Values that are kept once, under numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lib/base/hash.h"
#include "lib/base/keyed_table.h"

namespace muster {

// Equal keys share a number and what is remembered for them, a `Value`. An
// entry whose last reference goes is idle: it stays until kMaxIdle others have
// become idle after it, as what one gang at a time has is often asked for
// again. A value type. A std::deque where references to entries are to hold
// while others come.
template <class Key, class Value, size_t kMaxIdle,
          template <class...> class Sequence = std::vector>
class Interned {
 public:
  struct Entry : Value {
    Key key{};
    uint32_t refs = 0;
    bool idle = false;  // It is in idle_, perhaps in use again.
  };

  // The key's number, with one reference more, and whether the key is new: its
  // value is a default one then.
  std::pair<uint32_t, bool> Intern(const Key& key) {
    const auto [known, added] = numbers_.try_emplace(key, 0);
    uint32_t& number = known->second;
    if (added) {
      number = TakePosition(entries_, unused_);
      entries_[number].key = key;
    }
    ++entries_[number].refs;
    return {number, added};
  }
  // One reference less. The number of the entry that is forgotten for it, if
  // one is: it is used again.
  std::optional<uint32_t> Unref(uint32_t number) {
    Entry& entry = entries_[number];
    if (--entry.refs > 0 || entry.idle) return std::nullopt;
    entry.idle = true;
    idle_.push_back(number);
    if (idle_.size() <= kMaxIdle) return std::nullopt;
    const uint32_t oldest = idle_.front();
    idle_.pop_front();
    entries_[oldest].idle = false;
    if (entries_[oldest].refs > 0) return std::nullopt;
    numbers_.erase(entries_[oldest].key);
    entries_[oldest] = {};
    unused_.push_back(oldest);
    return oldest;
  }
  bool known(uint32_t number) const {
    return entries_[number].refs > 0 || entries_[number].idle;
  }

  Entry& operator[](uint32_t number) { return entries_[number]; }
  // GCC would call what a std::deque does for it.
  [[gnu::flatten]] const Entry& operator[](uint32_t number) const {
    return entries_[number];
  }
  // All numbers are less.
  uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }

 private:
  Sequence<Entry> entries_{};
  std::vector<uint32_t> unused_{};
  std::deque<uint32_t> idle_{};  // Oldest first.
  absl::flat_hash_map<Key, uint32_t, StableHasher> numbers_{};
};

}  // namespace muster
