#include "muster/fabric.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "boost/graph/breadth_first_search.hpp"
#include "lib/base/status_macros.h"
#include "lib/fabric/fabric_rep.h"

namespace muster {
namespace {

// Nodes by key, then switches by name.
absl::Status NumberVertices(const FabricGraph& graph, Fabric::Rep* rep) {
  if (graph.nodes.empty()) {
    return absl::InvalidArgumentError("a fabric without nodes");
  }
  if (graph.nodes.size() + graph.switches.size() > Fabric::kMaxVertices) {
    return Invalid("more than ", Fabric::kMaxVertices, " nodes and switches");
  }
  rep->nodes = static_cast<uint32_t>(graph.nodes.size());
  rep->keys = graph.nodes;
  rep->keys.insert(rep->keys.end(), graph.switches.begin(),
                   graph.switches.end());
  for (size_t i = 0; i < rep->keys.size(); ++i) {
    if (absl::Status status = CheckFabricKey(rep->keys[i]); !status.ok()) {
      return Invalid(i < rep->nodes ? "node " : "switch ",
                     i < rep->nodes ? i : i - rep->nodes, ": ",
                     std::string(status.message()));
    }
  }
  std::sort(rep->keys.begin(), rep->keys.begin() + rep->nodes);
  std::sort(rep->keys.begin() + rep->nodes, rep->keys.end());
  return absl::OkStatus();
}

using Numbers = absl::flat_hash_map<std::string, uint32_t>;

absl::Status AddLinks(const FabricGraph& graph, const Numbers& numbers,
                      Fabric::Rep* rep) {
  if (graph.links.size() > Fabric::kMaxLinks) {
    return Invalid("more than ", Fabric::kMaxLinks, " links");
  }
  absl::btree_map<std::pair<uint32_t, uint32_t>, int64_t> edges;
  for (const FabricGraph::Link& link : graph.links) {
    const auto a = numbers.find(link.a), b = numbers.find(link.b);
    const char* wrong =
        a == numbers.end() || b == numbers.end()
            ? "an end that is no node or switch"
        : a == b ? "both ends the same"
        : link.bandwidth < 1 || link.bandwidth > Fabric::kMaxBandwidth
            ? "a bandwidth out of range"
            : nullptr;
    if (wrong != nullptr) {
      return Invalid("link ", link.a.substr(0, kMaxKeyLength), " - ",
                     link.b.substr(0, kMaxKeyLength), ": ", wrong);
    }
    edges[std::minmax(a->second, b->second)] += link.bandwidth;
  }
  rep->graph = Fabric::Rep::Graph(rep->keys.size());
  for (const auto& [ends, bandwidth] : edges) {
    boost::add_edge(ends.first, ends.second, bandwidth, rep->graph);
  }
  return absl::OkStatus();
}

// Cells and homes: what the description knows beyond the graph.
struct NoteOrder {
  const Numbers& numbers;
  Fabric::Rep* rep;

