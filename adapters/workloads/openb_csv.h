// The tables of the Alibaba trace cluster-trace-gpu-v2023 ("openb").
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/text/csv.h"
#include "muster/gang.h"
#include "muster/node.h"

namespace muster::inprocess {

// Nodes from the columns sn, cpu_milli, memory_mib, gpu and model, of the
// kinds cpu, memory (bytes) and gpu.
absl::StatusOr<std::vector<Node>> LoadOpenbNodes(const std::string& file);

// What a pod asks, from the columns cpu_milli, memory_mib, num_gpu, gpu_milli
// and, where it is there, gpu_spec. Mistakes are kept by the table.
TaskShape ReadOpenbShape(CsvTable* table, size_t row);

}  // namespace muster::inprocess
