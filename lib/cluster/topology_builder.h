// Lays a topology out flat.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/cluster/node_table.h"
#include "muster/topology.h"

namespace muster {

// An index, and the names its domains point to: shared between copies of a
// cluster, never changed.
struct BuiltTopology {
  using Names = std::vector<std::vector<std::string>>;  // By level.
  TopologyIndex index{};
  std::shared_ptr<const Names> names{};
};

// O(nodes * levels), beside sorting each level's distinct names.
BuiltTopology BuildTopology(const Topology& topology, const NodeTable& nodes);

}  // namespace muster
