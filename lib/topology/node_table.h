// The nodes of a cluster by index and by key, and the node sets they are in.
#ifndef MUSTER_LIB_TOPOLOGY_NODE_TABLE_H_
#define MUSTER_LIB_TOPOLOGY_NODE_TABLE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/string_map.h"
#include "muster/cluster.h"
#include "muster/ids.h"
#include "muster/node.h"

namespace muster {

struct NodeRecord {
  Node node{};
  OtherUsage others{};
  uint32_t generation = 0;  // Counts the removals at this index.
  bool available = true;
};

// A value type. References to records hold until the node is removed.
class NodeTable {
 public:
  uint32_t limit() const { return static_cast<uint32_t>(records_.size()); }
  bool exists(NodeIndex node) const {
    return node < exists_.size() && exists_[node] != 0;
  }
  NodeRecord& operator[](NodeIndex node) { return records_[node]; }
  const NodeRecord& operator[](NodeIndex node) const { return records_[node]; }
  NodeId id(NodeIndex node) const;
  NodeId Find(std::string_view key) const;

  // Of indices that come to be from now on.
  void StartGenerationsAt(uint32_t first) { first_generation_ = first; }
  uint32_t last_generation() const;
  // The key must be new.
  NodeIndex Add(const Node& node);
  void Remove(NodeIndex node);
  // See Cluster. O(nodes).
  void UndoAdd(NodeIndex node);
  NodeIndex UndoRemove(const Node& node);

  // In key order. Brought up to date here, where it is asked for: new nodes
  // are sorted by themselves and merged in.
  std::span<const NodeIndex> InOrder() const;

 private:
  struct Ordered {
    NodeIndex node = 0;
    uint32_t generation = 0;
  };
  bool IsLive(const Ordered& o) const {
    return exists(o.node) && records_[o.node].generation == o.generation;
  }

  void Enter(NodeIndex index, const Node& node);

  std::deque<NodeRecord> records_{};
  std::vector<uint8_t> exists_{};  // By node: records are far apart.
  std::vector<NodeIndex> unused_{};
  StringMap<NodeIndex> by_key_{};
  uint32_t first_generation_ = 0;
  mutable bool in_order_ = true;
  mutable size_t sorted_ = 0;  // ordered_ is sorted up to here, apart from
                               // nodes that are gone.
  mutable std::vector<Ordered> ordered_{};
  mutable std::vector<NodeIndex> order_{};
};

// Keys of nodes by set; they need not be known. A value type.
class NodeSetTable {
 public:
  bool Has(std::string_view set) const {
    return sets_.find(set) != sets_.end();
  }
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

#endif  // MUSTER_LIB_TOPOLOGY_NODE_TABLE_H_
