// The usual work, and what it can make of a node's free devices.
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

// A node as far as the workload can tell nodes apart, apart from what is free.
struct NodeKind {
  uint64_t serial = 0;  // No other kind of this workload ever has the same.

  // What nodes of the kind agree in.
  std::vector<Device> devices{};
  Labels labels{};  // Of the label keys.

  // What follows.
  // Typical tasks with devices it may run, in groups.
  struct Group {
    uint32_t need = 0;      // Which they have in common,
    ResourceKind kind = 0;  // as well as the kind that counts first:
    uint32_t first = 0;     // the less they ask of it, the earlier they are.
    uint32_t last = 0;      // Into `tasks`.
  };
  std::vector<Group> groups{};
  std::vector<uint32_t> tasks{};
  std::vector<DeviceSet> usable{};  // By need: the devices that may serve it.
  int64_t weight = 0;               // Of `tasks`.
  // Of 2^32 such nodes so many are wanted, were the cluster full, by tasks
  // that ask for models. 0 where no supply is known.
  uint64_t wanted = 0;
};

// Compiled options. Logically a value that never changes: what it remembers
// about nodes it compares before use.
class Workload {
 public:
  explicit Workload(const PlacementOptions& options);

  // The weight of all typical tasks, those without devices included.
  int64_t total_weight() const { return total_weight_; }

  // Holds until the next call. Amortised O(devices).
  const NodeKind& KindOf(const Cluster& cluster, NodeIndex node);

  // Summed over the kind's typical tasks of which one more has room: weight
  // times the free thousandths on devices that have room for it.
  // O(tasks + needs * devices).
  int64_t Useful(const FreeAmounts& state, const NodeKind& kind);

  // How many free thousandths of devices the node's other kinds can supply, if
  // tasks ask of them what typical tasks do on average.
  int64_t Supplied(const FreeAmounts& state) const;

 private:
  // What a task asks of one device; equal ones are looked at once.
  struct Need {
    int32_t milli = 0;
    int64_t memory = 0;  // > 0: a piece of memory instead.
    std::vector<std::string> models{};

    friend bool operator==(const Need&, const Need&) = default;
  };
  using Amount = Needs::Amount;
  struct Task {
    uint32_t need = 0;
    uint32_t count = 0;
    int64_t weight = 0;
    Amount lead{};                            // What it asks of the first kind,
    absl::InlinedVector<Amount, 2> others{};  // and of the others.
    NodeSelector selector{};
  };
  // Of a need, on the state in hand.
  struct Offer {
    uint32_t devices = 0;
    int64_t milli = 0;
  };
  struct Ratio {
    ResourceKind kind = 0;
    uint64_t milli = 0;  // Thousandths of devices a unit, times 2^40.
  };

  void AddTask(const TypicalTask& typical);
  void AddRatios();
  // Weighted thousandths of devices.
  int64_t Demand(const Task& task) const;
  uint32_t FindNeed(const DeviceRequest& request);
  bool Matches(const NodeKind& kind, const Node& node) const;
  NodeKind MakeKind(const Node& node) const;
  void AddTasks(const Node& node, NodeKind* kind) const;
  uint64_t WantedShare(const NodeKind& kind) const;
  int64_t Supply(const std::vector<std::string>& models) const;

  std::vector<ModelSupply> supply_;
  std::vector<Task> tasks_;
  std::vector<Need> needs_;
  std::vector<Ratio> ratios_;
  std::vector<std::string> label_keys_;
  int64_t total_weight_ = 0;
  std::vector<NodeKind> kinds_;
  uint64_t last_serial_ = 0;
  std::vector<uint32_t> kind_of_;  // By node: where it was found last.
  std::vector<Offer> offers_;      // By need.
};

}  // namespace muster::scoring
