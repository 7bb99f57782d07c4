#include "adapters/local/gpu/inventory.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace muster::local {
namespace {

// "80gb" of a GPU whose memory is about that, though its name does not say so.
bool TellsMemory(absl::string_view word, int64_t bytes) {
  constexpr double kGigabyte = 1e9, kAbout = 0.1;
  int64_t size = 0;
  if (!absl::ConsumeSuffix(&word, "gb") || !absl::SimpleAtoi(word, &size)) {
    return false;
  }
  const auto told = static_cast<double>(size);
  return std::abs(static_cast<double>(bytes) / kGigabyte - told) <=
         kAbout * told;
}

// By its key: "h100-80gb" is for any H100 of about 80 GB.
bool IsFor(const PartitionScheme& scheme, const Gpu& gpu) {
  const std::vector<std::string> words =
      absl::StrSplit(absl::AsciiStrToLower(scheme.key), '-');
  const std::string model = absl::AsciiStrToLower(gpu.model);
  return std::ranges::all_of(words, [&](const std::string& word) {
    return absl::StrContains(model, word) ||
           TellsMemory(word, gpu.memory_bytes);
  });
}

bool HasAll(const PartitionScheme& scheme, const Gpu& gpu) {
  return std::ranges::all_of(gpu.instances, [&](const GpuInstance& instance) {
    const PartitionProfile* profile = FindProfile(scheme, instance.profile);
    return profile != nullptr &&
           std::ranges::find(profile->starts, instance.start) !=
               profile->starts.end();
  });
}

}  // namespace

std::vector<Device> ToDevices(std::span<const Gpu> gpus,
                              std::span<const PartitionScheme> schemes) {
  std::vector<Device> devices;
  for (const Gpu& gpu : gpus) {
    Device& device = devices.emplace_back();
    device.model = gpu.model;
    device.memory_bytes = gpu.memory_bytes;
    device.island = gpu.island;
    device.numa = gpu.numa;
    device.healthy = !gpu.missing;
    if (!gpu.mig) continue;
    const auto scheme = std::ranges::find_if(schemes, [&](const auto& s) {
      return IsFor(s, gpu) && HasAll(s, gpu);
    });
    const bool can_run = scheme != schemes.end() && !gpu.instances.empty();
    device.healthy = can_run && !gpu.missing;
    if (!can_run) continue;
    device.partition_scheme = scheme->key;
    for (const GpuInstance& instance : gpu.instances) {
      device.partitions.push_back({instance.profile, instance.start});
    }
  }
  return devices;
}

ExternalUsage UsedByOthers(const std::string& node, std::span<const Gpu> gpus,
                           const std::function<bool(uint32_t)>& is_ours) {
  ExternalUsage usage{.node = node};
  for (uint32_t i = 0; i < gpus.size(); ++i) {
    const bool used = std::ranges::any_of(
        gpus[i].processes,
        [&](const GpuProcess& process) { return !is_ours(process.pid); });
    if (used) {
      usage.devices.push_back({.device = i,
                               .milli = kWholeDevice,
                               .memory_bytes = gpus[i].memory_bytes});
    }
  }
  return usage;
}

absl::StatusOr<std::string> VisibleDevices(
    std::span<const Gpu> gpus, std::span<const DeviceShare> shares) {
  std::vector<std::string> uuids;
  for (const DeviceShare& share : shares) {
    if (share.device >= gpus.size()) {
      return absl::InternalError(
          absl::StrCat("GPU ", share.device, " of ", gpus.size()));
    }
    const Gpu& gpu = gpus[share.device];
    if (gpu.missing) {
      return absl::InternalError(absl::StrCat(
          "GPU ", share.device, " (", gpu.uuid, ") is not there any more"));
    }
    if (share.partition.empty()) {
      uuids.push_back(gpu.uuid);
      continue;
    }
    const auto instance =
        std::ranges::find_if(gpu.instances, [&](const GpuInstance& candidate) {
          return candidate.profile == share.partition &&
                 candidate.start == share.first_slice;
        });
    if (instance == gpu.instances.end()) {
      return absl::InternalError(absl::StrCat(gpu.uuid, " has no instance ",
                                              share.partition, " at slice ",
                                              share.first_slice));
    }
    uuids.push_back(instance->uuid);
  }
  return absl::StrJoin(uuids, ",");
}

}  // namespace muster::local
