#include "muster/fabric/fabric.h"

#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/targets.h"
#include "muster/fabric/graphml.h"

namespace muster::fuzz {
namespace {

using muster::Fabric;

// The same form, or the same links in any order.
bool Equal(const Fabric& a, const Fabric& b) {
  if (std::holds_alternative<FabricGraph>(a.description())) {
    return std::holds_alternative<FabricGraph>(b.description()) &&
           a.graph() == b.graph();
  }
  return a.description() == b.description();
}

// What is written reads back as an equal fabric.
std::string ReadsBack(const Fabric& fabric) {
  const auto text = Fabric::FromText(fabric.ToText());
  if (!text.ok()) return "its text is refused: " + text.status().ToString();
  if (!Equal(*text, fabric)) return "its text differs";
  const auto graphml = FabricFromGraphml(FabricToGraphml(fabric));
  if (!graphml.ok()) {
    return "its GraphML is refused: " + graphml.status().ToString();
  }
  return Equal(*graphml, fabric) ? "" : "its GraphML differs";
}

// Nodes are found and ordered without a contradiction.
std::string Chooses(const Fabric& fabric) {
  std::vector<uint8_t> free(fabric.nodes(), 1);
  for (size_t n = 0; n < free.size(); n += 5) free[n] = 0;
  const auto count = std::min<uint32_t>(6, fabric.nodes() - fabric.nodes() / 4);
  const auto placed = fabric.Select(free, std::max(1U, count));
  if (!placed.ok()) return placed.status().ToString();
  if (placed->nodes.empty()) return "";
  for (const uint32_t n : placed->nodes) {
    if (free[n] == 0) return "a node is taken that is not free";
  }
  const auto cost = fabric.Cost(placed->nodes);
  if (!cost.ok()) return cost.status().ToString();
  if (!cost->connected) return "nodes are taken that cannot reach each other";
  if (cost->hop_sum != placed->hop_sum) return "the sum of hops differs";
  if (placed->hop_sum_bound > placed->hop_sum) return "the bound is broken";
  auto order = fabric.RingThrough(placed->nodes);
  if (!order.ok()) return order.status().ToString();
  std::vector<uint32_t> sorted = placed->nodes;
  std::ranges::sort(sorted);
  std::ranges::sort(*order);
  return sorted == *order ? "" : "the order of ranks loses nodes";
}

absl::StatusOr<Fabric> FromLabels(std::string_view lines) {
  std::vector<TorusCoordinate> nodes;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    const size_t blank = std::min(line.find(' '), line.size());
    nodes.push_back(
        {std::string(line.substr(0, blank)),
         std::string(line.substr(std::min(blank + 1, line.size())))});
  }
  return Fabric::FromCoordinates(nodes, 1);
}

}  // namespace

std::string Fabric(std::string_view input) {
  constexpr std::string_view kLabels = "labels\n";
  const auto fabric = input.starts_with(kLabels)
                          ? FromLabels(input.substr(kLabels.size()))
                      : input.starts_with('<') ? FabricFromGraphml(input)
                                               : Fabric::FromText(input);
  if (!fabric.ok() || fabric->nodes() == 0) return "";
  const std::string wrong = ReadsBack(*fabric);
  return wrong.empty() && fabric->nodes() <= 256 ? Chooses(*fabric) : wrong;
}

}  // namespace muster::fuzz
