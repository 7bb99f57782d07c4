// The tree of tenants: what each queue may use and does use.
#ifndef MUSTER_LIB_QUEUE_QUEUE_TREE_H_
#define MUSTER_LIB_QUEUE_QUEUE_TREE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/string_map.h"
#include "muster/cluster.h"
#include "muster/ids.h"
#include "muster/queue.h"
#include "muster/resources.h"

namespace muster {

using QueueIndex = uint32_t;
inline constexpr QueueIndex kNoQueue = 0xffffffff;

// Usage is kept as capacity is (see Ledger): `usage` is what the later ledger
// says, nominated, starting and running tasks; with `releasing` it is what a
// start must respect, since those tasks still hold their share. Values are
// valid queues: the scheduler has checked them. Copyable. O(depth) a charge.
class QueueTree {
 public:
  static constexpr int64_t kUnbounded = int64_t{1} << 62;

  struct Entry {
    Queue queue{};
    bool exists = false;
    uint32_t generation = 0;
    QueueIndex parent = kNoQueue;
    std::vector<QueueIndex> children{};  // By key.
    uint32_t depth = 0;
    Resources usage{};
    Resources releasing{};
    // By kind: the limit (kUnbounded: none) and the guarantee (-1: no say).
    std::vector<int64_t> limit{};
    std::vector<int64_t> guarantee{};
    bool guaranteed = false;  // Of anything.
    // How many gangs with tasks it holds itself, by priority.
    std::map<int32_t, uint32_t> holding{};
    // Of these, those that may have tasks they can do without.
    std::map<int32_t, uint32_t> elastic{};
    uint32_t gangs = 0;  // Live gangs submitted to it.
  };

  explicit QueueTree(const std::vector<std::string>& resources)
      : resources_(resources) {}

  // Adds the queue or gives it new values; the parent, if any, exists.
  QueueIndex Upsert(const Queue& queue);
  void Remove(QueueIndex q);  // It has neither children nor gangs.

  QueueIndex Find(std::string_view key) const;
  const Entry& at(QueueIndex q) const { return entries_[q]; }
  Entry& at(QueueIndex q) { return entries_[q]; }
  QueueIndex limit() const { return static_cast<QueueIndex>(entries_.size()); }
  const std::vector<QueueIndex>& roots() const { return roots_; }
  // How many queues are guaranteed anything.
  uint32_t guarantees() const { return guarantees_; }
  bool IsLeaf(QueueIndex q) const { return entries_[q].children.empty(); }
  // The queue or one above it is held.
  bool Held(QueueIndex q) const;

  // Adds sign x amount to the usage of q and all above it. True if one of
  // them holds more than before, and more than it is guaranteed.
  bool Charge(QueueIndex q, const Resources& amount, int64_t sign);
  void ChargeReleasing(QueueIndex q, const Resources& amount, int64_t sign);
  // What q may still use, in kLater or kBoth: the least of limit - usage on its
  // path; kUnbounded for a kind that nothing bounds. False if no kind is
  // bounded.
  bool Headroom(QueueIndex q, Ledger ledger, Resources* out) const;
  // The first queue on the path that `demand` more would take over its limit,
  // or kNoQueue; *kind tells of what.
  // `held`: the demand is in the usage already.
  QueueIndex OverLimit(QueueIndex q, const Resources& demand, Ledger ledger,
                       ResourceKind* kind, bool held = false) const;
  // Whether `demand` exceeds a limit on the path whatever is used.
  QueueIndex NeverWithin(QueueIndex q, const Resources& demand,
                         ResourceKind* kind) const;

  // Whether a guarantee has a say on some kind that `demand` asks, and usage
  // (less `minus`, if given) plus demand is within each that does.
  bool WithinGuarantee(QueueIndex q, const Resources& demand,
                       const Resources* minus = nullptr) const;
  // Whether the queue holds, of some kind that `demand` asks, more than it is
  // guaranteed (a queue without any quota is guaranteed nothing).
  bool OverGuarantee(QueueIndex q, const Resources& demand,
                     const Resources* minus = nullptr) const;
  // The deepest queue above both (or one of them); kNoQueue if none.
  QueueIndex CommonAncestor(QueueIndex a, QueueIndex b) const;

 private:
  static int64_t Used(const Entry& e, ResourceKind k, Ledger ledger) {
    return e.usage[k] + (ledger == Ledger::kBoth ? e.releasing[k] : 0);
  }
  void Derive(Entry& entry);
  // What is guaranteed of a kind; kUnbounded if nothing is said of it.
  static int64_t Guaranteed(const Entry& e, ResourceKind kind);

  std::vector<std::string> resources_;
  std::vector<Entry> entries_;
  std::vector<QueueIndex> free_;
  std::vector<QueueIndex> roots_;  // By key.
  StringMap<QueueIndex> by_key_;
  uint32_t guarantees_ = 0;
};

}  // namespace muster

#endif  // MUSTER_LIB_QUEUE_QUEUE_TREE_H_
