// Accelerators: which of a node's devices exist, and how a task shares them.
#ifndef MUSTER_DEVICE_H_
#define MUSTER_DEVICE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

// Thousandths of a device in one whole device.
inline constexpr int32_t kWholeDevice = 1000;

// One accelerator of a node. Its position in Node::devices is its number.
struct Device {
  std::string model{};       // "H100"; empty: unnamed.
  int64_t memory_bytes = 0;  // 0: unknown; memory shares then never fit.
  int32_t island = -1;       // NVLink island on the node; -1: none known.
  int32_t numa = -1;         // NUMA node; -1: none known.
  bool healthy = true;       // An unhealthy device takes no new task.

  friend bool operator==(const Device&, const Device&) = default;
  template <class Self, class V>
  static void Fields(Self& s, V&& v) {
    v(1, "model", s.model);
    v(2, "memory_bytes", s.memory_bytes);
    v(3, "island", s.island);
    v(4, "numa", s.numa);
    v(5, "healthy", s.healthy);
  }
};

// What one task asks of the devices of one node.
//
// Three forms: whole devices (milli = 1000, any count), a fraction of each of
// `count` devices (0 < milli < 1000), or a piece of the memory of each of
// `count` devices (memory_bytes > 0, milli = 0). Devices of one task are
// distinct. A memory share also uses floor(1000 * memory / device memory)
// thousandths, a fraction floor(milli * device memory / 1000) bytes, so that
// shares of both forms meet on one device without exceeding either.
struct DeviceRequest {
  uint32_t count = 0;
  int32_t milli = kWholeDevice;
  int64_t memory_bytes = 0;
  std::vector<std::string> models{};  // Any of these; empty: any model.
  std::string partition{};  // Fixed partition (MIG profile): not supported yet.

  friend bool operator==(const DeviceRequest&, const DeviceRequest&) = default;
  template <class Self, class V>
  static void Fields(Self& s, V&& v) {
    v(1, "count", s.count);
    v(2, "milli", s.milli);
    v(3, "memory_bytes", s.memory_bytes);
    v(4, "models", s.models);
    v(5, "partition", s.partition);
  }
};

// A piece of one device in use.
struct DeviceShare {
  uint32_t device = 0;  // Position in Node::devices.
  int32_t milli = 0;
  int64_t memory_bytes = 0;

  friend bool operator==(const DeviceShare&, const DeviceShare&) = default;
  template <class Self, class V>
  static void Fields(Self& s, V&& v) {
    v(1, "device", s.device);
    v(2, "milli", s.milli);
    v(3, "memory_bytes", s.memory_bytes);
  }
};

}  // namespace muster

#endif  // MUSTER_DEVICE_H_
