// The nodes of a cluster by index and by key, and the node sets they are in.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/keyed_table.h"
#include "lib/base/string_map.h"
#include "lib/cluster/cluster.h"
#include "muster/ids.h"
#include "muster/node.h"

namespace muster {

struct NodeRecord {
  Node node{};
  ExternalUsage external{};
  uint32_t generation = 0;
  bool exists = false;
  bool available = true;

  const std::string& key() const { return node.key; }
};

// A value type. References to records hold until the node is removed.
class NodeTable
    : public KeyedTable<NodeId, NodeRecord, &NodeRecord::key, std::deque> {
 public:
  bool exists(NodeIndex node) const {
    return node < places_.size() && places_[node] != Place::kNone;
  }
  NodeRecord& operator[](NodeIndex node) { return row(node); }
  const NodeRecord& operator[](NodeIndex node) const { return at(node); }

  // The key must be new. At the index removed last, if one is unused.
  NodeIndex Add(const Node& node);
  void Remove(NodeIndex node);

  // In key order. Brought up to date here, where it is asked for: new nodes
  // are sorted by themselves and merged in.
  std::span<const NodeIndex> InOrder() const;

 private:
  // Where order_ has an existing node: not yet, or at its place.
  enum class Place : uint8_t { kNone, kAdded, kInOrder };

  // By node: records are far apart.
  mutable std::vector<Place> places_{};
  mutable bool in_order_ = true;
  // Sorted, apart from nodes that are not at their place any more.
  mutable std::vector<NodeIndex> order_{};
  mutable std::vector<NodeIndex> added_{};  // Since; they may be gone again.
};

// Keys of nodes by set; they need not be known. A value type.
class NodeSetTable {
 public:
  bool Has(std::string_view set) const { return sets_.contains(set); }
  bool Contains(std::string_view set, std::string_view node) const;
  // Both return the keys that went in or out, in order.
  std::vector<std::string> Set(const NodeSet& set);
  std::vector<std::string> Remove(std::string_view set);
  // All sets, in key order, their keys in order.
  std::vector<NodeSet> All() const;

 private:
  std::map<std::string, StringSet, std::less<>> sets_{};
};

}  // namespace muster
