#include "adapters/inprocess/books.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace muster::inprocess {

Books::Books(uint32_t kinds, ResourceKind device_kind)
    : kinds_(kinds), device_kind_(device_kind) {
  totals_.capacity.assign(kinds, 0);
  totals_.used.assign(kinds, 0);
}

void Books::Sum(const Entry& e, int sign) {
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

uint32_t Books::Upsert(const Node& node) {
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

uint32_t Books::Find(std::string_view key) const {
  const auto it = index_.find(std::string(key));
  return it == index_.end() ? kNoNode : it->second;
}

void Books::SetUp(uint32_t node, bool up) {
  Entry& e = nodes_[node];
  Sum(e, -1);
  e.up = up;
  Sum(e, 1);
}

void Books::SetOthers(uint32_t node, const OtherUsage& usage) {
  Entry& e = nodes_[node];
  Sum(e, -1);
  for (int sign : {-1, 1}) {
    if (sign == 1) e.others = usage;
    for (ResourceKind k = 0; k < kinds_; ++k) {
      if (k != device_kind_) e.used[k] += sign * e.others.amount[k];
    }
    for (const DeviceShare& s : e.others.devices) {
      if (s.device >= e.devices.size()) continue;
      e.devices[s.device].milli += sign * s.milli;
      e.devices[s.device].memory += sign * s.memory_bytes;
    }
  }
  Sum(e, 1);
}

// As device.h has it: each form of a share counts in the other, rounded down.
Books::DeviceUse Books::ShareOf(const Device& device,
                                const DeviceRequest& request) {
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

std::optional<uint64_t> Books::Pick(uint32_t node, const DeviceRequest& request,
                                    uint64_t avoid) const {
  const Entry& e = nodes_[node];
  uint64_t picked = 0;
  for (uint32_t n = 0; n < request.count; ++n) {
    int best = -1;
    auto rank = [&](size_t i) {
      return std::pair((avoid >> i & 1) == 0, e.devices[i].milli);
    };
    for (size_t i = 0; i < e.node.devices.size(); ++i) {
      const Device& d = e.node.devices[i];
      if ((picked >> i & 1) != 0 || !d.healthy) continue;
      if (!request.models.empty() &&
          std::ranges::find(request.models, d.model) == request.models.end()) {
        continue;
      }
      const DeviceUse share = ShareOf(d, request);
      if (e.devices[i].milli + share.milli > kWholeDevice) continue;
      if (share.memory + e.devices[i].memory > d.memory_bytes &&
          request.memory_bytes > 0) {
        continue;
      }
      if (best < 0 || rank(i) > rank(static_cast<size_t>(best))) {
        best = static_cast<int>(i);
      }
    }
    if (best < 0) return std::nullopt;
    picked |= uint64_t{1} << best;
  }
  return picked;
}

bool Books::HasRoom(const Entry& e, const TaskShape& shape,
                    uint64_t devices) const {
  for (ResourceKind k = 0; k < kinds_; ++k) {
    if (k == device_kind_ || shape.resources[k] == 0) continue;
    if (e.used[k] + shape.resources[k] > e.node.capacity[k]) return false;
  }
  for (uint64_t rest = devices; rest != 0; rest &= rest - 1) {
    const size_t i = static_cast<size_t>(std::countr_zero(rest));
    if (i >= e.node.devices.size()) return false;
    const DeviceUse share = ShareOf(e.node.devices[i], shape.devices);
    if (e.devices[i].milli + share.milli > kWholeDevice) return false;
  }
  return static_cast<uint32_t>(std::popcount(devices)) == shape.devices.count;
}

void Books::Use(Entry& e, const TaskShape& shape, uint64_t devices, int sign) {
  Sum(e, -1);
  for (ResourceKind k = 0; k < shape.resources.size(); ++k) {
    e.used[k] += sign * shape.resources[k];
  }
  for (uint64_t rest = devices; rest != 0; rest &= rest - 1) {
    const size_t i = static_cast<size_t>(std::countr_zero(rest));
    if (i >= e.node.devices.size()) continue;
    const DeviceUse share = ShareOf(e.node.devices[i], shape.devices);
    e.devices[i].milli += sign * share.milli;
    e.devices[i].memory += sign * share.memory;
  }
  Sum(e, 1);
}

bool Books::Charge(uint32_t node, const TaskShape& shape, uint64_t devices) {
  Entry& e = nodes_[node];
  const bool room = HasRoom(e, shape, devices);
  Use(e, shape, devices, 1);
  ++e.tasks;
  return room;
}

void Books::Credit(uint32_t node, const TaskShape& shape, uint64_t devices) {
  Entry& e = nodes_[node];
  Use(e, shape, devices, -1);
  --e.tasks;
}

std::string Books::FirstInUse() const {
  for (const Entry& e : nodes_) {
    bool used = e.tasks != 0;
    for (ResourceKind k = 0; k < kinds_; ++k) {
      if (k != device_kind_) used |= e.used[k] != e.others.amount[k];
    }
    if (used) return e.node.key;
  }
  return {};
}

}  // namespace muster::inprocess
