// What pods ask of GPUs. Pure functions: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "muster/device.h"

namespace muster::translate {

// A part of each of some devices: a share of its time, or of its memory.
struct GpuShare {
  int64_t devices = 1;
  int64_t milli = kWholeDevice;         // Of each; where no memory is asked.
  std::optional<int64_t> memory_mib{};  // Of each.
};

// What one pod asks for.
struct GpuAsk {
  // The extended resource, in thousandths: whole GPUs, or less than one.
  int64_t milli = 0;
  std::optional<GpuShare> share{};
};

// UNIMPLEMENTED for what the library has no word for: whole devices beside
// shares, one and a half devices.
absl::StatusOr<DeviceRequest> ToDeviceRequest(const GpuAsk& ask);

// The number of GPU slices in a partition's resource name:
// "nvidia.com/mig-3g.40gb": 3; 0 for any other name.
int64_t MigSlices(std::string_view resource);

}  // namespace muster::translate
