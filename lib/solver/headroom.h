// A queue's headroom against what a gang would add.
#ifndef MUSTER_LIB_SOLVER_HEADROOM_H_
#define MUSTER_LIB_SOLVER_HEADROOM_H_

#include <cstdint>

#include "muster/reason.h"
#include "muster/resources.h"

namespace muster::solver {

// Whether `times` such demands stay within the headroom (null: no bound); if
// not, `reason` (if given) tells the first kind of which they do not.
inline bool WithinHeadroom(const Resources* headroom, const Resources& demand,
                           int64_t times, Reason* reason = nullptr) {
  if (headroom == nullptr) return true;
  for (ResourceKind k = 0; k < demand.size(); ++k) {
    const int64_t needed = demand[k] * times;
    if (needed == 0 || needed <= (*headroom)[k]) continue;
    if (reason != nullptr) {
      *reason = {.code = ReasonCode::kQueueLimit,
                 .resource = k,
                 .needed = needed,
                 .available = (*headroom)[k]};
    }
    return false;
  }
  return true;
}

}  // namespace muster::solver

#endif  // MUSTER_LIB_SOLVER_HEADROOM_H_
