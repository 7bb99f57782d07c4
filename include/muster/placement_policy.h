// Placement policies: which of the nodes that have room is taken.
#ifndef MUSTER_PLACEMENT_POLICY_H_
#define MUSTER_PLACEMENT_POLICY_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "muster/enum_names.h"
#include "muster/export.h"
#include "muster/gang.h"
#include "muster/node.h"
#include "muster/resources.h"

namespace muster {

// Node preferences and untolerated kPreferNoSchedule taints come first,
// whatever the policy; what the policy ranks equal is decided by topology
// domain and node key. docs/placement-policies.md says what each does exactly,
// and how the default was chosen.
enum class PlacementPolicy : uint8_t {
  // The default: the least new waste, as typical tasks see it. Without
  // any: a device in use, then the least free devices, then the least of
  // the other kinds.
  kMuster,
  kBinpack,         // The node with the least free devices.
  kLeastAllocated,  // The most free devices (none asked: of other kinds).
  kBestFit,         // The least left over, of the first kind and of devices.
  kLeastFree,       // The least free of every kind, weighed alike.
  kBalanced,        // Kinds of a node used up alike.
  kFragmentation,   // FGD: fragmentation gradient descent (USENIX ATC'23).
  kDotProduct,      // The least free along the request (as FGD's authors did).
  kGpuPacking,     // Used devices, then devices of used nodes, then idle nodes.
  kGpuClustering,  // Nodes that run tasks of the same kind of device use.
  kRandom,         // By a hash of seed, gang and node: the same everywhere.
};
MUSTER_ENUM_NAMES(PlacementPolicy, "muster", "binpack", "least-allocated",
                  "best-fit", "least-free", "balanced", "fragmentation",
                  "dot-product", "gpu-packing", "gpu-clustering", "random");

// One kind of task the cluster usually runs, and how often: what makes free
// capacity useful or a fragment.
struct TypicalTask {
  static constexpr int64_t kMaxWeight = 1'000'000'000;

  // Without a partition, and not a whole node: not supported yet.
  TaskShape shape{};
  int64_t weight = 1;  // 1..kMaxWeight, relative to the other ones.

  friend bool operator==(const TypicalTask&, const TypicalTask&) = default;
};

// How many devices of a model the cluster has: Device::model.
struct ModelSupply {
  static constexpr int64_t kMaxDevices = 1'000'000'000;

  std::string model{};
  int64_t devices = 0;  // 0..kMaxDevices.

  friend bool operator==(const ModelSupply&, const ModelSupply&) = default;
};

// What these nodes have, by model in the order of names; unhealthy devices
// count, too. For PlacementOptions::supply: O(devices x log models).
MUSTER_API std::vector<ModelSupply> SupplyOf(std::span<const Node> nodes);

// Which policy, and what it is to know: SchedulerConfig::placement. A part of
// the state like the rest of the configuration; ConfigChanged changes it.
struct PlacementOptions {
  static constexpr uint32_t kMaxTypicalTasks = 256;

  PlacementPolicy policy = PlacementPolicy::kMuster;
  // The usual work, for kMuster and kFragmentation (which takes the first node
  // by key where there is none). At most kMaxTypicalTasks.
  std::vector<TypicalTask> typical_tasks{};
  // For kMuster, where typical tasks ask for models: a model is then kept for
  // the tasks that ask for it, as far as they fill it. Empty: nothing is kept.
  std::vector<ModelSupply> supply{};
  // For kBestFit, kLeastFree and kDotProduct: how much of each kind weighs
  // alike, the device kind in thousandths; usually a large node's. Empty: what
  // the node itself has.
  Resources yardstick{};
  uint64_t seed = 0;  // For kRandom.

  friend bool operator==(const PlacementOptions&,
                         const PlacementOptions&) = default;
};

}  // namespace muster

#endif  // MUSTER_PLACEMENT_POLICY_H_
