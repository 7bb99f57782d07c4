#include "lib/policy/node_policy.h"

#include "lib/policy/policies.h"

namespace muster::policy {

Allocation NodePolicy::Choose(const NodeLedger& at,
                              const Question& question) const {
  Allocation chosen{.node = at.node, .shape = question.shape};
  // It has room, so this cannot fail.
  (void)at.cluster.Choose(at.node, question.shape, at.ledger, &chosen,
                          question.rails);
  return chosen;
}

std::unique_ptr<NodePolicy> NewNodePolicy(const PlacementOptions& options) {
  switch (options.policy) {
    case PlacementPolicy::kMuster:
      break;
    case PlacementPolicy::kBinpack:
      return NewBinpack();
    case PlacementPolicy::kSpread:
      return NewSpread();
    case PlacementPolicy::kBestFit:
      return NewBestFit(options.yardstick);
    case PlacementPolicy::kLeastFree:
      return NewLeastFree(options.yardstick);
    case PlacementPolicy::kBalanced:
      return NewBalanced();
    case PlacementPolicy::kFragmentation:
      return NewFragmentation(options);
    case PlacementPolicy::kDotProduct:
      return NewDotProduct(options.yardstick);
    case PlacementPolicy::kGpuPacking:
      return NewGpuPacking();
    case PlacementPolicy::kGpuClustering:
      return NewGpuClustering();
    case PlacementPolicy::kRandom:
      return NewRandom(options.seed);
  }
  return options.workload.empty() ? NewTightest() : NewLeastNewWaste(options);
}

}  // namespace muster::policy
