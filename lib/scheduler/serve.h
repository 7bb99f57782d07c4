// The phase that serves gangs that wait: whose turn it is, and what the gang
// gets.
#ifndef MUSTER_LIB_SCHEDULER_SERVE_H_
#define MUSTER_LIB_SCHEDULER_SERVE_H_

#include <cstdint>
#include <vector>

#include "lib/queue/turns.h"
#include "lib/scheduler/make_room.h"
#include "lib/scheduler/pass_context.h"

namespace muster {

// Asks the open questions, in the order of the queues, until none is left that
// may be asked or the budget is spent. A gang that is placed leaves its class;
// a class whose first gang gets no for an answer is closed. Each step depends
// on the state alone: it does not matter in how many passes they are made.
class Serve : public Phase {
 public:
  using Phase::Phase;
  void Run();

 private:
  // "No room" for a spec, while nothing has been freed.
  struct NoRoom {
    uint64_t pass = 0;
    uint64_t epoch = 0;
    uint32_t effort = 0;
    Reason reason{};
  };

  void Refresh(QueueIndex leaf);
  void ServeClass(ClassIndex c);
  bool QuotaBlocks(const GangRecord& r, Reason* reason) const;
  bool TryStart(GangIndex g, uint32_t effort, Reason* reason);
  bool Place(GangIndex g, const PlacementRequest& request, Reason* reason);
  bool TryResume(GangIndex g, Reason* reason);

  MakeRoom make_room_{pass_};
  Turns turns_{core_.queues, *core_.order};
  uint64_t passes_ = 0;
  std::vector<NoRoom> no_room_;  // By spec.
  PlacementResult placement_;
  bool cut_short_ = false;  // There is room, or there is not: not known.
  Resources room_;
};

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_SERVE_H_
