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
  template <class Self, class V>
  static void Fields(Self& s, V&& v) {
    v(1, "key", s.key);
    v(2, "levels", s.levels);
  }
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
  template <class Self, class V>
  static void Fields(Self& s, V&& v) {
    v(1, "level", s.level);
    v(2, "size", s.size);
  }
};

// How tasks spread over the domains of a level.
struct Spread {
  std::string level{};          // Empty: no spread is asked.
  uint32_t max_per_domain = 0;  // 0: no bound.
  uint32_t max_skew = 0;        // 0: no bound. Most minus fewest, over domains.
  uint32_t min_domains = 0;     // 0: no bound.

  friend bool operator==(const Spread&, const Spread&) = default;
  template <class Self, class V>
  static void Fields(Self& s, V&& v) {
    v(1, "level", s.level);
    v(2, "max_per_domain", s.max_per_domain);
    v(3, "max_skew", s.max_skew);
    v(4, "min_domains", s.min_domains);
  }
};

// Where the tasks of a gang, a group or a role must or should sit together.
struct TopologyConstraint {
  std::string topology{};   // Key; empty: the first configured one.
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
  template <class Self, class V>
  static void Fields(Self& s, V&& v) {
    v(1, "topology", s.topology);
    v(2, "required", s.required);
    v(3, "preferred", s.preferred);
    v(4, "slices", s.slices);
    v(5, "spread", s.spread);
  }
};

}  // namespace muster

#endif  // MUSTER_TOPOLOGY_H_
