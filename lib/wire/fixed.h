// Integers of fixed size, little-endian on every machine.
#ifndef MUSTER_LIB_WIRE_FIXED_H_
#define MUSTER_LIB_WIRE_FIXED_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace muster::wire::internal {

inline uint64_t GetFixed64(const char* from) {
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i) {
    value |= uint64_t{static_cast<unsigned char>(from[i])} << (8 * i);
  }
  return value;
}

inline uint32_t GetFixed32(const char* from) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    value |= uint32_t{static_cast<unsigned char>(from[i])} << (8 * i);
  }
  return value;
}

inline void PutFixed32(uint32_t value, char* to) {
  for (size_t i = 0; i < 4; ++i) to[i] = static_cast<char>(value >> (8 * i));
}

inline void PutFixed64(uint64_t value, char* to) {
  for (size_t i = 0; i < 8; ++i) to[i] = static_cast<char>(value >> (8 * i));
}

}  // namespace muster::wire::internal

#endif  // MUSTER_LIB_WIRE_FIXED_H_
