#include "adapters/local/host/cpu_topology.h"

#include <hwloc.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace muster::local {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const {
    hwloc_topology_destroy(topology);
  }
};
struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using HwlocTopology =
    std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, DestroyTopology>;
using HwlocBitmap =
    std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, FreeBitmap>;

// PCI's classes of devices: those that show something, and accelerators.
bool IsGpu(const hwloc_obj& device) {
  constexpr int kDisplay = 0x03, kAccelerator = 0x12;
  const int device_class = device.attr->pcidev.class_id >> 8;
  return device_class == kDisplay || device_class == kAccelerator;
}

// To be loaded. Of the devices PCI's alone are asked for: hwloc's plugins would
// start the drivers of GPUs to find out more.
HwlocTopology NewTopology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_BRIDGE, HWLOC_OBJ_PCI_DEVICE}) {
    hwloc_topology_set_type_filter(topology, type,
                                   HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  }
  return HwlocTopology(topology);
}

// What this process may run on; of a machine that is described, all.
HwlocBitmap AllowedThreads(hwloc_topology_t topology) {
  HwlocBitmap allowed(
      hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology)));
  const HwlocBitmap bound(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology, bound.get(), HWLOC_CPUBIND_PROCESS) == 0) {
    hwloc_bitmap_and(allowed.get(), allowed.get(), bound.get());
  }
  return allowed;
}

void AddCore(const hwloc_obj& object, hwloc_const_bitmap_t allowed,
             CpuTopology* topology) {
  CpuCore core;
  // Where it has several, such as one of fast memory, the others are further.
  if (object.nodeset != nullptr) core.numa = hwloc_bitmap_first(object.nodeset);
  const HwlocBitmap threads(hwloc_bitmap_alloc());
  hwloc_bitmap_and(threads.get(), object.cpuset, allowed);
  for (int t = hwloc_bitmap_first(threads.get()); t >= 0;
       t = hwloc_bitmap_next(threads.get(), t)) {
    core.threads.push_back(static_cast<uint32_t>(t));
  }
  if (!core.threads.empty()) topology->cores.push_back(std::move(core));
}

void AddGpus(hwloc_topology_t from, CpuTopology* topology) {
  for (hwloc_obj_t device = hwloc_get_next_pcidev(from, nullptr);
       device != nullptr; device = hwloc_get_next_pcidev(from, device)) {
    const hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(from, device);
    if (!IsGpu(*device) || near == nullptr || near->nodeset == nullptr ||
        hwloc_bitmap_weight(near->nodeset) != 1) {
      continue;
    }
    const auto& pci = device->attr->pcidev;
    topology->gpus[absl::StrFormat("%04x:%02x:%02x.%01x", pci.domain, pci.bus,
                                   pci.dev, pci.func)] =
        hwloc_bitmap_first(near->nodeset);
  }
}

absl::StatusOr<CpuTopology> LoadTopology(hwloc_topology_t from) {
  if (hwloc_topology_load(from) != 0) {
    return absl::UnavailableError("hwloc does not know this machine");
  }
  CpuTopology topology;
  const HwlocBitmap allowed = AllowedThreads(from);
  // Not every virtual machine tells of cores.
  const bool cores = hwloc_get_nbobjs_by_type(from, HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t object = hwloc_get_next_obj_by_type(from, type, nullptr);
       object != nullptr;
       object = hwloc_get_next_obj_by_type(from, type, object)) {
    AddCore(*object, allowed.get(), &topology);
  }
  AddGpus(from, &topology);
  if (topology.cores.empty()) {
    return absl::UnavailableError("hwloc knows no core of this machine");
  }
  return topology;
}

}  // namespace

absl::StatusOr<CpuTopology> ReadCpuTopology() {
  const HwlocTopology topology = NewTopology();
  if (topology == nullptr) return absl::UnavailableError("hwloc: no memory");
  return LoadTopology(topology.get());
}

absl::StatusOr<CpuTopology> CpuTopologyOf(const std::string& text) {
  const HwlocTopology topology = NewTopology();
  if (topology == nullptr) return absl::UnavailableError("hwloc: no memory");
  const bool xml = absl::StartsWith(text, "<");
  // The size of a buffer counts the zero behind it.
  const int set =
      xml ? hwloc_topology_set_xmlbuffer(topology.get(), text.c_str(),
                                         static_cast<int>(text.size() + 1))
          : hwloc_topology_set_synthetic(topology.get(), text.c_str());
  if (set != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' describes no machine"));
  }
  return LoadTopology(topology.get());
}

std::vector<Gpu> WithNumaNodes(std::vector<Gpu> gpus,
                               const CpuTopology& topology) {
  constexpr size_t kAddress = sizeof("0000:17:00.0") - 1;
  for (Gpu& gpu : gpus) {
    std::string address = absl::AsciiStrToLower(gpu.pci);
    if (address.size() > kAddress) address.erase(0, address.size() - kAddress);
    const auto known = topology.gpus.find(address);
    if (gpu.numa < 0 && known != topology.gpus.end()) gpu.numa = known->second;
  }
  return gpus;
}

}  // namespace muster::local
