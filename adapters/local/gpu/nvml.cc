#include "adapters/local/gpu/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "adapters/local/gpu/nvml_abi.h"

namespace muster::local {
namespace {

using nvml::Device;
using nvml::Result;

// Joins what is connected: the smallest number of each component's members.
std::vector<int32_t> Components(
    size_t size, const std::vector<std::pair<size_t, size_t>>& edges) {
  std::vector<int32_t> component(size);
  for (size_t i = 0; i < size; ++i) component[i] = static_cast<int32_t>(i);
  for (const auto& [a, b] : edges) {
    const auto [low, high] = std::minmax(component[a], component[b]);
    for (int32_t& c : component) c = c == high ? low : c;
  }
  return component;
}

// "NVIDIA A100-SXM4-40GB MIG 1g.5gb" to "1g.5gb".
std::string ProfileOf(std::string_view name) {
  const size_t space = name.rfind(' ');
  return std::string(space == std::string_view::npos ? name
                                                     : name.substr(space + 1));
}

int32_t NumaOf(const std::string& sysfs, const std::string& pci) {
  // sysfs has four digits of the domain, NVML eight.
  std::string address = absl::AsciiStrToLower(pci);
  if (address.size() > 12) address.erase(0, address.size() - 12);
  std::ifstream file(
      absl::StrCat(sysfs, "/bus/pci/devices/", address, "/numa_node"));
  int32_t node = -1;
  return file >> node ? node : -1;
}

}  // namespace

struct Nvml::Functions {
  Result (*init)();
  Result (*shutdown)();
  const char* (*error_string)(Result);
  Result (*count)(unsigned*);
  Result (*by_index)(unsigned, Device*);
  Result (*uuid)(Device, char*, unsigned);
  Result (*name)(Device, char*, unsigned);
  Result (*memory)(Device, nvml::Memory*);
  Result (*pci)(Device, nvml::PciInfo*);
  Result (*processes)(Device, unsigned*, nvml::Process*);
  Result (*p2p)(Device, Device, int, int*);
  Result (*mig_mode)(Device, unsigned*, unsigned*);
  Result (*most_instances)(Device, unsigned*);
  Result (*instance_device)(Device, unsigned, Device*);
  Result (*instance_id)(Device, unsigned*);
  Result (*instance_by_id)(Device, unsigned, nvml::Instance*);
  Result (*instance_info)(nvml::Instance, nvml::InstanceInfo*);

  // "": all are there; else the name of the first that is not.
  std::string Find(void* library) {
    std::string missing;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(
          dlsym(library, name));
      if (function == nullptr && missing.empty()) missing = name;
    };
    find(init, "nvmlInit_v2");
    find(shutdown, "nvmlShutdown");
    find(error_string, "nvmlErrorString");
    find(count, "nvmlDeviceGetCount_v2");
    find(by_index, "nvmlDeviceGetHandleByIndex_v2");
    find(uuid, "nvmlDeviceGetUUID");
    find(name, "nvmlDeviceGetName");
    find(memory, "nvmlDeviceGetMemoryInfo");
    find(pci, "nvmlDeviceGetPciInfo_v3");
    find(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    find(p2p, "nvmlDeviceGetP2PStatus");
    find(mig_mode, "nvmlDeviceGetMigMode");
    find(most_instances, "nvmlDeviceGetMaxMigDeviceCount");
    find(instance_device, "nvmlDeviceGetMigDeviceHandleByIndex");
    find(instance_id, "nvmlDeviceGetGpuInstanceId");
    find(instance_by_id, "nvmlDeviceGetGpuInstanceById");
    find(instance_info, "nvmlGpuInstanceGetInfo");
    return missing;
  }

  absl::Status Check(Result result, const std::string& what) const {
    if (result == nvml::kSuccess) return absl::OkStatus();
    return absl::UnavailableError(
        absl::StrCat("NVML: ", what, ": ", error_string(result)));
  }

  absl::Status Read(Device device, Gpu* gpu) const;
  absl::Status ReadProcesses(Device device, Gpu* gpu) const;
  absl::Status ReadInstances(Device device, Gpu* gpu) const;
  absl::StatusOr<GpuInstance> ReadInstance(Device device,
                                           Device instance) const;
};

absl::StatusOr<std::unique_ptr<Nvml>> Nvml::Load(const std::string& library,
                                                 const std::string& sysfs) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return absl::NotFoundError(absl::StrCat("no NVIDIA driver: ", dlerror()));
  }
  auto functions = std::make_unique<Functions>();
  const std::string missing = functions->Find(handle);
  if (!missing.empty()) {
    dlclose(handle);
    return absl::FailedPreconditionError(absl::StrCat(
        library, " has no ", missing, ": a driver of 510 or newer is needed"));
  }
  const Result result = functions->init();
  if (result != nvml::kSuccess) {
    const std::string why = functions->error_string(result);
    dlclose(handle);
    return absl::FailedPreconditionError(absl::StrCat("NVML: ", why));
  }
  return std::unique_ptr<Nvml>(new Nvml(handle, std::move(functions), sysfs));
}

Nvml::Nvml(void* library, std::unique_ptr<Functions> functions,
           std::string sysfs)
    : library_(library),
      functions_(std::move(functions)),
      sysfs_(std::move(sysfs)) {}

Nvml::~Nvml() {
  functions_->shutdown();
  dlclose(library_);
}

