#include "adapters/translate/quotas.h"

#include <algorithm>
#include <utility>

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

}  // namespace

Quota ToQuota(std::string resource, const NominalQuota& quota, bool in_cohort) {
  Quota to{.resource = std::move(resource)};
  const int64_t nominal = Bounded(quota.nominal);
  to.guarantee = nominal;
  if (!in_cohort) {
    to.limit = nominal;
  } else if (quota.borrowing_limit) {
    to.limit = Bounded(nominal + Bounded(*quota.borrowing_limit));
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
