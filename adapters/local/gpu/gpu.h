// Gpu: a GPU of this machine, as its driver tells of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::local {

// A process that computes on a GPU, whoever started it.
struct GpuProcess {
  uint32_t pid = 0;
  int64_t memory_bytes = 0;  // 0: the driver does not tell.

  friend bool operator==(const GpuProcess&, const GpuProcess&) = default;
};

// An instance that a GPU in MIG mode has been cut into.
struct GpuInstance {
  std::string uuid{};     // "MIG-...", for CUDA_VISIBLE_DEVICES.
  std::string profile{};  // "1g.10gb".
  uint32_t start = 0;     // Its first memory slice.
  int64_t memory_bytes = 0;

  friend bool operator==(const GpuInstance&, const GpuInstance&) = default;
};

struct Gpu {
  std::string uuid{};   // "GPU-...", for CUDA_VISIBLE_DEVICES.
  std::string model{};  // "NVIDIA H100 80GB HBM3".
  int64_t memory_bytes = 0;
  std::string pci{};   // "00000000:17:00.0": domain, bus, device, function.
  int32_t numa = -1;   // NUMA node; -1: none known.
  int32_t island = 0;  // GPUs that reach each other over NVLink have the same.
  bool mig = false;    // MIG mode: only its instances can be used.
  std::vector<GpuInstance> instances{};
  std::vector<GpuProcess> processes{};
  // It was there once and is not, or does not answer: the rest is from then.
  bool missing = false;

  friend bool operator==(const Gpu&, const Gpu&) = default;
};

}  // namespace muster::local
