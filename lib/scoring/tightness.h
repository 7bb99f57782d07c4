// Measures of what is left on a node: of these policies make costs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lib/cluster/cluster.h"
#include "lib/scoring/node_policy.h"

namespace muster::scoring {

// Bits of DevicesLeft and OthersLeft.
inline constexpr int kDeviceBits = 16;
inline constexpr int kOtherBits = 15;

// Thousandths of devices in so many bits: exact up to 64 devices; beyond, where
// few nodes are, in coarser steps.
inline uint32_t DeviceSteps(uint32_t milli) {
  constexpr uint32_t kExact = 64 * kWholeDevice;
  constexpr uint32_t kMost = DeviceSet::kCapacity * kWholeDevice;
  constexpr uint32_t kStep = 42;
  static_assert(kExact + (kMost - kExact) / kStep < 1 << kDeviceBits);
  return milli <= kExact ? milli : kExact + (milli - kExact) / kStep;
}

// Free thousandths of devices, in these steps.
uint32_t DevicesLeft(const NodeLedger& at);

// The free amounts of all other kinds, multiplied, on a logarithmic scale:
// none of them can fall without the measure falling or staying.
uint32_t OthersLeft(const NodeLedger& at);

// Makes amounts of different kinds comparable: measures by
// PlacementOptions::yardstick or, if that is empty, by what the node itself
// has.
class Yardstick {
 public:
  static constexpr int kShareBits = 30;
  static constexpr uint64_t kWhole = uint64_t{1} << kShareBits;

  explicit Yardstick(const Resources& amounts) : amounts_(amounts) {}

  // The amount in 2^-30 of the yardstick, at most 64 of it; 0 for a kind that
  // the yardstick has nothing of.
  uint64_t ShareOf(const NodeLedger& at, ResourceKind kind,
                   int64_t amount) const {
    const int64_t whole =
        amounts_.IsZero() ? at.capacity(kind) : amounts_[kind];
    if (whole <= 0 || amount <= 0) return 0;
    const __int128 share = static_cast<__int128>(amount) * kWhole / whole;
    return static_cast<uint64_t>(std::min<__int128>(share, 64 * kWhole));
  }

 private:
  Resources amounts_;
};

}  // namespace muster::scoring
