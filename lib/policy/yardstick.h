// Amounts of different kinds made comparable.
#ifndef MUSTER_LIB_POLICY_YARDSTICK_H_
#define MUSTER_LIB_POLICY_YARDSTICK_H_

#include <algorithm>
#include <cstdint>

#include "muster/cluster.h"

namespace muster::policy {

// Measures by PlacementOptions::yardstick or, if that is empty, by what the
// node itself has.
class Yardstick {
 public:
  static constexpr int kShareBits = 30;
  static constexpr uint64_t kWhole = uint64_t{1} << kShareBits;

  explicit Yardstick(const Resources& amounts) : amounts_(amounts) {}

  // The amount in 2^-30 of the yardstick, at most 64 of it; 0 for a kind that
  // the yardstick has nothing of.
  uint64_t ShareOf(const Cluster& cluster, NodeIndex node, ResourceKind kind,
                   int64_t amount) const {
    const int64_t whole =
        amounts_.IsZero() ? cluster.capacity(node, kind) : amounts_[kind];
    if (whole <= 0 || amount <= 0) return 0;
    const __int128 share = static_cast<__int128>(amount) * kWhole / whole;
    return static_cast<uint64_t>(std::min<__int128>(share, 64 * kWhole));
  }

 private:
  Resources amounts_;
};

}  // namespace muster::policy

#endif  // MUSTER_LIB_POLICY_YARDSTICK_H_
