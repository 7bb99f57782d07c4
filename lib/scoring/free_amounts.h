// What a node has free, as plain numbers on which a policy can try things.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/scoring/node_policy.h"

namespace muster::scoring {

// Free thousandths of all the node's devices; never negative.
int64_t FreeDevices(const NodeLedger& at);

// Whether the task takes less than a whole device, of one device only: which
// one is then a question of its own.
bool SharesOneDevice(const DeviceRequest& request);

// For such a task: the devices that have room for it.
DeviceSet DevicesWithRoom(const NodeLedger& at, const NodeQuestion& question);

// The free amounts of one node. Kept between calls: it allocates only where
// there are more kinds than ever before.
struct FreeAmounts {
  std::vector<int64_t> free{};  // By kind; the device kind's is of no meaning.
  uint32_t devices = 0;
  // By device; 0 where it is not healthy or split into partitions, -1 where the
  // host overcommitted it.
  std::array<int32_t, DeviceSet::kCapacity> milli{};
  std::array<int64_t, DeviceSet::kCapacity> memory{};

  void Read(const NodeLedger& at);
  int64_t Idle() const {
    int64_t sum = 0;
    for (uint32_t d = 0; d < devices; ++d) sum += std::max(0, milli[d]);
    return sum;
  }
  // The device gives nothing any more.
  void Close(uint32_t device) { milli[device] = 0, memory[device] = 0; }
  // Takes what one task uses beside devices.
  void TakeAmounts(const Cluster& cluster, ShapeId shape);
  // Takes what it uses of one device, which has so much memory in all.
  void TakeDevice(uint32_t device, const DeviceRequest& request,
                  int64_t device_memory);
};

}  // namespace muster::scoring
