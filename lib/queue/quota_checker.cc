#include "lib/queue/quota_checker.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace muster {
namespace {

// Calls found(excess) with the limits on q's path that the demand exceeds,
// where the queues use used(queue, kind), until it returns true.
template <class Used, class Found>
void FindExcess(const QueueTree& queues, QueueIndex q, const Resources& demand,
                Used used, Found found) {
  for (; q != kNoQueue; q = queues.at(q).parent) {
    const QueueTree::Entry& e = queues.at(q);
    if (!e.bounded) continue;
    for (ResourceKind k = 0; k < demand.size(); ++k) {
      if (demand[k] <= 0 || e.limit[k] == QueueTree::kUnbounded) continue;
      const int64_t left = e.limit[k] - used(q, k);
      if (demand[k] <= left) continue;
      if (found(LimitExcess{q, k, demand[k], left})) return;
    }
  }
}

// The first of them.
template <class Used>
LimitExcess FirstExcess(const QueueTree& queues, QueueIndex q,
                        const Resources& demand, Used used) {
  LimitExcess first;
  FindExcess(queues, q, demand, used, [&](const LimitExcess& excess) {
    first = excess;
    return true;
  });
  return first;
}

}  // namespace

void QuotaOverlay::Charge(QueueIndex q, const Resources& amount, int64_t sign) {
  for (; q != kNoQueue; q = queues_.at(q).parent) {
    const auto it = changes_.try_emplace(q, queues_.kinds()).first;
    it->second.AddTimes(amount, sign);
  }
}

int64_t QuotaOverlay::Of(QueueIndex q, ResourceKind kind) const {
  const auto it = changes_.find(q);
  return it == changes_.end() ? 0 : it->second[kind];
}

int64_t QuotaChecker::Used(QueueIndex q, ResourceKind kind, Ledger ledger,
                           const QuotaOverlay* overlay) const {
  const QueueTree::Entry& e = queues_.at(q);
  int64_t used = e.used[kind];
  if (ledger == Ledger::kBoth) used += e.releasing[kind];
  if (overlay != nullptr) used += overlay->Of(q, kind);
  return used;
}

bool QuotaChecker::Room(QueueIndex q, Ledger ledger, Resources* room,
                        const QuotaOverlay* overlay) const {
  bool bounded = false;
  for (ResourceKind k = 0; k < queues_.kinds(); ++k) {
    room->Set(k, QueueTree::kUnbounded);
  }
  for (; q != kNoQueue; q = queues_.at(q).parent) {
    const QueueTree::Entry& e = queues_.at(q);
    if (!e.bounded) continue;
    bounded = true;
    for (ResourceKind k = 0; k < queues_.kinds(); ++k) {
      if (e.limit[k] == QueueTree::kUnbounded) continue;
      const int64_t left = e.limit[k] - Used(q, k, ledger, overlay);
      room->Set(k, std::clamp<int64_t>(left, 0, (*room)[k]));
    }
  }
  return bounded;
}

LimitExcess QuotaChecker::OverLimit(QueueIndex q, const Resources& demand,
                                    Ledger ledger,
                                    const QuotaOverlay* overlay) const {
  return FirstExcess(queues_, q, demand, [&](QueueIndex above, ResourceKind k) {
    return Used(above, k, ledger, overlay);
  });
}

std::vector<LimitExcess> QuotaChecker::Excesses(QueueIndex q,
                                                const Resources& demand,
                                                Ledger ledger) const {
  std::vector<LimitExcess> all;
  const auto used = [&](QueueIndex above, ResourceKind k) {
    return Used(above, k, ledger, nullptr);
  };
  FindExcess(queues_, q, demand, used, [&](const LimitExcess& excess) {
    all.push_back(excess);
    return false;
  });
  return all;
}

LimitExcess QuotaChecker::OverLimitNow(QueueIndex q, const Resources& used,
                                       Ledger ledger) const {
  return FirstExcess(queues_, q, used, [&](QueueIndex above, ResourceKind k) {
    return Used(above, k, ledger, nullptr) - used[k];
  });
}

