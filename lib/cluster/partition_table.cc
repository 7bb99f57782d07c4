#include "lib/cluster/partition_table.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace muster {
SliceMask FreeStarts(const Piece& piece, SliceMask free) {
  // Bit i of `runs`: the `length` slices from i on are free.
  SliceMask runs = free;
  for (uint32_t length = 1; length < piece.slices;) {
    const uint32_t step = std::min(length, piece.slices - length);
    runs &= runs >> step;
    length += step;
  }
  return runs & piece.starts;
}

uint32_t MostPieces(const Piece& piece, SliceMask free) {
  uint32_t count = 0;
  for (SliceMask open = FreeStarts(piece, free); open != 0; ++count) {
    const auto start = static_cast<uint32_t>(std::countr_zero(open));
    open &= ~piece.At(start);
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
  if (device.partition_scheme.empty()) return kNoCut;
  const auto known = std::ranges::find_if(cuts_, [&](const Cut& cut) {
    return cut.scheme == device.partition_scheme &&
           cut.partitions == device.partitions;
  });
  if (known != cuts_.end()) return static_cast<uint32_t>(known - cuts_.begin());
  const auto scheme = std::ranges::find(schemes_, device.partition_scheme,
                                        &PartitionScheme::key);
  if (scheme == schemes_.end()) return kNoCut;
  Cut cut{.scheme = scheme->key,
          .fixed = !device.partitions.empty(),
          .slices = scheme->memory_slices,
          .pieces = std::vector<Piece>(profiles_.size()),
          .partitions = device.partitions};
  for (const PartitionProfile& p : scheme->profiles) {
    Piece& piece = cut.pieces[Find(p.name)];
    piece = {.slices = p.memory_slices, .milli = p.milli};
    for (const uint32_t start : p.starts) {
      if (!cut.fixed) piece.starts |= SliceMask{1} << start;
    }
    for (const DevicePartition& there : device.partitions) {
      if (there.profile == p.name) piece.starts |= SliceMask{1} << there.start;
    }
  }
  cuts_.push_back(std::move(cut));
  return static_cast<uint32_t>(cuts_.size() - 1);
}

uint64_t PartitionTable::OpenPlaces(const Cut& cut, SliceMask free,
                                    int32_t free_milli) {
  uint64_t sum = 0;
  for (const Piece& piece : cut.pieces) {
    if (piece.starts == 0 || piece.milli > free_milli) continue;
    const SliceMask open = FreeStarts(piece, free);
    sum += uint64_t{piece.slices} * static_cast<uint64_t>(std::popcount(open));
  }
  return sum;
}

}  // namespace muster
