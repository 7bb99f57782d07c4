// Topologies as the solver walks them.
#pragma once

#include <cstdint>
#include <utility>

#include "lib/cluster/cluster.h"

namespace muster::solver {

// No level: every node, inside the topology or not.
inline constexpr int kEverywhere = -1;
inline constexpr uint32_t kOutside = TopologyIndex::kOutside;

// A domain of a tree; everywhere if there is no level.
struct DomainRef {
  int tree = 0;
  int level = kEverywhere;
  uint32_t index = 0;  // In its level; at the host level the node.

  friend bool operator==(const DomainRef&, const DomainRef&) = default;
};

// One topology of the cluster. Its levels are numbered from the widest, 0;
// `hosts` is the number of the host level, whose domains are node indices. A
// cluster without topologies is one tree with the host level alone.
struct Tree {
  const TopologyIndex* index = nullptr;
  int topology = -1;
  int hosts = 0;

  bool Contains(NodeIndex node) const {
    return index == nullptr || index->position[node] != kOutside;
  }
  // The node's place in the order of the tree: kOutside for all nodes outside,
  // 0 for all where there is no topology.
  uint32_t PositionOf(NodeIndex node) const {
    return index == nullptr ? 0 : index->position[node];
  }
  // The node's domain at the level; kOutside if it is not in the topology.
  uint32_t DomainOf(int level, NodeIndex node) const {
    if (!Contains(node)) return kOutside;
    return level == hosts ? node : index->domain_of[level][node];
  }
  // The same, but for each node outside a number of its own, which no domain
  // has: such a node is a domain by itself.
  uint32_t DomainOrSelf(int level, NodeIndex node) const {
    return Contains(node) ? DomainOf(level, node) : kOutside - node;
  }
  // Whether the node lies in the domain, which is of this tree.
  bool Contains(const DomainRef& domain, NodeIndex node) const {
    return domain.level == kEverywhere ||
           DomainOf(domain.level, node) == domain.index;
  }
  // The domain of a level that is no narrower around a domain of `from`;
  // kOutside around a node outside the topology.
  uint32_t Around(int from, uint32_t domain, int level) const {
    if (from == hosts) return DomainOf(level, domain);
    for (; from > level; --from) domain = index->levels[from][domain].parent;
    return domain;
  }
  // The domains of a stored level inside `domain`, which is of a level no
  // narrower: first, and one past.
  std::pair<uint32_t, uint32_t> Inside(const DomainRef& domain,
                                       int level) const {
    if (domain.level == kEverywhere) {
      return {0, static_cast<uint32_t>(index->levels[level].size())};
    }
    uint32_t first = domain.index;
    uint32_t last = first + 1;
    for (int l = domain.level; l < level; ++l) {
      const Domain& end = index->levels[l][last - 1];
      last = end.first_child + end.child_count;
      first = index->levels[l][first].first_child;
    }
    return {first, last};
  }
  // The narrowest level at which both nodes are in one domain.
  int SharedLevel(NodeIndex a, NodeIndex b) const {
    if (a == b) return hosts;
    if (!Contains(a) || !Contains(b)) return kEverywhere;
    int level = hosts - 1;
    while (level >= 0 && DomainOf(level, a) != DomainOf(level, b)) --level;
    return level;
  }
  // How many levels up two nodes meet: 0 on one node, hosts + 1 if only
  // everywhere.
  int Distance(NodeIndex a, NodeIndex b) const {
    return hosts - SharedLevel(a, b);
  }
};

}  // namespace muster::solver
