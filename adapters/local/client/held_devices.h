// Who holds which devices, as the daemon tells.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/local/client/json_list.h"

namespace muster::local {

// A device, or a partition of one.
struct NamedDevice {
  uint32_t index = 0;     // Of the node's.
  std::string visible{};  // For CUDA_VISIBLE_DEVICES.
};

// What is held by what is_held(entry of "held") names, by its device, once, if
// the driver has it. `nodes`: what /v1/nodes answers. O(its size).
template <class F>
std::vector<NamedDevice> HeldDevices(const nlohmann::ordered_json& nodes,
                                     const F& is_held) {
  std::vector<NamedDevice> devices;
  for (const auto& node : ListOf(nodes, "nodes")) {
    for (const auto& device : ListOf(node, "devices")) {
      const uint32_t index = device.value("index", uint32_t{0});
      for (const auto& held : ListOf(device, "held")) {
        const std::string visible = held.value("visible", "");
        if (visible.empty() || !is_held(held)) continue;
        const bool told = !devices.empty() && devices.back().index == index &&
                          devices.back().visible == visible;
        if (!told) devices.push_back({index, visible});
      }
    }
  }
  return devices;
}

}  // namespace muster::local
