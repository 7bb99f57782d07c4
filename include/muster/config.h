// How a scheduler is set up: see also ConfigChanged.
#ifndef MUSTER_CONFIG_H_
#define MUSTER_CONFIG_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "muster/eviction_backoff.h"
#include "muster/ids.h"
#include "muster/partition.h"
#include "muster/placement_policy.h"
#include "muster/preemption_costs.h"
#include "muster/queue.h"
#include "muster/resources.h"
#include "muster/topology.h"

namespace muster {

// What the host can carry out. No plan holds what it cannot.
struct HostCapabilities {
  bool suspend = false;        // Stop a gang in place and resume it later.
  bool shrink = true;          // Stop single surplus tasks of a running gang.
  bool migrate = false;        // Move a running task. No plan does so yet.
  bool choose_devices = true;  // Lets Muster choose; else plans name none.
  bool nominate = true;        // Nominations are reported to it.
  bool grace = true;           // Gives victims their grace time.
  // Leaves it to Muster to stop what kNoExecute taints drive out. false: the
  // host does so itself (as Kubernetes' taint manager) and answers kYielded.
  bool evicts_taints = true;
  // Names of the kinds that a suspended task keeps on its node (memory that is
  // not swapped out), so that no other task is placed there; the rest is free
  // for others. Not the device kind: a host whose suspended tasks keep memory
  // of devices counts that memory as a kind of its own. A gang is suspended for
  // another only where what it keeps leaves that one its place; else it is
  // evicted. A suspended gang may be evicted for what it keeps.
  std::vector<std::string> suspended_keeps{};
  // The host settles by itself what exceeds a node (Kubernetes: the kubelet
  // refuses what came last). No plan stops a task because its node has less
  // than is in use there, by external usage, other capacity or Reconciled: such
  // a node (ClusterView::overcommitted) takes nothing new, and gangs that are
  // nominated for it, which hold nothing yet, may go elsewhere.
  bool keeps_running = false;

  friend bool operator==(const HostCapabilities&,
                         const HostCapabilities&) = default;
};

// How far one search may go. Both limits are logical, like the work budget, but
// count other steps: a placement step is a few nanoseconds of a search over
// placements, a victim step one trial of a search for victims (see
// SchedulerConfig::work_budget for work steps). A question whose last answer
// was a "no" that these bounds left unproven gets more: see
// GangClassState::effort.
struct SearchLimits {
  static constexpr int64_t kMaxSteps = int64_t{1} << 40;

  // To better a placement that was found, or to prove it the best. Searches for
  // a first placement have bounds of their own. 0: it is left as it was found.
  uint64_t placement_steps = 200'000;
  // To find victims for one gang.
  uint64_t victim_steps = 100'000;
  // A search that ended without a proof is made again while no other question
  // is active, one a pass, each time with twice the steps, up to 1 +
  // most_effort times the limits above. At most GangClassState::kMostEffort; 0:
  // it is not made again before something has happened.
  uint32_t most_effort = 15;

  friend bool operator==(const SearchLimits&, const SearchLimits&) = default;
};

// A value. Scheduler::Create refuses one that is wrong, and names the field; a
// ConfigChanged event replaces it as a whole.
struct SchedulerConfig {
  static constexpr size_t kMaxTopologies = 64;  // And fabrics, and schemes.

  // Names of the kinds, unique; a kind's position is its ResourceKind. At most
  // Resources::kMaxKinds.
  std::vector<std::string> resources{"cpu", "memory", "gpu"};
  // The kind that is counted by devices, in thousandths; empty: none is.
  std::string device_kind = "gpu";
  // The kind by which tasks have nodes for themselves (TaskShape::whole_node):
  // each node has kWholeNode of it, such a task takes all, any other task 1.
  // External usage may have it (of a node that is wholly in external use, all),
  // and queues have quotas of it like of any kind. Empty: no task may ask for a
  // whole node.
  std::string node_kind{};
  std::vector<Topology> topologies{};
  std::vector<FabricTopology> fabrics{};
  HostCapabilities host{};
  // Bounds one pass, in work steps, which are logical, never time: equal
  // inputs, equal plans. A work step stands for 100 ns at most of the search
  // for an answer that no cache knows; what a cache knows is charged the same.
  // 0: no bound.
  uint64_t work_budget = 0;
  // After the n-th failed start in a row a gang waits min(base << (n-1), max).
  Duration backoff_base = 10 * kSecond;
  Duration backoff_max = 300 * kSecond;
  // A gang is started or kept, never evicted, for another gang when false.
  bool preemption = true;
  // Which of those that may be stopped.
  PreemptionCosts preemption_costs{};
  // And when those that were may be stopped, and stop others, again.
  EvictionBackoff eviction_backoff{};
  // Who of two sibling queues comes first: the first key by which they differ,
  // and in the end the place of the gang (priority, age, key). No key twice.
  // Empty: within, band, priority, share, age. With priority before share, a
  // queue that calls all its work urgent has all of what two should share.
  std::vector<QueueOrderKey> queue_order{};
  // Which of the nodes that have room is taken: of the library's own solver.
  PlacementOptions placement{};
  // How devices can be cut into partitions, by Device::partition_scheme.
  std::vector<PartitionScheme> partition_schemes{};
  // How many gangs may wait between Submit() and the pass that takes them: more
  // are refused there. 0: no bound.
  uint64_t inbox_limit = 0;
  SearchLimits search{};
  // A gang below its minimum keeps its places for so long while no room is
  // found for the tasks it lacks; then it gives them up and waits. 0: it gives
  // them up at once. One that lost tasks with a node does so in any case.
  Duration replacement_timeout = 0;
  // A gang that has been suspended for so long, and is not held, is evicted:
  // it waits like any other, may go elsewhere, and starts from its checkpoint.
  // 0: it waits for its own places as long as it takes.
  Duration suspend_timeout = 600 * kSecond;

  // The kind of that name; resources.size() if none is called so. O(kinds).
  ResourceKind KindOf(std::string_view name) const {
    const auto it = std::find(resources.begin(), resources.end(), name);
    return static_cast<ResourceKind>(it - resources.begin());
  }

  friend bool operator==(const SchedulerConfig&,
                         const SchedulerConfig&) = default;
};

}  // namespace muster

#endif  // MUSTER_CONFIG_H_
