// Which devices of a node a task gets. Pure functions over sets of devices.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "muster/device_set.h"

namespace muster {

// Calls f(i) for each set bit, lowest first.
template <class F>
void ForEachBit(uint64_t mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) {
    f(static_cast<uint32_t>(std::countr_zero(mask)));
  }
}

// How the devices of a node lie to each other: disjoint sets, in order of
// their lowest device, that hold every usable device once.
struct DeviceGroups {
  std::span<const DeviceSet> islands{};
  std::span<const DeviceSet> numa{};
  // Devices on rails that the gang uses on other nodes.
  DeviceSet aligned{};
};

// `count` of the `usable` devices, none if there are not enough. What decides,
// the first before the second and so on:
//   1. few islands: one that suffices; where none does, the fullest goes in
//      whole and the rest is chosen likewise;
//   2. few NUMA nodes inside them, in the same way;
//   3. many aligned devices;
//   4. the island with the fewest usable devices, then the NUMA
//      node with the fewest inside it;
//   5. the first island, the first NUMA node, the lowest numbers.
// O(islands * NUMA nodes) for each island that goes in.
DeviceSet ChooseWhole(DeviceSet usable, const DeviceGroups& groups,
                      uint32_t count);

// A device that a task may share.
struct SharedDevice {
  uint32_t device = 0;
  uint32_t slots = 0;  // How many such tasks it can take.
  int32_t free_milli = 0;
  int64_t free_memory = 0;
};

// The most tasks that can each have a share of `count` distinct devices, at
// most `limit`.
uint32_t MaxTasks(std::span<const SharedDevice> devices, uint32_t count,
                  uint32_t limit);

// `count` distinct devices for one task: the tightest, but never so that
// MaxTasks falls by more than one. Reorders `devices`. None if none fits.
DeviceSet ChooseShared(std::span<SharedDevice> devices, uint32_t count);

}  // namespace muster
