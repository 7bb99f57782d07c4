// Gangs: the all-or-nothing unit of work. What is a gang here is a PodGroup in
// Kubernetes and Volcano, a Workload in Kueue, a job in Slurm.
#ifndef MUSTER_GANG_H_
#define MUSTER_GANG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/device.h"
#include "muster/ids.h"
#include "muster/priority_class.h"
#include "muster/resources.h"
#include "muster/selector.h"
#include "muster/topology.h"

namespace muster {

// What one task needs of one node, and which nodes will do.
struct TaskShape {
  // Per task; the device kind is left 0, and so is the node kind.
  Resources resources{};
  DeviceRequest devices{};
  // What the node's labels must be; taints and node sets come besides.
  NodeSelector selector{};
  // Of this alternative alone, beside those of its role.
  std::vector<Toleration> tolerations{};
  std::vector<std::string> node_sets{};
  // The task is alone on its node: none of any gang is there when it starts,
  // none starts there while it has its place. Needs
  // SchedulerConfig::node_kind.
  bool whole_node = false;

  friend bool operator==(const TaskShape&, const TaskShape&) = default;
};

// Identical tasks of one gang: workers, parameter servers, a launcher.
struct Role {
  static constexpr size_t kMaxAlternatives = 64;

  // Unique in the gang; may be empty if alone.
  std::string name{};
  // Position in Gang::groups; 0 where there are none.
  uint32_t group = 0;
  // Fewer never run. 0: the role is optional.
  uint32_t min_tasks = 1;
  // At least min_tasks, and 1; the role grows to this when it can. What it has
  // beyond min_tasks makes room again. (Kubernetes: replicas; Volcano:
  // minAvailable and replicas.)
  uint32_t desired_tasks = 1;
  TaskShape shape{};
  // Taken in this order where `shape` finds no place; all tasks of a role
  // have the same shape. At most kMaxAlternatives, and Gang::kMaxShapes shapes
  // of all roles together.
  std::vector<TaskShape> alternatives{};
  // Of all tasks of the role, whatever their shape.
  std::vector<Preference> preferences{};
  std::vector<Toleration> tolerations{};
  // Keys of NodeSets that are known; nodes must be in all of these.
  std::vector<std::string> node_sets{};
  TopologyConstraint topology{};
  // Names of roles whose tasks run before those of this one start; no cycles.
  // All tasks of a gang have their places before the first starts, and keep
  // them: a gang never waits for room in the middle. If one of an earlier role
  // fails and cannot be placed again, all are released. A role that the gang
  // runs without delays no role, and one that grows later stops none.
  std::vector<std::string> start_after{};
  // false: its tasks are never taken for another gang: neither as surplus nor,
  // while one of them runs, with the whole gang.
  bool preemptible = true;
  // Within the gang, roles of higher order get surplus tasks first and give
  // them last; those of equal order in proportion to desired - min.
  int32_t order = 0;

  friend bool operator==(const Role&, const Role&) = default;
};

// A node of the gang's tree of groups. Groups hold groups and roles.
//
// A group is satisfied when at least `min_children` of its children are (a
// role: when min_tasks of its tasks run; an optional role counts when at least
// one does) and at least `min_tasks` tasks run below it. Children beyond the
// minimum are placed as room allows, each whole at its own minimum, and make
// room again in the same way.
struct Group {
  std::string name{};  // For reasons and reports; may be empty.
  // Its position in Gang::groups, below this one's; the root's own, 0. At most
  // Gang::kMaxDepth groups are above.
  uint32_t parent = 0;
  // At most as many as it has. 0: all groups and all roles with min_tasks > 0.
  uint32_t min_children = 0;
  // At most what the roles below desire. 0: what the children ask.
  uint32_t min_tasks = 0;
  // Of all tasks below it.
  TopologyConstraint topology{};

  friend bool operator==(const Group&, const Group&) = default;
};

// Two roles that talk: tasks of both are placed so that weight x distance
// summed over task pairs is small, at the narrowest level that has room. The
// weights of all pairs of a gang, its roles at what they desire, add up to
// kMaxTotal at most.
struct Traffic {
  static constexpr int64_t kMaxWeight = 1'000'000;
  static constexpr int64_t kMaxTotal = int64_t{1} << 57;

  // Names of roles, which may be the same one: its tasks talk among themselves.
  std::string from{};
  std::string to{};
  int64_t weight = 1;  // 1..kMaxWeight.

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// Nearness to, or distance from, gangs whose labels match, at a level. [later]:
// see Gang.
struct GangAffinity {
  SelectorTerm gangs{};  // Over Gang::labels.
  std::string topology{};
  std::string level{};
  bool anti = false;
  bool required = true;
  int32_t weight = 1;

  friend bool operator==(const GangAffinity&, const GangAffinity&) = default;
};

// Progress per second by device model and task count: for later policies.
// [later]: see Gang.
struct SpeedEntry {
  std::string model{};
  uint32_t tasks = 0;
  int64_t milli_speed = 0;

  friend bool operator==(const SpeedEntry&, const SpeedEntry&) = default;
};

// A job, as submitted. A value; the scheduler keeps its own copy.
//
// Fields marked [later] are part of the interface, but a gang that sets them is
// refused with "not supported yet" in this version; none is ever ignored.
//
// The most that its tasks could use (roles at what they desire, each in the
// alternative that asks most of a kind) is, with that of all other live gangs,
// at most Resources::kMaxTotal of each kind.
struct Gang {
  static constexpr size_t kMaxRoles = 1024;
  static constexpr size_t kMaxGroups = 1024;
  static constexpr uint32_t kMaxDepth = 32;  // Groups above any other.
  static constexpr size_t kMaxShapes = 4096;
  // That all roles desire together.
  static constexpr uint32_t kMaxTasks = uint32_t{1} << 20;

  std::string key{};             // Unique among live gangs.
  std::string queue{};           // Key of a leaf queue.
  std::string priority_class{};  // Key; empty: value 0, all defaults.
  Time submitted = 0;            // The place in its queue; kept on requeue.
  std::vector<Group> groups{};   // groups[0] is the root; empty: a plain root.
  std::vector<Role> roles{};     // 1..kMaxRoles.
  std::vector<Traffic> traffic{};
  Labels labels{};                       // They decide nothing yet.
  std::vector<GangAffinity> affinity{};  // [later]
  std::string user{};                    // Told in explanations and reports.
  std::string account{};                 // Likewise.
  bool preemptible = true;               // false: never a victim.
  bool held = false;                     // Waits until GangHeld{false}.
  Time not_before = 0;                   // Waits until then.
  Time deadline = kForever;              // [later]
  Duration max_runtime = 0;       // Cancelled after this in one go; 0: none.
  Duration expected_runtime = 0;  // 0: unknown. Told in reports.
  std::vector<std::string> depends_on{};  // [later] Gangs to finish first.
  Duration restart_cost = 0;  // Lost at each restart, beside unsaved work.
  std::vector<SpeedEntry> speed{};  // [later]
  std::string display{};            // A name for people, beside the key.
  std::string held_why{};           // While it is held: told in explanations.
  // As a victim, in place of what its priority class says.
  std::optional<OnPreempted> on_preempted{};

  friend bool operator==(const Gang&, const Gang&) = default;
};

}  // namespace muster

#endif  // MUSTER_GANG_H_
