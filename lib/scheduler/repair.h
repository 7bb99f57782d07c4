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
bool Mend(Core& core, Life& life, GangIndex g);

// Looks at the gangs that ask to be looked at (GangLists::asking) and are not
// nominated, and at suspect nodes. What the budget leaves is looked at by the
// next pass. Keeps its memory between passes.
class Repair {
 public:
  void Run(PassContext& pass);

 private:
  void CancelOverdue(PassContext& pass);
  void RepairGang(PassContext& pass, GangIndex g);
  static bool IsReplaceable(const Core& core, const GangRecord& r);
  bool Replace(PassContext& pass, GangIndex g);
  static ReasonCode WhyEnds(PassContext& pass, const GangRecord& r, bool whole);
  void ShedFromOvercommitted(PassContext& pass);
  bool ShedOne(PassContext& pass, NodeIndex n);

  std::vector<GangRank> ranks_;
  std::vector<uint32_t> counts_;
  PlacementResult placement_;
  Resources room_;
};

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_REPAIR_H_
