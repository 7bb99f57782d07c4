// The part of serving that makes room: which gangs may be stopped for another.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lib/base/string_map.h"
#include "lib/base/text_key.h"
#include "lib/index/free_table.h"
#include "lib/preempt/victim_search.h"
#include "lib/queue/quota_checker.h"
#include "lib/scheduler/pass_context.h"
#include "lib/scheduler/room_asked.h"
#include "lib/scheduler/victim_pool.h"
#include "muster/plan.h"

namespace muster {

// The rules of queues and budgets for one preemptor. Steps through
// sets of victims with an overlay of what queues would use: a
// victim of another queue is allowed while its queue, less the victims before
// it, may lose what it holds; a gang that is stopped, while each disruption
// budget that names it has room beside the victims before it. All arguments
// outlive it.
class QueueVictimPolicy final : public VictimPolicy {
 public:
  QueueVictimPolicy(SchedulerTables& tables, const GangRecord& preemptor,
                    const Resources& demand,
                    std::span<const VictimCandidate> candidates);

  bool Add(uint32_t i, uint32_t tasks) override;
  void Remove(uint32_t i) override;
  bool QuotaSuffices() const override { return QuotaSufficesFor(demand_); }
  bool GivesQuota(uint32_t i) const override;
  // False: with all candidates gone the preemptor's quota would not suffice.
  // O(tasks of candidates) for each limit that it exceeds.
  bool MaySuffice() const;
  // With the victims of the set gone.
  bool QuotaSufficesFor(const Resources& demand) const;

 private:
  const GangRecord& GangOf(uint32_t i) const;
  bool Disrupts(uint32_t i, uint32_t tasks) const;
  // What victims take of the budgets that name candidate i.
  void CountDisrupted(uint32_t i, int64_t sign);
  bool BudgetsAllow(uint32_t i) const;

  SchedulerTables& tables_;
  const QueueIndex preemptor_;
  const int32_t priority_;
  const Resources& demand_;
  std::span<const VictimCandidate> candidates_;
  std::vector<LimitExcess> excesses_;  // With no victim.
  std::vector<Resources> taken_;
  std::vector<bool> disrupted_;
  StringMap<int64_t> disruptions_;  // By budget.
  QuotaOverlay overlay_;
};

// Inside a queue, lower priority makes room for higher. Across queues, a queue
// that is owed what it asks takes back from queues that hold more than they are
// guaranteed, whatever the priorities (QuotaChecker). A queue's
// PreemptionPolicy may say otherwise. By default both orders are strict,
// and a victim could not take back what it lost by the same rule: no two gangs
// evict each other in turn. Whatever the policies, evictions end
// (docs/decisions/0015).
//
// Tasks that a gang can do without make room for gangs of equal priority in its
// queue, too: what some need to run goes before what others would like. Where
// such tasks are enough, no gang is stopped.
class MakeRoom : public Phase {
 public:
  using Phase::Phase;

  // For the next gang: nothing is touched, put off or to be tried again.
  void Begin();
  // Looks for victims for a gang that waits because of `why`. If there are some
  // they are stopped, the gang nominated (or started, where nothing has to be
  // waited for), and true returned.
  // The search has `victim_steps`.
  bool Try(GangIndex g, ReasonCode why, uint64_t victim_steps);
  // The same for what a gang that runs lacks of its raised minimum: it goes on,
  // and is nominated for that besides (or grows).
  bool TryRaised(GangIndex g);

  // Queues of the victims.
  const std::vector<QueueIndex>& touched() const { return touched_; }
  // A no is not the last word: gangs of this round may be victims in the next.
  bool put_off() const { return pool_.put_off(); }
  // A no is not proven; and with more steps it may become a yes.
  bool unproven() const { return unproven_; }
  bool worth_more() const { return worth_more_; }
  // Until then: a gang that may not be a victim yet may be one then.
  Time retry_at() const { return pool_.retry_at(); }

 private:
  struct Drawn {
    int32_t priority = 0;
    TextKey key{};
    GangIndex gang = kNoGang;
  };

  bool MakeFor(GangIndex g);
  bool IsWorthIt(const GangRecord& r);
  bool TooLittleInAll(GangIndex g);
  int64_t MostFrom(QueueIndex q, ResourceKind kind) const;
  void Collect();
  void AddCandidate(GangIndex g);
  bool HoldsFirm(const GangRecord& r);
  static void LeaveOnlySurplus(VictimCandidate& c);
  bool Find(GangIndex g);
  bool FindCheapest(GangIndex g);
  int64_t LacksOnANode(const GangSpec& spec);
  bool TooFewSlots(const GangSpec& spec);
  bool FindBetter(GangIndex g, const std::pair<int32_t, int64_t>& found);
  bool AreFewest();
  int64_t FreeFor(const GangSpec& spec, ResourceKind kind);
  int32_t TopPriority() const;
  void ReportPreemption(GangIndex g);
  bool Choose(GangIndex g);
  bool ChooseWithin(GangIndex g, const Resources& least);
  bool ClipToOwed(QueueIndex queue, const Resources& used,
                  Resources* room) const;
  bool ChooseForMore(GangIndex g, Resources demand, Resources used);
  bool ChooseFor(GangIndex g, const Resources& demand,
                 const Resources* headroom);
  bool IsAllowedAsPlaced(GangIndex g, const QueueVictimPolicy& policy);
  void FindSuspended(GangIndex g);
  bool Suspends(const Victim& victim) const;
  bool LeavesRoom(size_t victim, QueueIndex queue, const Resources& demand,
                  QuotaOverlay* overlay);
  void StopVictim(GangIndex g, const Victim& victim, bool suspend);
  void PlacePreemptor(GangIndex g);

  RoomAsked asked_;  // Of the question under way.
  std::vector<QueueIndex> touched_;
  bool unproven_ = false;
  bool worth_more_ = false;
  uint64_t victim_steps_ = 0;
  VictimPool pool_{tables_};
  index::FreeTable free_;
  // Candidates, by (priority, key), and what they are made of.
  std::vector<VictimCandidate> candidates_;
  std::vector<Drawn> sorted_;
  std::vector<std::vector<Assignment>> tasks_;
  std::vector<std::vector<uint32_t>> shrink_sizes_;
  std::vector<std::vector<int64_t>> stop_costs_;
  std::vector<uint32_t> counts_;
  PreemptionResult result_;
  PreemptionResult within_;      // Of ChooseWithin.
  int64_t bound_ = 0;            // No victims cost less.
  PreemptionResult few_;         // Found among few.
  std::vector<bool> suspended_;  // By victim of the result.
};

}  // namespace muster
