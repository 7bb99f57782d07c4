// A text by which things are ordered.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster {

// Compares as its text does, by bytes. Most texts differ early: of those the
// memory is not read. What `text` views outlives it.
struct TextKey {
  TextKey() = default;
  explicit TextKey(std::string_view t) : text(t) {
    for (size_t i = 0; i < sizeof(begin); ++i) {
      begin = begin << 8 | (i < t.size() ? static_cast<uint8_t>(t[i]) : 0);
    }
  }

  friend bool operator==(const TextKey& a, const TextKey& b) {
    return a.begin == b.begin && a.text == b.text;
  }
  friend std::strong_ordering operator<=>(const TextKey& a, const TextKey& b) {
    if (a.begin != b.begin) return a.begin <=> b.begin;
    return a.text <=> b.text;
  }

  uint64_t begin = 0;  // Its first bytes, the first one the highest.
  std::string_view text{};
};

}  // namespace muster
