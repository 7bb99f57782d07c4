// The tree of queues, and what each of them uses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "lib/base/keyed_table.h"
#include "lib/cluster/cluster.h"
#include "lib/queue/preemption_law.h"
#include "muster/ids.h"
#include "muster/queue.h"
#include "muster/resources.h"

namespace muster {

using QueueIndex = uint32_t;
inline constexpr QueueIndex kNoQueue = 0xffffffff;

struct QueueEntry {
  Queue queue{};
  bool exists = false;
  uint32_t generation = 0;
  QueueIndex parent = kNoQueue;
  std::vector<QueueIndex> children{};  // By key.
  uint32_t depth = 0;
  uint32_t gangs = 0;  // Live gangs submitted to it.
  Resources used{};
  Resources releasing{};
  // By kind: what bounds it (kUnbounded: nothing), its limit or what it may
  // borrow; the guarantee (-1: none said); and what those right below it are
  // entitled to together.
  std::vector<int64_t> limit{};
  std::vector<int64_t> guarantee{};
  std::vector<absl::int128> below{};
  PreemptionLaw law{};      // With what it inherits.
  bool bounded = false;     // Something bounds it.
  bool sums_below = false;  // That depends on what is guaranteed below it.
  bool guaranteed = false;  // It has a guarantee.

  const std::string& key() const { return queue.key; }
};

// Structure and sums only; what they mean is QuotaChecker's business. Usage is
// kept as capacity is (see Ledger): `used` is what the later ledger says,
// nominated, starting and running tasks; with `releasing` it is what a start
// must respect, since those tasks still hold their share.
//
// Invariant: a queue's sums are those of its own gangs and of all queues below
// it. Values are valid queues: the scheduler has checked them. Not
// synchronised. A charge is O(depth x kinds).
class QueueTree : public KeyedTable<QueueId, QueueEntry, &QueueEntry::key> {
 public:
  using Entry = QueueEntry;
  static constexpr int64_t kUnbounded = Resources::kMaxTotal;

  explicit QueueTree(const std::vector<std::string>& resources)
      : resources_(resources) {}

  // Adds the queue or gives it new values, another parent included: its usage
  // moves along. The parent, if any, exists and is not below it.
  QueueIndex Upsert(const Queue& queue);
  void Remove(QueueIndex q);  // It has neither children nor gangs.

  uint32_t kinds() const { return static_cast<uint32_t>(resources_.size()); }
  bool IsLeaf(QueueIndex q) const { return at(q).children.empty(); }
  // How many levels of queues are below it. O(queues below).
  uint32_t HeightOf(QueueIndex q) const;
  // Only its first gang is asked for.
  bool IsStrict(QueueIndex q) const {
    return at(q).queue.ordering == QueueOrdering::kStrictFifo;
  }
  // What the queue is guaranteed of the kind or, where it says nothing, those
  // below it are. O(1).
  absl::int128 Entitled(QueueIndex q, ResourceKind kind) const;
  // Those right below it, by key; kNoQueue: the roots.
  const std::vector<QueueIndex>& Below(QueueIndex q) const {
    return q == kNoQueue ? roots_ : at(q).children;
  }
  // The queue or one above it is held.
  bool IsHeld(QueueIndex q) const;
  // Whether there may be a leaf of which not all gangs are asked. O(queues).
  bool AnyHoldsBack() const;
  // Whether `above` is q or one of the queues above it.
  bool IsWithin(QueueIndex q, QueueIndex above) const;
  // The deepest queue above both (or one of them); kNoQueue if none.
  QueueIndex CommonAncestor(QueueIndex a, QueueIndex b) const;

  // Adds sign x amount to what q and all above it use.
  void Charge(QueueIndex q, const Resources& amount, int64_t sign);
  void ChargeReleasing(QueueIndex q, const Resources& amount, int64_t sign);
  // A gang that could use `most` came to q (sign 1) or left it (-1).
  void CountGang(QueueIndex q, const Resources& most, int32_t sign);
  // The most that all gangs could use. The scheduler keeps it within
  // Resources::kMaxTotal of each kind, and with it all sums of usage.
  const Resources& asked() const { return asked_; }
  // Rises whenever a sum, a limit or a guarantee changes.
  uint64_t version() const { return version_; }

  // Takes back the last Upsert that added q, or the last Remove, of a queue
  // with these values: see KeyedTable.
  void UndoAdd(QueueIndex q);
  void UndoRemove(const Queue& queue);

 private:
  void Fill(QueueIndex q, const Queue& queue);
  void Derive(Entry& entry);
  // What bounds a queue of one kind.
  static void Bound(Entry& entry, const Quota& quota, size_t kind);
  void CountEntitled(const Entry& entry, int sign);
  std::vector<QueueIndex>& SiblingsOf(QueueIndex q);
  void Attach(QueueIndex q, const Queue& queue);
  void Detach(QueueIndex q);
  void Inherit(QueueIndex q);

  std::vector<std::string> resources_;
  Resources asked_;
  std::vector<QueueIndex> roots_;  // By key.
  uint64_t version_ = 1;
};

}  // namespace muster
