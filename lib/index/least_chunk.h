// Which chunk of a layout has the least entry, kept from change to change.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/index/scan.h"

namespace muster::index {

// One entry a chunk; what entries mean is their owner's business, but that the
// first thing they compare by stands in their upper halves. Entries lie in
// groups of 64, those of chunks inside the topology and outside apart.
// Invariant: where no chunk of a group is marked, the group's entry is the
// least of its chunks'; Find and FindIn need that of all groups.
class LeastChunk {
 public:
  // The entry of a chunk that has none; it is greater than all others.
  static constexpr uint64_t kNone = ~uint64_t{0};
  static constexpr uint32_t kNoChunk = 0xffffffff;

  // No chunk has an entry or is marked.
  void Reset(uint32_t inside, uint32_t chunks) {
    inside_ = inside;
    shift_ = (inside + kGroup - 1) / kGroup * kGroup - inside;
    entries_.assign((chunks + shift_ + kGroup - 1) / kGroup * kGroup, kNone);
    groups_.assign(entries_.size() / kGroup, kNone);
    marked_.assign(groups_.size(), 0);
    from_ = to_ = 0;
  }

  const uint64_t& entry(uint32_t chunk) const { return entries_[At(chunk)]; }

  // The chunk's entry may differ.
  void Mark(uint32_t chunk) {
    const uint32_t at = At(chunk);
    const uint32_t group = at / kGroup;
    marked_[group] |= uint64_t{1} << at % kGroup;
    from_ = to_ == 0 ? group : std::min(from_, group);
    to_ = std::max(to_, group + 1);
  }
  // Gives each marked chunk the entry that `entry_of(chunk)` says, which may
  // ask for the one before.
  template <class F>
  void Refresh(F&& entry_of) {
    for (; from_ < to_; ++from_) {
      uint64_t& best = groups_[from_];
      bool lost = false;
      for (uint64_t& mask = marked_[from_]; mask != 0; mask &= mask - 1) {
        const uint32_t at =
            from_ * kGroup + static_cast<uint32_t>(std::countr_zero(mask));
        const bool was_best = entries_[at] == best;
        entries_[at] = entry_of(ChunkAt(at));
        if (entries_[at] <= best) {
          best = entries_[at];
          lost = false;
        } else {
          lost = lost || was_best;
        }
      }
      if (lost) best = Scans().least64(EntriesOf(from_).data(), kGroup);
    }
    from_ = to_ = 0;
  }

  // The first chunk with the least entry; kNoChunk if none has an entry.
  uint32_t Find(bool inside_only) const {
    const size_t inside_groups = (inside_ + shift_) / kGroup;
    const std::span<const uint64_t> groups =
        std::span(groups_).first(inside_only ? inside_groups : groups_.size());
    const size_t group = LeastAt(groups);
    if (group == kNowhere || groups[group] == kNone) return kNoChunk;
    return ChunkAt(
        static_cast<uint32_t>(group * kGroup + LeastAt(EntriesOf(group))));
  }
  // Of chunks from `from` to before `to`, by the entries' upper halves alone.
  // O(chunks / 64).
  uint32_t FindIn(uint32_t from, uint32_t to) const {
    if (from == to) return kNoChunk;
    uint64_t least = kNone >> 32;
    uint32_t found = kNoChunk;
    for (uint32_t at = At(from), end = At(to - 1) + 1; at < end; ++at) {
      const bool whole = at % kGroup == 0 && end - at >= kGroup;
      if (whole && groups_[at / kGroup] >> 32 >= least) {
        at += kGroup - 1;
      } else if (entries_[at] >> 32 < least) {
        least = entries_[at] >> 32;
        found = ChunkAt(at);
      }
    }
    return found;
  }

 private:
  static constexpr uint32_t kGroup = 64;

  uint32_t At(uint32_t chunk) const {
    return chunk < inside_ ? chunk : chunk + shift_;
  }
  uint32_t ChunkAt(uint32_t at) const {
    return at < inside_ ? at : at - shift_;
  }
  std::span<const uint64_t> EntriesOf(size_t group) const {
    return std::span(entries_).subspan(group * kGroup, kGroup);
  }

  uint32_t inside_ = 0;
  uint32_t shift_ = 0;  // Places skipped before the entries outside.
  std::vector<uint64_t> entries_;
  std::vector<uint64_t> groups_;
  // By group: bit i for its entry i; of groups from from_ to before to_ alone.
  std::vector<uint64_t> marked_;
  uint32_t from_ = 0;
  uint32_t to_ = 0;
};

}  // namespace muster::index
