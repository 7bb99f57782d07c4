// Keys whose order is that of their numbers.
#pragma once

#include <cstdint>
#include <string>

namespace muster::bench {

inline std::string Padded(const char* prefix, uint32_t number) {
  const std::string digits = std::to_string(number);
  return prefix + std::string(8 - digits.size(), '0') + digits;
}

}  // namespace muster::bench
