// Partitions: fixed pieces that a device can be cut into (NVIDIA: MIG).
#ifndef MUSTER_PARTITION_H_
#define MUSTER_PARTITION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "muster/export.h"

namespace muster {

// One kind of piece (NVIDIA: a MIG profile). A device's memory is a row of
// equal slices; a piece takes `memory_slices` of them side by side, beginning
// at one of `starts`. Two pieces never share a slice, and the pieces of a
// device never take more than 1000 thousandths of it in all.
struct PartitionProfile {
  std::string name{};          // "3g.40gb", a key.
  uint32_t memory_slices = 1;  // >= 1.
  int32_t milli = 0;           // Its share of the computing power: 1..1000.
  // First slices where it may begin, rising; start + memory_slices <= the
  // scheme's.
  std::vector<uint32_t> starts{};

  friend bool operator==(const PartitionProfile&,
                         const PartitionProfile&) = default;
};

// The ways to cut one kind of device. A piece also uses floor(device memory *
// its slices / all slices) bytes.
struct PartitionScheme {
  static constexpr uint32_t kMaxSlices = 16;
  static constexpr size_t kMaxProfiles = 32;

  std::string key{};                         // Device::partition_scheme.
  uint32_t memory_slices = 0;                // 1..kMaxSlices.
  std::vector<PartitionProfile> profiles{};  // At most kMaxProfiles.

  friend bool operator==(const PartitionScheme&,
                         const PartitionScheme&) = default;
};

// A piece that is there already, because the host cut the device beforehand. It
// is where the scheme lets one be, and shares no slice with another.
struct DevicePartition {
  std::string profile{};  // Its name in the device's scheme.
  uint32_t start = 0;     // Its first slice.

  friend bool operator==(const DevicePartition&,
                         const DevicePartition&) = default;
};

// The scheme's profile of this name, or null; the pointer is into `scheme`.
// O(profiles).
MUSTER_API const PartitionProfile* FindProfile(const PartitionScheme& scheme,
                                               std::string_view name);

// Schemes of common devices, for a host to put into
// SchedulerConfig::partition_schemes: "a100-40gb", "a100-80gb" and "h100-80gb".
// Profiles with media extensions ("+me") are left out: of these a device takes
// only one, whatever the slices say. Nothing looks at these by itself: a host
// may change them, or tell others.
MUSTER_API std::vector<PartitionScheme> CommonPartitionSchemes();

}  // namespace muster

#endif  // MUSTER_PARTITION_H_
