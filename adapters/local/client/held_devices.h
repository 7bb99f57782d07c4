// Who holds which devices, as the daemon tells.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "adapters/local/client/json_list.h"

namespace muster::local {

// The devices of which a part is held by what is_held(entry of "held") names,
// rising. `nodes`: what /v1/nodes answers. O(its size).
template <class F>
std::vector<uint32_t> HeldDevices(const nlohmann::ordered_json& nodes,
                                  const F& is_held) {
  std::vector<uint32_t> devices;
  for (const auto& node : ListOf(nodes, "nodes")) {
    for (const auto& device : ListOf(node, "devices")) {
      const auto& held = ListOf(device, "held");
      if (std::any_of(held.begin(), held.end(), is_held)) {
        devices.push_back(device.value("index", uint32_t{0}));
      }
    }
  }
  return devices;
}

}  // namespace muster::local
