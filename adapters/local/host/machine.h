// Machine: what this machine has for jobs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/local/controller/cpu_pool.h"
#include "adapters/local/gpu/gpu.h"
#include "adapters/local/host/config.h"
#include "muster/node.h"

namespace muster::local {

// As the machine calls itself; "local" if it does not tell. Any thread.
std::string MachineName();

// How many processors this process may run on; at least 1.
uint32_t AllowedCpus();

// Bytes of memory, or what the control group of this process may use where that
// is less.
int64_t AllowedMemory();

// What tasks are bound to by the configuration: the first cores of `found`, as
// many as jobs may use; none if tasks are not bound. FAILED_PRECONDITION: jobs
// may use more than there is. O(cores).
absl::StatusOr<CpuPool> MakeCpuPool(const Config& config,
                                    std::vector<CpuCore> found);

// The node that the configuration describes; what it leaves open is as found,
// with `gpus` and, if tasks are bound, so many cpus as `cpus` has.
// FAILED_PRECONDITION: more is configured than a node may have.
absl::StatusOr<Node> MakeNode(const Config& config,
                              const std::vector<Gpu>& gpus,
                              const CpuPool& cpus = {});

}  // namespace muster::local
