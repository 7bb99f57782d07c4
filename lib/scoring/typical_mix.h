// The typical mix of tasks, and how much of a node's free devices it can use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "lib/cluster/cluster.h"
#include "lib/cluster/needs.h"
#include "lib/scoring/free_amounts.h"
#include "muster/placement_policy.h"

namespace muster::scoring {

// What the typical mix depends on in a node, beside what is free: equal nodes
// share a profile.
struct NodeProfile {
  uint64_t serial = 0;  // Of no other profile of this mix, ever.

  // What nodes of the profile agree in.
  std::vector<Device> devices{};
  Labels labels{};  // Of the label keys.

  // What follows.
  // Typical tasks with devices it may run, in groups.
  struct TaskGroup {
    uint32_t need = 0;      // Which they have in common,
    ResourceKind kind = 0;  // as well as the kind that counts first:
    uint32_t first = 0;     // the less they ask of it, the earlier they are.
    uint32_t last = 0;      // Into `tasks`.
  };
  std::vector<TaskGroup> groups{};
  std::vector<uint32_t> tasks{};
  std::vector<DeviceSet> usable{};  // By need: the devices that may serve it.
  int64_t weight = 0;               // Of `tasks`.
  // Of 2^32 such nodes so many are wanted, were the cluster full, by tasks
  // that ask for models. 0 where no supply is known.
  uint64_t wanted = 0;
};

// Compiled options. Logically a value that never changes: what it remembers
// about nodes it compares before use.
class TypicalMix {
 public:
  explicit TypicalMix(const PlacementOptions& options);

  // The weight of all typical tasks, those without devices included.
  int64_t total_weight() const { return total_weight_; }

  // Holds until the next call. Amortised O(devices).
  const NodeProfile& ProfileOf(const Cluster& cluster, NodeIndex node);

  // Summed over the profile's typical tasks of which one more has room: weight
  // times the free thousandths on devices that have room for it.
  // O(tasks + needs * devices).
  int64_t Useful(const FreeAmounts& free_amounts, const NodeProfile& profile);

  // How many free thousandths of devices the node's other kinds can supply, if
  // tasks ask of them what typical tasks do on average.
  int64_t Supplied(const FreeAmounts& free_amounts) const;

 private:
  // What a task asks of one device; equal ones are looked at once.
  struct DeviceNeed {
    int32_t milli = 0;
    int64_t memory = 0;  // > 0: so much memory instead.
    std::vector<std::string> models{};

    friend bool operator==(const DeviceNeed&, const DeviceNeed&) = default;
  };
  using Amount = Needs::Amount;
  struct MixTask {
    uint32_t need = 0;
    uint32_t count = 0;
    int64_t weight = 0;
    Amount lead{};                            // What it asks of the first kind,
    absl::InlinedVector<Amount, 2> others{};  // and of the others.
    NodeSelector selector{};
  };
  // What the node in hand has for a need.
  struct DeviceOffer {
    uint32_t devices = 0;
    int64_t milli = 0;
  };
  struct SupplyRatio {
    ResourceKind kind = 0;
    uint64_t milli = 0;  // Thousandths of devices a unit, times 2^40.
  };

  void AddTask(const TypicalTask& typical);
  void AddRatios();
  // Weighted thousandths of devices.
  int64_t Demand(const MixTask& task) const;
  uint32_t FindNeed(const DeviceRequest& request);
  bool Describes(const NodeProfile& profile, const Node& node) const;
  NodeProfile MakeProfile(const Node& node) const;
  void AddTasks(const Node& node, NodeProfile* profile) const;
  uint64_t WantedShare(const NodeProfile& profile) const;
  int64_t Supply(const std::vector<std::string>& models) const;

  std::vector<ModelSupply> supply_;
  std::vector<MixTask> tasks_;
  std::vector<DeviceNeed> needs_;
  std::vector<SupplyRatio> ratios_;
  std::vector<std::string> label_keys_;
  int64_t total_weight_ = 0;
  std::vector<NodeProfile> profiles_;
  uint64_t last_serial_ = 0;
  std::vector<uint32_t> profile_of_;  // By node: where it was found last.
  std::vector<DeviceOffer> offers_;   // By need.
};

}  // namespace muster::scoring
