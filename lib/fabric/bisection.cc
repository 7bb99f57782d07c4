#include <algorithm>
#include <limits>

#include "boost/graph/adjacency_list.hpp"
#include "boost/graph/push_relabel_max_flow.hpp"
#include "lib/fabric/fabric_rep.h"

namespace muster {
namespace {

constexpr size_t kAllSplits = 10;  // Nodes, whose splits are all tried.
constexpr size_t kTurns = 16;      // Of the rank order, where they are not.

using Traits =
    boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Flow = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS, boost::no_property,
    boost::property<boost::edge_capacity_t, int64_t,
                    boost::property<boost::edge_residual_capacity_t, int64_t,
                                    boost::property<boost::edge_reverse_t,
                                                    Traits::edge_descriptor>>>>;

// The set and all switches, with a source and a sink beside them.
class SubFabric {
 public:
  SubFabric(const Fabric::Rep& rep, std::span<const uint32_t> set)
      : source_(set.size() + rep.vertices() - rep.nodes),
        sink_(source_ + 1),
        degree_(source_),
        flow_(sink_ + 1) {
    constexpr uint32_t kOut = std::numeric_limits<uint32_t>::max();
    std::vector<uint32_t> inside(rep.keys.size(), kOut);
    uint32_t next = 0;
    for (uint32_t node : set) inside[node] = next++;
    for (uint32_t v = rep.nodes; v < rep.vertices(); ++v) inside[v] = next++;
    for (auto [e, end] = boost::edges(rep.graph); e != end; ++e) {
      const uint32_t a = inside[boost::source(*e, rep.graph)];
      const uint32_t b = inside[boost::target(*e, rep.graph)];
      if (a == kOut || b == kOut) continue;
      const int64_t bandwidth = boost::get(boost::edge_weight, rep.graph, *e);
      AddArc(a, b, bandwidth);
      AddArc(b, a, bandwidth);
      degree_[a] += bandwidth;
      degree_[b] += bandwidth;
    }
    for (uint32_t i = 0; i < set.size(); ++i) {
      from_source_.push_back(AddArc(source_, i, 0));
      to_sink_.push_back(AddArc(i, sink_, 0));
    }
  }

  // The least bandwidth between the half[i] != 0 and the others.
  int64_t Cut(std::span<const uint8_t> half) {
    for (size_t i = 0; i < half.size(); ++i) {
      // What all its links carry is as good as no bound.
      boost::put(boost::edge_capacity, flow_, from_source_[i],
                 half[i] ? degree_[i] : 0);
      boost::put(boost::edge_capacity, flow_, to_sink_[i],
                 half[i] ? 0 : degree_[i]);
    }
    return boost::push_relabel_max_flow(flow_, source_, sink_);
  }

 private:
  // One way; push_relabel_max_flow wants a reverse without capacity.
  Traits::edge_descriptor AddArc(size_t a, size_t b, int64_t capacity) {
    const auto forth = boost::add_edge(a, b, flow_).first;
    const auto reverse = boost::add_edge(b, a, flow_).first;
    boost::put(boost::edge_capacity, flow_, forth, capacity);
    boost::put(boost::edge_capacity, flow_, reverse, 0);
    boost::put(boost::edge_reverse, flow_, forth, reverse);
    boost::put(boost::edge_reverse, flow_, reverse, forth);
    return forth;
  }

  size_t source_, sink_;
  std::vector<int64_t> degree_;
  Flow flow_;
  std::vector<Traits::edge_descriptor> from_source_{}, to_sink_{};
};

}  // namespace

Bisection BisectionOf(const Fabric::Rep& rep, std::span<const uint32_t> set) {
  if (set.size() < 2) return {0, true};
  if (const std::optional<TorusBox> box = AsBox(rep, set)) {
    return {BoxBisection(rep, box->size), true};
  }
  const std::vector<uint32_t> ring = RingOf(rep, set);
  SubFabric fabric(rep, ring);
  const size_t n = ring.size();
  Bisection best{std::numeric_limits<int64_t>::max(), n <= kAllSplits};
  std::vector<uint8_t> half(n);
  if (best.exact) {
    std::fill(half.end() - static_cast<ptrdiff_t>(n / 2), half.end(), 1);
    do {
      best.bandwidth = std::min(best.bandwidth, fabric.Cut(half));
    } while (std::next_permutation(half.begin(), half.end()));
    return best;
  }
  for (size_t turn = 0; turn < kTurns; ++turn) {
    const size_t first = turn * n / (2 * kTurns);
    for (size_t i = 0; i < n; ++i) half[(first + i) % n] = i < n / 2;
    best.bandwidth = std::min(best.bandwidth, fabric.Cut(half));
  }
  return best;
}

}  // namespace muster
