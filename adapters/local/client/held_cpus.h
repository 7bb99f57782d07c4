// Who has which CPUs of his own, as the daemon tells.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "adapters/local/client/json_list.h"

namespace muster::local {

// Of each place for which is_held(entry of "held") is true, in their order:
// those that it has of its own. `nodes`: what /v1/nodes answers. O(its size).
template <class F>
std::vector<std::vector<uint32_t>> HeldCpus(const nlohmann::ordered_json& nodes,
                                            const F& is_held) {
  std::vector<std::vector<uint32_t>> all;
  for (const auto& node : ListOf(nodes, "nodes")) {
    if (!node.contains("cpus")) continue;
    for (const auto& held : ListOf(node["cpus"], "held")) {
      if (is_held(held)) {
        all.push_back(ListOf(held, "cpus").get<std::vector<uint32_t>>());
      }
    }
  }
  return all;
}

// What places without any share; none: tasks are not bound. O(its size).
inline std::vector<uint32_t> SharedCpus(const nlohmann::ordered_json& nodes) {
  for (const auto& node : ListOf(nodes, "nodes")) {
    if (!node.contains("cpus")) continue;
    return ListOf(node["cpus"], "shared").get<std::vector<uint32_t>>();
  }
  return {};
}

}  // namespace muster::local
