#ifndef MUSTER_LIB_INDEX_SLOTS_COST_H_
#define MUSTER_LIB_INDEX_SLOTS_COST_H_
#include <cstdint>
#include "lib/base/step_cost.h"
#include "lib/topology/needs.h"
#include "muster/cluster.h"
namespace muster::index {
inline uint64_t SlotsNanos(const Cluster& cluster, ShapeId shape, uint64_t nodes, bool column) {
  const DeviceRequest& request = cluster.device_request(shape);
  uint64_t nanos = column ? uint64_t{1} * kColumnNs : 0;
  if (cluster.has_selector(shape)) nanos += nodes * kFilterNs;
  if (!request.partition.empty()) return nanos + nodes * kPartitionNs;
  if (!SharesNoDevice(request)) return nanos + nodes * kShareNs;
  bool other = !request.models.empty();
  for (ResourceKind k = 0; k < cluster.resource_count(); ++k) other |= k != cluster.device_kind() && cluster.demand(shape)[k] > 0;
  return nanos + (column && !other ? nodes * kPlainNs : column ? nodes * kWholeNs : nodes * kListedNs);
}
}
#endif
