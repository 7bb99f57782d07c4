// Accelerators: which of a node's devices exist, and how a task shares them.
#ifndef MUSTER_DEVICE_H_
#define MUSTER_DEVICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "muster/partition.h"

namespace muster {

// Thousandths of a device in one whole device.
inline constexpr int32_t kWholeDevice = 1000;
// More than any task takes of a device.
inline constexpr int32_t kAnyMilli = 0x7fffffff;
// The largest memory_bytes of a device, or of a part of one: 4 TiB.
inline constexpr int64_t kMaxDeviceMemory = int64_t{1} << 42;

// One accelerator of a node. Its position in Node::devices is its number.
struct Device {
  std::string model{};       // "H100"; empty: unnamed.
  int64_t memory_bytes = 0;  // 0: unknown; memory shares then never fit.
  int32_t island = -1;       // NVLink island on the node; -1: none known.
  int32_t numa = -1;         // NUMA node; -1: none known.
  bool healthy = true;       // An unhealthy device takes no new task.
  // Key of a SchedulerConfig::partition_schemes; empty: it has no partitions.
  std::string partition_scheme{};
  // The pieces it is cut into, if the host cuts it: only these are given away,
  // and the device never whole or in shares. Empty: it is cut as tasks ask for
  // partitions; while it holds one it gives no shares, and the other way round.
  std::vector<DevicePartition> partitions{};
  // The NIC, rail or switch next to it: 0..63, the same number on all nodes;
  // -1: none known.
  int32_t rail = -1;

  friend bool operator==(const Device&, const Device&) = default;
};

// What one task asks of the devices of one node.
//
// Five forms: whole devices (milli = 1000, any count), a fraction of each of
// `count` devices (0 < milli < 1000), a piece of the memory of each of `count`
// devices (memory_bytes > 0, milli = 0), both of these, or one partition (count
// = 1, milli = 1000). Devices of one task are distinct. A memory share also
// uses floor(1000 * memory / device memory) thousandths, a fraction floor(milli
// * device memory / 1000) bytes, unless the request names both: so that shares
// of all forms meet on one device without exceeding either.
struct DeviceRequest {
  uint32_t count = 0;  // 0..DeviceSet::kCapacity.
  int32_t milli = kWholeDevice;
  int64_t memory_bytes = 0;
  std::vector<std::string> models{};  // Any of these; empty: any model.
  std::string partition{};  // Profile's name, of any scheme; empty: none.

  friend bool operator==(const DeviceRequest&, const DeviceRequest&) = default;
};

// A piece of one device in use.
struct DeviceShare {
  uint32_t device = 0;  // Position in Node::devices.
  int32_t milli = 0;    // 0..1000.
  int64_t memory_bytes = 0;
  // If it is a partition: its profile, which then tells milli and memory, and
  // its first slice.
  std::string partition{};
  uint32_t first_slice = 0;

  friend bool operator==(const DeviceShare&, const DeviceShare&) = default;
};

}  // namespace muster

#endif  // MUSTER_DEVICE_H_
