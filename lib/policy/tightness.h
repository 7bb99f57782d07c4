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

// Free thousandths of devices: at most 64 devices a node, hence exact.
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
// rule asks of the node (from the top: twice the tasks and one, free
// thousandths, the other kinds), and what that is to a task which asks for
// devices, so many thousandths of them, or for none.
uint64_t TightestGist(const Cluster& cluster, NodeIndex node, Ledger ledger);
inline uint32_t TightestRankOf(uint64_t gist, bool devices, int64_t demand) {
  constexpr uint32_t kOthers = (uint32_t{1} << kOtherBits) - 1;
  constexpr int kLowBits = kDeviceBits + kOtherBits;
  const auto low =
      static_cast<uint32_t>(gist & ((uint64_t{1} << kLowBits) - 1));
  if (!devices) return low;
  const auto parts = static_cast<uint32_t>(gist >> kLowBits);
  const int64_t left = std::max<int64_t>(0, (low >> kOtherBits) - demand);
  return static_cast<uint32_t>(left) / parts << kOtherBits | (low & kOthers);
}

}  // namespace muster::policy

#endif  // MUSTER_LIB_POLICY_TIGHTNESS_H_
