// Topology: named levels of closeness over the nodes.
#ifndef MUSTER_TOPOLOGY_H_
#define MUSTER_TOPOLOGY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "muster/ids.h"

namespace muster {

// A tree over the nodes. Each level is named by the node label that tells the
// domain: {"zone", "block", "rack"}. Two nodes are in one domain of a level
// when they agree on the labels of that level and of all wider ones (rack r1
// of block b1 is not rack r1 of block b2). A node that lacks a level's label
// is outside the topology and takes no task that names it. Several topologies
// may lie over the same nodes. The single node is always one more, narrowest
// level, named kHostLevel, unless the last level is unique per node anyway.
struct Topology {
  std::string key{};
  std::vector<std::string> levels{};  // Widest first; 1..16.

  friend bool operator==(const Topology&, const Topology&) = default;
};

// A network over the nodes that is no tree: a torus, a dragonfly, rails or any
// graph (muster/fabric/fabric.h, docs/fabrics.md). A constraint names it like a
// topology. A gang that does, in its root group or its one role, has that role
// alone, takes the fewest nodes that hold it, and among these such as lie near
// each other (Fabric::Select); its tasks stand in ring order
// (Fabric::RingThrough). `required` can name a level of the fabric's form:
// "box" in a torus, "group" or "router" in a dragonfly, "unit" in rails, the
// single node ("host") in all. Levels of fabrics are not preferred, sliced or
// spread over. A node that the fabric does not have takes no such task.
struct FabricTopology {
  static constexpr size_t kMaxTextLength = size_t{512} << 20;

  std::string key{};   // Unlike that of any topology.
  std::string text{};  // Fabric::ToText's; at most kMaxTextLength bytes.

  friend bool operator==(const FabricTopology&,
                         const FabricTopology&) = default;
};

// The level name that means "one node" in every topology.
inline constexpr char kHostLevel[] = "host";

// Every `size` tasks of a role, in the order of their indices, sit in one
// domain of `level`. Slices of a group hold for each role below it by itself.
// None is wider than the required level beside it.
struct Slice {
  std::string level{};
  uint32_t size = 0;

  friend bool operator==(const Slice&, const Slice&) = default;
};

// How the tasks of a role, or of all roles below a group, spread over the
// domains of a level. Judged when tasks are placed, by where the gang's tasks
// lie then, those that already run included; a task that runs is never moved
// for it. max_per_domain 1 at the host level keeps tasks off each other's
// nodes. At least one bound is set.
struct Spread {
  std::string level{};  // Empty: no spread is asked.
  // No domain that gets a task ends with more tasks than this. 0: no bound.
  uint32_t max_per_domain = 0;
  // No domain that gets a task ends with more than the fewest tasks of any
  // domain that counts, plus this. A domain counts if one of its nodes would
  // take a task of these roles were it empty (selector, taints, state and
  // capacity looked at), and it lies in the same required domain of this
  // topology as the tasks, if a level is required here or around. 0: no bound.
  //
  // Kubernetes' maxSkew with DoNotSchedule, but for these: the counts are the
  // gang's own, not those of whatever a selector matches; taints and capacity
  // are looked at; the gang is judged as a whole, not pod by pod.
  uint32_t max_skew = 0;
  // At least so many domains hold tasks; as many as tasks while there are
  // fewer of them. Where running tasks hold too few domains, each new task goes
  // into one without. 0: no bound. (minDomains of Kubernetes makes the fewest 0
  // instead, which bounds all domains by maxSkew until there are so many.)
  uint32_t min_domains = 0;

  friend bool operator==(const Spread&, const Spread&) = default;
};

// Where the tasks of a gang, a group or a role must or should sit together.
struct TopologyConstraint {
  std::string topology{};   // Key, a fabric's too; empty: the first topology.
  std::string required{};   // Level: all in one of its domains, or wait.
  std::string preferred{};  // Level: all in one domain if it can be; else the
                            // next wider level, up to `required`.
  std::vector<Slice>
      slices{};  // Outer first; each size divides the one before.
  Spread spread{};

  bool empty() const {
    return required.empty() && preferred.empty() && slices.empty() &&
           spread.level.empty();
  }
  friend bool operator==(const TopologyConstraint&,
                         const TopologyConstraint&) = default;
};

}  // namespace muster

#endif  // MUSTER_TOPOLOGY_H_