  void operator()(const FabricGraph&) const {}
  void operator()(const Torus3d& torus) const {
    rep->dims = {torus.x, torus.y, torus.z};
    rep->cell_of.resize(rep->nodes);
    for (uint32_t cell = 0; cell < rep->nodes; ++cell) {
      rep->node_at.push_back(numbers.at(torus.nodes[cell]));
      rep->cell_of[rep->node_at.back()] = cell;
    }
  }
  void operator()(const Dragonfly& fly) const {
    NoteHomes(fly.nodes, fly.nodes_per_router, fly.routers);
  }
  void operator()(const RailFatTree& tree) const {
    NoteHomes(tree.nodes, tree.nodes_per_unit, 1);
  }
  void NoteHomes(const std::vector<std::string>& nodes, uint32_t per_router,
                 uint32_t routers) const {
    rep->homes.resize(rep->nodes);
    for (uint32_t i = 0; i < rep->nodes; ++i) {
      const uint32_t router = i / per_router;
      rep->homes[numbers.at(nodes[i])] = {router / routers, router};
    }
  }
};

// "x,y,z", nothing else.
bool ReadPlace(const std::string& text, Triple* place) {
  const std::vector<std::string> words = absl::StrSplit(text, ',');
  if (words.size() != 3) return false;
  for (size_t axis = 0; axis < 3; ++axis) {
    const char* end = words[axis].data() + words[axis].size();
    uint32_t& at = (*place)[axis];
    const auto [stop, error] = std::from_chars(words[axis].data(), end, at);
    if (error != std::errc() || stop != end) return false;
    if (at >= Fabric::kMaxVertices) return false;
  }
  return true;
}

}  // namespace

uint32_t Fabric::Domain(uint32_t node, size_t level) const {
  const Rep::Home& home = rep_->homes[node];
  return level == 0 ? home.group : home.router;
}

const std::vector<uint32_t>& Fabric::Rep::From(uint32_t node) const {
  std::vector<uint32_t>& hops = distances[node];
  if (hops.empty()) {
    hops.assign(keys.size(), kUnreachable);
    hops[node] = 0;
    boost::breadth_first_search(
        graph, node,
        boost::visitor(boost::make_bfs_visitor(
            boost::record_distances(hops.data(), boost::on_tree_edge()))));
  }
  return hops;
}

uint32_t Fabric::Rep::Hops(uint32_t a, uint32_t b) const {
  if (!is_torus()) return From(a)[b];
  const Triple from = Place(a), to = Place(b);
  uint32_t hops = 0;
  for (size_t axis = 0; axis < 3; ++axis) {
    const uint32_t way =
        from[axis] < to[axis] ? to[axis] - from[axis] : from[axis] - to[axis];
    hops += std::min(way, dims[axis] - way);
  }
  return hops;
}

absl::Status Fabric::Rep::Check(std::span<const uint32_t> set) const {
  std::vector<uint32_t> sorted(set.begin(), set.end());
  std::sort(sorted.begin(), sorted.end());
  if (!sorted.empty() && sorted.back() >= nodes) {
    return Invalid("no node ", sorted.back(), " among ", nodes);
  }
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return absl::OkStatus();
  return Invalid("node ", keys[*twice], " twice");
}

absl::Status Fabric::Rep::Check(std::span<const uint8_t> free,
                                uint32_t count) const {
  if (free.size() != nodes) {
    return Invalid(free.size(), " flags for ", nodes, " nodes");
  }
  if (count > 0) return absl::OkStatus();
  return absl::InvalidArgumentError("no nodes are asked for");
}

absl::StatusOr<Fabric> Fabric::Make(FabricDescription description) {
  absl::StatusOr<FabricGraph> graph = GraphOf(description);
  if (!graph.ok()) return graph.status();
  auto rep = std::make_unique<Rep>();
  MUSTER_RETURN_IF_ERROR(NumberVertices(*graph, rep.get()));
  Numbers numbers;
  numbers.reserve(rep->keys.size());
  for (uint32_t v = 0; v < rep->vertices(); ++v) {
    if (!numbers.emplace(rep->keys[v], v).second) {
      return Invalid("two nodes or switches are called ", rep->keys[v]);
    }
  }
  MUSTER_RETURN_IF_ERROR(AddLinks(*graph, numbers, rep.get()));
  std::visit(NoteOrder{numbers, rep.get()}, description);
  rep->distances.resize(rep->nodes);
  rep->description = std::move(description);
  return Fabric(std::move(rep));
}

Fabric::Fabric(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
Fabric::Fabric(Fabric&&) noexcept = default;
Fabric& Fabric::operator=(Fabric&&) noexcept = default;
Fabric::~Fabric() = default;

const FabricDescription& Fabric::description() const {
  return rep_->description;
}
uint32_t Fabric::nodes() const { return rep_->nodes; }
const std::string& Fabric::key(uint32_t node) const { return rep_->keys[node]; }
uint32_t Fabric::Find(std::string_view key) const {
  const std::vector<std::string>& keys = rep_->keys;
  const auto end = keys.begin() + rep_->nodes;
  const auto at = std::lower_bound(keys.begin(), end, key);
  if (at == end || *at != key) return kNoNode;
  return static_cast<uint32_t>(at - keys.begin());
}
uint32_t Fabric::Hops(uint32_t a, uint32_t b) const { return rep_->Hops(a, b); }

FabricGraph Fabric::graph() const {
  FabricGraph graph;
  graph.nodes.assign(rep_->keys.begin(), rep_->keys.begin() + rep_->nodes);
  graph.switches.assign(rep_->keys.begin() + rep_->nodes, rep_->keys.end());
  for (auto [e, end] = boost::edges(rep_->graph); e != end; ++e) {
    graph.links.push_back({rep_->keys[boost::source(*e, rep_->graph)],
                           rep_->keys[boost::target(*e, rep_->graph)],
                           boost::get(boost::edge_weight, rep_->graph, *e)});
  }
  return graph;
}

int64_t HopSum(const Fabric::Rep& rep, std::span<const uint32_t> set) {
  int64_t sum = 0;
  rep.Charge(set.size() * set.size() / 2, kHopNs);
  for (size_t i = 0; i < set.size(); ++i) {
    for (size_t j = i + 1; j < set.size(); ++j) sum += rep.Hops(set[i], set[j]);
  }
  return sum;
}

absl::StatusOr<FabricCost> Fabric::Cost(std::span<const uint32_t> nodes) const {
  MUSTER_RETURN_IF_ERROR(rep_->Check(nodes));
  FabricCost cost;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (size_t j = i + 1; j < nodes.size(); ++j) {
      const uint32_t hops = rep_->Hops(nodes[i], nodes[j]);
      if (hops == kUnreachable) return FabricCost{.connected = false};
      cost.diameter = std::max(cost.diameter, hops);
      cost.hop_sum += hops;
    }
  }
  const Bisection bisection = BisectionOf(*rep_, nodes);
  cost.bisection = bisection.bandwidth;
  cost.bisection_exact = bisection.exact;
  return cost;
}

absl::StatusOr<FabricPlacement> Fabric::Select(std::span<const uint8_t> free,
                                               uint32_t count) const {
  MUSTER_RETURN_IF_ERROR(rep_->Check(free, count));
  rep_->nanos = 0;
  if (rep_->is_torus()) {
    absl::StatusOr<FabricPlacement> box = FindBox(free, count);
    if (!box.ok() || !box->nodes.empty()) return box;
  }
  FabricPlacement placement = rep_->homes.empty()
                                  ? SelectByHops(*rep_, free, count)
                                  : SelectByLevels(*rep_, free, count);
  placement.nodes = RankOrderOf(*rep_, placement.nodes);
  placement.nanos = rep_->nanos;
  return placement;
}

absl::StatusOr<std::vector<uint32_t>> Fabric::RankOrder(
    std::span<const uint32_t> nodes) const {
  MUSTER_RETURN_IF_ERROR(rep_->Check(nodes));
  return RankOrderOf(*rep_, nodes);
}

int64_t Fabric::RingHops(std::span<const uint32_t> nodes) const {
  int64_t hops = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    hops += rep_->Hops(nodes[i], nodes[(i + 1) % nodes.size()]);
  }
  return hops;
}

