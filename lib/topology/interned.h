// Values that are kept once, under numbers.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lib/base/hash.h"
#include "lib/base/keyed_table.h"

namespace muster {

// Equal keys share a number and what is remembered for them, a `Value`. A value
// type. A std::deque where references to entries are to hold while others come.
template <class Key, class Value,
          template <class...> class Sequence = std::vector>
class Interned {
 public:
  struct Entry : Value {
    Key key{};
    uint32_t refs = 0;
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
  // How many references are left; an entry without any stays.
  uint32_t Unref(uint32_t number) { return --entries_[number].refs; }
  // Of an entry that is known and has no reference: its number is used again.
  void Forget(uint32_t number) {
    numbers_.erase(entries_[number].key);
    entries_[number] = {};
    unused_.push_back(number);
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
  absl::flat_hash_map<Key, uint32_t, StableHasher> numbers_{};
};

}  // namespace muster
