// The gangs that wait for their turn, grouped into classes of equals.
#ifndef MUSTER_LIB_QUEUE_WAITING_LIST_H_
#define MUSTER_LIB_QUEUE_WAITING_LIST_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lib/queue/queue_tree.h"
#include "muster/ids.h"
#include "muster/owned_heap.h"
#include "muster/reason.h"

namespace muster {

using GangIndex = uint32_t;

// The order gangs are served in: higher priority, then earlier submission,
// then key. Total, since keys are unique. `key` points into the gang's record.
struct GangRank {
  int32_t priority = 0;
  Time submitted = 0;
  std::string_view key{};
  GangIndex gang = 0;

  friend std::strong_ordering operator<=>(const GangRank& a,
                                          const GangRank& b) {
    if (auto c = b.priority <=> a.priority; c != 0) return c;
    if (auto c = a.submitted <=> b.submitted; c != 0) return c;
    return a.key.compare(b.key) <=> 0;
  }
  friend bool operator==(const GangRank& a, const GangRank& b) {
    return (a <=> b) == 0;
  }
};

using ClassIndex = uint32_t;
inline constexpr ClassIndex kNoClass = 0xffffffff;

struct GangNode : HeapNode<GangRank, OneThread> {};
using GangHeap = OwnedHeap<GangRank, std::less<>, GangNode, OneThread>;

// What a class is, and what is known about it.
struct WaitingFacts {
  QueueIndex queue = 0;
  uint32_t priority_class = 0;
  uint32_t description = 0;  // Template number; or kAlone | gang (suspended).
  Reason reason{};  // Why it waits, as of the last pass that looked at it.

  // What was found out before, and as of which state. Only a cache: a stale
  // entry is tried again, a fresh one spares the question, with the same
  // outcome and the same step count.
  bool no_room_known = false;
  uint64_t no_room_at = 0;  // Cluster::freed_version().
  // Cluster::structure_version(): whether it never fits hangs on that.
  uint64_t no_room_structure = 0;
  Reason no_room_reason{};
  bool no_victims_known = false;
  uint64_t no_victims_at = 0;         // Cluster::freed_version().
  uint64_t no_victims_structure = 0;  // Cluster::structure_version().
  uint64_t no_victims_started = 0;
  Time no_victims_until = 0;
  uint64_t blocked_in_pass = 0;
};

// Gangs of one queue, priority class and description: if the first of them
// cannot be placed, none of them can. That is what makes a pass cost classes,
// not gangs.
class WaitingClass : public WaitingFacts {
 public:
  // Its first gang. O(1).
  const GangRank& first() { return gangs_.PeekBest()->key(); }
  size_t size() { return gangs_.size(); }

 private:
  friend class WaitingList;
  // Where its leaf has it: see WaitingList::Leaf.
  enum class Place { kHeap, kSeen, kLater };
  struct Head : HeapNode<GangRank, OneThread> {
    ClassIndex index = 0;
  };

  GangHeap gangs_;
  Head head_;  // Its key is first().
  Place place_ = Place::kHeap;
};

// The gangs that wait, by leaf queue and class. PriorityHeap keeps the order,
// of a class's gangs and of a leaf's classes by their first gangs. Copyable
// only by rebuilding: the ranks point into gang records.
class WaitingList {
 public:
  static constexpr uint32_t kAlone = 0x80000000;

  ClassIndex Add(QueueIndex queue, uint32_t priority_class,
                 uint32_t description, const GangRank& rank);
  void Remove(ClassIndex c, const GangRank& rank);

  WaitingClass& at(ClassIndex c) { return classes_[c]; }
  const WaitingClass& at(ClassIndex c) const { return classes_[c]; }

  // Queues that have waiting gangs, in no order.
  const std::vector<QueueIndex>& queues() const { return active_; }
  // How many gangs of the queue rank before this one. O(gangs of the queue).
  uint32_t CountAhead(QueueIndex queue, const GangRank& rank) const;

