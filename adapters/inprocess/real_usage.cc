#include "adapters/inprocess/real_usage.h"

#include <algorithm>
#include <utility>

namespace muster::inprocess {

RealUsage::RealUsage(uint32_t kinds, ResourceKind device_kind,
                     std::vector<PartitionScheme> schemes)
    : kinds_(kinds), device_kind_(device_kind), schemes_(std::move(schemes)) {
  totals_.capacity.assign(kinds, 0);
  totals_.used.assign(kinds, 0);
}

void RealUsage::Sum(const Entry& e, int sign) {
  if (!e.up) return;
  for (ResourceKind k = 0; k < kinds_; ++k) {
    if (k == device_kind_) continue;
    totals_.capacity[k] += sign * e.node.capacity[k];
    totals_.used[k] += sign * e.used[k];
  }
  if (device_kind_ >= kinds_) return;
  int64_t whole = 0;
  for (const DeviceUse& d : e.devices) {
    const int64_t used = std::min<int64_t>(d.milli, kWholeDevice);
    totals_.used[device_kind_] += sign * d.milli;
    totals_.free_milli += sign * (kWholeDevice - used);
    if (used == 0) {
      ++whole;
    } else {
      totals_.partly_free_milli += sign * (kWholeDevice - used);
    }
  }
  const int64_t count = static_cast<int64_t>(e.devices.size());
  totals_.capacity[device_kind_] += sign * count * kWholeDevice;
  totals_.whole_free += sign * whole;
  if (whole == count) totals_.whole_on_free_node += sign * whole;
}

uint32_t RealUsage::Upsert(const Node& node) {
  auto [it, fresh] =
      index_.try_emplace(node.key, static_cast<uint32_t>(nodes_.size()));
  if (fresh) {
    nodes_.emplace_back();
    nodes_.back().used.assign(kinds_, 0);
  } else {
    Sum(nodes_[it->second], -1);
  }
  Entry& e = nodes_[it->second];
  e.node = node;
  e.devices.resize(std::max(e.devices.size(), node.devices.size()));
  Sum(e, 1);
  return it->second;
}

uint32_t RealUsage::Find(std::string_view key) const {
  const auto it = index_.find(std::string(key));
  return it == index_.end() ? kNoNode : it->second;
}

void RealUsage::SetUp(uint32_t node, bool up) {
  Entry& e = nodes_[node];
  Sum(e, -1);
  e.up = up;
  Sum(e, 1);
}

void RealUsage::SetExternalUsage(uint32_t node, const ExternalUsage& usage) {
  Entry& e = nodes_[node];
  Sum(e, -1);
  for (int sign : {-1, 1}) {
    if (sign == 1) e.external = usage;
    for (ResourceKind k = 0; k < kinds_; ++k) {
      if (k != device_kind_) e.used[k] += sign * e.external.amount[k];
    }
    for (const DeviceShare& s : e.external.devices) {
      if (s.device >= e.devices.size()) continue;
      Use(e.devices[s.device], ShareOf(e.node.devices[s.device], s), sign);
    }
  }
  Sum(e, 1);
}

const PartitionProfile* RealUsage::ProfileOn(const Device& device,
                                             const std::string& profile) const {
  for (const PartitionScheme& scheme : schemes_) {
    if (scheme.key == device.partition_scheme) {
      return FindProfile(scheme, profile);
    }
  }
  return nullptr;
}

// As device.h has it: each form of a share counts in the other, rounded down.
RealUsage::DeviceUse RealUsage::ShareOf(const Device& device,
                                        const DeviceRequest& request,
                                        uint32_t first_slice) const {
  if (!request.partition.empty()) {
    return ShareOf(
        device, {.partition = request.partition, .first_slice = first_slice});
  }
  if (request.memory_bytes > 0) {
    const int64_t milli =
        device.memory_bytes > 0
            ? kWholeDevice * request.memory_bytes / device.memory_bytes
            : kWholeDevice;
    return {.milli = milli, .memory = request.memory_bytes};
  }
  return {.milli = request.milli,
          .memory = request.milli * device.memory_bytes / kWholeDevice};
}

// A partition that the device cannot have takes all of it; who gives one
// measure alone means the other in proportion.
RealUsage::DeviceUse RealUsage::ShareOf(const Device& device,
                                        const DeviceShare& share) const {
  if (share.partition.empty()) {
    if (share.milli == 0 || share.memory_bytes == 0) {
      return ShareOf(device,
                     {.milli = share.milli, .memory_bytes = share.memory_bytes},
                     0);
    }
    return {.milli = share.milli, .memory = share.memory_bytes};
  }
  const PartitionProfile* profile = ProfileOn(device, share.partition);
  if (profile == nullptr) {
    return {.milli = kWholeDevice, .memory = device.memory_bytes};
  }
  return {.milli = profile->milli,
          .memory = 0,
          .slices = ((1u << profile->memory_slices) - 1) << share.first_slice};
}

int64_t RealUsage::ExternalMilli(uint32_t node) const {
  const Entry& e = nodes_[node];
  int64_t sum = 0;
  for (const DeviceShare& s : e.external.devices) {
    if (s.device >= e.node.devices.size()) continue;
    sum += ShareOf(e.node.devices[s.device], s).milli;
  }
  return sum;
}

void RealUsage::Use(DeviceUse& of, const DeviceUse& share, int sign) {
  of.milli += sign * share.milli;
  of.memory += sign * share.memory;
  of.slices = sign > 0 ? of.slices | share.slices : of.slices & ~share.slices;
}

bool RealUsage::HasRoom(const Entry& e, size_t device,
                        const DeviceRequest& request,
                        uint32_t first_slice) const {
  const Device& d = e.node.devices[device];
  const DeviceUse& use = e.devices[device];
  const DeviceUse share = ShareOf(d, request, first_slice);
  if (use.milli + share.milli > kWholeDevice) return false;
  if (request.memory_bytes > 0 && use.memory + share.memory > d.memory_bytes) {
    return false;
  }
  if (request.partition.empty()) {
    return use.slices == 0 && d.partitions.empty();
  }
  const bool shared = use.slices == 0 && use.milli > 0;
  return share.slices != 0 && !shared && (use.slices & share.slices) == 0;
}

std::optional<uint32_t> RealUsage::FirstSliceOn(
    const Entry& e, size_t device, const DeviceRequest& request) const {
  if (request.partition.empty()) {
    if (HasRoom(e, device, request, 0)) return 0;
    return std::nullopt;
  }
  const Device& d = e.node.devices[device];
  const PartitionProfile* profile = ProfileOn(d, request.partition);
  if (profile == nullptr) return std::nullopt;
  for (const uint32_t start : profile->starts) {
    const bool there =
        d.partitions.empty() ||
        std::ranges::find(d.partitions,
                          DevicePartition{profile->name, start}) !=
            d.partitions.end();
    if (there && HasRoom(e, device, request, start)) return start;
  }
  return std::nullopt;
}

std::optional<RealUsage::Place> RealUsage::Pick(uint32_t node,
                                                const DeviceRequest& request,
                                                DeviceSet avoid) const {
  const Entry& e = nodes_[node];
  Place picked;
  for (uint32_t n = 0; n < request.count; ++n) {
    std::optional<uint32_t> best;
    auto rank = [&](uint32_t i) {
      return std::pair(!avoid.Contains(i), e.devices[i].milli);
    };
    for (uint32_t i = 0; i < e.node.devices.size(); ++i) {
      const Device& d = e.node.devices[i];
      if (picked.devices.Contains(i) || !d.healthy) continue;
      if (!request.models.empty() &&
          std::ranges::find(request.models, d.model) == request.models.end()) {
        continue;
      }
      const std::optional<uint32_t> first_slice = FirstSliceOn(e, i, request);
      if (!first_slice.has_value()) continue;
      if (!best.has_value() || rank(i) > rank(*best)) {
        best = i;
        picked.first_slice = *first_slice;
      }
    }
    if (!best.has_value()) return std::nullopt;
    picked.devices.Insert(*best);
  }
  return picked;
}

bool RealUsage::HasRoom(const Entry& e, const TaskShape& shape,
                        Place place) const {
  if (e.whole > 0 || (shape.whole_node && e.tasks > 0)) return false;
  for (ResourceKind k = 0; k < kinds_; ++k) {
    if (k == device_kind_ || shape.resources[k] == 0) continue;
    if (e.used[k] + shape.resources[k] > e.node.capacity[k]) return false;
  }
  for (const uint32_t i : place.devices) {
    if (i >= e.node.devices.size()) return false;
    if (!HasRoom(e, i, shape.devices, place.first_slice)) return false;
  }
  return place.devices.size() == shape.devices.count;
}

void RealUsage::Use(Entry& e, const TaskShape& shape, Place place, int sign) {
  Sum(e, -1);
  for (ResourceKind k = 0; k < shape.resources.size(); ++k) {
    e.used[k] += sign * shape.resources[k];
  }
  for (const uint32_t i : place.devices) {
    if (i >= e.node.devices.size()) break;
    Use(e.devices[i],
        ShareOf(e.node.devices[i], shape.devices, place.first_slice), sign);
  }
  Sum(e, 1);
}

bool RealUsage::Charge(uint32_t node, const TaskShape& shape, Place place) {
  Entry& e = nodes_[node];
  const bool room = HasRoom(e, shape, place);
  Use(e, shape, place, 1);
  ++e.tasks;
  e.whole += shape.whole_node;
  return room;
}

void RealUsage::Credit(uint32_t node, const TaskShape& shape, Place place) {
  Entry& e = nodes_[node];
  Use(e, shape, place, -1);
  --e.tasks;
  e.whole -= shape.whole_node;
}

bool RealUsage::Keep(uint32_t node, const Resources& amounts, int sign) {
  Entry& e = nodes_[node];
  const TaskShape kept{.resources = amounts};
  const bool room = HasRoom(e, kept, {});
  Use(e, kept, {}, sign);
  return room;
}

std::string RealUsage::FirstInUse() const {
  for (const Entry& e : nodes_) {
    bool used = e.tasks != 0;
    for (ResourceKind k = 0; k < kinds_; ++k) {
      if (k != device_kind_) used |= e.used[k] != e.external.amount[k];
    }
    if (used) return e.node.key;
  }
  return {};
}

}  // namespace muster::inprocess
