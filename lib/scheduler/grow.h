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
class Grow : public Phase {
 public:
  using Phase::Phase;
  void Run();

 private:
  void Refresh(QueueIndex leaf);
  const Resources& NextDemand(GangIndex g);
  void GrowFirst(ClassIndex c);
  Reason WhyNot(GangIndex g);

  Turns turns_{core_.queues, *core_.order};
  std::vector<uint32_t> counts_;
  std::vector<Assignment> fixed_;
  PlacementResult placement_;
  Resources room_;
};

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_GROW_H_
