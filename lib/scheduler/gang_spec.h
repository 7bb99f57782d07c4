// What gangs that are alike share: their spec, kept once.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lib/cluster/cluster.h"
#include "lib/solver/gang_solver.h"
#include "muster/config.h"
#include "muster/gang.h"
#include "muster/resources.h"

namespace muster {

using SpecIndex = uint32_t;

inline constexpr ShapeId kNoShape = ~ShapeId{0};
inline constexpr SpecIndex kNoSpec = ~SpecIndex{0};

// A gang's spec: all fields of Gang but its own (GangOwn), queue and
// priority class. Gangs of one queue, priority class and spec stand in one
// class, of which the first is asked for all. A hundred thousand equal jobs
// cost one of these.
struct GangSpec {
  PreparedGang prepared{};  // Its gang has the own fields cleared, and a root.
  std::vector<uint32_t> waves{};  // By role.
  // The shapes of all roles, each once, the alternatives included.
  std::vector<ShapeId> shapes{};
  // By them: of what a suspended task keeps; kNoShape: nothing. Empty where
  // none keeps anything.
  std::vector<ShapeId> kept{};
  // Least demand: every role at its minimum, in its first shape; exact if no
  // alternative and no group makes the minimum a matter of choice. Memory of
  // devices is counted by the devices there are: see LeastOf.
  mutable Resources least{};
  mutable uint64_t least_structure = 0;
  bool least_is_exact = false;
  // The most that all its tasks could ever use.
  Resources most{};
  uint32_t least_tasks = 0;
  uint64_t most_tasks = 0;  // All that its roles desire.
  bool elastic = false;     // It may have more tasks than it needs.
  // Whether it could fit on other nodes than those that got room, when nodes
  // come, go or change: a skew compares domains, memory shares count devices.
  bool looks_at_structure = false;
  // Whether where it may grow depends on where it is.
  bool grows_nearby = false;
  bool bears_for_a_time = false;  // It has tolerations that end.
  bool sliced = false;  // Which of its tasks is placed where matters: slices.
  uint64_t hash = 0;
  uint32_t refs = 0;

  const Gang& gang() const { return prepared.gang; }
};

// The spec's least demand, in the cluster as it is now.
const Resources& LeastOf(const GangSpec& spec, const Cluster& cluster);

// Whether a node with that amount free admits, and by amounts has room for, a
// task of the spec.
bool AnyFits(const GangSpec& spec, const Cluster& cluster, NodeIndex node,
             const Resources& amount);

// What a task that has `at` keeps when the gang is suspended; none: nothing.
std::optional<Allocation> KeptOf(const GangSpec& spec, const Allocation& at);

// Whether the task is one more than its role desires.
inline bool IsBeyond(const Gang& gang, TaskId task) {
  return task.index >= gang.roles[task.role].desired_tasks;
}

// Whether `counts` tasks a role (and, below a group, so many in all) satisfy
// the gang: see Group in gang.h.
bool IsSatisfied(const GangSpec& spec, std::span<const uint32_t> counts);

// The same of each scope of the gang: its groups, by position, then its roles.
struct Satisfaction {
  Satisfaction(const Gang& gang, std::span<const uint32_t> counts);

  std::vector<uint8_t> satisfied{};
  std::vector<uint64_t> tasks{};  // In it, and in what is below it.
  std::vector<uint32_t> good{};   // By group: satisfied children.
};

// The most that the gang could use: see Gang.
Resources MostOf(const Gang& gang, const Cluster& cluster);

// Interned specs. Not synchronised. References hold until the last Unref.
class SpecTable {
 public:
  explicit SpecTable(const SchedulerConfig& config);

  // Of a valid gang; each call is undone by one Unref. `cluster` gets its
  // shapes. O(size of the gang).
  SpecIndex Intern(const Gang& gang, Cluster& cluster);
  void Ref(SpecIndex s) { ++specs_[s].refs; }
  void Unref(SpecIndex s, Cluster& cluster);
  const GangSpec& at(SpecIndex s) const { return specs_[s]; }

 private:
  void InternKept(GangSpec& spec, Cluster& cluster) const;

  std::vector<ResourceKind> kept_;  // HostCapabilities::suspended_keeps.
  std::deque<GangSpec> specs_;
  std::vector<SpecIndex> free_;
  absl::flat_hash_map<uint64_t, std::vector<SpecIndex>> by_hash_;
};

}  // namespace muster
