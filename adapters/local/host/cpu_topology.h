// CpuTopology: the cores of a machine, and which NUMA nodes its GPUs are near.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/local/controller/cpu_pool.h"
#include "adapters/local/gpu/gpu.h"

namespace muster::local {

// A value.
struct CpuTopology {
  // As they lie in the machine. Only those, and those of their threads, that
  // this process may run on.
  std::vector<CpuCore> cores{};
  // The NUMA node of each GPU that is near one alone, by the GPU's PCI address:
  // domain, bus, device and function, "0000:17:00.0".
  std::map<std::string, int32_t> gpus{};
};

// What hwloc knows of this machine. UNAVAILABLE: it knows no core. Any thread;
// some ten milliseconds.
absl::StatusOr<CpuTopology> ReadCpuTopology();
// Of the machine that `text` describes: hwloc's words for one, "numa:2 core:4
// pu:2", or its XML. INVALID_ARGUMENT: it describes none.
absl::StatusOr<CpuTopology> CpuTopologyOf(const std::string& text);

// The GPUs with the NUMA nodes that their driver does not tell. O(GPUs log
// GPUs).
std::vector<Gpu> WithNumaNodes(std::vector<Gpu> gpus,
                               const CpuTopology& topology);

}  // namespace muster::local
