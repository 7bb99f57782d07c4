#include "lib/scheduler/real_place.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/node_changes.h"

namespace muster {
namespace {

DeviceSet GuessDevices(const Cluster& cluster, NodeIndex n, uint32_t count) {
  std::vector<uint32_t> all(cluster.node(n).devices.size());
  std::iota(all.begin(), all.end(), 0);
  std::ranges::stable_sort(all, std::greater(), [&](uint32_t d) {
    return cluster.free_milli(n, d, Ledger::kNow);
  });
  DeviceSet chosen;
  // Those that the node has lost since are numbered after those it has.
  for (uint32_t d = cluster.node(n).devices.size(); d < count; ++d)
    chosen.Insert(d);
  all.resize(std::min<size_t>(count, all.size()));
  for (const uint32_t d : all) chosen.Insert(d);
  return chosen;
}

// The first free place for the partition: on this device, or on any if the
// device is not known yet.
void GuessPartition(const Cluster& cluster, Allocation* at) {
  std::vector<Allocation> places;
  cluster.PartitionPlaces(at->node, at->shape, Ledger::kNow, &places);
  for (const Allocation& place : places) {
    if (at->devices.empty() || place.devices == at->devices) {
      *at = place;
      return;
    }
  }
}

}  // namespace

void FillIn(const Cluster& cluster, const Allocation& recorded,
            std::optional<uint32_t> first_slice, Allocation* at) {
  const DeviceRequest& request = cluster.device_request(at->shape);
  if (request.count == 0) return;
  const bool same = at->node == recorded.node;
  if (at->devices.empty() && same) at->devices = recorded.devices;
  if (request.partition.empty()) {
    if (at->devices.empty()) {
      at->devices = GuessDevices(cluster, at->node, request.count);
    }
    return;
  }
  at->first_slice = 0;
  if (first_slice.has_value()) {
    at->first_slice = *first_slice;
  } else if (same && at->devices == recorded.devices) {
    at->first_slice = recorded.first_slice;
  } else {
    GuessPartition(cluster, at);
  }
  if (at->devices.empty()) at->devices = GuessDevices(cluster, at->node, 1);
}

absl::Status CheckFirstSlice(const Cluster& cluster, const std::string& field,
                             ShapeId shape,
                             std::optional<uint32_t> first_slice) {
  return Require(!first_slice.has_value() ||
                     !cluster.device_request(shape).partition.empty(),
                 field, ".first_slice: the task has no partition");
}

absl::Status CheckPlace(const Cluster& cluster, const std::string& field,
                        const Allocation& at) {
  const DeviceRequest& request = cluster.device_request(at.shape);
  const uint32_t has = at.devices.size();
  if (has != request.count) {
    return Invalid(field, ".devices: are ", has, "; the task has ",
                   request.count);
  }
  return Require(at.first_slice == 0 || !request.partition.empty(), field,
                 ".first_slice: ", at.first_slice,
                 "; the task has no partition");
}

absl::Status AddUse(const SchedulerConfig& config, const Cluster& cluster,
                    const std::string& field, ShapeId shape, Resources* sum) {
  sum->Add(cluster.demand(shape));
  for (ResourceKind k = 0; k < sum->size(); ++k) {
    if ((*sum)[k] > Resources::kMaxTotal) {
      return Invalid(field, ": all tasks use more than 2^62 ",
                     config.resources[k], " with it");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceSet> NamedDevices(const std::string& field,
                                       const Node& node, uint32_t wanted,
                                       std::span<const uint32_t> devices,
                                       const DeviceSet& recorded) {
  DeviceSet set;
  for (uint32_t d : devices) {
    if (d >= node.devices.size() && !recorded.Contains(d)) {
      return Invalid(field, ".devices: ", d, " is not one of node '", node.key,
                     "', which has ", node.devices.size());
    }
    set.Insert(d);
  }
  const uint32_t named = set.size();
  if (named == devices.size() && (named == 0 || named == wanted)) return set;
  return Invalid(field, ".devices: names ", named, " different devices; ",
                 "the task has ", wanted);
}

absl::StatusOr<Allocation> RealPlace(const SchedulerTables& tables,
                                     const GangRecord& r,
                                     const Allocation& planned,
                                     const TaskAnswer& answer) {
  Allocation real = planned;
  if (!answer.node.empty()) {
    MUSTER_ASSIGN_OR_RETURN(real.node, NodeNamed(tables, answer.node));
  }
  const std::string field = absl::StrCat("gang '", r.key, "'");
  const Node& node = tables.cluster.node(real.node);
  const uint32_t wanted = tables.cluster.device_request(planned.shape).count;
  const bool moved = real.node != planned.node;
  MUSTER_ASSIGN_OR_RETURN(const DeviceSet named,
                          NamedDevices(field, node, wanted, answer.devices,
                                       moved ? DeviceSet() : planned.devices));
  if (!named.empty() || moved) real.devices = named;
  MUSTER_RETURN_IF_ERROR(
      CheckFirstSlice(tables.cluster, field, real.shape, answer.first_slice));
  FillIn(tables.cluster, planned, answer.first_slice, &real);
  return real;
}

}  // namespace muster
