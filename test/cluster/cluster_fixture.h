// Small clusters for the stories of these tests: kinds cpu, memory, gpu.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lib/cluster/cluster.h"

namespace muster {

inline constexpr ResourceKind kCpu = 0;
inline constexpr ResourceKind kMemory = 1;
inline constexpr ResourceKind kGpu = 2;

inline Cluster EmptyCluster(std::vector<Topology> topologies = {}) {
  return Cluster(3, kGpu, std::move(topologies));
}

// A node with 64 cpus, 512 memory and so many healthy 80 GB devices.
inline Node GpuNode(std::string key, size_t devices) {
  Node node{.key = std::move(key), .capacity = {64, 512}};
  node.devices.assign(devices, {.model = "H100", .memory_bytes = 80'000});
  return node;
}

inline Role CpuRole(int64_t cpu, int64_t memory = 0) {
  Role role;
  role.shape.resources = {cpu, memory};
  return role;
}

inline Role GpuRole(uint32_t count, int32_t milli = kWholeDevice) {
  Role role;
  role.shape.devices = {.count = count, .milli = milli};
  return role;
}

inline Role GpuMemoryRole(uint32_t count, int64_t bytes) {
  Role role;
  role.shape.devices = {.count = count, .milli = 0, .memory_bytes = bytes};
  return role;
}

inline Allocation MustTake(Cluster& cluster, NodeIndex node, ShapeId shape,
                           Ledger ledger = Ledger::kBoth) {
  Allocation a;
  return cluster.Take(node, shape, ledger, &a) ? a : Allocation{.node = ~0u};
}

}  // namespace muster
