#include "lib/cluster/device_choice.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace muster {
namespace {

DeviceSet Lowest(DeviceSet devices, uint32_t count) {
  DeviceSet rest = devices;
  for (; count > 0; --count) {
    uint64_t& word = rest.word(rest.word(0) != 0 ? 0 : 1);
    word &= word - 1;
  }
  return devices - rest;
}

// Devices, over how many groups of the level below they lie, how many usable
// devices the last of these has, and how many of them are not aligned.
struct Pick {
  DeviceSet devices{};
  uint32_t parts = 0;
  uint32_t size = 0;
  uint32_t astray = 0;
};

// `count` of the usable, which are enough. `inside(members, count)` picks in
// one group, which has so many.
template <class F>
Pick PickFrom(std::span<const DeviceSet> groups, DeviceSet usable,
              uint32_t count, DeviceSet aligned, F&& inside) {
  Pick chosen;
  while (count > 0) {
    Pick best;
    std::tuple<uint32_t, uint32_t, uint32_t, uint32_t> best_key{};
    DeviceSet largest;
    uint32_t most = 0;
    for (const DeviceSet group : groups) {
      const DeviceSet members = group & usable;
      const uint32_t size = members.size();
      if (size > most) {
        largest = members;
        most = size;
      }
      if (size < count) continue;
      const Pick pick = inside(members, count);
      const std::tuple key{pick.parts, pick.astray, size, pick.size};
      if (!best.devices.empty() && best_key <= key) continue;
      best = pick;
      best_key = key;
    }
    ++chosen.parts;
    if (!best.devices.empty()) {
      chosen.devices |= best.devices;
      chosen.astray += best.astray;
      chosen.size = std::get<2>(best_key);
      return chosen;
    }
    chosen.devices |= largest;
    chosen.astray += (largest - aligned).size();
    usable -= largest;
    count -= most;
  }
  return chosen;
}

// How many shares `tasks` tasks can use, no device giving two to one of them.
uint64_t SharesFor(std::span<const SharedDevice> devices, uint32_t tasks) {
  uint64_t sum = 0;
  for (const SharedDevice& d : devices) sum += std::min(d.slots, tasks);
  return sum;
}

}  // namespace

DeviceSet ChooseWhole(DeviceSet usable, const DeviceGroups& groups,
                      uint32_t count) {
  if (usable.size() < count) return {};
  const auto lowest = [&](DeviceSet members, uint32_t wanted) {
    const DeviceSet aligned = members & groups.aligned;
    const uint32_t first = std::min(wanted, aligned.size());
    const DeviceSet chosen = Lowest(aligned, first);
    return Pick{.devices = chosen | Lowest(members - chosen, wanted - first),
                .astray = wanted - first};
  };
  const auto in_numa = [&](DeviceSet members, uint32_t wanted) {
    return PickFrom(groups.numa, members, wanted, groups.aligned, lowest);
  };
  return PickFrom(groups.islands, usable, count, groups.aligned, in_numa)
      .devices;
}

// By the theorem of Gale and Ryser in its simplest case, T tasks of `count`
// shares fit exactly if the devices offer T * count shares when none gives
// more than T.
uint32_t MaxTasks(std::span<const SharedDevice> devices, uint32_t count,
                  uint32_t limit) {
  if (devices.size() < count) return 0;
  const uint64_t shares = SharesFor(devices, limit);
  uint64_t low = 0;
  uint64_t high = std::min<uint64_t>(limit, shares / count);
  while (low < high) {
    const uint64_t middle = (low + high + 1) / 2;
    const uint64_t offered = SharesFor(devices, static_cast<uint32_t>(middle));
    if (offered >= middle * count) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return static_cast<uint32_t>(low);
}

DeviceSet ChooseShared(std::span<SharedDevice> devices, uint32_t count) {
  const uint32_t tasks =
      MaxTasks(devices, count, std::numeric_limits<uint32_t>::max());
  if (tasks == 0) return {};
  std::sort(devices.begin(), devices.end(),
            [](const SharedDevice& a, const SharedDevice& b) {
              return std::tie(a.free_milli, a.free_memory, a.device) <
                     std::tie(b.free_milli, b.free_memory, b.device);
            });
  // A device with at least `tasks` slots gives one at no loss to the other
  // tasks - 1 tasks; of the scarcer ones so many may be used.
  uint64_t spare =
      SharesFor(devices, tasks - 1) - static_cast<uint64_t>(tasks - 1) * count;
  DeviceSet chosen;
  for (const SharedDevice& d : devices) {
    if (count == 0) break;
    if (d.slots < tasks) {
      if (spare == 0) continue;
      --spare;
    }
    chosen.Insert(d.device);
    --count;
  }
  return count == 0 ? chosen : DeviceSet{};
}

}  // namespace muster
