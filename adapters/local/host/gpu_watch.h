// GpuWatch: the GPUs of this machine, and who else computes on them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/gpu/gpu.h"
#include "adapters/local/gpu/nvml.h"
#include "adapters/local/model/other_process.h"
#include "muster/device.h"
#include "muster/node.h"

namespace muster::local {

// Not synchronised.
class GpuWatch {
 public:
  // A machine without a driver has no GPUs, and that is no error.
  // FAILED_PRECONDITION: there is a driver that does not work, and why.
  // `known`: GPUs that were there before, in their places; see KeepPlaces.
  static absl::StatusOr<GpuWatch> Create(
      std::vector<Gpu> known = {}, std::vector<std::string> forgotten = {},
      const std::string& library = "libnvidia-ml.so.1");
  // Devices that the configuration has invented: tasks are told their numbers.
  static GpuWatch OfNone() { return GpuWatch(nullptr, true); }

  // In their places, those that are missing with them.
  const std::vector<Gpu>& gpus() const { return gpus_; }
  // Of those that did not answer when they were last looked at: why.
  const std::vector<absl::Status>& silent() const { return silent_; }

  // Looks again. `shims`: processes whose descendants are tasks. What others
  // use of the node `key`. UNAVAILABLE: the driver does not answer. A few
  // milliseconds a GPU.
  absl::StatusOr<ExternalUsage> Look(const std::string& key,
                                     std::span<const int32_t> shims);
  // As the last Look found them, by GPU.
  const std::vector<OtherProcess>& others() const { return others_; }
  // CUDA_VISIBLE_DEVICES of a task that holds these. INTERNAL: one is not
  // there, or missing.
  absl::StatusOr<std::string> Visible(
      const std::vector<DeviceShare>& shares) const;
  // There is nothing to look at.
  bool empty() const { return nvml_ == nullptr; }

 private:
  GpuWatch(std::unique_ptr<Nvml> nvml, bool invented)
      : nvml_(std::move(nvml)), invented_(invented) {}

  absl::Status List();

  std::unique_ptr<Nvml> nvml_;  // Null: there is no driver.
  bool invented_;
  std::vector<Gpu> gpus_{};
  std::vector<OtherProcess> others_{};
  std::vector<std::string> forgotten_{};
  std::vector<absl::Status> silent_{};
};

// Whether one of `ancestors` is the process or a parent of it, or of a parent,
// and so on, as /proc tells.
bool DescendsFrom(uint32_t pid, std::span<const int32_t> ancestors);

}  // namespace muster::local
