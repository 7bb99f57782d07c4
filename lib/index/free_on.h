// What is free on a node.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lib/cluster/cluster.h"

namespace muster::index {

// What single devices have free, in thousandths: in the sum of all, one that
// the host overcommitted would hide another.
inline int64_t FreeOnDevices(const Cluster& cluster, NodeIndex node,
                             Ledger ledger) {
  int64_t free = 0;
  for (uint32_t d = 0; d < cluster.node(node).devices.size(); ++d) {
    free += std::max<int64_t>(0, cluster.free_milli(node, d, ledger));
  }
  return free;
}

// Of the kind, in the ledger: an overcommitted device takes nothing from the
// others. What is credited adds no more to it than it was charged.
inline int64_t FreeOn(const Cluster& cluster, NodeIndex node, ResourceKind kind,
                      Ledger ledger) {
  if (kind != cluster.device_kind() || !cluster.Overcommitted(node, ledger)) {
    return std::max<int64_t>(0, cluster.free(node, kind, ledger));
  }
  return FreeOnDevices(cluster, node, ledger);
}

// The same of all kinds.
inline void FreeOn(const Cluster& cluster, NodeIndex node, Ledger ledger,
                   Resources* free) {
  const uint32_t kinds = cluster.resource_count();
  free->Clear();
  // Grows once.
  for (ResourceKind k = kinds; k-- > 0;) {
    free->Set(k, FreeOn(cluster, node, k, ledger));
  }
}
inline Resources FreeOn(const Cluster& cluster, NodeIndex node, Ledger ledger) {
  Resources free(cluster.resource_count());
  FreeOn(cluster, node, ledger, &free);
  return free;
}

}  // namespace muster::index
