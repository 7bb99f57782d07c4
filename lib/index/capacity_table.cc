#include "lib/index/capacity_table.h"

#include <algorithm>

#include "lib/index/free_on.h"

namespace muster::index {

int64_t CapacitySlots(const Cluster& cluster, NodeIndex node, ShapeId shape,
                      int64_t limit) {
  if (!cluster.Admits(node, shape)) return 0;
  const Resources& demand = cluster.demand(shape);
  for (ResourceKind k = 0; k < demand.size(); ++k) {
    if (demand[k] <= 0) continue;
    limit = std::min(limit, cluster.capacity(node, k) / demand[k]);
  }
  const size_t devices = cluster.node(node).devices.size();
  if (cluster.device_request(shape).count > devices) return 0;
  if (!cluster.device_request(shape).partition.empty()) {
    limit = std::min<int64_t>(limit, cluster.PartitionCapacity(node, shape));
  }
  return std::max<int64_t>(limit, 0);
}

CapacityTable::Capacity CapacityTable::Get(const Cluster& cluster, int topology,
                                           int level, ShapeId shape,
                                           uint64_t enough) {
  if (made_from_.IsNew(cluster, cluster.structure_version())) entries_.Clear();
  const uint64_t serial = cluster.shape_serial(shape);
  Entry* entry = entries_.Find([&](const Entry& e) {
    return e.serial == serial && e.topology == topology && e.level == level;
  });
  if (entry == nullptr) {
    entry = &entries_.Make();
    *entry = {.serial = serial, .topology = topology, .level = level};
  }
  if (!entry->complete && entry->capacity.most < enough) {
    Count(cluster, shape, enough, entry);
  }
  return entry->capacity;
}

void CapacityTable::Count(const Cluster& cluster, ShapeId shape,
                          uint64_t enough, Entry* entry) {
  // More tasks than any role can ask for do not matter.
  constexpr int64_t kEnough = 0xffffffff;
  const int level = entry->level;
  const TopologyIndex* index = level == kAnywhere || entry->topology < 0
                                   ? nullptr
                                   : &cluster.index(entry->topology);
  const bool stored = index != nullptr && level >= 0 &&
                      level < static_cast<int>(index->levels.size());
  sums_.assign(stored ? index->levels[level].size() : 1, 0);
  Capacity& capacity = entry->capacity;
  capacity = {};
  for (const NodeIndex n : cluster.nodes()) {
    if (index != nullptr && index->position[n] == TopologyIndex::kOutside) {
      continue;
    }
    capacity.admitted = capacity.admitted || cluster.Admits(n, shape);
    uint64_t& sum = sums_[stored ? index->domain_of[level][n] : 0];
    if (level >= 0 && !stored) sum = 0;  // Each node by itself.
    sum += static_cast<uint64_t>(CapacitySlots(cluster, n, shape, kEnough));
    capacity.most = std::max(capacity.most, sum);
    if (capacity.most >= enough) return;
  }
  entry->complete = true;
}

}  // namespace muster::index
