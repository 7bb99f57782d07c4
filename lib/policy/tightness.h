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
inline uint32_t DeviceSteps(int64_t milli) {
  constexpr int64_t kExact = 64 * kWholeDevice;
  constexpr int64_t kMost = DeviceSet::kCapacity * kWholeDevice;
  constexpr int64_t kStep = 42;
  static_assert(kExact + (kMost - kExact) / kStep < 1 << kDeviceBits);
  return static_cast<uint32_t>(
      std::min(milli, kExact + (milli - kExact) / kStep));
}

// Free thousandths of devices, in these steps.
uint32_t DevicesLeft(const Cluster& cluster, NodeIndex node, Ledger ledger);

// The free amounts of all other kinds, multiplied, on a logarithmic scale:
// none of them can fall without the measure falling or staying.
uint32_t OthersLeft(const Cluster& cluster, NodeIndex node, Ledger ledger);

// Whether a task that shares devices would have to take some that are whole.
bool OpensDevice(const Cluster& cluster, NodeIndex node, ShapeId shape,
                 Ledger ledger);

// The library's rule where it knows no workload: a share of a device in use
// before one of a fresh device; then the least free devices; then the least of
// the other kinds. For a task that asks for devices, what counts is what it, if
// it has room, would leave free for each task on the node: divided by twice
// their number and one, so that an idle node comes last among its like.
uint32_t TightestRank(const Cluster& cluster, NodeIndex node, ShapeId shape,
                      Ledger ledger);

// The same in two steps (NodePolicy::Gist), a fresh device left aside: what the
// rule asks of the node (from the top, 32 bits each: twice the tasks and one;
// free thousandths and, in kOtherBits, the other kinds), and what that is to a
// task which asks for devices, so many thousandths of them, or for none.
uint64_t TightestGist(const Cluster& cluster, NodeIndex node, Ledger ledger);
inline uint32_t TightestRankOf(uint64_t gist, bool devices, int64_t demand) {
  constexpr uint32_t kOthers = (uint32_t{1} << kOtherBits) - 1;
  const auto low = static_cast<uint32_t>(gist);
  const auto parts = static_cast<uint32_t>(gist >> 32);
  uint32_t left = low >> kOtherBits;
  if (devices) {
    left = static_cast<uint32_t>(std::max<int64_t>(0, left - demand)) / parts;
  }
  return DeviceSteps(left) << kOtherBits | (low & kOthers);
}

}  // namespace muster::policy

#endif  // MUSTER_LIB_POLICY_TIGHTNESS_H_
