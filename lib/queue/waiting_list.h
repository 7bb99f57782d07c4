// The gangs that wait for their turn, grouped into classes of equals.
#ifndef MUSTER_LIB_QUEUE_WAITING_LIST_H_
#define MUSTER_LIB_QUEUE_WAITING_LIST_H_

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "lib/queue/queue_tree.h"
#include "muster/ids.h"
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

// Gangs of one queue, priority class and description: if the first of them
// cannot be placed, none of them can. That is what makes a pass cost classes,
// not gangs.
struct WaitingClass {
  QueueIndex queue = 0;
  uint32_t priority_class = 0;
  uint32_t description = 0;  // Template number; or kAlone | gang (suspended).
  absl::btree_set<GangRank> gangs{};
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

// Copyable only by rebuilding: the ranks point into gang records.
class WaitingList {
 public:
  static constexpr uint32_t kAlone = 0x80000000;

  ClassIndex Add(QueueIndex queue, uint32_t priority_class,
                 uint32_t description, const GangRank& rank);
  void Remove(ClassIndex c, const GangRank& rank);

  WaitingClass& at(ClassIndex c) { return classes_[c]; }
  const WaitingClass& at(ClassIndex c) const { return classes_[c]; }

  // The classes of a leaf by the rank of their first gang.
  struct Head {
    GangRank rank{};
    ClassIndex index = 0;
    friend auto operator<=>(const Head& a, const Head& b) {
      return a.rank <=> b.rank;
    }
    friend bool operator==(const Head& a, const Head& b) {
      return a.rank == b.rank;
    }
  };
  using Heads = absl::btree_set<Head>;
  // Leaves with gangs that wait; unordered, for lookups by queue.
  const Heads* heads(QueueIndex queue) const;
  // Queues that have waiting gangs, in no order.
  const std::vector<QueueIndex>& queues() const { return active_; }
  // How many gangs of the queue rank before this one.
  uint32_t CountAhead(QueueIndex queue, const GangRank& rank) const;

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
  void Activate(QueueIndex queue);
  void Deactivate(QueueIndex queue);

  std::vector<WaitingClass> classes_;
  std::vector<ClassIndex> free_;
  absl::flat_hash_map<Key, ClassIndex> by_key_;
  std::vector<Heads> heads_;  // By queue.
  std::vector<QueueIndex> active_;
  std::vector<uint32_t> active_slot_;  // By queue: place in active_, or none.
};

}  // namespace muster

#endif  // MUSTER_LIB_QUEUE_WAITING_LIST_H_
