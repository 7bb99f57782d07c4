#include "adapters/kubernetes/model/spot_taints.h"

#include <algorithm>

#include "adapters/kubernetes/model/unix_time.h"

namespace muster::kubernetes {

Time SpotNoticeOf(const api::Node& node, std::span<const std::string> more) {
  Time at = kForever;
  for (const api::Taint& taint : node.taints) {
    const auto* known =
        std::ranges::find(kSpotTaints, taint.key, &SpotTaint::key);
    const bool is_known = known != std::end(kSpotTaints);
    if (!is_known && std::ranges::find(more, taint.key) == more.end()) continue;
    const Duration notice = is_known ? known->notice : 0;
    const Time since = ToTime(taint.time_added.value_or(0));
    at = std::min(at, since + std::min(notice, kMaxTime - since));
  }
  return at;
}

}  // namespace muster::kubernetes
