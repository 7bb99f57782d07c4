#include "adapters/translate/quotas.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "muster/resources.h"

namespace muster::translate {
namespace {

int64_t Bounded(int64_t amount) {
  return std::clamp<int64_t>(amount, 0, Resources::kMaxQuantity);
}

std::optional<int64_t> Bounded(std::optional<int64_t> amount) {
  if (!amount) return std::nullopt;
  return Bounded(*amount);
}

// The value of this word.
template <class E>
absl::StatusOr<E> OneOf(const char* field, const std::string& word,
                        std::initializer_list<std::pair<const char*, E>> all) {
  const std::string said = word.empty() ? "Never" : word;
  for (const auto& [name, value] : all) {
    if (said == name) return value;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": '", word, "' is not known"));
}

}  // namespace

absl::StatusOr<PreemptionPolicy> ToPreemptionPolicy(
    const ClusterQueuePreemption& preemption) {
  const auto within = OneOf<PreemptWithin>(
      "withinClusterQueue", preemption.within_cluster_queue,
      {{"Never", PreemptWithin::kNever},
       {"LowerPriority", PreemptWithin::kLower},
       {"LowerOrNewerEqualPriority", PreemptWithin::kLowerOrNewerEqual}});
  if (!within.ok()) return within.status();
  const auto across = OneOf<PreemptAcross>(
      "reclaimWithinCohort", preemption.reclaim_within_cohort,
      {{"Never", PreemptAcross::kNever},
       {"LowerPriority", PreemptAcross::kLower},
       {"Any", PreemptAcross::kAny}});
  if (!across.ok()) return across.status();
  const auto borrowing = OneOf<PreemptBorrowing>(
      "borrowWithinCohort.policy", preemption.borrow_within_cohort,
      {{"Never", PreemptBorrowing::kNever},
       {"LowerPriority", PreemptBorrowing::kLower}});
  if (!borrowing.ok()) return borrowing.status();
  return PreemptionPolicy{
      .within = *within,
      .across = *across,
      .borrowing = *borrowing,
      .borrowing_threshold = preemption.max_priority_threshold};
}

Quota ToQuota(std::string resource, const NominalQuota& quota, bool in_cohort) {
  Quota to{.resource = std::move(resource)};
  const int64_t nominal = Bounded(quota.nominal);
  to.guarantee = nominal;
  if (!in_cohort) {
    to.limit = nominal;
  } else {
    to.borrow_limit = Bounded(quota.borrowing_limit);
  }
  to.lend_limit = Bounded(quota.lending_limit);
  return to;
}

Quota ToQuota(std::string resource, const ShareQuota& quota,
              bool all_if_unset) {
  Quota to{.resource = std::move(resource)};
  to.limit = Bounded(quota.limit);
  to.guarantee = Bounded(quota.share);
  if (!to.guarantee && all_if_unset) to.guarantee = Resources::kMaxQuantity;
  if (quota.kept) {
    const int64_t kept = Bounded(*quota.kept);
    to.guarantee = std::max(to.guarantee.value_or(0), kept);
    if (kept > 0) to.lend_limit = *to.guarantee - kept;
  }
  if (to.guarantee && to.limit) {
    to.guarantee = std::min(*to.guarantee, *to.limit);
  }
  return to;
}

}  // namespace muster::translate
