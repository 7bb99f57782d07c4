// GangClassState: what is remembered of the questions of a class of gangs.
#ifndef MUSTER_GANG_CLASS_STATE_H_
#define MUSTER_GANG_CLASS_STATE_H_

#include <cstdint>
#include <string>

#include "muster/ids.h"
#include "muster/reason.h"

namespace muster {

// A class is gangs of one queue, priority class and spec. They share the
// questions that a pass asks: whether there is room for the first of them,
// whether room can be made for it; of running gangs, whether they can grow. A
// question that was answered with no is inactive until something happens that
// could make it yes. Which ones are active decides what the next passes do and
// what that costs, so it is part of the state. A host reads why gangs wait
// elsewhere: Plan::waiting, Explain.
struct GangClassState {
  enum : uint32_t {
    kRoom = 1,     // Is there room?
    kVictims = 2,  // Can room be made?
    kPutOff = 4,   // The second, when the round under way is over.
    kAgain = 8,    // Both, with more effort, when no other question is active.
  };

  // Key of the class's first gang.
  std::string gang{};
  // Its gangs run, and ask to grow.
  bool grows = false;
  // Sum of the questions that are active.
  uint32_t active = 0;
  // The reason for waiting that was reported last: Reason without its numbers.
  // The object by key where it has one, else (role, group, level) by position.
  ReasonCode code = ReasonCode::kNone;
  ReasonObject object_kind = ReasonObject::kNone;
  std::string object{};
  uint32_t position = 0;
  uint32_t resource = 0xffffffff;
  Time retry_at = kForever;  // kVictims becomes active then.
  // Of kAgain: how many times the limits of a search (SearchLimits) were spent
  // on a no that is not proven; the next search has so many times more.
  static constexpr uint32_t kMostEffort = 1023;
  uint32_t effort = 0;

  friend bool operator==(const GangClassState&,
                         const GangClassState&) = default;
};

}  // namespace muster

#endif  // MUSTER_GANG_CLASS_STATE_H_
