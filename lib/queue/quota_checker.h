// QuotaChecker: what a queue may still use, and from which queues it may
// reclaim what it is owed. All arithmetic of limits and guarantees is here.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "lib/cluster/cluster.h"
#include "lib/queue/queue_tree.h"
#include "muster/resources.h"

namespace muster {

// Hypothetical changes of what queues use: victims that would be gone, gangs
// that would start. Not synchronised. O(depth x queues touched) a change.
class QuotaOverlay {
 public:
  explicit QuotaOverlay(const QueueTree& queues) : queues_(queues) {}

  // Adds sign x amount to what q and all above it would use.
  void Charge(QueueIndex q, const Resources& amount, int64_t sign);
  // What q would use more (or, negative, less) of the kind.
  int64_t Of(QueueIndex q, ResourceKind kind) const;

 private:
  const QueueTree& queues_;
  absl::btree_map<QueueIndex, Resources> changes_{};
};

// Why a demand is not within a limit.
struct LimitExcess {
  QueueIndex queue = kNoQueue;  // Whose limit; kNoQueue: there is room.
  ResourceKind kind = 0;
  int64_t needed = 0;
  int64_t available = 0;

  explicit operator bool() const { return queue != kNoQueue; }
};

// Reads the tree, keeps nothing. An overlay, where one is given, is added to
// what queues use. Every question is O(depth x kinds).
//
// Limits hold for a queue and all above it. A guarantee is what a queue can
// always have: up to it, it may take back from queues that hold more than
// theirs. Where nothing is said of a kind, nothing of it is guaranteed.
class QuotaChecker {
 public:
  // `device_kind`: the one counted by devices, or the number of kinds.
  QuotaChecker(const QueueTree& queues, ResourceKind device_kind)
      : queues_(queues), device_kind_(device_kind) {}

  // --- Limits ---------------------------------------------------------------

  // What q may still use of each kind: the least of limit less use on its path,
  // at least 0; QueueTree::kUnbounded of a kind that nothing bounds. False if
  // no kind is bounded. kBoth counts what is being released as used.
  bool Room(QueueIndex q, Ledger ledger, Resources* room,
            const QuotaOverlay* overlay = nullptr) const;
  // The first queue on the path, and the kind, of which `demand` more would be
  // over the limit.
  LimitExcess OverLimit(QueueIndex q, const Resources& demand, Ledger ledger,
                        const QuotaOverlay* overlay = nullptr) const;
  // All of them.
  std::vector<LimitExcess> Excesses(QueueIndex q, const Resources& demand,
                                    Ledger ledger) const;
  // The same for a demand that is part of what is used already.
  LimitExcess OverLimitNow(QueueIndex q, const Resources& used,
                           Ledger ledger) const;
  // The same, were nothing used.
  LimitExcess NeverWithin(QueueIndex q, const Resources& demand) const;

  // --- Guarantees -----------------------------------------------------------

  // Whether the queue itself is guaranteed some kind that `demand` asks, and
  // demand more would be within each guarantee that says something of one.
  bool Within(QueueIndex q, const Resources& demand,
              const QuotaOverlay* overlay = nullptr) const;
  // The kind that decides what may be taken back for a demand, or from a gang
  // that holds it: the device kind if it has devices, else the first one in it
  // for which queues compete (see QueueTree); kinds() if there is none.
  ResourceKind DecidingKind(const Resources& demand) const;
  // Whether the queue may take back from some other queue for the demand.
  bool MayReclaimAtAll(QueueIndex preemptor, const Resources& demand) const;
  // The most of the kind, deciding for a demand, for which it may; 0: none.
  int64_t MostToReclaim(QueueIndex preemptor, ResourceKind kind) const;
  // Whether it is q's own guarantee that came to allow that: with `before`
  // used, it did not.
  bool ComesToBeOwed(QueueIndex q, const Resources& before,
                     const Resources& demand) const;
  // Whether `preemptor` may reclaim from `victim`, another leaf, for the
  // demand, as far as the preemptor's deciding kind says.
  bool MayReclaim(QueueIndex preemptor, QueueIndex victim,
                  const Resources& demand) const;
  // Whether the victim's queue, and all above it up to (not including) what it
  // shares with the preemptor, hold more than they are guaranteed both of the
  // demand's deciding kind and of that of the gang that uses `used`: work on
  // devices is safe while its queue is within its devices, whatever else it
  // holds. Since each gang is judged by one kind, in one order of kinds, no two
  // gangs can take from each other in turn.
  bool MayLose(QueueIndex victim, QueueIndex preemptor, const Resources& demand,
               const Resources& used,
               const QuotaOverlay* overlay = nullptr) const;

  // Rises whenever an answer (without overlay) may have changed.
  uint64_t version() const { return queues_.version(); }

 private:
  bool IsOwed(QueueIndex q, int64_t demand, ResourceKind kind) const;
  bool Exceeds(QueueIndex q, QueueIndex top, ResourceKind kind,
               const QuotaOverlay* overlay) const;
  int64_t Used(QueueIndex q, ResourceKind kind, Ledger ledger,
               const QuotaOverlay* overlay) const;

  const QueueTree& queues_;
  const ResourceKind device_kind_;
};

}  // namespace muster
