#include <map>
#include <string_view>

#include "muster/placement_policy.h"

namespace muster {

std::vector<ModelSupply> SupplyOf(std::span<const Node> nodes) {
  std::map<std::string_view, int64_t> devices;
  for (const Node& node : nodes) {
    for (const Device& d : node.devices) ++devices[d.model];
  }
  std::vector<ModelSupply> supply;
  for (const auto& [model, count] : devices) {
    supply.push_back({std::string(model), count});
  }
  return supply;
}

}  // namespace muster
