#include "adapters/kubernetes/model/spread.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/label_selector.h"

namespace muster::kubernetes {
namespace {

constexpr char kField[] = "spec.topologySpreadConstraints";

absl::Status NotSupported(const std::string& what) {
  return absl::UnimplementedError(
      absl::StrCat(kField, what, " is not supported"));
}

}  // namespace

absl::StatusOr<std::optional<PodSpread>> SpreadOf(const api::Pod& pod) {
  const api::SpreadConstraint* required = nullptr;
  for (const api::SpreadConstraint& constraint : pod.spread) {
    if (constraint.when_unsatisfiable == "ScheduleAnyway") continue;
    if (required != nullptr) {
      return NotSupported(": more than one with DoNotSchedule");
    }
    required = &constraint;
  }
  if (required == nullptr) return std::nullopt;
  if (required->max_skew < 1 || required->min_domains.value_or(1) < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(kField, ": maxSkew and minDomains: expected 1 or more"));
  }
  if (required->node_affinity_policy == "Ignore") {
    return NotSupported(".nodeAffinityPolicy: Ignore");
  }
  PodSpread spread;
  if (required->selector) spread.selector = *required->selector;
  for (const std::string& key : required->match_label_keys) {
    const auto label = pod.meta.labels.find(key);
    if (label == pod.meta.labels.end()) continue;  // As Kubernetes does.
    spread.selector.match_expressions.push_back(
        {.key = key, .op = "In", .values = {label->second}});
  }
  if (!required->selector || !Selects(spread.selector, pod.meta.labels)) {
    return NotSupported(".labelSelector that does not select the pod itself");
  }
  const std::string& key = required->topology_key;
  spread.topology = {
      .topology = key,
      .spread = {.level = key,
                 .max_skew = static_cast<uint32_t>(required->max_skew),
                 .min_domains =
                     static_cast<uint32_t>(required->min_domains.value_or(0))}};
  return spread;
}

}  // namespace muster::kubernetes
