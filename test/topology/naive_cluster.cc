#include "test/topology/naive_cluster.h"

#include <algorithm>

#include "lib/topology/selector.h"

namespace muster {
namespace {

int64_t Floor(int64_t a, int64_t b, int64_t divisor) {
  return static_cast<int64_t>(static_cast<__int128>(a) * b / divisor);
}

bool IsWhole(const DeviceRequest& r) {
  return r.memory_bytes == 0 && r.milli == kWholeDevice;
}

}  // namespace

DeviceShare NaiveCluster::ShareOf(size_t role, const Device& device) const {
  const DeviceRequest& request = roles[role].shape.devices;
  DeviceShare share;
  if (request.memory_bytes > 0) {
    share.memory_bytes = request.memory_bytes;
    share.milli = device.memory_bytes == 0
                      ? kWholeDevice
                      : static_cast<int32_t>(Floor(1000, request.memory_bytes,
                                                   device.memory_bytes));
  } else {
    share.milli = request.milli;
    share.memory_bytes = Floor(request.milli, device.memory_bytes, 1000);
  }
  return share;
}

DeviceShare NaiveCluster::FreeShare(const NaiveNode& n, uint32_t d,
                                    int ledger) const {
  const Device& device = n.node.devices[d];
  DeviceShare free{d, kWholeDevice, device.memory_bytes};
  for (const DeviceShare& share : n.others.devices) {
    if (share.device != d) continue;
    free.milli -= share.milli;
    free.memory_bytes -= share.memory_bytes;
  }
  for (const NaiveCharge& charge : n.charges[ledger]) {
    if ((charge.devices >> d & 1) == 0) continue;
    const DeviceShare share = ShareOf(charge.role, device);
    free.milli -= share.milli;
    free.memory_bytes -= share.memory_bytes;
  }
  return free;
}

int64_t NaiveCluster::Free(const NaiveNode& n, ResourceKind kind,
                           int ledger) const {
  if (kind == device_kind) {
    int64_t sum = 0;
    for (uint32_t d = 0; d < n.node.devices.size(); ++d) {
      if (n.node.devices[d].healthy) sum += FreeShare(n, d, ledger).milli;
    }
    return sum;
  }
  int64_t free = n.node.capacity[kind] - n.others.amount[kind];
  for (const NaiveCharge& charge : n.charges[ledger]) {
    free -= roles[charge.role].shape.resources[kind];
  }
  return free;
}

bool NaiveCluster::Admits(const NaiveNode& n, size_t role_index) const {
  const Role& role = roles[role_index];
  bool admits = n.available && n.node.schedulable &&
                Holds(role.shape.selector, n.node.labels);
  for (const Taint& taint : n.node.taints) {
    admits &= taint.effect == TaintEffect::kPreferNoSchedule ||
              Tolerates(role.tolerations, taint);
  }
  for (const std::string& set : role.node_sets) {
    const auto it = sets.find(set);
    admits &= it != sets.end() && it->second.contains(n.node.key);
  }
  const std::vector<std::string>& models = role.shape.devices.models;
  bool has_model = models.empty();
  for (const Device& device : n.node.devices) {
    has_model |= std::count(models.begin(), models.end(), device.model) > 0;
  }
  return admits && has_model;
}

uint32_t NaiveCluster::DeviceSlots(const NaiveNode& n, size_t role, uint32_t d,
                                   unsigned ledgers, uint32_t limit) const {
  const Device& device = n.node.devices[d];
  const DeviceRequest& request = roles[role].shape.devices;
  const auto& models = request.models;
  if (!device.healthy ||
      (!models.empty() &&
       std::count(models.begin(), models.end(), device.model) == 0) ||
      (request.memory_bytes > 0 && device.memory_bytes == 0)) {
    return 0;
  }
  const DeviceShare share = ShareOf(role, device);
  uint32_t slots = limit;
  for (int l : {0, 1}) {
    if ((ledgers >> l & 1) == 0) continue;
    DeviceShare free = FreeShare(n, d, l);
    uint32_t fit = 0;
    while (fit < slots && free.milli >= share.milli &&
           free.memory_bytes >= share.memory_bytes) {
      free.milli -= share.milli;
      free.memory_bytes -= share.memory_bytes;
      ++fit;
    }
    slots = fit;
  }
  return IsWhole(request) ? std::min(slots, 1u) : slots;
}

bool NaiveCluster::Fits(const NaiveNode& n, const NaiveCharge& charge,
                        int ledger) const {
  if (!n.available) return false;
  const TaskShape& shape = roles[charge.role].shape;
  for (ResourceKind k = 0; k < kinds; ++k) {
    if (k != device_kind && shape.resources[k] > 0 &&
        shape.resources[k] > Free(n, k, ledger)) {
      return false;
    }
  }
  for (uint32_t d = 0; d < n.node.devices.size(); ++d) {
    if ((charge.devices >> d & 1) == 0) continue;
    if (!n.node.devices[d].healthy) return false;
    const DeviceShare free = FreeShare(n, d, ledger);
    const DeviceShare share = ShareOf(charge.role, n.node.devices[d]);
    if (share.milli > free.milli || share.memory_bytes > free.memory_bytes) {
      return false;
    }
  }
  return true;
}

uint32_t NaiveCluster::Slots(const NaiveNode& n, size_t role, unsigned ledgers,
                             uint32_t limit) const {
  if (!Admits(n, role)) return 0;
  const TaskShape& shape = roles[role].shape;
  int64_t slots = limit;
  for (ResourceKind k = 0; k < kinds; ++k) {
    if (k == device_kind || shape.resources[k] == 0) continue;
    for (int l : {0, 1}) {
      if ((ledgers >> l & 1) == 0) continue;
      slots = std::min(slots, Free(n, k, l) / shape.resources[k]);
    }
  }
  slots = std::max<int64_t>(slots, 0);
  const uint32_t count = shape.devices.count;
  if (count == 0) return static_cast<uint32_t>(slots);
  // Each task takes the devices with the most room: that is optimal.
  std::vector<uint32_t> room;
  for (uint32_t d = 0; d < n.node.devices.size(); ++d) {
    room.push_back(DeviceSlots(n, role, d, ledgers, limit));
  }
  uint32_t tasks = 0;
  while (tasks < slots && room.size() >= count) {
    std::sort(room.rbegin(), room.rend());
    if (room[count - 1] == 0) break;
    for (uint32_t i = 0; i < count; ++i) --room[i];
    ++tasks;
  }
  return tasks;
}

bool NaiveCluster::Overcommitted(const NaiveNode& n, int ledger) const {
  for (ResourceKind k = 0; k < kinds; ++k) {
    if (Free(n, k, ledger) < 0) return true;
  }
  for (uint32_t d = 0; d < n.node.devices.size(); ++d) {
    const DeviceShare free = FreeShare(n, d, ledger);
    if (free.milli < 0 || free.memory_bytes < 0) return true;
  }
  return false;
}

Resources NaiveCluster::TotalCapacity() const {
  Resources total(kinds);
  for (const auto& [key, n] : nodes) {
    if (!n.available) continue;
    for (ResourceKind k = 0; k < kinds; ++k) {
      total.Set(k, total[k] + (k == device_kind
                                   ? 1000 * int64_t(n.node.devices.size())
                                   : n.node.capacity[k]));
    }
  }
  return total;
}

int64_t NaiveCluster::DemandedMilli(size_t role) const {
  const DeviceRequest& request = roles[role].shape.devices;
  if (request.memory_bytes == 0) return int64_t{request.count} * request.milli;
  Device largest;
  for (const auto& [key, n] : nodes) {
    if (!Admits(n, role)) continue;
    for (const Device& device : n.node.devices) {
      if (!request.models.empty() &&
          std::count(request.models.begin(), request.models.end(),
                     device.model) == 0) {
        continue;
      }
      if (device.memory_bytes > largest.memory_bytes) largest = device;
    }
  }
  return int64_t{request.count} * ShareOf(role, largest).milli;
}

}  // namespace muster
