// Units of memory.
#pragma once

#include <cstdint>

namespace muster::inprocess {

inline constexpr int64_t kMebi = int64_t{1} << 20;  // Bytes.

}  // namespace muster::inprocess
