// Which nodes offer something else than before, and since when: what keeps
// caches outside the cluster true.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lib/cluster/cluster.h"

namespace muster {

// A ring of the last changes. What is undone is a change, too, unless nobody
// has seen what was done.
class ChangeLog {
 public:
  // Remembers at least so many changes; the only call that allocates.
  void Reserve(size_t changes) {
    const size_t size = std::bit_ceil(std::min(changes, kMaxChanges));
    if (size <= ring_.size()) return;
    std::vector<NodeIndex> ring(size);
    for (uint64_t v = oldest(); v < version_; ++v) {
      ring[v & (size - 1)] = ring_[v & (ring_.size() - 1)];
    }
    ring_ = std::move(ring);
  }
  // A node that changes several times in a row, with no reader and no mark in
  // between, is one change.
  void Add(NodeIndex node) {
    const size_t mask = ring_.size() - 1;
    const bool may_merge = version_ > std::max(seen_, mark_);
    if (may_merge && ring_[(version_ - 1) & mask] == node) return;
    ring_[version_++ & mask] = node;
  }

  uint64_t version() const { return seen_ = version_; }

  // All that is added between Mark and UndoneSince(mark) is undone there.
  uint64_t Mark() { return mark_ = version_; }
  void UndoneSince(uint64_t mark) {
    if (seen_ > mark) return;
    lost_ = std::min(mark, oldest());  // What was written over stays so.
    version_ = mark;
  }
  // Appends the nodes changed since `version`, each at least once; false if
  // the log does not reach back that far.
  bool Since(uint64_t version, std::vector<NodeIndex>* nodes) const {
    if (version == version_) return true;
    if (version > version_ || version < oldest()) return false;
    const auto at = [&](uint64_t v) {
      return ring_.begin() + static_cast<ptrdiff_t>(v & (ring_.size() - 1));
    };
    if (at(version) >= at(version_)) {  // Around the end.
      nodes->insert(nodes->end(), at(version), ring_.end());
      nodes->insert(nodes->end(), ring_.begin(), at(version_));
    } else {
      nodes->insert(nodes->end(), at(version), at(version_));
    }
    return true;
  }

 private:
  static constexpr size_t kMinChanges = 64;
  static constexpr size_t kMaxChanges = size_t{1} << 20;

  uint64_t oldest() const {
    const uint64_t size = ring_.size();
    return std::max(lost_, version_ > size ? version_ - size : 0);
  }

  std::vector<NodeIndex> ring_ = std::vector<NodeIndex>(kMinChanges);  // 2^i.
  uint64_t version_ = 0;
  uint64_t lost_ = 0;          // Changes before are.
  uint64_t mark_ = 0;          // The last.
  mutable uint64_t seen_ = 0;  // The last that was asked for.
};

// Unique per instance: a copy gets a new token, and a token is not given out
// again while a reference to it is kept.
class Identity {
 public:
  Identity() = default;
  Identity(const Identity&) : Identity() {}
  Identity& operator=(const Identity&) = delete;

  const std::shared_ptr<const char>& token() const { return token_; }

 private:
  std::shared_ptr<const char> token_ = std::make_shared<const char>('\0');
};

}  // namespace muster
