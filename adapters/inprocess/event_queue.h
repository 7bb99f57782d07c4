// The simulator's calendar: what is due next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "muster/ids.h"

namespace muster::inprocess {

// In this order at one time.
enum class DueKind : uint8_t {
  kProgress,  // A gang reaches a checkpoint or its end.
  kAct,       // A decision has been carried out (or one wave of it).
  kAnswer,    // A message reaches the scheduler.
};

struct Due {
  Time at = 0;
  DueKind kind = DueKind::kProgress;
  uint32_t index = 0;    // Of a live gang, an act or a message.
  uint32_t version = 0;  // Of the live gang; a stale one is ignored.
  uint64_t order = 0;    // Filled in by Push: first in, first out.
};

// A binary heap. Push and Pop are O(log n).
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  const Due& top() const { return heap_.front(); }
  void Push(Due due) {
    due.order = next_++;
    heap_.push_back(due);
    std::push_heap(heap_.begin(), heap_.end(), Later);
  }
  Due Pop() {
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    const Due due = heap_.back();
    heap_.pop_back();
    return due;
  }

 private:
  static bool Later(const Due& a, const Due& b) {
    return std::tie(a.at, a.kind, a.order) > std::tie(b.at, b.kind, b.order);
  }
  std::vector<Due> heap_;
  uint64_t next_ = 0;
};

}  // namespace muster::inprocess
