// Machine: what this machine has for jobs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
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

// The node that the configuration describes; what it leaves open is as found,
// with `gpus`. FAILED_PRECONDITION: more is configured than a node may have.
absl::StatusOr<Node> MakeNode(const Config& config,
                              const std::vector<Gpu>& gpus);

}  // namespace muster::local
