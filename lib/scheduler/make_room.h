// The part of serving that makes room: who may lawfully be stopped for whom.
#ifndef MUSTER_LIB_SCHEDULER_MAKE_ROOM_H_
#define MUSTER_LIB_SCHEDULER_MAKE_ROOM_H_

#include <cstdint>
#include <vector>

#include "lib/scheduler/pass_context.h"
#include "lib/scheduler/victim_law.h"

namespace muster {

// Inside a queue, lower priority makes room for higher. Across queues, a queue
// that is owed what it asks takes back from queues that hold more than they are
// guaranteed, whatever the priorities (QuotaLaw). Both orders are strict, and a
// victim could not take back what it lost by the same rule: no two gangs evict
// each other in turn.
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
  // The search has `max_steps`.
  bool Try(GangIndex g, ReasonCode why, uint64_t max_steps);

  // Queues of the victims.
  const std::vector<QueueIndex>& touched() const { return touched_; }
  // A no is not the last word: gangs of this round may be victims in the next.
  bool put_off() const { return put_off_; }
  // A no is not proven: the steps ended first.
  bool cut_short() const { return cut_short_; }
  // Until then: a gang that may not be a victim yet may be one then.
  Time retry_at() const { return retry_at_; }

 private:
  bool IsWorthIt(const GangRecord& r);
  void FindLawful(GangIndex g);
  bool MayStop(GangIndex g);
  void Collect(GangIndex g);
  void AddCandidate(GangIndex g, GangIndex winner);
  bool GivesSurplus(const GangRecord& winner, const GangRecord& r);
  bool HoldsFirm(const GangRecord& r);
  uint32_t SurplusOf(const GangRecord& r, std::vector<Assignment>* tasks,
                     std::vector<uint32_t>* cuts);
  static void LeaveOnlySurplus(VictimCandidate& c);
  bool Find(GangIndex g);
  bool Choose(GangIndex g);
  bool ChooseFor(GangIndex g, const Resources& demand,
                 const Resources* headroom);
  bool IsLawfulAsPlaced(GangIndex g, const VictimLaw& law);
  void FindSuspended(GangIndex g);
  bool Suspends(const Victim& victim) const;
  bool LeavesRoom(size_t victim, QueueIndex queue, const Resources& demand,
                  QuotaOverlay* overlay);
  void StopVictim(GangIndex g, const Victim& victim, bool suspend);
  void PlaceWinner(GangIndex g);

  std::vector<QueueIndex> touched_;
  bool put_off_ = false;
  bool cut_short_ = false;
  uint64_t max_steps_ = 0;
  Time retry_at_ = kForever;
  // Candidates, by (priority, key), and what they are made of.
  std::vector<VictimCandidate> candidates_;
  std::vector<GangIndex> gangs_;
  std::vector<std::vector<Assignment>> tasks_;
  std::vector<std::vector<uint32_t>> cuts_;
  std::vector<std::vector<int64_t>> stop_costs_;
  std::vector<VictimCandidate> all_candidates_;
  std::vector<uint32_t> counts_;
  PreemptionResult result_;
  std::vector<bool> suspended_;  // By victim of the result.
};

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_MAKE_ROOM_H_
