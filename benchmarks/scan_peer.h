// What a solver without an index has to do for every question: rebuild how
// much room each domain has. The peers that placement is compared with.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/cluster/cluster.h"

namespace muster::bench {

// Free devices of all nodes in one table of bytes, in topology order: less
// than any real snapshot holds.
class ScanPeer {
 public:
  explicit ScanPeer(const Cluster& cluster);

  // Each returns how many tasks with so many devices the best zone takes,
  // after it has summed up racks, blocks and zones. Plain: a loop as its user
  // writes and compiles it (-O3); Simd: packed compares, for the vector units
  // that this machine has.
  uint32_t Plain(uint32_t devices);
  uint32_t Simd(uint32_t devices);
  // As Plain, but asks the cluster about each node, as a snapshot made for
  // each request does.
  uint32_t Rebuild(const Cluster& cluster, ShapeId shape);

 private:
  uint32_t SumUp();

  const TopologyIndex& index_;
  std::vector<uint8_t> free_;
  std::vector<uint32_t> racks_;
  std::vector<uint32_t> blocks_;
  std::vector<uint32_t> zones_;
};

}  // namespace muster::bench
