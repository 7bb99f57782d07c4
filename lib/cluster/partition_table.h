// Partition schemes, ready for arithmetic: pure functions over slice masks, and
// the layouts that devices have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "muster/device.h"
#include "muster/partition.h"

namespace muster {

// Bit i: slice i of a device.
using SliceMask = uint32_t;

// Profiles of equal names share a number, whatever their schemes.
using ProfileNumber = uint32_t;
inline constexpr ProfileNumber kNoProfile = 0xffffffff;

// What one partition of a profile takes of devices with one layout.
struct PartitionExtent {
  uint32_t slices = 0;
  int32_t milli = 0;
  SliceMask starts = 0;  // Where it may begin; 0: this device has no such one.

  // The slices it takes from `start` on.
  SliceMask At(uint32_t start) const {
    return ((SliceMask{1} << slices) - 1) << start;
  }
};

// The starts at which the partition fits into the free slices. O(log slices).
SliceMask FreeStarts(const PartitionExtent& extent, SliceMask free);

// The most partitions that fit into the free slices side by side, slices alone
// counting: each as early as can be, which is optimal for equal lengths.
uint32_t MostPartitions(const PartitionExtent& extent, SliceMask free);
// The same of a device that has so many thousandths free, at least 0.
inline uint32_t MostPartitions(const PartitionExtent& extent, SliceMask free,
                               int32_t free_milli) {
  return std::min(MostPartitions(extent, free),
                  static_cast<uint32_t>(free_milli / extent.milli));
}

// Schemes are fixed for life; layouts are added as devices with them come.
class PartitionTable {
 public:
  // What devices with the same scheme and the same fixed partitions have in
  // common.
  struct PartitionLayout {
    std::string scheme{};
    bool fixed = false;  // By the host.
    uint32_t slices = 0;
    std::vector<PartitionExtent> extents{};  // By profile number.
    std::vector<DevicePartition> partitions{};

    SliceMask all() const { return (SliceMask{1} << slices) - 1; }
  };
  static constexpr uint32_t kNoLayout = 0xffffffff;

  // The schemes are valid (see ValidatePartitionSchemes).
  explicit PartitionTable(std::vector<PartitionScheme> schemes);

  bool empty() const { return schemes_.empty(); }
  const std::vector<PartitionScheme>& schemes() const { return schemes_; }
  ProfileNumber Find(std::string_view profile) const;
  // The least thousandths that a partition of this profile takes of any device.
  int32_t LeastMilli(ProfileNumber profile) const;
  // Keys of the schemes that have the profile.
  std::vector<std::string> SchemesWith(std::string_view profile) const;

  // The device's layout; kNoLayout for a device without a (known) scheme.
  uint32_t Intern(const Device& device);
  const PartitionLayout& operator[](uint32_t layout) const {
    return layouts_[layout];
  }

  // How many partitions can still be placed on a device with so much free: over
  // all profiles, the number of open starts, times the partition's slices.
  static uint64_t OpenPlaces(const PartitionLayout& layout, SliceMask free,
                             int32_t free_milli);

 private:
  std::vector<PartitionScheme> schemes_;
  std::vector<std::string> profiles_{};  // By number; sorted.
  std::vector<PartitionLayout> layouts_{};
};

}  // namespace muster
