#include "test/cluster/naive_cluster.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "lib/cluster/selector.h"

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
  if (!request.partition.empty()) return PieceOf(device, request.partition);
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

// --- Partitions --------------------------------------------------------------

const PartitionScheme* NaiveCluster::SchemeOf(const Device& device) const {
  for (const PartitionScheme& scheme : schemes) {
    if (scheme.key == device.partition_scheme) return &scheme;
  }
  return nullptr;
}

const PartitionProfile* NaiveCluster::ProfileOn(const Device& device,
                                                const std::string& name) const {
  const PartitionScheme* scheme = SchemeOf(device);
  return scheme == nullptr ? nullptr : FindProfile(*scheme, name);
}

// A device that has no such pieces is held whole.
DeviceShare NaiveCluster::PieceOf(const Device& device,
                                  const std::string& name) const {
  const PartitionProfile* p = ProfileOn(device, name);
  if (p == nullptr) return {0, kWholeDevice, device.memory_bytes};
  return {0, p->milli,
          Floor(device.memory_bytes, p->memory_slices,
                SchemeOf(device)->memory_slices)};
}

std::vector<NaiveCluster::Held> NaiveCluster::HeldOn(const NaiveNode& n,
                                                     uint32_t d,
                                                     int ledger) const {
  const Device& device = n.node.devices[d];
  std::vector<Held> held;
  const auto add = [&](const std::string& name, uint32_t start) {
    if (const PartitionProfile* p = ProfileOn(device, name)) {
      held.push_back({start, p->memory_slices, PieceOf(device, name)});
    }
  };
  for (const DeviceShare& share : n.external.devices) {
    if (share.device == d) add(share.partition, share.first_slice);
  }
  for (const NaiveCharge& charge : n.charges[ledger]) {
    if (!charge.devices.Contains(d)) continue;
    add(roles[charge.role].shape.devices.partition, charge.first_slice);
  }
  return held;
}

bool NaiveCluster::Split(const NaiveNode& n, uint32_t d, int ledger) const {
  return !n.node.devices[d].partitions.empty() || !HeldOn(n, d, ledger).empty();
}

bool NaiveCluster::Shared(const NaiveNode& n, uint32_t d, int ledger) const {
  DeviceShare free = FreeShare(n, d, ledger);
  for (const Held& held : HeldOn(n, d, ledger)) {
    free.milli += held.share.milli;
    free.memory_bytes += held.share.memory_bytes;
  }
  return free.milli != kWholeDevice ||
         free.memory_bytes != n.node.devices[d].memory_bytes;
}

bool NaiveCluster::Overlap(const NaiveNode& n, uint32_t d, int ledger) const {
  const std::vector<Held> held = HeldOn(n, d, ledger);
  for (size_t i = 0; i < held.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const uint32_t from = std::max(held[i].start, held[j].start);
      const uint32_t to = std::min(held[i].start + held[i].slices,
                                   held[j].start + held[j].slices);
      // What lies beyond the last slice is nowhere.
      if (from < std::min(to, SchemeOf(n.node.devices[d])->memory_slices)) {
        return true;
      }
    }
  }
  return false;
}

bool NaiveCluster::MayStart(const NaiveNode& n, uint32_t d,
                            const std::string& profile, uint32_t start,
                            int ledger) const {
  const Device& device = n.node.devices[d];
  const PartitionProfile* p = ProfileOn(device, profile);
  if (p == nullptr || Shared(n, d, ledger) || Overlap(n, d, ledger)) {
    return false;
  }
  if (FreeShare(n, d, ledger).milli < p->milli) return false;
  if (std::count(p->starts.begin(), p->starts.end(), start) == 0) return false;
  if (!device.partitions.empty() &&
      std::count(device.partitions.begin(), device.partitions.end(),
                 DevicePartition{profile, start}) == 0) {
    return false;
  }
  for (const Held& held : HeldOn(n, d, ledger)) {
    if (start < held.start + held.slices &&
        held.start < start + p->memory_slices) {
      return false;
    }
  }
  return true;
}

