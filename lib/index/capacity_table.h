// What shapes could have if nothing ran: remembered for explanations.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/index/recent.h"

namespace muster::index {

// How many such tasks an empty node takes, by its capacity, at most `limit`; 0
// if it does not admit them.
int64_t CapacitySlots(const Cluster& cluster, NodeIndex node, ShapeId shape,
                      int64_t limit);

// How many tasks of one shape could ever run. Nodes are counted until there is
// enough, once for each question while the cluster's structure stays.
class CapacityTable {
 public:
  static constexpr size_t kMaxShapes = 64;
  // In place of a level of the topology.
  static constexpr int kInside = -1;  // All of its nodes together.
  static constexpr int kAnywhere = -2;

  struct Capacity {
    bool admitted = false;  // Some node there would take such tasks.
    uint64_t most = 0;      // If it is less than asked for; else no less.
  };

  // The most in one domain of the level. Where that is at least `enough`, it is
  // not said how much it is.
  Capacity Get(const Cluster& cluster, int topology, int level, ShapeId shape,
               uint64_t enough);
  // Whether any node would take such tasks.
  bool Admitted(const Cluster& cluster, ShapeId shape) {
    return Get(cluster, -1, kAnywhere, shape, 1).admitted;
  }

 private:
  struct Entry {
    uint64_t serial = 0;
    int topology = -1;
    int level = kAnywhere;
    bool complete = false;  // All nodes were counted.
    Capacity capacity{};
  };

  void Count(const Cluster& cluster, ShapeId shape, uint64_t enough,
             Entry* entry);

  MadeFrom made_from_;
  Recent<Entry, kMaxShapes> entries_;
  std::vector<uint64_t> sums_;  // By domain.
};

}  // namespace muster::index
