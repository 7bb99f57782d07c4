// What is free on a node.
#pragma once

#include <algorithm>
#include <cstdint>

#include "muster/cluster.h"

namespace muster::index {

// Of the kind, in the ledger: an overcommitted device takes nothing from the
// others. What is credited adds no more to it than it was charged.
inline int64_t FreeOn(const Cluster& cluster, NodeIndex node, ResourceKind kind,
                      Ledger ledger) {
  if (kind != cluster.device_kind() || !cluster.Overcommitted(node, ledger)) {
    return std::max<int64_t>(0, cluster.free(node, kind, ledger));
  }
  int64_t free = 0;
  for (uint32_t d = 0; d < cluster.node(node).devices.size(); ++d) {
    free += std::max<int64_t>(0, cluster.free_milli(node, d, ledger));
  }
  return free;
}

}  // namespace muster::index