// All ways to put pieces of one kind side by side are tried.
uint32_t NaiveCluster::Pieces(const NaiveNode& n, uint32_t d,
                              const std::string& profile,
                              unsigned ledgers) const {
  const PartitionProfile* p = ProfileOn(n.node.devices[d], profile);
  if (p == nullptr) return 0;
  std::vector<uint32_t> starts;
  int32_t free = kWholeDevice;
  for (int l : {0, 1}) {
    if (ledgers >> l & 1) free = std::min(free, FreeShare(n, d, l).milli);
  }
  for (const uint32_t start : p->starts) {
    bool may = true;
    for (int l : {0, 1}) {
      if (ledgers >> l & 1) may &= MayStart(n, d, profile, start, l);
    }
    if (may) starts.push_back(start);
  }
  uint32_t most = 0;
  for (uint32_t set = 0; set < 1u << starts.size(); ++set) {
    uint32_t end = 0;
    uint32_t count = 0;
    bool apart = true;
    for (size_t i = 0; i < starts.size(); ++i) {
      if ((set >> i & 1) == 0) continue;
      apart &= starts[i] >= end;
      end = starts[i] + p->memory_slices;
      ++count;
    }
    if (apart && static_cast<int32_t>(count) * p->milli <= free) {
      most = std::max(most, count);
    }
  }
  return most;
}

// --- Everything --------------------------------------------------------------

DeviceShare NaiveCluster::FreeShare(const NaiveNode& n, uint32_t d,
                                    int ledger) const {
  const Device& device = n.node.devices[d];
  DeviceShare free{d, kWholeDevice, device.memory_bytes};
  for (const DeviceShare& share : n.external.devices) {
    if (share.device != d) continue;
    const DeviceShare used =
        share.partition.empty() ? share : PieceOf(device, share.partition);
    free.milli -= used.milli;
    free.memory_bytes -= used.memory_bytes;
  }
  for (const NaiveCharge& charge : n.charges[ledger]) {
    if (!charge.devices.Contains(d)) continue;
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
  int64_t free = n.node.capacity[kind] - n.external.amount[kind];
  for (const NaiveCharge& charge : n.charges[ledger]) {
    free -= roles[charge.role].shape.resources[kind];
  }
  return free;
}

bool NaiveCluster::Admits(const NaiveNode& n, size_t role_index) const {
  const Role& role = roles[role_index];
  bool admits = n.available && n.node.schedulable &&
                Matches(role.shape.selector, n.node.labels);
  for (const Taint& taint : n.node.taints) {
    admits &= taint.effect == TaintEffect::kPreferNoSchedule ||
              Tolerates(role.tolerations, taint);
  }
  for (const std::string& set : role.node_sets) {
    const auto it = sets.find(set);
    admits &= it != sets.end() && it->second.contains(n.node.key);
  }
  const std::vector<std::string>& models = role.shape.devices.models;
  const std::string& partition = role.shape.devices.partition;
  bool has_one = models.empty() && partition.empty();
  for (const Device& device : n.node.devices) {
    const auto is_such = [&](const DevicePartition& p) {
      return p.profile == partition;
    };
    has_one |= (models.empty() ||
                std::count(models.begin(), models.end(), device.model) > 0) &&
               (partition.empty() ||
                (ProfileOn(device, partition) != nullptr &&
                 (device.partitions.empty() ||
                  std::any_of(device.partitions.begin(),
                              device.partitions.end(), is_such))));
  }
  return admits && has_one;
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
  if (!request.partition.empty()) {
    return std::min(limit, Pieces(n, d, request.partition, ledgers));
  }
  const DeviceShare share = ShareOf(role, device);
  uint32_t slots = limit;
  for (int l : {0, 1}) {
    if ((ledgers >> l & 1) == 0) continue;
    if (Split(n, d, l)) return 0;
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
  const std::string& partition = shape.devices.partition;
  if (!partition.empty() && charge.devices.size() != 1) return false;
  for (uint32_t d = 0; d < n.node.devices.size(); ++d) {
    if (!charge.devices.Contains(d)) continue;
    if (!n.node.devices[d].healthy) return false;
    if (!partition.empty())
      return MayStart(n, d, partition, charge.first_slice, ledger);
    if (Split(n, d, ledger)) return false;
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
  if (!shape.devices.partition.empty()) {
    return static_cast<uint32_t>(
        std::min(slots, std::accumulate(room.begin(), room.end(), int64_t{0})));
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
    if (!HeldOn(n, d, ledger).empty() && Shared(n, d, ledger)) return true;
    if (Overlap(n, d, ledger)) return true;
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
  if (!request.partition.empty()) {
    int64_t least = kWholeDevice;
    for (const PartitionScheme& scheme : schemes) {
      const PartitionProfile* p = FindProfile(scheme, request.partition);
      if (p != nullptr) least = std::min<int64_t>(least, p->milli);
    }
    return least;
  }
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
