// Gangs that other threads hand in, until a pass takes them.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "muster/gang.h"
#include "muster/heap/owned_heap.h"
#include "muster/ids.h"

namespace muster {

// Push from any thread, lock-free; all else belongs to the thread that
// schedules. What waits at one instant is a set, which is taken out in an order
// of its own, in any order of pushes; what comes meanwhile is the next set.
// Owns the gangs.
class Inbox {
 public:
  Inbox() = default;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;
  ~Inbox();

  // How many may wait; 0: no limit.
  void SetLimit(uint64_t limit) {
    limit_.store(limit, std::memory_order_relaxed);
  }
  // RESOURCE_EXHAUSTED if that many wait.
  absl::Status Push(Gang gang);

  // Sorts the set that is under way, or begins with the next: about `most`
  // gangs of it; true when it is sorted. O(most).
  bool Sort(size_t most) { return heap_.DrainSome(2 * most); }
  // The next gang of the sorted set; null at its end. O(log n).
  std::unique_ptr<Gang> Pop();
  // Whether nothing waits.
  bool empty() const { return size_.load(std::memory_order_relaxed) == 0; }

 private:
  struct Key {
    std::string_view key{};  // Of the gang in the node.
    Time submitted = 0;
    uint64_t hash = 0;  // Tells gangs of one key apart.
    friend auto operator<=>(const Key& a, const Key& b) {
      if (const int c = a.key.compare(b.key); c != 0) return c <=> 0;
      if (auto c = a.submitted <=> b.submitted; c != 0) return c;
      return a.hash <=> b.hash;
    }
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Node : HeapNode<Key> {
    explicit Node(Gang g);
    Gang gang;
  };

  OwnedHeap<Key, std::less<Key>, Node> heap_;
  std::atomic<uint64_t> size_{0};
  std::atomic<uint64_t> limit_{0};
};

}  // namespace muster
