// GPUs of a machine as devices of a node, and what a task is told of them. Pure
// functions: any thread.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/local/gpu/gpu.h"
#include "muster/device.h"
#include "muster/node.h"
#include "muster/partition.h"

namespace muster::local {

// In the same order. One in MIG mode is cut as it is, by the first of `schemes`
// that is for its model and memory and has all of its instances where they are;
// if there is none, or it has no instances, nothing can run on it: it is not
// healthy. Nor is one that is missing. O(GPUs x schemes x profiles).
std::vector<Device> ToDevices(std::span<const Gpu> gpus,
                              std::span<const PartitionScheme> schemes);

// The GPUs on which processes run of which `is_ours` says no: they are in use
// as a whole, by somebody else. O(processes).
ExternalUsage UsedByOthers(const std::string& node, std::span<const Gpu> gpus,
                           const std::function<bool(uint32_t pid)>& is_ours);

// CUDA_VISIBLE_DEVICES of a task that holds these: UUIDs, which mean the same
// in any order in which CUDA numbers GPUs; "" is none. INTERNAL: a GPU or an
// instance is not there, or missing. O(shares).
absl::StatusOr<std::string> VisibleDevices(std::span<const Gpu> gpus,
                                           std::span<const DeviceShare> shares);

}  // namespace muster::local
