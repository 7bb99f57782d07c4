// Clusters in use, for benchmarks: made once, kept for all cases.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/solver/gang_solver.h"

namespace muster::bench {

// Nodes of 8 devices; racks of 40, 25 racks a block, 20 blocks a zone: 100,000
// nodes make 5 zones.
inline constexpr uint32_t kDevices = 8;
inline constexpr uint32_t kRackNodes = 40;
inline constexpr uint32_t kBlockRacks = 25;
inline constexpr uint32_t kZoneBlocks = 20;

enum class State : uint8_t {
  kSteady,     // Jobs of all sizes came and went, placed by the solver.
  kScattered,  // Devices taken at random.
  kUneven,     // Every rack filled to a degree of its own: the worst case.
};
enum class Kinds : uint8_t {
  kOne,   // Devices are all there is; tasks differ in their number.
  kFour,  // cpu, memory, disk, devices; 64 shapes with selectors; islands.
};

struct BusyCluster {
  BusyCluster(uint32_t nodes, State state, Kinds kinds, uint64_t seed);

  // Gangs of `tasks` tasks with so many devices, one for each live shape.
  std::vector<PreparedGang> Gangs(uint32_t tasks, uint32_t devices,
                                  const std::string& required);

  Kinds kinds;
  Cluster cluster;
};

// The one of these properties, made at its first use.
BusyCluster& Busy(uint32_t nodes, State state, Kinds kinds);

}  // namespace muster::bench
