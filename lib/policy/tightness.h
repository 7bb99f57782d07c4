// How much is left on a node, in few bits: for ranks.
#ifndef MUSTER_LIB_POLICY_TIGHTNESS_H_
#define MUSTER_LIB_POLICY_TIGHTNESS_H_

#include <algorithm>
#include <cstdint>

#include "muster/cluster.h"

namespace muster::policy {

// Bits of the two measures.
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
uint32_t DevicesLeft(const Cluster& cluster, NodeIndex node, Ledger ledger);

// The free amounts of all other kinds, multiplied, on a logarithmic scale:
// none of them can fall without the measure falling or staying.
uint32_t OthersLeft(const Cluster& cluster, NodeIndex node, Ledger ledger);

}  // namespace muster::policy

#endif  // MUSTER_LIB_POLICY_TIGHTNESS_H_