absl::Status Nvml::Functions::ReadProcesses(Device device, Gpu* gpu) const {
  std::vector<nvml::Process> found(16);
  unsigned count = static_cast<unsigned>(found.size());
  Result result = processes(device, &count, found.data());
  while (result == nvml::kInsufficientSize) {
    found.resize(2 * std::max<size_t>(count, found.size()));
    count = static_cast<unsigned>(found.size());
    result = processes(device, &count, found.data());
  }
  if (result == nvml::kNotSupported) return absl::OkStatus();
  if (auto status = Check(result, "processes"); !status.ok()) return status;
  found.resize(count);
  for (const nvml::Process& process : found) {
    const bool told = process.memory != nvml::kNotTold;
    gpu->processes.push_back(
        {process.pid, told ? static_cast<int64_t>(process.memory) : 0});
  }
  std::ranges::sort(gpu->processes, {}, &GpuProcess::pid);
  return absl::OkStatus();
}

absl::StatusOr<GpuInstance> Nvml::Functions::ReadInstance(
    Device device, Device instance) const {
  GpuInstance read;
  char text[nvml::kNameSize] = {};
  nvml::Memory bytes{};
  unsigned id = 0;
  nvml::Instance handle = nullptr;
  nvml::InstanceInfo info{};
  auto status = Check(uuid(instance, text, nvml::kUuidSize), "UUID");
  read.uuid = text;
  if (status.ok()) {
    status = Check(name(instance, text, nvml::kNameSize), "name");
    read.profile = ProfileOf(text);
  }
  if (status.ok()) status = Check(memory(instance, &bytes), "memory");
  if (status.ok()) status = Check(instance_id(instance, &id), "instance");
  if (status.ok()) {
    status = Check(instance_by_id(device, id, &handle), "instance");
  }
  if (status.ok()) status = Check(instance_info(handle, &info), "placement");
  if (!status.ok()) return status;
  read.memory_bytes = static_cast<int64_t>(bytes.total);
  read.start = info.start;
  return read;
}

absl::Status Nvml::Functions::ReadInstances(Device device, Gpu* gpu) const {
  unsigned mode = 0, pending = 0, most = 0;
  const Result result = mig_mode(device, &mode, &pending);
  if (result == nvml::kNotSupported) return absl::OkStatus();
  if (auto status = Check(result, "MIG mode"); !status.ok()) return status;
  gpu->mig = mode != 0;
  if (!gpu->mig) return absl::OkStatus();
  auto status = Check(most_instances(device, &most), "MIG instances");
  if (!status.ok()) return status;
  for (unsigned i = 0; i < most; ++i) {
    Device instance = nullptr;
    const Result found = instance_device(device, i, &instance);
    if (found == nvml::kNotFound) continue;
    if (status = Check(found, "MIG instance"); !status.ok()) return status;
    auto read = ReadInstance(device, instance);
    if (!read.ok()) return read.status();
    gpu->instances.push_back(*std::move(read));
  }
  std::ranges::sort(gpu->instances, {}, &GpuInstance::start);
  return absl::OkStatus();
}

absl::Status Nvml::Functions::Read(Device device, Gpu* gpu) const {
  char text[nvml::kNameSize] = {};
  nvml::Memory bytes{};
  nvml::PciInfo address{};
  auto status = Check(uuid(device, text, nvml::kUuidSize), "UUID");
  gpu->uuid = text;
  if (status.ok()) {
    status = Check(name(device, text, nvml::kNameSize), "name");
    gpu->model = text;
  }
  if (status.ok()) status = Check(memory(device, &bytes), "memory");
  if (status.ok()) status = Check(pci(device, &address), "PCI address");
  if (status.ok()) status = ReadInstances(device, gpu);
  if (status.ok()) status = ReadProcesses(device, gpu);
  gpu->memory_bytes = static_cast<int64_t>(bytes.total);
  gpu->pci = address.bus_id;
  return status;
}

absl::StatusOr<std::vector<Gpu>> Nvml::List(std::vector<absl::Status>* silent) {
  const Functions& f = *functions_;
  unsigned count = 0;
  if (auto status = f.Check(f.count(&count), "count"); !status.ok()) {
    return status;
  }
  std::vector<std::pair<Gpu, Device>> found;
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    auto status = f.Check(f.by_index(i, &device), "handle");
    Gpu gpu;
    if (status.ok()) status = f.Read(device, &gpu);
    if (!status.ok()) {
      status = absl::UnavailableError(
          absl::StrCat("GPU ", i, ": ", status.message()));
      if (silent == nullptr) return status;
      silent->push_back(status);
      continue;
    }
    gpu.numa = NumaOf(sysfs_, gpu.pci);
    found.emplace_back(std::move(gpu), device);
  }
  std::ranges::sort(found, {}, [](const auto& pair) { return pair.first.pci; });
  std::vector<std::pair<size_t, size_t>> links;
  for (size_t a = 0; a < found.size(); ++a) {
    for (size_t b = a + 1; b < found.size(); ++b) {
      int p2p = -1;
      const Result result =
          f.p2p(found[a].second, found[b].second, nvml::kP2pOverNvlink, &p2p);
      if (result == nvml::kSuccess && p2p == nvml::kP2pOk) {
        links.emplace_back(a, b);
      }
    }
  }
  const std::vector<int32_t> islands = Components(found.size(), links);
  std::vector<Gpu> gpus;
  for (size_t i = 0; i < found.size(); ++i) {
    gpus.push_back(std::move(found[i].first));
    gpus.back().island = islands[i];
  }
  return gpus;
}

}  // namespace muster::local
