// A library that has NVML's functions and answers from a text: see FakeNvml in
// nvml_test.cc. It is loaded as the driver's would be.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "adapters/local/gpu/nvml_abi.h"

using namespace muster::local::nvml;  // NOLINT: it stands for that library.

namespace muster::local::nvml {

struct DeviceHandle {
  std::string uuid, name, pci;
  unsigned long long memory = 0;
  bool mig_capable = true, mig = false;
  bool lost = false;
  std::vector<Process> processes{};
  std::vector<DeviceHandle> instances{};
  InstanceInfo info{};  // Of an instance.
};

}  // namespace muster::local::nvml

namespace {

struct World {
  std::vector<DeviceHandle> devices;
  std::vector<std::pair<unsigned, unsigned>> links;
  std::map<std::string, int> failures;  // By function: what it answers.
  int open = 0;
};

World world;

std::string Word(std::istream& in) {  // "_" stands for a blank.
  std::string word;
  in >> word;
  for (char& c : word) c = c == '_' ? ' ' : c;
  return word;
}

void Read() {
  world = {};
  std::ifstream file(getenv("FAKE_NVML"));
  std::string line, kind;
  while (std::getline(file, line)) {
    std::istringstream in(line);
    unsigned i = 0;
    in >> kind;
    if (kind == "gpu") {
      DeviceHandle device;
      device.uuid = Word(in), device.name = Word(in);
      in >> device.memory >> device.pci >> device.mig_capable >> device.mig;
      world.devices.push_back(device);
    } else if (kind == "instance") {
      DeviceHandle instance;
      in >> i;
      instance.uuid = Word(in), instance.name = Word(in);
      in >> instance.memory >> instance.info.id >> instance.info.start;
      world.devices.at(i).instances.push_back(instance);
    } else if (kind == "process") {
      Process process{};
      in >> i >> process.pid >> process.memory;
      world.devices.at(i).processes.push_back(process);
    } else if (kind == "link") {
      unsigned other = 0;
      in >> i >> other;
      world.links.emplace_back(i, other);
    } else if (kind == "lost") {
      in >> i;
      world.devices.at(i).lost = true;
    } else if (kind == "fail") {
      const std::string function = Word(in);
      in >> world.failures[function];
    }
  }
}

int Failure(const char* function) {
  const auto it = world.failures.find(function);
  return it == world.failures.end() ? kSuccess : it->second;
}

int Copy(const std::string& text, char* out, unsigned size) {
  if (text.size() >= size) return kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return kSuccess;
}

}  // namespace

extern "C" {

#define EXPORT __attribute__((visibility("default")))

EXPORT int nvmlInit_v2() {
  Read();
  if (Failure("init") == kSuccess) ++world.open;
  return Failure("init");
}
EXPORT int nvmlShutdown() { return --world.open; }
EXPORT int FakeNvmlOpen() { return world.open; }
EXPORT const char* nvmlErrorString(int result) {
  return result == 15 ? "GPU is lost" : "Unknown Error";
}
EXPORT int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(world.devices.size());
  return kSuccess;
}
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned i, Device* device) {
  *device = &world.devices.at(i);
  return kSuccess;
}
EXPORT int nvmlDeviceGetUUID(Device device, char* out, unsigned size) {
  return Copy(device->uuid, out, size);
}
EXPORT int nvmlDeviceGetName(Device device, char* out, unsigned size) {
  return Copy(device->name, out, size);
}
EXPORT int nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  *memory = {device->memory, device->memory, 0};
  return device->lost ? 15 : Failure("memory");
}
EXPORT int nvmlDeviceGetPciInfo_v3(Device device, PciInfo* pci) {
  return Copy(device->pci, pci->bus_id, sizeof pci->bus_id);
}
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(Device device,
                                                   unsigned* count,
                                                   Process* out) {
  const auto size = static_cast<unsigned>(device->processes.size());
  const bool fits = size <= *count;
  *count = size;
  if (!fits) return kInsufficientSize;
  std::copy(device->processes.begin(), device->processes.end(), out);
  return Failure("processes");
}
EXPORT int nvmlDeviceGetP2PStatus(Device a, Device b, int, int* status) {
  *status = 4;
  for (const auto& [x, y] : world.links) {
    if ((a == &world.devices[x] && b == &world.devices[y]) ||
        (b == &world.devices[x] && a == &world.devices[y])) {
      *status = kP2pOk;
    }
  }
  return Failure("p2p");
}
EXPORT int nvmlDeviceGetMigMode(Device device, unsigned* mode,
                                unsigned* pending) {
  if (!device->mig_capable) return kNotSupported;
  *mode = *pending = device->mig ? 1 : 0;
  return kSuccess;
}
EXPORT int nvmlDeviceGetMaxMigDeviceCount(Device, unsigned* count) {
  *count = 7;
  return kSuccess;
}
EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned i,
                                               Device* instance) {
  // The driver leaves gaps where instances were.
  if (i % 2 == 0 || i / 2 >= device->instances.size()) return kNotFound;
  *instance = &device->instances[i / 2];
  return kSuccess;
}
EXPORT int nvmlDeviceGetGpuInstanceId(Device instance, unsigned* id) {
  *id = instance->info.id;
  return kSuccess;
}
EXPORT int nvmlDeviceGetGpuInstanceById(Device device, unsigned id,
                                        Instance* out) {
  for (DeviceHandle& instance : device->instances) {
    if (instance.info.id != id) continue;
    *out = reinterpret_cast<Instance>(&instance.info);
    return kSuccess;
  }
  return kNotFound;
}
EXPORT int nvmlGpuInstanceGetInfo(Instance instance, InstanceInfo* info) {
  *info = *reinterpret_cast<InstanceInfo*>(instance);
  return kSuccess;
}

}  // extern "C"