LimitExcess QuotaChecker::NeverWithin(QueueIndex q,
                                      const Resources& demand) const {
  return FirstExcess(queues_, q, demand,
                     [](QueueIndex, ResourceKind) { return 0; });
}

bool QuotaChecker::Within(QueueIndex q, const Resources& demand,
                          const QuotaOverlay* overlay) const {
  const QueueTree::Entry& e = queues_.at(q);
  if (!e.guaranteed) return false;
  bool said = false;
  for (ResourceKind k = 0; k < demand.size(); ++k) {
    if (demand[k] <= 0 || e.guarantee[k] < 0) continue;
    if (Used(q, k, Ledger::kLater, overlay) + demand[k] > e.guarantee[k]) {
      return false;
    }
    said = true;
  }
  return said;
}

// Whether the queue itself stays within what it is guaranteed of the kind.
bool QuotaChecker::IsOwed(QueueIndex q, int64_t demand,
                          ResourceKind kind) const {
  const QueueTree::Entry& e = queues_.at(q);
  return e.guarantee[kind] >= 0 && e.used[kind] + demand <= e.guarantee[kind];
}

bool QuotaChecker::MayReclaimAtAll(QueueIndex preemptor,
                                   const Resources& demand) const {
  for (ResourceKind k = 0; k < demand.size(); ++k) {
    if (demand[k] > 0 && demand[k] <= MostToReclaim(preemptor, k)) return true;
  }
  return false;
}

int64_t QuotaChecker::MostToReclaim(QueueIndex preemptor,
                                    ResourceKind kind) const {
  const PreemptionLaw& law = queues_.at(preemptor).law;
  const bool borrows = law.borrowing != PreemptBorrowing::kNever;
  if (!borrows && law.across == PreemptAcross::kNever) return 0;
  int64_t most = 0;
  for (QueueIndex q = preemptor; q != kNoQueue; q = queues_.at(q).parent) {
    const QueueTree::Entry& e = queues_.at(q);
    if (e.guarantee[kind] < 0) continue;
    if (borrows) return QueueTree::kUnbounded;
    most = std::max(most, e.guarantee[kind] - e.used[kind]);
  }
  return most;
}

bool QuotaChecker::ComesToBeOwed(QueueIndex q, const Resources& before,
                                 const Resources& demand) const {
  for (ResourceKind k = 0; k < demand.size(); ++k) {
    if (demand[k] > 0 && IsOwed(q, demand[k], k) &&
        before[k] + demand[k] > queues_.at(q).guarantee[k]) {
      return true;
    }
  }
  return false;
}

QuotaChecker::Kinds QuotaChecker::Stated(QueueIndex q, QueueIndex top) const {
  Kinds stated = 0;
  for (; q != top; q = queues_.at(q).parent) {
    const QueueTree::Entry& e = queues_.at(q);
    if (!e.guaranteed) continue;
    for (ResourceKind k = 0; k < queues_.kinds(); ++k) {
      stated |= Kinds{e.guarantee[k] >= 0} << k;
    }
  }
  return stated;
}

bool QuotaChecker::IsJudgedByAlone(QueueIndex preemptor, ResourceKind kind,
                                   const Resources& demand) const {
  const Kinds stated = Stated(preemptor, kNoQueue);
  for (ResourceKind k = 0; k < demand.size(); ++k) {
    if (k != kind && demand[k] > 0 && (stated >> k & 1) != 0) return false;
  }
  return true;
}

QueueIndex QuotaChecker::HighestThatStates(QueueIndex q, QueueIndex top,
                                           ResourceKind kind) const {
  QueueIndex highest = kNoQueue;
  for (; q != top; q = queues_.at(q).parent) {
    if (queues_.at(q).guarantee[kind] >= 0) highest = q;
  }
  return highest;
}

