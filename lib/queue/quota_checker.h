// QuotaChecker: what a queue may still use, and from which queues it may
// reclaim what it is owed. All arithmetic of limits and guarantees is here.
#pragma once

#include <cstdint>
#include <optional>
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

// Of the gang that asks, and of one that would be taken.
struct Priorities {
  int32_t preemptor = 0;
  int32_t victim = 0;
};

// Reads the tree, keeps nothing. An overlay, where one is given, is added to
// what queues use. Every question is O(depth x kinds).
//
// Limits hold for a queue and all above it. A guarantee is what a queue can
// always have: up to it, it may take back from queues that hold more than
// theirs. Where nothing is said of a kind, nothing of it is guaranteed.
class QuotaChecker {
 public:
  explicit QuotaChecker(const QueueTree& queues) : queues_(queues) {}

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
  // A demand is judged in the kinds that it asks, that the victim holds, and of
  // which the demand's queue, or one above it below what it shares with the
  // victim's, is guaranteed some: what is taken must be owed. In all of them it
  // must end within. What a group is guaranteed any queue in it may claim: the
  // highest that says something of a kind decides.

  // Whom it may take with that is the queue's policy (PreemptionLaw), which
  // may let it take for what it borrows, too: then it need not end within.

  // Whether there may be a queue from which it may take back: of some kind
  // that it asks, no more is asked than the most below.
  bool MayReclaimAtAll(QueueIndex preemptor, const Resources& demand) const;
  // The most of the kind that the queue, or one above it, is owed; 0: none;
  // QueueTree::kUnbounded where it may take for what it borrows.
  int64_t MostToReclaim(QueueIndex preemptor, ResourceKind kind) const;
  // Whether it is q's own guarantee of some kind that came to allow that: with
  // `before` used, it did not.
  bool ComesToBeOwed(QueueIndex q, const Resources& before,
                     const Resources& demand) const;
  // Whether the demand, if it is within, is judged by this kind alone.
  bool IsJudgedByAlone(QueueIndex preemptor, ResourceKind kind,
                       const Resources& demand) const;
  // Whether `preemptor` may reclaim anything from `victim`, another leaf, for
  // the demand: of some kind it is within, and the victim's queue is beyond,
  // and so are all above that up to (not including) what both share.
  bool MayReclaim(QueueIndex preemptor, QueueIndex victim,
                  const Resources& demand) const;
  // The highest priority of a gang that one of this priority may take there
  // for it; nothing: none.
  std::optional<int32_t> MostToTake(QueueIndex preemptor, QueueIndex victim,
                                    const Resources& demand,
                                    int32_t priority) const;
  // Whether a gang of the victim's queue that uses `used` may be taken for it:
  // the demand is within, and the queue beyond, as above, in one of the kinds.
  // Of those for which the queue has a guarantee, if there are any. Else, and
  // if it has one of other kinds that the gang holds, in one of those, too:
  // work on devices is safe while its queue is within its devices, whatever
  // else it holds. What is lost so cannot be taken back by the same rule, so no
  // two gangs take from each other in turn.
  bool MayLose(QueueIndex victim, QueueIndex preemptor, const Resources& demand,
               const Resources& used, const Priorities& priorities,
               const QuotaOverlay* overlay = nullptr) const;

  // Rises whenever an answer (without overlay) may have changed.
  uint64_t version() const { return queues_.version(); }

 private:
  // Kinds, by bit.
  using Kinds = uint64_t;

  bool IsOwed(QueueIndex q, int64_t demand, ResourceKind kind) const;
  // Of which some queue from q to below `top` is guaranteed something.
  Kinds Stated(QueueIndex q, QueueIndex top) const;
  // The highest of them that is guaranteed some of the kind; kNoQueue: none.
  QueueIndex HighestThatStates(QueueIndex q, QueueIndex top,
                               ResourceKind kind) const;
  // As what a demand takes: what its queue is owed, or what it borrows.
  enum class Claim : uint8_t { kOwed, kBorrowed };
  // By which the demand is judged, if these are held; none: it is not within.
  Kinds Judged(QueueIndex preemptor, QueueIndex top, const Resources& demand,
               Kinds held, Claim claim) const;
  bool MayTake(QueueIndex preemptor, QueueIndex victim, const Resources& demand,
               Claim claim) const;
  bool MayLoseTo(QueueIndex victim, QueueIndex preemptor,
                 const Resources& demand, const Resources& used, Claim claim,
                 const QuotaOverlay* overlay) const;
  bool Exceeds(QueueIndex q, QueueIndex top, ResourceKind kind,
               const QuotaOverlay* overlay) const;
  bool ExceedsAny(QueueIndex q, QueueIndex top, Kinds kinds,
                  const QuotaOverlay* overlay) const;
  int64_t Used(QueueIndex q, ResourceKind kind, Ledger ledger,
               const QuotaOverlay* overlay) const;

  const QueueTree& queues_;
};

}  // namespace muster
