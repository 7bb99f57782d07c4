// The cluster and the tenants of a generated workload, and what befalls them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/workloads/generate.h"

namespace muster::inprocess {

// prefix + number, with zeros to `digits`, so that keys sort by number.
std::string Numbered(const char* prefix, uint64_t number, size_t digits);

// Nodes with their zones, blocks and racks, queues with quotas, classes.
Setup MakeSetup(const GenerateOptions& options);

// The queues that take jobs are those from here on; the k-th of them is the
// k-th tenant.
size_t FirstTenant(const Setup& setup);

bool IsSpot(const Node& node);

// Failures and spot reclaims in the time that jobs arrive; each node comes
// back. By time, then by node.
std::vector<WorldEvent> MakeEvents(const GenerateOptions& options,
                                   const Setup& setup);

}  // namespace muster::inprocess
