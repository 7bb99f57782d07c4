// The policies by name, for NewNodePolicy; PlacementPolicy says what each is.
#pragma once

#include <memory>

#include "lib/policy/node_policy.h"

namespace muster::policy {

// How full nodes are.
std::unique_ptr<NodePolicy> NewTightest();  // kMuster without a workload.
std::unique_ptr<NodePolicy> NewBinpack();
std::unique_ptr<NodePolicy> NewSpread();
std::unique_ptr<NodePolicy> NewLeastFree(const Resources& yardstick);
std::unique_ptr<NodePolicy> NewBalanced();

// What FGD was published against.
std::unique_ptr<NodePolicy> NewBestFit(const Resources& yardstick);
std::unique_ptr<NodePolicy> NewDotProduct(const Resources& yardstick);
std::unique_ptr<NodePolicy> NewGpuPacking();
std::unique_ptr<NodePolicy> NewGpuClustering();
std::unique_ptr<NodePolicy> NewRandom(uint64_t seed);

// What a workload makes of free capacity.
std::unique_ptr<NodePolicy> NewFragmentation(const PlacementOptions& options);
// kMuster with a workload.
std::unique_ptr<NodePolicy> NewLeastNewWaste(const PlacementOptions& options);

}  // namespace muster::policy
