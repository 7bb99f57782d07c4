// Remembers answers about nodes by their free amounts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/scoring/free_amounts.h"

namespace muster::scoring {

// Requests by number, whatever cluster they come from.
class Requests {
 public:
  // Equal only for shapes that ask for the same. What was found for the shape
  // last is compared before use. O(1) amortised for few shapes.
  uint64_t SerialOf(const Cluster& cluster, ShapeId shape) {
    const Resources& demand = cluster.demand(shape);
    const DeviceRequest& devices = cluster.device_request(shape);
    const int32_t most_milli = cluster.most_milli(shape);
    const auto is = [&](const Known& known) {
      return known.demand == demand && known.devices == devices &&
             known.most_milli == most_milli;
    };
    if (shape >= found_.size()) found_.resize(shape + 1, 0);
    uint32_t& found = found_[shape];
    if (found < known_.size() && is(known_[found])) {
      return known_[found].serial;
    }
    for (found = 0; found < known_.size(); ++found) {
      if (is(known_[found])) return known_[found].serial;
    }
    if (known_.size() == kMostKnown) known_.clear();
    found = static_cast<uint32_t>(known_.size());
    known_.push_back({demand, devices, most_milli, ++last_serial_});
    return last_serial_;
  }

 private:
  static constexpr size_t kMostKnown = 1024;

  struct Known {
    Resources demand{};
    DeviceRequest devices{};
    int32_t most_milli = 0;
    uint64_t serial = 0;
  };

  std::vector<Known> known_{};
  std::vector<uint32_t> found_{};  // By shape.
  uint64_t last_serial_ = 0;
};

// Many nodes of a cluster are in few states (1,904 of 100,000 nodes when they
// run a mix of tasks), and most questions repeat. Whole keys are compared: an
// answer is the one that was stored for exactly this question. Of two that
// meet in one place the later stays. 1 MiB, taken by the first answer.
class Memo {
 public:
  struct Answer {
    int64_t gain = 0;
    DeviceSet device{};
  };

  // The answer to this question, which `find()` finds where it is not known.
  // Node profiles and requests are told apart by their serial numbers.
  template <class F>
  Answer Get(uint64_t profile, uint64_t request,
             const FreeAmounts& free_amounts, ResourceKind device_kind,
             F&& find) {
    Pack(profile, request, free_amounts, device_kind);
    if (key_.size() > kMostWords) return find();
    uint64_t hash = 0;
    for (const uint64_t word : key_) {
      hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    if (entries_.empty()) entries_.resize(kEntries);
    Entry& entry = entries_[hash % kEntries];
    if (!std::ranges::equal(key_, std::span(entry.words).first(entry.size))) {
      entry.size = key_.size();
      std::ranges::copy(key_, entry.words.begin());
      entry.answer = find();
    }
    return entry.answer;
  }

 private:
  static constexpr size_t kEntries = 1 << 12;
  static constexpr size_t kMostWords = 28;  // What is longer is not stored.

  struct Entry {
    std::array<uint64_t, kMostWords> words{};
    uint64_t size = 0;  // 0: none.
    Answer answer{};
  };

  // Everything that an answer depends on, into key_.
  void Pack(uint64_t profile, uint64_t request, const FreeAmounts& free_amounts,
            ResourceKind device_kind) {
    key_ = {profile, request};
    for (ResourceKind k = 0; k < free_amounts.free.size(); ++k) {
      if (k != device_kind)
        key_.push_back(static_cast<uint64_t>(free_amounts.free[k]));
    }
    // The profile says how many words follow; a share has 11 bits.
    for (uint32_t d = 0; d < free_amounts.devices;) {
      uint64_t word = 0;
      for (int shift = 0; shift < 64 && d < free_amounts.devices;
           shift += 16, ++d) {
        word |= static_cast<uint64_t>(free_amounts.milli[d] + 1) << shift;
      }
      key_.push_back(word);
    }
    const auto memory =
        std::span(free_amounts.memory).first(free_amounts.devices);
    if (std::ranges::any_of(memory, [](int64_t m) { return m != 0; })) {
      key_.insert(key_.end(), memory.begin(), memory.end());
    }
  }

  std::vector<uint64_t> key_{};  // Of the question in hand.
  std::vector<Entry> entries_{};
};

}  // namespace muster::scoring
