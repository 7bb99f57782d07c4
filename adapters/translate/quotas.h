// Quotas of queues, in the words of Kubernetes' queueing systems. Amounts are
// in the units of the resource kind, from 0 on; what is more than the library
// counts is as much as it counts. Pure functions: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "muster/queue.h"

namespace muster::translate {

// Of a ClusterQueue of Kueue, or of a cohort: for that, what its members have
// together and its own.
struct NominalQuota {
  int64_t nominal = 0;
  std::optional<int64_t> borrowing_limit{};
  std::optional<int64_t> lending_limit{};
};
// A queue in no cohort has no queue to borrow from. What it may borrow is
// beyond its guarantee.
Quota ToQuota(std::string resource, const NominalQuota& quota, bool in_cohort);

// Of a ClusterQueue of Kueue, in its own words; empty: not said, which is
// Never.
struct ClusterQueuePreemption {
  std::string within_cluster_queue{};
  std::string reclaim_within_cohort{};
  std::string borrow_within_cohort{};  // borrowWithinCohort.policy.
  std::optional<int32_t> max_priority_threshold{};
};
// InvalidArgument for a word that the field does not know.
absl::StatusOr<PreemptionPolicy> ToPreemptionPolicy(
    const ClusterQueuePreemption& preemption);

// Of a queue of Volcano (deserved, capability, guarantee) or KAI (quota,
// limit).
struct ShareQuota {
  std::optional<int64_t> share{};
  std::optional<int64_t> limit{};
  // That no other queue may use meanwhile: a share that is not lent.
  std::optional<int64_t> kept{};
};
// `all_if_unset`: no share said means all of it (KAI), not none (Volcano).
Quota ToQuota(std::string resource, const ShareQuota& quota, bool all_if_unset);

}  // namespace muster::translate
