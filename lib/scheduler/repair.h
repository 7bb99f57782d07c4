// The phase that mends: gangs that lost tasks, that are to end, or that must
// leave a node; nodes that hold more than they have.
#ifndef MUSTER_LIB_SCHEDULER_REPAIR_H_
#define MUSTER_LIB_SCHEDULER_REPAIR_H_

#include <vector>

#include "lib/queue/gang_rank.h"
#include "lib/scheduler/pass_context.h"

namespace muster {

// Clears a trouble that needs no decision; true if none is needed now. It asks
// nobody, so that a pass that is followed and one that is made agree on it.
bool Mend(Core& core, GangIndex g);

// Looks at the gangs that ask to be looked at (GangLists::asking) and are not
// nominated, and at suspect nodes. What the budget leaves is looked at by the
// next pass. Keeps its memory between passes.
class Repair : public Phase {
 public:
  using Phase::Phase;
  void Run();

 private:
  void CancelOverdue();
  void RepairGang(GangIndex g);
  bool IsReplaceable(const GangRecord& r);
  bool Replace(GangIndex g);
  ReasonCode WhyEnds(const GangRecord& r, bool whole);
  void ShedFromOvercommitted();
  bool ShedOne(NodeIndex n);

  std::vector<GangRank> ranks_;
  std::vector<uint32_t> counts_;
  PlacementResult placement_;
  Resources room_;
};

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_REPAIR_H_