  // A walk through the classes of a leaf, by the ranks of their first gangs.
  // Between two steps gangs may come and go: the walk goes on from `from`
  // (null: from the beginning), without what came in before it.
  void Rewind(QueueIndex queue);
  // The next class for which passed(class) is false, or kNoClass. The walk
  // stays there: a class is left behind when it has passed or is gone.
  template <class Passed>
  ClassIndex Next(QueueIndex queue, const GangRank* from, Passed passed);

  // Calls function(ClassIndex) with each class of the leaf, in no order.
  template <class Function>
  void ForEach(QueueIndex queue, Function function) const;

 private:
  struct Key {
    QueueIndex queue;
    uint32_t priority_class;
    uint32_t description;
    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& k) {
      return H::combine(std::move(h), k.queue, k.priority_class, k.description);
    }
  };
  using Place = WaitingClass::Place;
  using Head = WaitingClass::Head;

  // A class stands in one of these. What a walk took from the heap stays in
  // `seen`, in order, until its first gang changes: where little changes, a
  // walk costs O(1) for each class.
  struct Leaf {
    OwnedHeap<GangRank, std::less<>, Head, OneThread> heap;
    std::vector<ClassIndex> seen;   // Or kNoClass: it is gone.
    std::vector<ClassIndex> later;  // Came in before the walk's place.
    size_t at = 0;                  // The walk's place in `seen`.
    uint32_t classes = 0;           // In all three.
  };

  ClassIndex NewClass(const Key& key);
  // Before, or after, the first gang of a class changes or the class goes.
  void TakeOut(ClassIndex c);
  void PutIn(ClassIndex c);
  void Activate(QueueIndex queue);
  void Deactivate(QueueIndex queue);

  std::deque<WaitingClass> classes_;
  std::vector<ClassIndex> free_;
  absl::flat_hash_map<Key, ClassIndex> by_key_;
  std::deque<GangNode> nodes_;  // By GangIndex.
  std::deque<Leaf> leaves_;     // By queue.
  std::vector<QueueIndex> active_;
  std::vector<uint32_t> active_slot_;  // By queue: place in active_, or none.
};

template <class Passed>
ClassIndex WaitingList::Next(QueueIndex queue, const GangRank* from,
                             Passed passed) {
  if (queue >= leaves_.size()) return kNoClass;
  Leaf& leaf = leaves_[queue];
  for (;;) {
    while (leaf.at < leaf.seen.size() && leaf.seen[leaf.at] == kNoClass) {
      ++leaf.at;
    }
    ClassIndex c = leaf.at < leaf.seen.size() ? leaf.seen[leaf.at] : kNoClass;
    Head* const head = leaf.heap.PeekBest();
    if (head == nullptr ||
        (c != kNoClass && classes_[c].head_.key() < head->key())) {
      if (c == kNoClass || !passed(classes_[c])) return c;
      ++leaf.at;
      continue;
    }
    c = head->index;
    if (from != nullptr && head->key() < *from) {
      leaf.heap.Erase(head);
      classes_[c].place_ = Place::kLater;
      leaf.later.push_back(c);
    } else if (passed(classes_[c])) {
      leaf.heap.Erase(head);
      classes_[c].place_ = Place::kSeen;
      leaf.seen.insert(leaf.seen.begin() + static_cast<ptrdiff_t>(leaf.at), c);
      ++leaf.at;
    } else {
      return c;
    }
  }
}

template <class Function>
void WaitingList::ForEach(QueueIndex queue, Function function) const {
  if (queue >= leaves_.size()) return;
  const Leaf& leaf = leaves_[queue];
  leaf.heap.ForEach([&](const Head& head) { function(head.index); });
  for (ClassIndex c : leaf.seen) {
    if (c != kNoClass) function(c);
  }
  for (ClassIndex c : leaf.later) function(c);
}

}  // namespace muster

#endif  // MUSTER_LIB_QUEUE_WAITING_LIST_H_
