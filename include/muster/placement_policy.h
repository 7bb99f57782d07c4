// Placement policies: which of the nodes that have room is taken.
#ifndef MUSTER_PLACEMENT_POLICY_H_
#define MUSTER_PLACEMENT_POLICY_H_

#include <cstdint>
#include <vector>

#include "muster/enum_names.h"
#include "muster/gang.h"

namespace muster {

// Node preferences and untolerated kPreferNoSchedule taints come first,
// whatever the policy; what the policy ranks equal is decided by topology
// domain and node key. docs/placement.md tells how the default was chosen.
enum class PlacementPolicy : uint8_t {
  kMuster,     // The default: the least new fragments, in steps, then tightest.
  kBinpack,    // The node with the least free devices.
  kSpread,     // The node with the most free devices.
  kBestFit,    // The least left over, over cpu and devices.
  kLeastFree,  // The least free of every kind, weighed alike.
  kBalanced,   // Kinds of a node used up alike.
  kFragmentation,  // FGD: fragmentation gradient descent (USENIX ATC'23).
  kDotProduct,     // The node whose free capacity points the request's way.
  kGpuPacking,     // Used devices, then devices of used nodes, then idle nodes.
  kGpuClustering,  // Nodes that run tasks of the same kind of device use.
  kRandom,         // By a hash of seed, gang and node: the same everywhere.
};
MUSTER_ENUM_NAMES(PlacementPolicy, "muster", "binpack", "spread", "best-fit",
                  "least-free", "balanced", "fragmentation", "dot-product",
                  "gpu-packing", "gpu-clustering", "random");

// One kind of task the cluster usually runs, and how often: what makes free
// capacity useful or a fragment.
struct TypicalTask {
  TaskShape shape{};
  int64_t weight = 1;  // >= 1. Relative to the other ones.

  friend bool operator==(const TypicalTask&, const TypicalTask&) = default;
  template <class Self, class V>
  static void Fields(Self& s, V&& v) {
    v(1, "shape", s.shape);
    v(2, "weight", s.weight);
  }
};

struct PlacementOptions {
  PlacementPolicy policy = PlacementPolicy::kMuster;
  // The usual work, for kMuster and kFragmentation; without it they take the
  // tightest node. Not more than 256.
  std::vector<TypicalTask> workload{};
  uint64_t seed = 0;  // For kRandom.

  friend bool operator==(const PlacementOptions&,
                         const PlacementOptions&) = default;
  template <class Self, class V>
  static void Fields(Self& s, V&& v) {
    v(1, "policy", s.policy);
    v(2, "workload", s.workload);
    v(3, "seed", s.seed);
  }
};

}  // namespace muster

#endif  // MUSTER_PLACEMENT_POLICY_H_
