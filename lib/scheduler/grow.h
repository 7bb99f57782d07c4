// The phase in which elastic gangs grow into what nobody who waits could take.
#ifndef MUSTER_LIB_SCHEDULER_GROW_H_
#define MUSTER_LIB_SCHEDULER_GROW_H_

#include <cstdint>
#include <vector>

#include "lib/queue/turns.h"
#include "lib/scheduler/pass_context.h"

namespace muster {

// By turns. Whose turn it is: between queues as with gangs that wait, with what
// each holds by then; in a queue the higher priority, then the gang with the
// fewest tasks beyond its least, then rank. A turn is one task, or what comes
// whole. So a queue's share rises until others are as near to theirs, and gangs
// of equal priority share alike. O(log) and one question to the solver a turn.
//
// Nobody grows into room that is promised, nor before all who wait have been
// asked; what is grown is surplus, which gives way again (make_room.h).
class Grow {
 public:
  explicit Grow(Core& core) : turns_(core.queues, *core.order) {}
  void Run(PassContext& pass);

 private:
  void Refresh(Core& core, QueueIndex leaf);
  const Resources& NextDemand(const Core& core, GangIndex g);
  void GrowFirst(PassContext& pass, ClassIndex c);
  Reason WhyNot(const Core& core, GangIndex g);

  Turns turns_;
  std::vector<uint32_t> counts_;
  std::vector<Assignment> fixed_;
  PlacementResult placement_;
  Resources room_;
};

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_GROW_H_
