#include "adapters/local/host/gpu_watch.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/gpu/inventory.h"
#include "adapters/local/gpu/places.h"

namespace muster::local {
namespace {

// 0: there is no such process.
int32_t ParentOf(int32_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string line;
  std::getline(file, line);
  // The name in parentheses may hold anything, parentheses too.
  const size_t name = line.rfind(") ");
  if (name == std::string::npos) return 0;
  int32_t parent = 0;
  return sscanf(line.c_str() + name + 2, "%*c %d", &parent) == 1 ? parent : 0;
}

// Of processes that have gone meanwhile nothing is told.
std::vector<OtherProcess> OthersOn(std::span<const Gpu> gpus,
                                   std::span<const int32_t> shims) {
  std::vector<OtherProcess> others;
  for (uint32_t device = 0; device < gpus.size(); ++device) {
    for (const GpuProcess& process : gpus[device].processes) {
      struct stat is{};
      const std::string folder = absl::StrCat("/proc/", process.pid);
      if (DescendsFrom(process.pid, shims) || stat(folder.c_str(), &is) != 0) {
        continue;
      }
      others.push_back({device, process.pid, is.st_uid, process.memory_bytes});
    }
  }
  return others;
}

}  // namespace

bool DescendsFrom(uint32_t pid, std::span<const int32_t> ancestors) {
  constexpr int kMaxDepth = 1000;  // Of parents that change as one looks.
  int32_t at = static_cast<int32_t>(pid);
  for (int depth = 0; at > 1 && depth < kMaxDepth; ++depth) {
    if (std::ranges::find(ancestors, at) != ancestors.end()) return true;
    at = ParentOf(at);
  }
  return false;
}

absl::StatusOr<GpuWatch> GpuWatch::Create(std::vector<Gpu> known,
                                          std::vector<std::string> forgotten,
                                          const std::string& library) {
  absl::StatusOr<std::unique_ptr<Nvml>> nvml = Nvml::Load(library);
  const bool none = absl::IsNotFound(nvml.status());
  if (!none && !nvml.ok()) return nvml.status();
  GpuWatch watch(none ? nullptr : *std::move(nvml), false);
  watch.gpus_ = std::move(known);
  watch.forgotten_ = std::move(forgotten);
  if (absl::Status listed = watch.List(); !listed.ok()) return listed;
  return watch;
}

absl::Status GpuWatch::List() {
  std::vector<Gpu> found;
  silent_.clear();
  if (nvml_ != nullptr) {
    absl::StatusOr<std::vector<Gpu>> gpus = nvml_->List(&silent_);
    if (!gpus.ok()) return gpus.status();
    found = *std::move(gpus);
  }
  gpus_ = KeepPlaces(gpus_, found, forgotten_);
  return absl::OkStatus();
}

absl::StatusOr<ExternalUsage> GpuWatch::Look(const std::string& key,
                                             std::span<const int32_t> shims) {
  if (nvml_ == nullptr) return ExternalUsage{.node = key};
  if (absl::Status listed = List(); !listed.ok()) return listed;
  others_ = OthersOn(gpus_, shims);
  return UsedByOthers(key, gpus_,
                      [&](uint32_t pid) { return DescendsFrom(pid, shims); });
}

absl::StatusOr<std::string> GpuWatch::Visible(
    const std::vector<DeviceShare>& shares) const {
  if (!invented_) return VisibleDevices(gpus_, shares);
  std::string numbers;
  for (const DeviceShare& share : shares) {
    absl::StrAppend(&numbers, numbers.empty() ? "" : ",", share.device);
  }
  return numbers;
}

}  // namespace muster::local
