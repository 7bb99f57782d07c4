// The priority classes a scheduler knows.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/base/string_map.h"
#include "muster/priority_class.h"

namespace muster {

// By position, which stays. Position 0 is the default class, without a key; a
// position without a class in between has an empty key, too.
class PriorityClasses {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  PriorityClasses() : classes_(1) { by_key_[""] = 0; }

  const PriorityClass& at(uint32_t position) const {
    return classes_[position];
  }
  uint32_t Find(std::string_view key) const {
    const auto it = by_key_.find(key);
    return it == by_key_.end() ? kNone : it->second;
  }
  // Adds or replaces it. The lowest position that is free is taken.
  uint32_t Upsert(const PriorityClass& c) {
    uint32_t position = Find(c.key);
    if (position == kNone) {
      position = 1;
      while (position < classes_.size() && !classes_[position].key.empty()) {
        ++position;
      }
      if (position == classes_.size()) classes_.emplace_back();
      by_key_[c.key] = position;
    }
    classes_[position] = c;
    return position;
  }
  // It has no gangs.
  void Remove(uint32_t position) {
    by_key_.erase(classes_[position].key);
    classes_[position] = {};
  }
  // Takes back the removal of `c` from there.
  void UndoRemove(uint32_t position, const PriorityClass& c) {
    by_key_[c.key] = position;
    classes_[position] = c;
  }
  uint32_t limit() const { return static_cast<uint32_t>(classes_.size()); }

 private:
  std::vector<PriorityClass> classes_;
  StringMap<uint32_t> by_key_;
};

}  // namespace muster
