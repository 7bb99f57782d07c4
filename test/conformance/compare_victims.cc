#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "muster/enum_names.h"
#include "test/conformance/compare.h"
#include "test/conformance/translate_queues.h"

namespace muster::conformance {
namespace {

constexpr char kAlreadyEvicting[] = "already-evicting";
// Kueue's reasons.
constexpr char kInQueue[] = "InClusterQueue";
constexpr char kReclamation[] = "InCohortReclamation";
constexpr char kWhileBorrowing[] = "InCohortReclaimWhileBorrowing";
constexpr char kFairSharing[] = "InCohortFairSharing";

// The queue, then all above it.
std::vector<std::string> PathOf(const Scenario& s, const std::string& queue) {
  std::vector<std::string> path;
  const QueueSpec* q = FindQueue(s, queue);
  while (q != nullptr && path.size() < s.queues.size()) {
    path.push_back(q->name);
    q = FindQueue(s, q->parent);
  }
  return path;
}

// The queue and those above it that `other` is not in: there the two compete.
std::vector<std::string> RivalsOf(const Scenario& s, const std::string& of,
                                  const std::string& other) {
  std::vector<std::string> rivals = PathOf(s, of);
  const std::vector<std::string> shared = PathOf(s, other);
  std::erase_if(rivals, [&](const std::string& queue) {
    return std::find(shared.begin(), shared.end(), queue) != shared.end();
  });
  return rivals;
}

std::optional<int64_t> GuaranteeOf(const Played& played,
                                   const std::string& queue,
                                   ResourceKind kind) {
  const Translation& t = played.translation;
  for (const Queue& q : t.queues) {
    if (q.key != queue) continue;
    for (const Quota& quota : q.quotas) {
      if (quota.resource == t.config.resources[kind]) return quota.guarantee;
    }
  }
  return std::nullopt;
}

// What the gang's tasks take, or will.
Resources DemandOf(const Played& played, const std::string& gang) {
  Resources sum;
  for (size_t u = 0; u < played.translation.units.size(); ++u) {
    const Unit& unit = played.translation.units[u];
    const bool counts =
        unit.member && !played.translation.gangs[unit.gang].gang.roles.empty();
    if (counts && played.scenario.gangs[unit.gang].name == gang) {
      sum.Add(TakenBy(played, u));
    }
  }
  return sum;
}

// One queue takes from another.
struct Taking {
  const Played& played;
  // The preemptor's queue and those above it that the victim is not in; the
  // victim's likewise.
  std::vector<std::string> takers;
  std::vector<std::string> givers;
  // Which the victim had, the preemptor wants, and a queue of these is
  // guaranteed.
  std::vector<ResourceKind> kinds{};
};

Taking TakingOf(const Played& played, const GangSpec& preemptor,
                const GangSpec& victim) {
  const Scenario& s = played.scenario;
  Taking taking{played, RivalsOf(s, preemptor.queue, victim.queue),
                RivalsOf(s, victim.queue, preemptor.queue)};
  const Resources wanted = DemandOf(played, preemptor.name);
  const Resources had = DemandOf(played, victim.name);
  const auto guaranteed = [&](const std::vector<std::string>& queues,
                              ResourceKind kind) {
    return std::any_of(queues.begin(), queues.end(), [&](const auto& queue) {
      return GuaranteeOf(played, queue, kind).has_value();
    });
  };
  for (ResourceKind k = 0; k < wanted.size(); ++k) {
    if (wanted[k] <= 0 || had[k] <= 0) continue;
    if (guaranteed(taking.takers, k) || guaranteed(taking.givers, k)) {
      taking.kinds.push_back(k);
    }
  }
  return taking;
}

// Whether the preemptor's queue is within its guarantee when it has what it
// takes. Of nested queues the highest that is guaranteed some counts.
bool StaysWithin(const Taking& t) {
  for (ResourceKind kind : t.kinds) {
    std::string highest = t.takers.front();
    for (const std::string& queue : t.takers) {
      if (GuaranteeOf(t.played, queue, kind)) highest = queue;
    }
    if (t.played.session.QueueUsage(highest)[kind] >
        GuaranteeOf(t.played, highest, kind).value_or(0)) {
      return false;
    }
  }
  return true;
}

// Whether the victim's queues held more than they are guaranteed of some kind
// before.
bool WasBeyond(const Taking& t) {
  return std::any_of(t.kinds.begin(), t.kinds.end(), [&](ResourceKind kind) {
    return std::all_of(t.givers.begin(), t.givers.end(),
                       [&](const std::string& queue) {
                         return t.played.session.QueueUsageBefore(queue)[kind] >
                                GuaranteeOf(t.played, queue, kind).value_or(0);
                       });
  });
}

std::string Differs(const Eviction& eviction, const std::string& is,
                    const std::string& expected) {
  return eviction.gang + ": evicted " + is + ", expected " + expected;
}

absl::StatusOr<std::string> CompareReclaim(const Taking& taking,
                                           const Eviction& eviction,
                                           const std::string& expected) {
  if (expected == kInQueue) {
    return Differs(eviction, "for a gang of another queue", expected);
  }
  if (!WasBeyond(taking)) {
    return Differs(eviction, "from a queue within its guarantee", expected);
  }
  const std::string is = StaysWithin(taking) ? kReclamation : kWhileBorrowing;
  if (is == expected) return "";
  if (expected == kFairSharing) {
    return absl::UnimplementedError(
        "whether a queue is taken from for a guarantee or for a share");
  }
  return Differs(eviction, "for " + is, expected);
}

std::string CompareInQueue(const Scenario& s, const Eviction& eviction,
                           const GangSpec& preemptor, const GangSpec& victim,
                           const std::string& expected) {
  if (expected != kInQueue) {
    return Differs(eviction, "for a gang of its own queue", expected);
  }
  if (victim.priority < preemptor.priority) return "";
  const QueueSpec* queue = FindQueue(s, preemptor.queue);
  if (queue != nullptr && victim.priority == preemptor.priority &&
      queue->preemption.within_queue == "lower-or-newer-equal-priority") {
    return "";
  }
  return Differs(eviction, "for no higher priority", expected);
}

bool IsKnown(const std::string& reason) {
  return reason == kInQueue || reason == kReclamation ||
         reason == kWhileBorrowing || reason == kFairSharing;
}

// What the decision says is its reason, and what it is by priorities,
// guarantees and usage.
absl::StatusOr<std::string> CompareReason(const Played& played,
                                          const Eviction& eviction,
                                          const std::string& expected) {
  if (!IsKnown(expected)) {
    return absl::UnimplementedError("a victim for reason " + expected);
  }
  const GangSpec* victim = FindGang(played.scenario, eviction.gang);
  const GangSpec* preemptor = FindGang(played.scenario, eviction.on_behalf_of);
  if (victim == nullptr || preemptor == nullptr) {
    return eviction.gang + ": evicted for nobody";
  }
  const ReasonCode by_queue = victim->queue == preemptor->queue
                                  ? ReasonCode::kMadeRoom
                                  : ReasonCode::kReclaimed;
  if (eviction.reason != by_queue) {
    return Differs(eviction, "as " + std::string(Name(eviction.reason)),
                   expected);
  }
  if (by_queue == ReasonCode::kMadeRoom) {
    return CompareInQueue(played.scenario, eviction, *preemptor, *victim,
                          expected);
  }
  return CompareReclaim(TakingOf(played, *preemptor, *victim), eviction,
                        expected);
}

}  // namespace

absl::StatusOr<std::string> CompareVictimSet(const Played& played) {
  const Expectation& e = played.scenario.expect;
  std::set<std::string> evicted;
  std::vector<absl::StatusOr<std::string>> compared;
  for (const Eviction& eviction : played.session.evictions()) {
    evicted.insert(eviction.gang);
    const auto it = e.victims.find(eviction.gang);
    if (it == e.victims.end()) {
      if (e.victims_exact)
        compared.push_back(eviction.gang + ": expected not to be evicted");
      continue;
    }
    if (it->second == kAlreadyEvicting) continue;
    compared.push_back(CompareReason(played, eviction, it->second));
  }
  for (const auto& [victim, reason] : e.victims) {
    if (reason != kAlreadyEvicting && !evicted.contains(victim)) {
      compared.push_back(victim + ": expected to be evicted");
    }
  }
  return FirstDifference(compared);
}

absl::StatusOr<std::string> CompareVictims(const Played& played) {
  const Scenario& s = played.scenario;
  if (FindGang(s, s.preemptor) == nullptr) {
    return absl::UnimplementedError("a preemptor that is no gang");
  }
  const bool preempts =
      std::any_of(s.needs.begin(), s.needs.end(),
                  [](const NeedSpec& need) { return need.mode == "preempt"; });
  if (preempts && Started(played, s.preemptor)) {
    return s.preemptor + ": started where there is no room";
  }
  return CompareVictimSet(played);
}

}  // namespace muster::conformance
