// The phase that starts nominated gangs.
#ifndef MUSTER_LIB_SCHEDULER_PROMOTE_H_
#define MUSTER_LIB_SCHEDULER_PROMOTE_H_

#include <vector>

#include "lib/queue/gang_rank.h"
#include "lib/scheduler/pass_context.h"

namespace muster {

// Looks at the nominated gangs that ask to be looked at: those whose capacity
// is free now start; those for whom it cannot become free any more wait again.
class Promote : public Phase {
 public:
  using Phase::Phase;
  void Run();

 private:
  void Look(GangIndex g);
  bool MayStillStart(const GangRecord& r, const Resources& held) const;

  std::vector<GangRank> ranks_;
  std::vector<Assignment> tasks_;
};

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_PROMOTE_H_
