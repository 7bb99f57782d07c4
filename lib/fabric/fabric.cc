#include "muster/fabric/fabric.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
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
  using Ends = std::pair<uint32_t, uint32_t>;
  std::vector<std::pair<Ends, int64_t>> edges;
  edges.reserve(graph.links.size());
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
    edges.emplace_back(std::minmax(a->second, b->second), link.bandwidth);
  }
  std::ranges::sort(edges, {}, &std::pair<Ends, int64_t>::first);
  rep->graph = Fabric::Rep::Graph(rep->keys.size());
  for (auto edge = edges.begin(); edge != edges.end();) {
    const Ends ends = edge->first;
    int64_t sum = 0;
    for (; edge != edges.end() && edge->first == ends; ++edge) {
      sum += edge->second;
    }
    boost::add_edge(ends.first, ends.second, sum, rep->graph);
  }
  return absl::OkStatus();
}

// What the description knows beyond the graph.
void NoteOrder(const FabricDescription& description, const Numbers& numbers,
               Fabric::Rep* rep) {
  rep->cell_of.resize(rep->nodes);
  auto note = [&](const auto& form) {
    for (const std::string& key : form.nodes) {
      const uint32_t node = numbers.at(key);
      rep->cell_of[node] = static_cast<uint32_t>(rep->node_at.size());
      rep->node_at.push_back(node);
    }
  };
  std::visit(note, description);
  if (const auto* torus = std::get_if<Torus3d>(&description)) {
    rep->dims = {torus->x, torus->y, torus->z};
  } else if (const auto* fly = std::get_if<Dragonfly>(&description)) {
    rep->router_size = fly->nodes_per_router;
    rep->group_size = fly->nodes_per_router * fly->routers;
  } else if (const auto* tree = std::get_if<RailFatTree>(&description)) {
    rep->router_size = rep->group_size = tree->nodes_per_unit;
  }
}

}  // namespace

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
  NoteOrder(description, numbers, rep.get());
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
uint32_t Fabric::Domain(uint32_t node, size_t level) const {
  return level == 0 ? rep_->Group(node) : rep_->Router(node);
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
  FabricPlacement placement = rep_->has_routers()
                                  ? SelectByLevels(*rep_, free, count)
                                  : SelectByHops(*rep_, free, count);
  placement.nodes = RingOf(*rep_, placement.nodes);
  placement.nanos = rep_->nanos;
  return placement;
}

absl::StatusOr<std::vector<uint32_t>> Fabric::RingThrough(
    std::span<const uint32_t> nodes) const {
  MUSTER_RETURN_IF_ERROR(rep_->Check(nodes));
  return RingOf(*rep_, nodes);
}

int64_t Fabric::RingHops(std::span<const uint32_t> nodes) const {
  int64_t hops = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    hops += rep_->Hops(nodes[i], nodes[(i + 1) % nodes.size()]);
  }
  return hops;
}

}  // namespace muster
