// PreemptionPolicy: whom gangs of a queue may stop.
#ifndef MUSTER_PREEMPTION_POLICY_H_
#define MUSTER_PREEMPTION_POLICY_H_

#include <cstdint>
#include <optional>

#include "muster/enum_names.h"

namespace muster {

// Whom a gang may stop in its own leaf queue. (Kueue: withinClusterQueue.)
enum class PreemptWithin : uint8_t {
  kNever,
  kLower,  // Gangs of lower priority.
  // Those, and gangs of its own priority that stand behind it in the queue
  // (QueuePosition: submitted later).
  kLowerOrNewerEqual,
};
MUSTER_ENUM_NAMES(PreemptWithin, "never", "lower", "lower-or-newer-equal");

// Whom it may stop in other queues: from which priorities it takes back what
// its queue is owed. (Kueue: reclaimWithinCohort.)
enum class PreemptAcross : uint8_t {
  kNever,
  kLower,  // Gangs of lower priority.
  kAny,    // Whatever their priority.
};
MUSTER_ENUM_NAMES(PreemptAcross, "never", "lower", "any");

// Whom it may stop in other queues where its own would be beyond its guarantee:
// gangs of queues that are beyond theirs, too. (Kueue: borrowWithinCohort.)
enum class PreemptBorrowing : uint8_t {
  kNever,
  kLower,  // Gangs of lower priority, at most `borrowing_threshold`.
};
MUSTER_ENUM_NAMES(PreemptBorrowing, "never", "lower");

// Of a queue, and of all below it that do not say otherwise, field by field.
// Where nothing is said: within lower, across any, borrowing never. It bears on
// the preemptor's side: what may be done to a victim is its class's and its own
// (PriorityClass, Gang::preemptible).
struct PreemptionPolicy {
  std::optional<PreemptWithin> within{};
  std::optional<PreemptAcross> across{};
  std::optional<PreemptBorrowing> borrowing{};
  // The highest priority of a victim of `borrowing`; unset: any that is lower
  // than the preemptor's. (Kueue: maxPriorityThreshold.)
  std::optional<int32_t> borrowing_threshold{};

  friend bool operator==(const PreemptionPolicy&,
                         const PreemptionPolicy&) = default;
};

}  // namespace muster

#endif  // MUSTER_PREEMPTION_POLICY_H_
