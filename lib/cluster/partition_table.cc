#include "lib/cluster/partition_table.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace muster {
SliceMask FreeStarts(const PartitionExtent& extent, SliceMask free) {
  // Bit i of `runs`: the `length` slices from i on are free.
  SliceMask runs = free;
  for (uint32_t length = 1; length < extent.slices;) {
    const uint32_t step = std::min(length, extent.slices - length);
    runs &= runs >> step;
    length += step;
  }
  return runs & extent.starts;
}

uint32_t MostPartitions(const PartitionExtent& extent, SliceMask free) {
  uint32_t count = 0;
  for (SliceMask open = FreeStarts(extent, free); open != 0; ++count) {
    const auto start = static_cast<uint32_t>(std::countr_zero(open));
    open &= ~extent.At(start);
  }
  return count;
}

PartitionTable::PartitionTable(std::vector<PartitionScheme> schemes)
    : schemes_(std::move(schemes)) {
  for (const PartitionScheme& scheme : schemes_) {
    for (const PartitionProfile& p : scheme.profiles) {
      profiles_.push_back(p.name);
    }
  }
  std::ranges::sort(profiles_);
  const auto repeated = std::ranges::unique(profiles_);
  profiles_.erase(repeated.begin(), repeated.end());
}

ProfileNumber PartitionTable::Find(std::string_view profile) const {
  const auto it = std::lower_bound(profiles_.begin(), profiles_.end(), profile);
  if (it == profiles_.end() || *it != profile) return kNoProfile;
  return static_cast<ProfileNumber>(it - profiles_.begin());
}

int32_t PartitionTable::LeastMilli(ProfileNumber profile) const {
  int32_t least = kWholeDevice;
  if (profile == kNoProfile) return least;
  for (const PartitionScheme& scheme : schemes_) {
    const PartitionProfile* p = FindProfile(scheme, profiles_[profile]);
    if (p != nullptr) least = std::min(least, p->milli);
  }
  return least;
}

std::vector<std::string> PartitionTable::SchemesWith(
    std::string_view profile) const {
  std::vector<std::string> keys;
  for (const PartitionScheme& scheme : schemes_) {
    if (FindProfile(scheme, profile) != nullptr) keys.push_back(scheme.key);
  }
  return keys;
}

uint32_t PartitionTable::Intern(const Device& device) {
  if (device.partition_scheme.empty()) return kNoLayout;
  const auto known =
      std::ranges::find_if(layouts_, [&](const PartitionLayout& layout) {
        return layout.scheme == device.partition_scheme &&
               layout.partitions == device.partitions;
      });
  if (known != layouts_.end())
    return static_cast<uint32_t>(known - layouts_.begin());
  const auto scheme = std::ranges::find(schemes_, device.partition_scheme,
                                        &PartitionScheme::key);
  if (scheme == schemes_.end()) return kNoLayout;
  PartitionLayout layout{
      .scheme = scheme->key,
      .fixed = !device.partitions.empty(),
      .slices = scheme->memory_slices,
      .extents = std::vector<PartitionExtent>(profiles_.size()),
      .partitions = device.partitions};
  for (const PartitionProfile& p : scheme->profiles) {
    PartitionExtent& extent = layout.extents[Find(p.name)];
    extent = {.slices = p.memory_slices, .milli = p.milli};
    for (const uint32_t start : p.starts) {
      if (!layout.fixed) extent.starts |= SliceMask{1} << start;
    }
    for (const DevicePartition& there : device.partitions) {
      if (there.profile == p.name) extent.starts |= SliceMask{1} << there.start;
    }
  }
  layouts_.push_back(std::move(layout));
  return static_cast<uint32_t>(layouts_.size() - 1);
}

uint64_t PartitionTable::OpenPlaces(const PartitionLayout& layout,
                                    SliceMask free, int32_t free_milli) {
  uint64_t sum = 0;
  for (const PartitionExtent& extent : layout.extents) {
    if (extent.starts == 0 || extent.milli > free_milli) continue;
    const SliceMask open = FreeStarts(extent, free);
    sum += uint64_t{extent.slices} * static_cast<uint64_t>(std::popcount(open));
  }
  return sum;
}

}  // namespace muster
