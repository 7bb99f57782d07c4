// The part of Ledgers that follows what hosts say of their nodes.

#include <algorithm>
#include <map>

#include "absl/strings/str_format.h"
#include "lib/cluster/ledgers.h"

namespace muster {
namespace {

// Devices of one island (or NUMA node) get one number, by lowest device; one of
// which it is not known is alone. All are together where none is known.
std::vector<uint8_t> GroupNumbers(const std::vector<Device>& devices,
                                  int32_t Device::* place) {
  std::vector<uint8_t> numbers(devices.size(), 0);
  if (std::ranges::all_of(devices, [](int32_t p) { return p < 0; }, place)) {
    return numbers;
  }
  std::map<int64_t, uint8_t> number_of;
  for (size_t d = 0; d < devices.size(); ++d) {
    const int64_t known = devices[d].*place;
    const int64_t group = known >= 0 ? known : -1 - static_cast<int64_t>(d);
    const auto next = static_cast<uint8_t>(number_of.size());
    numbers[d] = number_of.try_emplace(group, next).first->second;
  }
  return numbers;
}

}  // namespace

void Ledgers::SetNode(NodeIndex n, const Node& node,
                      const ExternalUsage& external) {
  if (n >= nodes_.size()) {
    nodes_.resize(n + 1);
    charges_.resize(nodes_.size());
    capacity_.resize(nodes_.size() * kinds_, 0);
    free_.resize(2 * nodes_.size() * kinds_, 0);
  }
  PostExternalUsage(n, external, -1);
  for (ResourceKind k = 0; k < kinds_; ++k) {
    const size_t i = size_t{n} * kinds_ + k;
    const int64_t capacity =
        k == device_kind_
            ? kWholeDevice * static_cast<int64_t>(node.devices.size())
        : k == node_kind_ ? kWholeNode
                          : node.capacity[k];
    for (const size_t l : {kNow, kLater}) {
      Row(n, l)[k] += capacity - capacity_[i];
    }
    capacity_[i] = capacity;
  }
  SetDevices(n, node.devices);
  PostExternalUsage(n, external, 1);
}

void Ledgers::ClearNode(NodeIndex n) {
  SetDevices(n, {});
  nodes_[n] = {};
  charges_[n] = {};
  for (ResourceKind k = 0; k < kinds_; ++k) {
    capacity_[size_t{n} * kinds_ + k] = 0;
    Row(n, kNow)[k] = Row(n, kLater)[k] = 0;
  }
}

void Ledgers::Resize(NodeIndex n, uint32_t device_count) {
  NodeBook& node = nodes_[n];
  if (node.count == device_count) return;
  const uint32_t old_first = node.first;
  const uint32_t old_count = node.count;
  auto& unused = unused_[device_count];
  if (device_count == 0) {
    node.first = 0;
  } else if (!unused.empty()) {
    node.first = unused.back();
    unused.pop_back();
  } else {
    node.first = static_cast<uint32_t>(devices_.size());
    devices_.resize(devices_.size() + device_count);
  }
  node.count = device_count;
  if (device_count > kBits && n >= beyond_.size()) beyond_.resize(n + 1);
  if (device_count <= kBits && n < beyond_.size()) beyond_[n] = {};
  for (uint32_t d = 0; d < device_count; ++d) {
    At(n, d) = d < old_count ? devices_[old_first + d] : DeviceBook{};
    if (d >= old_count) At(n, d).rest.fill({kWholeDevice, 0});
  }
  if (old_count > 0) unused_[old_count].push_back(old_first);
}

void Ledgers::SetDevices(NodeIndex n, const std::vector<Device>& devices) {
  Resize(n, static_cast<uint32_t>(devices.size()));
  const auto islands = GroupNumbers(devices, &Device::island);
  const auto numa = GroupNumbers(devices, &Device::numa);
  NodeBook& node = nodes_[n];
  DeviceSet healthy;
  node.one_model = true;
  node.islands = node.numa = 0;
  for (uint32_t d = 0; d < devices.size(); ++d) {
    const Device& device = devices[d];
    DeviceBook& book = At(n, d);
    for (DevicePart& rest : book.rest) {
      rest.memory += device.memory_bytes - book.memory;
    }
    book.memory = device.memory_bytes;
    book.model = ModelNumber(device.model);
    book.island = islands[d];
    book.numa = numa[d];
    node.islands = std::max<uint8_t>(node.islands, islands[d] + 1);
    node.numa = std::max<uint8_t>(node.numa, numa[d] + 1);
    book.rail = static_cast<int8_t>(device.rail);
    has_rails_ |= device.rail >= 0;
    node.one_model &= book.model == At(n, 0).model;
    if (device.healthy) healthy.Insert(d);
  }
  Scatter(n, healthy, [](DeviceBits& b) -> auto& { return b.healthy; });
  if (!partition_table_.empty()) SetPartitions(n, devices);
  SumDevices(n);
}

void Ledgers::SumDevices(NodeIndex n) {
  for (const size_t l : {kNow, kLater}) {
    const auto taken = [l](auto& b) -> auto& { return b.taken[l]; };
    Scatter(n, Gather(n, taken) & All(n), taken);
    DeviceSet unshared;
    int64_t milli = 0;
    for (uint32_t d = 0; d < nodes_[n].count; ++d) {
      const DeviceBook& book = At(n, d);
      if (book.rest[l] == Whole(book)) unshared.Insert(d);
      if (Has(Bits(n, d).healthy, d)) milli += RawFree(n, d, l).milli;
    }
    Scatter(n, unshared, [l](DeviceBits& b) -> auto& { return b.unshared[l]; });
    if (CountsDevices()) Row(n, l)[device_kind_] = milli;
  }
}

bool Ledgers::SetExternalUsage(NodeIndex n, const ExternalUsage& before,
                               const ExternalUsage& after) {
  PostExternalUsage(n, before, -1);
  PostExternalUsage(n, after, 1);
  return !before.amount.FitsIn(after.amount) ||
         (!before.devices.empty() && before.devices != after.devices);
}

void Ledgers::PostExternalUsage(NodeIndex n, const ExternalUsage& external,
                                int sign) {
  for (const size_t l : {kNow, kLater}) {
    for (ResourceKind k = 0; k < kinds_; ++k) {
      if (k == device_kind_) continue;
      Row(n, l)[k] -= sign * external.amount[k];
    }
    for (const DeviceShare& share : external.devices) {
      if (share.device >= nodes_[n].count) continue;
      if (share.partition.empty()) {
        PostDevice(n, share.device, ExternalShare(n, share), l, sign);
      } else {
        PostPartition(n, share.device, partition_table_.Find(share.partition),
                      share.first_slice, l, sign);
      }
    }
  }
}

// A host that gives one measure only means the other in proportion.
DevicePart Ledgers::ExternalShare(NodeIndex n, const DeviceShare& share) const {
  const int64_t all = At(n, share.device).memory;
  DevicePart taken{share.milli, share.memory_bytes};
  if (taken.memory == 0) {
    taken.memory = MemoryOf(taken.milli, all);
  } else if (taken.milli == 0) {
    taken.milli = MilliOf(taken.memory, all);
  }
  return taken;
}

absl::Status Ledgers::Validate(NodeIndex n, const Node& node,
                               const ExternalUsage& external) const {
  Ledgers fresh(kinds_, device_kind_, node_kind_, partition_table_.schemes());
  fresh.SetNode(0, node, {});
  fresh.SetExternalUsage(0, {}, external);
  for (const size_t l : {kNow, kLater}) {
    const int32_t charges = charges_[n][l];
    if (charges < 0) {
      return absl::InternalError(
          absl::StrFormat("%s: more credited than charged", node.key));
    }
    for (ResourceKind k = 0; k < kinds_; ++k) {
      const int64_t have = Row(n, l)[k];
      const int64_t most = fresh.Row(0, l)[k];
      if (fresh.capacity_[k] != capacity(n, k) || have > most ||
          (charges == 0 && have != most)) {
        return absl::InternalError(absl::StrFormat(
            "%s: kind %u, ledger %u: %d free of %d, expected %s %d", node.key,
            k, l, have, capacity(n, k), charges == 0 ? "" : "at most", most));
      }
    }
    for (uint32_t d = 0; d < node.devices.size(); ++d) {
      const DevicePart have = RawFree(n, d, l);
      const DevicePart most = fresh.RawFree(0, d, l);
      if (have.milli > most.milli || have.memory > most.memory ||
          (charges == 0 && !(have == most))) {
        return absl::InternalError(absl::StrFormat(
            "%s: device %u, ledger %u: more is free than there is", node.key, d,
            l));
      }
    }
  }
  absl::Status status = ValidatePartitions(n, node, fresh);
  return status.ok() ? ValidateDevices(n, node) : status;
}

absl::Status Ledgers::ValidateDevices(NodeIndex n, const Node& node) const {
  Ledgers copy(kinds_, device_kind_, node_kind_, partition_table_.schemes());
  copy.SetNode(0, node, {});
  for (uint32_t d = 0; d < node.devices.size(); ++d) {
    copy.At(0, d).rest = At(n, d).rest;
    copy.Bits(0, d).taken = Bits(n, d).taken;
  }
  if (n < partitions_.size()) copy.partitions_ = {partitions_[n]};
  copy.SetDevices(0, node.devices);
  bool equal = copy.nodes_[0].one_model == nodes_[n].one_model;
  for (uint32_t d = 0; d == 0 || d < node.devices.size(); d += kBits) {
    equal &= copy.Bits(0, d) == Bits(n, d);
  }
  for (const size_t l : {kNow, kLater}) {
    if (!CountsDevices()) continue;
    equal &= copy.Row(0, l)[device_kind_] == Row(n, l)[device_kind_];
  }
  return equal ? absl::OkStatus()
               : absl::InternalError(absl::StrFormat(
                     "%s: sums over devices are off", node.key));
}

}  // namespace muster
