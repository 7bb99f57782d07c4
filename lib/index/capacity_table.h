// What shapes could have if nothing ran, and what is free for them in all:
// remembered for explanations.
#ifndef MUSTER_LIB_INDEX_CAPACITY_TABLE_H_
#define MUSTER_LIB_INDEX_CAPACITY_TABLE_H_

#include <cstdint>
#include <vector>

#include "lib/index/recent.h"
#include "muster/cluster.h"

namespace muster::index {

// How many such tasks an empty node takes, by its capacity, at most `limit`; 0
// if it does not admit them.
int64_t CapacitySlots(const Cluster& cluster, NodeIndex node, ShapeId shape,
                      int64_t limit);

// The most tasks of one shape that could ever run. One scan of the nodes for
// each shape and topology after the cluster's structure has changed.
class CapacityTable {
 public:
  static constexpr size_t kMaxShapes = 64;

  struct Capacity {
    bool admitted = false;  // Some node would take such tasks.
    uint64_t everywhere = 0;
    uint64_t inside = 0;           // The topology.
    std::vector<uint64_t> most{};  // One domain, by level; last: one node.
  };

  // Valid until the next call. `topology`: -1 for none.
  const Capacity& Get(const Cluster& cluster, int topology, ShapeId shape);

 private:
  struct Entry {
    uint64_t serial = 0;
    int topology = -1;
    Capacity capacity{};
  };

  void Scan(const Cluster& cluster, int topology, ShapeId shape,
            Capacity* capacity);

  MadeFrom made_from_;
  Recent<Entry, kMaxShapes> entries_;
  std::vector<std::vector<uint64_t>> sums_;
};

// What is free of each kind on the nodes that admit a shape, negative amounts
// as none. Kept like a Column: after changes to k nodes, O(k).
class FreeTable {
 public:
  static constexpr size_t kMaxShapes = 16;

  // By kind. Valid until the next call.
  const std::vector<int64_t>& Get(const Cluster& cluster, ShapeId shape,
                                  Ledger ledger);

 private:
  struct Entry {
    uint64_t serial = 0;
    Ledger ledger = Ledger::kBoth;
    uint64_t version = 0;
    std::vector<int64_t> free{};  // [node * kinds + kind], as counted.
    std::vector<int64_t> sums{};
  };

  void Count(const Cluster& cluster, ShapeId shape, NodeIndex node,
             Entry* entry);

  MadeFrom made_from_;
  Recent<Entry, kMaxShapes> entries_;
  std::vector<NodeIndex> changed_;
};

}  // namespace muster::index

#endif  // MUSTER_LIB_INDEX_CAPACITY_TABLE_H_
