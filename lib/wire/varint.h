// The base of the Protobuf encoding: varints and tags.
#pragma once

#include <cstddef>
#include <cstdint>

namespace muster::wire::internal {

// Of Protobuf's wire types, those that package muster.v1 uses.
enum class WireType : uint32_t { kVarint = 0, kBytes = 2 };

inline constexpr size_t kMaxVarint = 10;  // Bytes.

inline constexpr uint64_t Tag(int number, WireType type) {
  return static_cast<uint64_t>(number) << 3 | static_cast<uint64_t>(type);
}

// Writes at most kMaxVarint bytes and returns the place behind them.
inline char* PutVarint(uint64_t value, char* to) {
  while (value >= 0x80) {
    *to++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<char>(value);
  return to;
}

// The place behind the varint at `from`, or null if it is cut off by `end` or
// exceeds 64 bits.
inline const char* GetVarint(const char* from, const char* end,
                             uint64_t* value) {
  uint64_t result = 0;
  for (int shift = 0; from != end && shift < 70; shift += 7) {
    const uint64_t byte = static_cast<unsigned char>(*from++);
    if (shift == 63 && byte > 1) return nullptr;
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return from;
    }
  }
  return nullptr;
}

}  // namespace muster::wire::internal
