// What one task of a shape takes from a node, ready for arithmetic.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "lib/cluster/partition_table.h"
#include "muster/device.h"
#include "muster/resources.h"

namespace muster {

// The five forms of a DeviceRequest (device.h), or no device at all.
enum class DeviceForm : uint8_t {
  kNone,
  kWhole,
  kFraction,
  kMemory,
  kFractionAndMemory,
  kPartition
};

inline DeviceForm FormOf(const DeviceRequest& request) {
  if (request.count == 0) return DeviceForm::kNone;
  if (!request.partition.empty()) return DeviceForm::kPartition;
  if (request.memory_bytes > 0) {
    return request.milli > 0 ? DeviceForm::kFractionAndMemory
                             : DeviceForm::kMemory;
  }
  if (request.milli >= kWholeDevice) return DeviceForm::kWhole;
  return request.milli > 0 ? DeviceForm::kFraction : DeviceForm::kNone;
}

// Whether such tasks take devices whole, or none.
inline bool SharesNoDevice(const DeviceRequest& request) {
  const DeviceForm form = FormOf(request);
  return form == DeviceForm::kNone || form == DeviceForm::kWhole;
}

struct Needs {
  struct Amount {
    ResourceKind kind = 0;
    int64_t amount = 0;
  };
  absl::InlinedVector<Amount, 4> amounts{};  // Positive; not the device kind.
  DeviceForm form = DeviceForm::kNone;
  uint32_t count = 0;
  int32_t milli = 0;
  int64_t memory = 0;
  // A device of which it would take more gives it no partition.
  int32_t most_milli = kAnyMilli;
  ProfileNumber partition = kNoProfile;
  std::vector<uint32_t> models{};  // Sorted model numbers; empty: any.
};

// Whether such a task uses as much of the device kind wherever it is: whether
// Cluster::demand tells its usage.
inline bool UsesAlike(const DeviceRequest& request) {
  const DeviceForm form = FormOf(request);
  return form != DeviceForm::kMemory && form != DeviceForm::kPartition;
}

// A part of a device, in both of its measures.
struct DevicePart {
  int32_t milli = 0;
  int64_t memory = 0;

  friend bool operator==(const DevicePart&, const DevicePart&) = default;
};

// floor(milli * device_memory / 1000), without overflow.
inline int64_t MemoryOf(int32_t milli, int64_t device_memory) {
  return device_memory / kWholeDevice * milli +
         device_memory % kWholeDevice * milli / kWholeDevice;
}

// floor(1000 * memory / device_memory); a whole device where that is unknown.
// Requests above the device are cut off: they fit nowhere anyway.
inline int32_t MilliOf(int64_t memory, int64_t device_memory) {
  if (device_memory <= 0) return kWholeDevice;
  const __int128 milli =
      static_cast<__int128>(memory) * kWholeDevice / device_memory;
  return static_cast<int32_t>(std::min<__int128>(milli, 2 * kWholeDevice));
}

// What one task with these needs takes of one device. Of a partition, at least:
// Ledgers::ShareOn knows how the device is cut.
inline DevicePart ShareOf(const Needs& needs, int64_t device_memory) {
  switch (needs.form) {
    case DeviceForm::kNone:
      return {};
    case DeviceForm::kWhole:
      return {kWholeDevice, device_memory};
    case DeviceForm::kFraction:
      return {needs.milli, MemoryOf(needs.milli, device_memory)};
    case DeviceForm::kMemory:
      return {MilliOf(needs.memory, device_memory), needs.memory};
    case DeviceForm::kFractionAndMemory:
      return {needs.milli, needs.memory};
    case DeviceForm::kPartition:
      return {needs.milli, 0};
  }
  return {};
}

}  // namespace muster
