// EvictionBackoff: how gangs that are evicted in a row are kept from going
// round in circles.
#ifndef MUSTER_EVICTION_BACKOFF_H_
#define MUSTER_EVICTION_BACKOFF_H_

#include "muster/ids.h"

namespace muster {

// A gang that is evicted for another one (not suspended, nor shrunk) loses the
// work since its last checkpoint. Of evictions in a row each came before the
// gang had saved any of the run that it ended: GangState::evictions counts
// them. Each doubles two times, up to a bound; a base of 0 sets no time.
// (Kueue: requeuingStrategy.backoff*, of workloads that are not ready.)
//
// Whatever these times are, a gang makes room for itself once at most as long
// as nothing happens but that the host does as it is told: see
// SchedulerState::external_seq. Evictions that nothing but other evictions
// cause so come to an end.
struct EvictionBackoff {
  // After the n-th in a row, a gang makes room for itself no earlier than
  // min(wait_base << n, wait_max) later. It starts at any time where there is
  // room.
  Duration wait_base = 5 * kSecond;
  Duration wait_max = 600 * kSecond;
  // And once it runs again, it is no victim before it has run for
  // min(protection_base << n, protection_max), or its class's min_runtime.
  Duration protection_base = 60 * kSecond;
  Duration protection_max = 1800 * kSecond;

  friend bool operator==(const EvictionBackoff&,
                         const EvictionBackoff&) = default;
};

}  // namespace muster

#endif  // MUSTER_EVICTION_BACKOFF_H_
