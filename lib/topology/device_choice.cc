#include "lib/topology/device_choice.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace muster {
namespace {

uint64_t LowestBits(uint64_t mask, uint32_t count) {
  uint64_t lowest = 0;
  for (; count > 0; --count) {
    lowest |= mask & -mask;
    mask &= mask - 1;
  }
  return lowest;
}

// How many shares `tasks` tasks can use, no device giving two to one of them.
uint64_t SharesFor(std::span<const SharedDevice> devices, uint32_t tasks) {
  uint64_t sum = 0;
  for (const SharedDevice& d : devices) sum += std::min(d.slots, tasks);
  return sum;
}

}  // namespace

uint64_t ChooseWhole(uint64_t usable, std::span<const uint64_t> groups,
                     uint32_t count) {
  if (CountBits(usable) < count) return 0;
  uint64_t chosen = 0;
  while (count > 0) {
    uint64_t fitting = 0;  // The smallest that suffices.
    uint64_t largest = 0;
    for (const uint64_t group : groups) {
      const uint64_t members = group & usable;
      const uint32_t size = CountBits(members);
      if (size > CountBits(largest)) largest = members;
      if (size >= count && (fitting == 0 || size < CountBits(fitting))) {
        fitting = members;
      }
    }
    if (fitting != 0) return chosen | LowestBits(fitting, count);
    if (largest == 0) return 0;
    chosen |= largest;
    usable &= ~largest;
    count -= CountBits(largest);
  }
  return chosen;
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

uint64_t ChooseShared(std::span<SharedDevice> devices, uint32_t count) {
  const uint32_t tasks =
      MaxTasks(devices, count, std::numeric_limits<uint32_t>::max());
  if (tasks == 0) return 0;
  std::sort(devices.begin(), devices.end(),
            [](const SharedDevice& a, const SharedDevice& b) {
              return std::tie(a.free_milli, a.free_memory, a.device) <
                     std::tie(b.free_milli, b.free_memory, b.device);
            });
  // A device with at least `tasks` slots gives one at no loss to the other
  // tasks - 1 tasks; of the scarcer ones so many may be used.
  uint64_t spare =
      SharesFor(devices, tasks - 1) - static_cast<uint64_t>(tasks - 1) * count;
  uint64_t chosen = 0;
  for (const SharedDevice& d : devices) {
    if (count == 0) break;
    if (d.slots < tasks) {
      if (spare == 0) continue;
      --spare;
    }
    chosen |= uint64_t{1} << d.device;
    --count;
  }
  return count == 0 ? chosen : 0;
}

}  // namespace muster
