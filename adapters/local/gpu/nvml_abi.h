// What is used of NVML's interface, as NVIDIA's "NVML API Reference" tells it.
// The library is loaded at run time: it comes with the driver, and machines
// without one build and run Muster as well.
#pragma once

#include <cstdint>

namespace muster::local::nvml {

using Result = int;  // nvmlReturn_t.
inline constexpr Result kSuccess = 0;
inline constexpr Result kNotSupported = 3;
inline constexpr Result kNotFound = 6;
inline constexpr Result kInsufficientSize = 7;

using Device = struct DeviceHandle*;           // nvmlDevice_t.
using Instance = struct GpuInstanceHandle*;    // nvmlGpuInstance_t.
inline constexpr uint32_t kUuidSize = 96;      // NVML_DEVICE_UUID_V2_...
inline constexpr uint32_t kNameSize = 96;      // NVML_DEVICE_NAME_V2_...
inline constexpr uint32_t kP2pOverNvlink = 2;  // NVML_P2P_CAPS_INDEX_NVLINK.
inline constexpr int kP2pOk = 0;               // NVML_P2P_STATUS_OK.
inline constexpr uint64_t kNotTold = ~0ull;    // NVML_VALUE_NOT_AVAILABLE.

struct Memory {  // nvmlMemory_t.
  unsigned long long total, free, used;
};

struct PciInfo {  // nvmlPciInfo_t.
  char legacy_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};

struct Process {  // nvmlProcessInfo_t, of the functions with _v3.
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};

struct InstanceInfo {  // nvmlGpuInstanceInfo_t.
  Device device;
  unsigned id, profile, start, size;
};

}  // namespace muster::local::nvml
