// Fabric: a network that is no tree (torus, dragonfly, rails, any graph), and
// which nodes of it a gang should have.
#ifndef MUSTER_FABRIC_FABRIC_H_
#define MUSTER_FABRIC_FABRIC_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "muster/export.h"

namespace muster {

// --- What a fabric is made of ------------------------------------------------
// Vertices are nodes (by the host's key) and switches (by a name), links go
// both ways. Bandwidths are 1..Fabric::kMaxBandwidth in a unit the host likes.
// Keys and names: 1..kMaxKeyLength bytes, all different, without blanks and
// control characters, and no '#' at the beginning.

// Any graph. Several links between the same two vertices count as one link
// with their sum.
struct FabricGraph {
  struct Link {
    std::string a{}, b{};  // Nodes or switches, two different ones.
    int64_t bandwidth = 1;
    friend bool operator==(const Link&, const Link&) = default;
  };
  std::vector<std::string> nodes{};
  std::vector<std::string> switches{};
  std::vector<Link> links{};
  friend bool operator==(const FabricGraph&, const FabricGraph&) = default;
};

// A grid of nodes that closes to a ring along each axis. Along an axis of 2
// there is one link between the two, along an axis of 1 none.
struct Torus3d {
  uint32_t x = 1, y = 1, z = 1;
  int64_t bandwidth = 1;             // Of each link.
  std::vector<std::string> nodes{};  // (i, j, k) is nodes[(i * y + j) * z + k].
  friend bool operator==(const Torus3d&, const Torus3d&) = default;
};

// Groups of routers. Each router has its nodes and a link to every other router
// of its group; any two groups have `global_links` links between them. A group
// gives its global links to its routers in turn, in the order of the groups at
// their other ends.
struct Dragonfly {
  uint32_t groups = 1, routers = 1, nodes_per_router = 1, global_links = 1;
  int64_t node_bandwidth = 1, local_bandwidth = 1, global_bandwidth = 1;
  std::vector<std::string> nodes{};  // Group by group, router by router.
  friend bool operator==(const Dragonfly&, const Dragonfly&) = default;
};

// Scalable units, each with one leaf switch per rail. A node has a link to each
// leaf of its unit, a leaf a link to every spine.
struct RailFatTree {
  uint32_t units = 1, nodes_per_unit = 1, rails = 1, spines = 1;
  int64_t node_bandwidth = 1, spine_bandwidth = 1;
  std::vector<std::string> nodes{};  // Unit by unit.
  friend bool operator==(const RailFatTree&, const RailFatTree&) = default;
};

using FabricDescription =
    std::variant<FabricGraph, Torus3d, Dragonfly, RailFatTree>;

// A node and its label "x,y,z".
struct TorusCoordinate {
  std::string node{};
  std::string at{};
};

// --- What is asked of it -----------------------------------------------------

// Part of a torus: the `size` cells from `at` on, beyond the edge from 0 again.
struct TorusBox {
  std::array<uint32_t, 3> at{};
  std::array<uint32_t, 3> size{};
  friend bool operator==(const TorusBox&, const TorusBox&) = default;
};

// What it costs to talk among some nodes. A hop is one link; ways may lead
// through other nodes.
struct FabricCost {
  bool connected = true;  // False: some pair has no way; the rest is 0.
  uint32_t diameter = 0;  // Hops between the two that are farthest apart.
  int64_t hop_sum = 0;    // Over all pairs.
  int64_t bisection = 0;  // The least bandwidth between two halves (whose
                          // sizes differ by at most 1), through these nodes
                          // and any switches, not through other nodes.
  bool bisection_exact = true;  // False: the true one may be less.
};

// Nodes for a gang.
struct FabricPlacement {
  std::vector<uint32_t> nodes{};  // By rank; empty: there is no place.
  std::optional<TorusBox> box{};  // If they are one.
  int64_t hop_sum = 0;            // Over all pairs of them.
  int64_t hop_sum_bound = 0;      // No choice has less; 0: nothing is claimed.
  uint64_t nanos = 0;             // What the work budget charges for it.
};

// Immutable, but distances are remembered: one thread at a time. Nodes are
// numbered 0.. in the order of their keys, so whatever is decided by a node's
// number is decided by its key.
class MUSTER_API Fabric {
 public:
  static constexpr int64_t kMaxBandwidth = 100'000'000'000;
  static constexpr uint32_t kMaxVertices = 1 << 20;
  static constexpr uint32_t kMaxLinks = 1 << 22;
  static constexpr uint32_t kNoNode = std::numeric_limits<uint32_t>::max();
  static constexpr uint32_t kUnreachable = std::numeric_limits<uint32_t>::max();