absl::StatusOr<Fabric> Fabric::FromCoordinates(
    std::span<const TorusCoordinate> nodes, int64_t bandwidth) {
  std::vector<Triple> places;
  Triple dims = {1, 1, 1};
  for (const TorusCoordinate& node : nodes) {
    Triple at{};
    if (!ReadPlace(node.at, &at)) {
      return Invalid("node ", node.node, ": \"", node.at, "\" is not x,y,z");
    }
    for (size_t i = 0; i < 3; ++i) dims[i] = std::max(dims[i], at[i] + 1);
    places.push_back(at);
  }
  const uint64_t plane = uint64_t{dims[1]} * dims[2];
  if (plane > kMaxVertices || plane * dims[0] > kMaxVertices) {
    return Invalid("a torus of ", dims[0], " x ", dims[1], " x ", dims[2],
                   " is too large");
  }
  Torus3d torus{dims[0], dims[1], dims[2], bandwidth, {}};
  torus.nodes.resize(plane * dims[0]);
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::string& key = torus.nodes[CellAt(places[i], dims)];
    if (!key.empty()) {
      return Invalid("nodes ", key, " and ", nodes[i].node, " are both at ",
                     nodes[i].at);
    }
    key = nodes[i].node;
  }
  const auto hole = absl::c_find(torus.nodes, "");
  if (hole != torus.nodes.end()) {
    const auto cell = static_cast<uint32_t>(hole - torus.nodes.begin());
    return Invalid("no node at ", absl::StrJoin(PlaceOf(cell, dims), ","));
  }
  return Make(std::move(torus));
}

}  // namespace muster
