// What is free on a node, or will be.
#pragma once

#include <algorithm>
#include <cstdint>

#include "muster/cluster.h"

namespace muster::preempt {

// Of the kind, in Ledger::kLater: an overcommitted device takes nothing from
// the others. Credits of what tasks hold add no more to it than they hold.
inline int64_t FreeOn(const Cluster& cluster, NodeIndex node,
                      ResourceKind kind) {
  if (kind != cluster.device_kind() ||
      !cluster.Overcommitted(node, Ledger::kLater)) {
    return std::max<int64_t>(0, cluster.free(node, kind, Ledger::kLater));
  }
  int64_t free = 0;
  for (uint32_t d = 0; d < cluster.node(node).devices.size(); ++d) {
    free += std::max<int64_t>(0, cluster.free_milli(node, d, Ledger::kLater));
  }
  return free;
}

}  // namespace muster::preempt
