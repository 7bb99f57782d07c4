#include "muster/fabric/rank_order.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>

#include "lib/cluster/selector.h"

namespace muster {
namespace {

// Labels of the levels, widest first; empty if one is missing.
std::vector<const std::string*> PathOf(const Topology& topology,
                                       const Node& node) {
  std::vector<const std::string*> path;
  for (const std::string& level : topology.levels) {
    const std::string* name = FindLabel(node.labels, level);
    if (name == nullptr) return {};
    path.push_back(name);
  }
  return path;
}

// -1 stands for unknown and goes last.
uint32_t Late(int32_t place) { return static_cast<uint32_t>(place); }

struct Ranked {
  std::vector<const std::string*> path{};
  bool outside = false;
  uint32_t first_device = 0;  // Its place in the ring of all devices.
};

}  // namespace

std::vector<uint32_t> RingOrder(const Node& node, DeviceSet devices) {
  std::vector<uint32_t> ring;
  for (const uint32_t d : devices) {
    if (d < node.devices.size()) ring.push_back(d);
  }
  std::ranges::stable_sort(ring, {}, [&](uint32_t d) {
    const Device& device = node.devices[d];
    return std::tuple(Late(device.island), Late(device.numa));
  });
  return ring;
}

std::vector<uint32_t> RankOrder(const Topology& topology,
                                std::span<const RankedTask> tasks) {
  std::vector<Ranked> ranked(tasks.size());
  for (size_t t = 0; t < tasks.size(); ++t) {
    const Node& node = *tasks[t].node;
    ranked[t].path = PathOf(topology, node);
    ranked[t].outside = ranked[t].path.size() < topology.levels.size();
    const std::vector<uint32_t> ring =
        RingOrder(node, DeviceSet::FirstOf(DeviceSet::kCapacity));
    const auto uses = [&](uint32_t d) { return tasks[t].devices.Contains(d); };
    ranked[t].first_device =
        static_cast<uint32_t>(std::ranges::find_if(ring, uses) - ring.begin());
  }
  const auto before = [&](uint32_t a, uint32_t b) {
    const Ranked& x = ranked[a];
    const Ranked& y = ranked[b];
    if (x.outside != y.outside) return y.outside;
    for (size_t l = 0; l < x.path.size(); ++l) {
      if (*x.path[l] != *y.path[l]) return *x.path[l] < *y.path[l];
    }
    return std::tie(tasks[a].node->key, x.first_device, tasks[a].first_slice) <
           std::tie(tasks[b].node->key, y.first_device, tasks[b].first_slice);
  };
  std::vector<uint32_t> order(tasks.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, before);
  return order;
}

}  // namespace muster
