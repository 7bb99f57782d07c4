#include "lib/policy/node_state.h"

#include "lib/topology/needs.h"

namespace muster::policy {

int64_t FreeDevices(const Cluster& cluster, NodeIndex node, Ledger ledger) {
  const ResourceKind kind = cluster.device_kind();
  if (kind >= cluster.resource_count()) return 0;
  return std::max<int64_t>(0, cluster.free(node, kind, ledger));
}

bool SharesOneDevice(const DeviceRequest& request) {
  return request.count == 1 &&
         (request.milli < kWholeDevice || request.memory_bytes > 0);
}

DeviceSet DevicesWithRoom(const Cluster& cluster, NodeIndex node,
                          const Question& q) {
  const std::vector<Device>& devices = cluster.node(node).devices;
  const std::vector<std::string>& models =
      cluster.device_request(q.shape).models;
  DeviceSet room;
  bool wanted = models.empty();
  for (uint32_t d = 0; d < devices.size(); ++d) {
    if (!models.empty() &&
        (d == 0 || devices[d].model != devices[d - 1].model)) {
      wanted = std::ranges::find(models, devices[d].model) != models.end();
    }
    if (wanted && cluster.Fits({node, q.shape, {d}}, q.ledger)) room.Insert(d);
  }
  return room;
}

void NodeState::Read(const Cluster& cluster, NodeIndex node, Ledger ledger) {
  const uint32_t kinds = cluster.resource_count();
  free.resize(kinds);
  for (ResourceKind k = 0; k < kinds; ++k) {
    free[k] = cluster.free(node, k, ledger);
  }
  devices = static_cast<uint32_t>(cluster.node(node).devices.size());
  const DeviceSet split = cluster.split_devices(node, ledger);
  for (uint32_t d = 0; d < devices; ++d) {
    if (split.Contains(d)) {
      Close(d);
      continue;
    }
    milli[d] = std::max(-1, cluster.free_milli(node, d, ledger));
    memory[d] = cluster.free_memory(node, d, ledger);
  }
}

void NodeState::TakeAmounts(const Cluster& cluster, ShapeId shape) {
  const Resources& demand = cluster.demand(shape);
  for (ResourceKind k = 0; k < free.size(); ++k) free[k] -= demand[k];
}

void NodeState::TakeDevice(uint32_t device, const DeviceRequest& request,
                           int64_t device_memory) {
  Share share{kWholeDevice, device_memory};
  if (request.memory_bytes > 0) {
    share = {MilliOf(request.memory_bytes, device_memory),
             request.memory_bytes};
  } else if (request.milli < kWholeDevice) {
    share = {request.milli, MemoryOf(request.milli, device_memory)};
  }
  milli[device] = std::max(-1, milli[device] - share.milli);
  memory[device] -= share.memory;
}

}  // namespace muster::policy