QuotaChecker::Kinds QuotaChecker::Judged(QueueIndex preemptor, QueueIndex top,
                                         const Resources& demand, Kinds held,
                                         Claim claim) const {
  Kinds judged = 0;
  for (ResourceKind k = 0; k < demand.size(); ++k) {
    if (demand[k] <= 0 || (held >> k & 1) == 0) continue;
    const QueueIndex highest = HighestThatStates(preemptor, top, k);
    if (highest == kNoQueue) continue;
    if (claim == Claim::kOwed && !IsOwed(highest, demand[k], k)) return 0;
    judged |= Kinds{1} << k;
  }
  return judged;
}

bool QuotaChecker::MayTake(QueueIndex preemptor, QueueIndex victim,
                           const Resources& demand, Claim claim) const {
  const QueueIndex top = queues_.CommonAncestor(preemptor, victim);
  for (ResourceKind k = 0; k < demand.size(); ++k) {
    if (Judged(preemptor, top, demand, Kinds{1} << k, claim) != 0 &&
        Exceeds(victim, top, k, nullptr)) {
      return true;
    }
  }
  return false;
}

std::optional<int32_t> QuotaChecker::MostToTake(QueueIndex preemptor,
                                                QueueIndex victim,
                                                const Resources& demand,
                                                int32_t priority) const {
  const PreemptionLaw& law = queues_.at(preemptor).law;
  std::optional<int32_t> most;
  if (MayTake(preemptor, victim, demand, Claim::kOwed)) {
    most = law.MostAcross(priority);
  }
  if (law.borrowing != PreemptBorrowing::kNever &&
      MayTake(preemptor, victim, demand, Claim::kBorrowed)) {
    most = std::max(most, law.MostBorrowing(priority));
  }
  return most;
}

bool QuotaChecker::MayReclaim(QueueIndex preemptor, QueueIndex victim,
                              const Resources& demand) const {
  constexpr int32_t kHighest = std::numeric_limits<int32_t>::max();
  return MostToTake(preemptor, victim, demand, kHighest).has_value();
}

bool QuotaChecker::Exceeds(QueueIndex q, QueueIndex top, ResourceKind kind,
                           const QuotaOverlay* overlay) const {
  for (; q != top; q = queues_.at(q).parent) {
    const int64_t guarantee =
        std::max<int64_t>(queues_.at(q).guarantee[kind], 0);
    if (Used(q, kind, Ledger::kLater, overlay) <= guarantee) return false;
  }
  return true;
}

bool QuotaChecker::ExceedsAny(QueueIndex q, QueueIndex top, Kinds kinds,
                              const QuotaOverlay* overlay) const {
  for (; kinds != 0; kinds &= kinds - 1) {
    const auto kind = static_cast<ResourceKind>(std::countr_zero(kinds));
    if (Exceeds(q, top, kind, overlay)) return true;
  }
  return false;
}

bool QuotaChecker::MayLose(QueueIndex victim, QueueIndex preemptor,
                           const Resources& demand, const Resources& used,
                           const Priorities& priorities,
                           const QuotaOverlay* overlay) const {
  const PreemptionLaw& law = queues_.at(preemptor).law;
  const auto may = [&](std::optional<int32_t> most, Claim claim) {
    return most && priorities.victim <= *most &&
           MayLoseTo(victim, preemptor, demand, used, claim, overlay);
  };
  return may(law.MostAcross(priorities.preemptor), Claim::kOwed) ||
         may(law.MostBorrowing(priorities.preemptor), Claim::kBorrowed);
}

bool QuotaChecker::MayLoseTo(QueueIndex victim, QueueIndex preemptor,
                             const Resources& demand, const Resources& used,
                             Claim claim, const QuotaOverlay* overlay) const {
  const QueueIndex top = queues_.CommonAncestor(victim, preemptor);
  Kinds held = 0;
  for (ResourceKind k = 0; k < used.size(); ++k) {
    held |= Kinds{used[k] > 0} << k;
  }
  const Kinds judged = Judged(preemptor, top, demand, held, claim);
  const Kinds stated = Stated(victim, top) & held;
  if ((judged & stated) != 0) {
    return ExceedsAny(victim, top, judged & stated, overlay);
  }
  return ExceedsAny(victim, top, judged, overlay) &&
         (stated == 0 || ExceedsAny(victim, top, stated, overlay));
}

}  // namespace muster
