// Where tasks really are, from what a host says of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/cluster/cluster.h"
#include "lib/scheduler/scheduler_tables.h"
#include "muster/event.h"

namespace muster {

// Fills in what the host did not report, the task's devices (at->devices is
// empty) or first_slice: as recorded on the same node; else the devices with
// the most room, which fits if anything does, and a partition where there is
// room. Of a node that has fewer than the task asks for: numbers after its own,
// too; it has lost them since.
void FillIn(const Cluster& cluster, const Allocation& recorded,
            std::optional<uint32_t> first_slice, Allocation* at);

// If a first_slice is named, the shape asks for a partition.
absl::Status CheckFirstSlice(const Cluster& cluster, const std::string& field,
                             ShapeId shape,
                             std::optional<uint32_t> first_slice);

// The devices as a set: there are such on the node, or were when the task was
// `recorded` there with them; each is named once, and they are as many as
// wanted, or none is named.
absl::StatusOr<DeviceSet> NamedDevices(const std::string& field,
                                       const Node& node, uint32_t wanted,
                                       std::span<const uint32_t> devices,
                                       const DeviceSet& recorded);

// Where a started task really is. An answer without a node means as planned.
absl::StatusOr<Allocation> RealPlace(const SchedulerTables& tables,
                                     const GangRecord& r,
                                     const Allocation& planned,
                                     const TaskAnswer& answer);

// As many devices as the task asks for; the node may have lost them since.
absl::Status CheckPlace(const Cluster& cluster, const std::string& field,
                        const Allocation& at);

// Adds what a task of the shape uses to what other tasks do: an error if all
// use more than Resources::kMaxTotal of a kind.
absl::Status AddUse(const SchedulerConfig& config, const Cluster& cluster,
                    const std::string& field, ShapeId shape, Resources* sum);

}  // namespace muster
