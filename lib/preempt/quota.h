// Victims for the preemptor's quota's sake, wherever they run.
#ifndef LIB_PREEMPT_QUOTA_H_
#define LIB_PREEMPT_QUOTA_H_

#include <cstdint>

#include "lib/preempt/problem.h"
#include "lib/preempt/victim_set.h"

namespace muster::preempt {

// Adds releases of the first `count` candidates, cheapest first, until the
// preemptor's quota has room, then leaves out those that do not help. False,
// with the set of no use, if the law allows no such set that was found.
bool CoverQuota(const Problem& problem, uint32_t count, VictimSet& victims);

}  // namespace muster::preempt

#endif  // LIB_PREEMPT_QUOTA_H_
