#include "lib/queue/quota_checker.h"

#include <algorithm>

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

ResourceKind QuotaChecker::DecidingKind(const Resources& demand) const {
  if (device_kind_ < queues_.kinds() && demand[device_kind_] > 0) {
    return device_kind_;
  }
  ResourceKind k = 0;
  while (k < queues_.kinds() && (demand[k] <= 0 || !queues_.IsContested(k))) {
    ++k;
  }
  return k;
}

// Whether the queue itself stays within what it is guaranteed of the kind.
bool QuotaChecker::IsOwed(QueueIndex q, int64_t demand,
                          ResourceKind kind) const {
  const QueueTree::Entry& e = queues_.at(q);
  return e.guarantee[kind] >= 0 && e.used[kind] + demand <= e.guarantee[kind];
}

bool QuotaChecker::MayReclaimAtAll(QueueIndex preemptor,
                                   const Resources& demand) const {
  const ResourceKind kind = DecidingKind(demand);
  return kind < queues_.kinds() &&
         demand[kind] <= MostToReclaim(preemptor, kind);
}

int64_t QuotaChecker::MostToReclaim(QueueIndex preemptor,
                                    ResourceKind kind) const {
  int64_t most = 0;
  for (QueueIndex q = preemptor; q != kNoQueue; q = queues_.at(q).parent) {
    const QueueTree::Entry& e = queues_.at(q);
    if (e.guarantee[kind] < 0) continue;
    most = std::max(most, e.guarantee[kind] - e.used[kind]);
  }
  return most;
}

bool QuotaChecker::ComesToBeOwed(QueueIndex q, const Resources& before,
                                 const Resources& demand) const {
  const ResourceKind kind = DecidingKind(demand);
  return kind < queues_.kinds() && IsOwed(q, demand[kind], kind) &&
         before[kind] + demand[kind] > queues_.at(q).guarantee[kind];
}

// What a group is guaranteed any queue in it may claim, also one whose own
// guarantee is used up: between the queues of the group, their own decide.
// Hence the highest that is guaranteed some of the kind says.
bool QuotaChecker::MayReclaim(QueueIndex preemptor, QueueIndex victim,
                              const Resources& demand) const {
  const ResourceKind kind = DecidingKind(demand);
  if (kind >= queues_.kinds()) return false;
  const QueueIndex top = queues_.CommonAncestor(preemptor, victim);
  QueueIndex highest = kNoQueue;
  for (QueueIndex q = preemptor; q != top; q = queues_.at(q).parent) {
    if (queues_.at(q).guarantee[kind] >= 0) highest = q;
  }
  return highest != kNoQueue && IsOwed(highest, demand[kind], kind) &&
         Exceeds(victim, top, kind, nullptr);
}

bool QuotaChecker::Exceeds(QueueIndex q, QueueIndex top, ResourceKind kind,
                           const QuotaOverlay* overlay) const {
  if (kind >= queues_.kinds()) return true;  // No queue is guaranteed any.
  for (; q != top; q = queues_.at(q).parent) {
    const int64_t guarantee =
        std::max<int64_t>(queues_.at(q).guarantee[kind], 0);
    if (Used(q, kind, Ledger::kLater, overlay) <= guarantee) return false;
  }
  return true;
}

bool QuotaChecker::MayLose(QueueIndex victim, QueueIndex preemptor,
                           const Resources& demand, const Resources& used,
                           const QuotaOverlay* overlay) const {
  const QueueIndex top = queues_.CommonAncestor(victim, preemptor);
  const ResourceKind mine = DecidingKind(demand), its = DecidingKind(used);
  return Exceeds(victim, top, mine, overlay) &&
         (mine == its || Exceeds(victim, top, its, overlay));
}

}  // namespace muster
