// A 64-bit hash that is the same on every machine and in every build: state
// hashes are compared between processes, and stored.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "muster/fields.h"
#include "muster/resources.h"

namespace muster {

// Add() takes integers, enums, strings, vectors, and any value with fields
// (muster/fields.h). Not for hash tables under attack: it has no seed.
class StableHash {
 public:
  template <class T>
    requires std::integral<T> || std::is_enum_v<T>
  void Add(T value) {
    Word(static_cast<uint64_t>(value));
  }

  void Add(std::string_view bytes) {
    Word(bytes.size());
    for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
      Word(LittleEndian(bytes.substr(0, 8)));
    }
    if (!bytes.empty()) Word(LittleEndian(bytes));
  }

  // Trailing zeros do not count: they do not for ==, either.
  void Add(const Resources& amounts) {
    size_t size = amounts.size();
    while (size > 0 && amounts[static_cast<ResourceKind>(size - 1)] == 0) {
      --size;
    }
    Word(size);
    for (size_t k = 0; k < size; ++k) {
      Add(amounts[static_cast<ResourceKind>(k)]);
    }
  }

  template <class T>
  void Add(const std::vector<T>& values) {
    Word(values.size());
    for (const T& value : values) Add(value);
  }

  template <class T>
  void Add(const std::optional<T>& value) {
    Word(value.has_value());
    if (value) Add(*value);
  }

  template <class T>
    requires std::is_class_v<T> && (!std::convertible_to<T, std::string_view>)
  void Add(const T& value) {
    VisitFields(value, [this](int, const char*, const auto& field) {
      this->Add(field);
    });
  }

  uint64_t value() const {
    const uint64_t x = (state_ ^ (state_ >> 32)) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 29);
  }

 private:
  // Of at most 8 bytes; one load where there are 8.
  static uint64_t LittleEndian(std::string_view bytes) {
    uint64_t word = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      word |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    }
    return word;
  }

  void Word(uint64_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
  }

  uint64_t state_ = 0x243f6a8885a308d3u;
};

// The StableHash of one value.
struct StableHasher {
  template <class T>
  uint64_t operator()(const T& value) const {
    StableHash hash;
    hash.Add(value);
    return hash.value();
  }
};

}  // namespace muster
