#include "lib/index/slots_cost.h"

#include "lib/cluster/needs.h"

namespace muster::index {
namespace {

// `whole`: what one node costs where devices are not shared.
uint64_t Nanos(const Cluster& cluster, ShapeId shape, uint64_t nodes,
               uint64_t whole) {
  const DeviceRequest& request = cluster.device_request(shape);
  uint64_t each = whole;
  if (!SharesNoDevice(request)) each = kShareNs;
  if (!request.partition.empty()) each = kPartitionNs;
  return nodes * each + (cluster.has_selector(shape) ? nodes * kFilterNs : 0);
}

}  // namespace

bool IsPlain(const Cluster& cluster, ShapeId shape) {
  const DeviceRequest& request = cluster.device_request(shape);
  if (!SharesNoDevice(request) || request.count == 0 ||
      !request.models.empty()) {
    return false;
  }
  const Resources& demand = cluster.demand(shape);
  for (ResourceKind k = 0; k < cluster.resource_count(); ++k) {
    if (k != cluster.device_kind() && demand[k] > 0) return false;
  }
  return true;
}

uint64_t NanosOfSlots(const Cluster& cluster, ShapeId shape, uint64_t nodes) {
  return Nanos(cluster, shape, nodes, kListedNs);
}

uint64_t NanosOfColumn(const Cluster& cluster, ShapeId shape) {
  const uint64_t nodes = cluster.node_count();
  const uint64_t scores =
      cluster.preferences(shape).size() * (nodes * kPreferNs);
  if (IsPlain(cluster, shape)) {
    return kColumnNs + nodes / kPlainNodes + scores +
           (cluster.has_selector(shape) ? nodes * kFilterNs : 0);
  }
  return kColumnNs + kMixedColumnNs + scores +
         Nanos(cluster, shape, nodes, kWholeNs);
}

}  // namespace muster::index
