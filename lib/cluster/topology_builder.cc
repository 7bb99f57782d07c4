#include "lib/cluster/topology_builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "lib/cluster/selector.h"

namespace muster {
namespace {

constexpr uint32_t kOutside = TopologyIndex::kOutside;

// One level's distinct label values in order, and each node's position there.
struct LevelNames {
  std::vector<std::string> names{};
  std::vector<uint32_t> name_of{};  // By node; only of nodes inside.
};

// The nodes that have all the levels' labels, in key order.
std::vector<NodeIndex> NodesInside(const Topology& topology,
                                   const NodeTable& nodes) {
  std::vector<NodeIndex> inside;
  for (const NodeIndex n : nodes.InOrder()) {
    const auto has = [&labels = nodes[n].node.labels](std::string_view level) {
      return FindLabel(labels, level) != nullptr;
    };
    if (std::ranges::all_of(topology.levels, has)) inside.push_back(n);
  }
  return inside;
}

LevelNames NamesOf(const std::string& level, const NodeTable& nodes,
                   const std::vector<NodeIndex>& inside) {
  // Numbers in order of appearance first; std::hash takes Debian's Abseil out
  // of the question of what a string_view is.
  absl::flat_hash_map<std::string_view, uint32_t, std::hash<std::string_view>>
      number_of;
  LevelNames result;
  result.name_of.resize(nodes.limit(), kOutside);
  for (const NodeIndex n : inside) {
    const std::string_view name = *FindLabel(nodes[n].node.labels, level);
    const auto next = static_cast<uint32_t>(number_of.size());
    result.name_of[n] = number_of.try_emplace(name, next).first->second;
  }
  std::vector<std::pair<std::string_view, uint32_t>> sorted(number_of.begin(),
                                                            number_of.end());
  std::ranges::sort(sorted);
  std::vector<uint32_t> position(sorted.size());
  for (const auto& [name, number] : sorted) {
    position[number] = static_cast<uint32_t>(result.names.size());
    result.names.emplace_back(name);
  }
  for (const NodeIndex n : inside) {
    result.name_of[n] = position[result.name_of[n]];
  }
  return result;
}

// Stable counting sort of the nodes by their name at one level.
void SortByName(const LevelNames& level, std::vector<NodeIndex>* nodes) {
  std::vector<uint32_t> start(level.names.size() + 1, 0);
  for (const NodeIndex n : *nodes) ++start[level.name_of[n] + 1];
  for (size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
  std::vector<NodeIndex> sorted(nodes->size());
  for (const NodeIndex n : *nodes) sorted[start[level.name_of[n]]++] = n;
  *nodes = std::move(sorted);
}

// Cuts the sorted nodes into domains. A node opens a new domain at every level
// from the widest one on which it differs from its predecessor.
void CutDomains(const std::vector<LevelNames>& names, TopologyIndex* index) {
  const size_t levels = names.size();
  index->levels.resize(levels);
  for (uint32_t i = 0; i < index->nodes.size(); ++i) {
    const NodeIndex n = index->nodes[i];
    index->position[n] = i;
    size_t differs = 0;
    while (i > 0 && differs < levels &&
           names[differs].name_of[n] ==
               names[differs].name_of[index->nodes[i - 1]]) {
      ++differs;
    }
    for (size_t l = 0; l < levels; ++l) {
      std::vector<Domain>& domains = index->levels[l];
      if (l >= differs) {
        Domain domain{.name = names[l].names[names[l].name_of[n]],
                      .first_node = i};
        if (l > 0) {
          Domain& parent = index->levels[l - 1].back();
          domain.parent =
              static_cast<uint32_t>(index->levels[l - 1].size() - 1);
          if (parent.child_count++ == 0) {
            parent.first_child = static_cast<uint32_t>(domains.size());
          }
        }
        domains.push_back(domain);
      }
      ++domains.back().node_count;
      index->domain_of[l][n] = static_cast<uint32_t>(domains.size() - 1);
    }
  }
}

}  // namespace

BuiltTopology BuildTopology(const Topology& topology, const NodeTable& nodes) {
  BuiltTopology built;
  TopologyIndex& index = built.index;
  index.nodes = NodesInside(topology, nodes);
  std::vector<LevelNames> levels;
  for (const std::string& level : topology.levels) {
    levels.push_back(NamesOf(level, nodes, index.nodes));
  }
  for (size_t l = levels.size(); l-- > 0;) SortByName(levels[l], &index.nodes);
  index.position.assign(nodes.limit(), kOutside);
  index.domain_of.assign(levels.size(),
                         std::vector<uint32_t>(nodes.limit(), kOutside));
  CutDomains(levels, &index);
  auto names = std::make_shared<BuiltTopology::Names>();
  for (LevelNames& level : levels) names->push_back(std::move(level.names));
  built.names = std::move(names);
  return built;
}

}  // namespace muster
