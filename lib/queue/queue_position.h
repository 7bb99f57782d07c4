// The order in which gangs of one queue are served.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "muster/ids.h"

namespace muster {

// A gang's row in its scheduler's table.
using GangIndex = uint32_t;
inline constexpr GangIndex kNoGang = 0xffffffff;

// Higher priority first, then the fewer tasks beyond the minimum (0 for gangs
// that wait), then the earlier submission, then the key. Total, since keys are
// unique; no handle and no arrival takes part. `key` points into the gang's
// record and holds as long as the gang lives.
struct QueuePosition {
  int32_t priority = 0;
  uint32_t surplus = 0;
  Time submitted = 0;
  std::string_view key{};
  GangIndex gang = kNoGang;

  friend std::strong_ordering operator<=>(const QueuePosition& a,
                                          const QueuePosition& b) {
    return std::tie(b.priority, a.surplus, a.submitted, a.key) <=>
           std::tie(a.priority, b.surplus, b.submitted, b.key);
  }
  friend bool operator==(const QueuePosition& a, const QueuePosition& b) {
    return (a <=> b) == 0;
  }
};

}  // namespace muster
