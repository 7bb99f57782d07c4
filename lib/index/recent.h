// What caches of a cluster are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lib/cluster/cluster.h"

namespace muster::index {

// Which cluster, and which version of it, a cache was made from.
class MadeFrom {
 public:
  // Whether it is another cluster or another version than at the last call.
  bool IsNew(const Cluster& cluster, uint64_t version) {
    if (identity_ == cluster.identity() && version_ == version) return false;
    identity_ = cluster.identity();
    version_ = version;
    return true;
  }

 private:
  std::shared_ptr<const char> identity_;
  uint64_t version_ = 0;
};

// The last `kMost` entries made; the oldest makes room.
template <class Entry, size_t kMost>
class Recent {
 public:
  void Clear() {
    entries_.clear();
    next_ = 0;
  }
  // The entry that matches, or null.
  template <class Matches>
  Entry* Find(const Matches& matches) {
    for (Entry& e : entries_) {
      if (matches(e)) return &e;
    }
    return nullptr;
  }
  template <class F>
  void ForEach(const F& f) {
    for (Entry& e : entries_) f(e);
  }
  // To be filled in; it holds what it held before. References to others hold.
  Entry& Make() {
    if (entries_.size() < kMost) {
      entries_.reserve(kMost);
      return entries_.emplace_back();
    }
    Entry& oldest = entries_[next_];
    next_ = (next_ + 1) % kMost;
    return oldest;
  }

 private:
  std::vector<Entry> entries_;
  size_t next_ = 0;  // The oldest, once all are in use.
};

}  // namespace muster::index
