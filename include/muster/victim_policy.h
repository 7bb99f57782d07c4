// VictimPolicy: which sets of victims a preemption may take.
#ifndef MUSTER_VICTIM_POLICY_H_
#define MUSTER_VICTIM_POLICY_H_

#include <cstdint>

#include "muster/export.h"

namespace muster {

// What a set of victims must keep: guarantees of queues, quotas, disruption
// budgets. Implemented by the owner of those rules; the search for victims
// builds a set in it step by step. The set is empty when a search begins; when
// it ends, it holds the victims chosen, or none. A set is allowed if Add
// accepts its members one after the other in some order: the smallest first is
// one that is tried. A policy that accepts a set in some order accepts it with
// members left out, too, and with more victims the quota has no less room:
// otherwise answers are called proven that are not. Called by the thread that
// searches, thousands of times for one question: each function should be
// O(depth of the queues).
class MUSTER_API VictimPolicy {
 public:
  virtual ~VictimPolicy() = default;
  // Adds `tasks` tasks from the back of candidate `i` (all of them: the whole
  // gang, if it may be stopped) to the set, or returns false, with no change,
  // if that is not allowed beside what is in the set already. A candidate is
  // added at most once.
  virtual bool Add(uint32_t i, uint32_t tasks) = 0;
  // Takes candidate `i`, which is in the set, out of it.
  virtual void Remove(uint32_t i) = 0;
  // Whether the quota of the gang that is to start has room for it once the set
  // is gone.
  virtual bool QuotaSuffices() const = 0;
  // Whether candidate `i` could give back some of the quota that the gang lacks
  // with an empty set. Others are not tried where quota is short.
  virtual bool GivesQuota(uint32_t /*i*/) const { return true; }
};

}  // namespace muster

#endif  // MUSTER_VICTIM_POLICY_H_
