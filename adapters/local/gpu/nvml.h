// Nvml: the GPUs of this machine, asked of NVIDIA's management library.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/local/gpu/gpu.h"

namespace muster::local {

// One thread at a time.
class Nvml {
 public:
  // NOT_FOUND: there is no such library, hence no driver. FAILED_PRECONDITION:
  // it is there and does not work; NVML's own words tell why. `sysfs`: where
  // NUMA nodes are read.
  static absl::StatusOr<std::unique_ptr<Nvml>> Load(
      const std::string& library = "libnvidia-ml.so.1",
      const std::string& sysfs = "/sys");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // All of them, in the order of their PCI addresses, which is the one that
  // does not depend on which are busy. UNAVAILABLE: a GPU does not answer (it
  // fell off the bus, say), and which; with `silent`, it is left out and told
  // there. A few milliseconds a GPU.
  absl::StatusOr<std::vector<Gpu>> List(
      std::vector<absl::Status>* silent = nullptr);

 private:
  struct Functions;

  Nvml(void* library, std::unique_ptr<Functions> functions, std::string sysfs);

  void* library_;
  std::unique_ptr<Functions> functions_;
  std::string sysfs_;
};

}  // namespace muster::local