  // All of these answer InvalidArgument with what is wrong, and where.
  static absl::StatusOr<Fabric> Make(FabricDescription description);
  // A torus just large enough, each cell of which has one node.
  static absl::StatusOr<Fabric> FromCoordinates(
      std::span<const TorusCoordinate> nodes, int64_t bandwidth);
  // The format of ToText; docs/fabrics.md describes it.
  static absl::StatusOr<Fabric> FromText(std::string_view text);

  Fabric(Fabric&&) noexcept;
  Fabric& operator=(Fabric&&) noexcept;
  ~Fabric();

  // Reads back as an equal fabric. GraphML: muster/fabric/graphml.h.
  std::string ToText() const;
  // A drawing for Graphviz; `marked` nodes are filled and show their rank.
  std::string ToDot(std::span<const uint32_t> marked = {}) const;

  const FabricDescription& description() const;
  // The same as a plain graph, in the order of keys; links (a < b) likewise.
  FabricGraph graph() const;
  uint32_t nodes() const;  // How many.
  const std::string& key(uint32_t node) const;
  uint32_t Find(std::string_view key) const;  // Or kNoNode.

  // Names of the parts of its form, widest first: "box" (any box) of a torus,
  // "group" and "router" of a dragonfly, "unit" of rails.
  std::span<const std::string_view> levels() const;
  // Those of a fabric with such a description, valid or not: by its first word.
  static std::span<const std::string_view> LevelsOfText(std::string_view text);
  // Which group, router or unit (by its position in levels()) the node lies in.
  // Not for boxes.
  uint32_t Domain(uint32_t node, size_t level) const;

  // Or kUnreachable. O(vertices + links) when it is the first from `a`.
  uint32_t Hops(uint32_t a, uint32_t b) const;

  // InvalidArgument for unknown or doubled nodes. The bisection is exact for
  // boxes of a torus (a formula) and for up to 10 nodes (all splits; a minimum
  // cut each); otherwise it is that of the best split found.
  absl::StatusOr<FabricCost> Cost(std::span<const uint32_t> nodes) const;

  // Which `count` of the nodes with free[node] != 0; all of them can reach each
  // other. None found: there are none (in a graph with more than 1,024 free
  // nodes and several parts: perhaps none). By kind of fabric, in this order:
  //   torus      a box, if there is one (FindBox); else as any graph
  //   dragonfly  fewest groups, then fewest routers
  //   rails      fewest units, then the tightest
  //   any graph  few hops over all pairs: not always the fewest
  // InvalidArgument unless free.size() == nodes() and count > 0.
  absl::StatusOr<FabricPlacement> Select(std::span<const uint8_t> free,
                                         uint32_t count) const;

  // A box of `count` free nodes of a torus: of all shapes that have a place,
  // the one with the highest bisection, then the least diameter, then the
  // fewest hops; of all places for it, the one with the fewest free nodes
  // around it, then the first by (at, size). Exact: all are looked at. O(cells
  // * shapes). FailedPrecondition if this is no torus. Nodes with fixed[node]
  // != 0 are in the box, free or not, and count; empty: there are none.
  absl::StatusOr<FabricPlacement> FindBox(
      std::span<const uint8_t> free, uint32_t count,
      std::span<const uint8_t> fixed = {}) const;
  // Likewise of the shape `size`, turned in any way.
  absl::StatusOr<FabricPlacement> FindBox(std::span<const uint8_t> free,
                                          std::array<uint32_t, 3> size) const;

  // The nodes in an order in which neighbouring ranks, and the last and the
  // first, are few hops apart: for a box of a torus the least sum there is, for
  // rails by unit, for a dragonfly by group and router, each then improved by
  // turning stretches round (up to 256 nodes). `nodes` as for Cost.
  absl::StatusOr<std::vector<uint32_t>> RingThrough(
      std::span<const uint32_t> nodes) const;
  // Hops from rank to rank and back to the first; `nodes` by rank, connected.
  int64_t RingHops(std::span<const uint32_t> nodes) const;

  struct Rep;  // Defined inside the library.

 private:
  explicit Fabric(std::unique_ptr<Rep> rep);

  std::unique_ptr<Rep> rep_;
};

}  // namespace muster

#endif  // MUSTER_FABRIC_FABRIC_H_
