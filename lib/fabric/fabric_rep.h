// What a Fabric knows: its graph in Boost.Graph's terms, and the order in it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "boost/graph/adjacency_list.hpp"
#include "lib/base/step_cost.h"
#include "muster/export.h"
#include "muster/fabric/fabric.h"
#include "muster/ids.h"

namespace muster {

using Triple = std::array<uint32_t, 3>;

// Cells of a torus of this size are numbered as Torus3d's nodes.
inline size_t CellAt(const Triple& at, const Triple& dims) {
  return (size_t{at[0]} * dims[1] + at[1]) * dims[2] + at[2];
}
inline Triple PlaceOf(uint32_t cell, const Triple& dims) {
  return {cell / dims[2] / dims[1], cell / dims[2] % dims[1], cell % dims[2]};
}

inline int64_t Volume(const Triple& size) {
  return int64_t{size[0]} * size[1] * size[2];
}

struct Fabric::Rep {
  using Bandwidth = boost::property<boost::edge_weight_t, int64_t>;
  using Graph =
      boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS,
                            boost::no_property, Bandwidth>;

  FabricDescription description{};
  std::vector<std::string> keys{};  // Nodes by key, then switches by name.
  uint32_t nodes = 0;
  Graph graph{};  // At most one edge between two vertices.
  // A cell is a node's place in the description.
  std::vector<uint32_t> node_at{};  // [cell]
  std::vector<uint32_t> cell_of{};  // [node]
  Triple dims{};                    // Of a torus; else 0.
  // Nodes of a router and a group, or of a unit, which is both; else 0.
  uint32_t router_size = 0, group_size = 0;
  mutable std::vector<std::vector<uint32_t>> distances{};  // [node][vertex]
  mutable uint64_t nanos = 0;  // Of the question asked now.

  void Charge(uint64_t count, uint64_t each) const { nanos += count * each; }
  // Distances from so many nodes are asked for, known or not.
  void ChargeRoutes(uint64_t from) const {
    if (!is_torus()) {
      Charge(from * (keys.size() + boost::num_edges(graph)), kRouteNs);
    }
  }
  bool is_torus() const { return dims[0] > 0; }
  bool has_routers() const { return router_size > 0; }
  uint32_t vertices() const { return static_cast<uint32_t>(keys.size()); }
  Triple Place(uint32_t node) const { return PlaceOf(cell_of[node], dims); }
  uint32_t NodeAt(const Triple& at) const { return node_at[CellAt(at, dims)]; }
  // Routers count through all groups.
  uint32_t Router(uint32_t node) const { return cell_of[node] / router_size; }
  uint32_t Group(uint32_t node) const { return cell_of[node] / group_size; }
  uint32_t Hops(uint32_t a, uint32_t b) const;
  // Distances from a node to every vertex, by breadth-first search.
  const std::vector<uint32_t>& From(uint32_t node) const;
  // Known nodes, none twice?
  absl::Status Check(std::span<const uint32_t> set) const;
  absl::Status Check(std::span<const uint8_t> free, uint32_t count) const;
};

// --- description.cc ---
// The description turned into a plain graph: nodes, switches and links in the
// order in which it makes them; or what is wrong with its numbers. Keys and
// links of a FabricGraph are passed on as they are.
absl::StatusOr<FabricGraph> GraphOf(const FabricDescription& description);
// What is wrong with a key or name, or nothing. Exported for muster::graphml.
MUSTER_API absl::Status CheckFabricKey(std::string_view key);

// --- text.cc ---
// The first line of the text form; empty for a FabricGraph. Exported likewise.
MUSTER_API std::string FabricHeader(const FabricDescription& description);

// --- bisection.cc ---
struct Bisection {
  int64_t bandwidth = 0;
  bool exact = false;
};
Bisection BisectionOf(const Fabric::Rep& rep, std::span<const uint32_t> set);

// --- box.cc: of a torus ---
// The axis closes to a ring inside a box of this size.
bool Closes(const Fabric::Rep& rep, const Triple& size, size_t axis);
int64_t BoxBisection(const Fabric::Rep& rep, const Triple& size);
// The box that is just this set, if there is one.
std::optional<TorusBox> AsBox(const Fabric::Rep& rep,
                              std::span<const uint32_t> set);

// --- rank_order.cc ---
// The nodes of a box in the ring order of Fabric::RingThrough.
std::vector<uint32_t> BoxRing(const Fabric::Rep& rep, const TorusBox& box);
std::vector<uint32_t> RingOf(const Fabric::Rep& rep,
                             std::span<const uint32_t> set);

// --- grow.cc, levels.cc: what Select does where there is no box ---
FabricPlacement SelectByHops(const Fabric::Rep& rep,
                             std::span<const uint8_t> free, uint32_t count);
FabricPlacement SelectByLevels(const Fabric::Rep& rep,
                               std::span<const uint8_t> free, uint32_t count);
int64_t HopSum(const Fabric::Rep& rep, std::span<const uint32_t> set);

}  // namespace muster
