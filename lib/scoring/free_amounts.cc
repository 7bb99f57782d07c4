#include "lib/scoring/free_amounts.h"

#include "lib/cluster/needs.h"

namespace muster::scoring {

int64_t FreeDevices(const NodeLedger& at) {
  const ResourceKind kind = at.cluster.device_kind();
  if (kind >= at.cluster.resource_count()) return 0;
  return std::max<int64_t>(0, at.free(kind));
}

bool SharesOneDevice(const DeviceRequest& request) {
  return request.count == 1 &&
         (request.milli < kWholeDevice || request.memory_bytes > 0);
}

DeviceSet DevicesWithRoom(const NodeLedger& at, const NodeQuestion& q) {
  const std::vector<Device>& devices = at.devices();
  const std::vector<std::string>& models =
      at.cluster.device_request(q.shape).models;
  DeviceSet room;
  bool wanted = models.empty();
  for (uint32_t d = 0; d < devices.size(); ++d) {
    if (!models.empty() &&
        (d == 0 || devices[d].model != devices[d - 1].model)) {
      wanted = std::ranges::find(models, devices[d].model) != models.end();
    }
    if (wanted && at.cluster.Fits({at.node, q.shape, {d}}, at.ledger))
      room.Insert(d);
  }
  return room;
}

void FreeAmounts::Read(const NodeLedger& at) {
  const uint32_t kinds = at.cluster.resource_count();
  free.resize(kinds);
  for (ResourceKind k = 0; k < kinds; ++k) free[k] = at.free(k);
  devices = static_cast<uint32_t>(at.devices().size());
  const DeviceSet split = at.cluster.split_devices(at.node, at.ledger);
  for (uint32_t d = 0; d < devices; ++d) {
    if (split.Contains(d)) {
      Close(d);
      continue;
    }
    milli[d] = std::max(-1, at.free_milli(d));
    memory[d] = at.cluster.free_memory(at.node, d, at.ledger);
  }
}

void FreeAmounts::TakeAmounts(const Cluster& cluster, ShapeId shape) {
  const Resources& demand = cluster.demand(shape);
  for (ResourceKind k = 0; k < free.size(); ++k) free[k] -= demand[k];
}

void FreeAmounts::TakeDevice(uint32_t device, const DeviceRequest& request,
                             int64_t device_memory) {
  DevicePart share{kWholeDevice, device_memory};
  if (request.memory_bytes > 0) {
    share = {request.milli > 0 ? request.milli
                               : MilliOf(request.memory_bytes, device_memory),
             request.memory_bytes};
  } else if (request.milli < kWholeDevice) {
    share = {request.milli, MemoryOf(request.milli, device_memory)};
  }
  milli[device] = std::max(-1, milli[device] - share.milli);
  memory[device] -= share.memory;
}

}  // namespace muster::scoring
