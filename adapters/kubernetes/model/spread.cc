#include "adapters/kubernetes/model/spread.h"

#include <string>
#include <utility>

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

absl::StatusOr<PodSpread> ToSpread(const api::SpreadConstraint& constraint,
                                   const api::StringMap& labels) {
  if (constraint.max_skew < 1 || constraint.min_domains.value_or(1) < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(kField, ": maxSkew and minDomains: expected 1 or more"));
  }
  if (constraint.node_affinity_policy == "Ignore") {
    return NotSupported(".nodeAffinityPolicy: Ignore");
  }
  PodSpread spread;
  if (constraint.selector) spread.selector = *constraint.selector;
  for (const std::string& key : constraint.match_label_keys) {
    const auto label = labels.find(key);
    if (label == labels.end()) continue;  // As Kubernetes does.
    spread.selector.match_expressions.push_back(
        {.key = key, .op = "In", .values = {label->second}});
  }
  if (!constraint.selector || !Selects(spread.selector, labels)) {
    return NotSupported(".labelSelector that does not select the pod itself");
  }
  const std::string& key = constraint.topology_key;
  spread.topology = {
      .topology = key,
      .spread = {.level = key,
                 .max_skew = static_cast<uint32_t>(constraint.max_skew),
                 .min_domains = static_cast<uint32_t>(
                     constraint.min_domains.value_or(0))}};
  return spread;
}

}  // namespace

absl::StatusOr<std::vector<PodSpread>> SpreadsOf(const api::Pod& pod) {
  std::vector<PodSpread> spreads;
  for (const api::SpreadConstraint& constraint : pod.spread) {
    if (constraint.when_unsatisfiable == "ScheduleAnyway") continue;
    if (spreads.size() == kMaxSpreads) {
      return NotSupported(
          absl::StrCat(": more than ", kMaxSpreads, " with DoNotSchedule"));
    }
    auto spread = ToSpread(constraint, pod.meta.labels);
    if (!spread.ok()) return spread.status();
    spreads.push_back(*std::move(spread));
  }
  return spreads;
}

std::string UnusedSpreadsOf(const api::Pod& pod) {
  bool wish = false, taints = false;
  for (const api::SpreadConstraint& constraint : pod.spread) {
    if (constraint.when_unsatisfiable == "ScheduleAnyway") {
      wish = true;
    } else if (constraint.node_taints_policy == "Ignore") {
      taints = true;
    }
  }
  if (!wish && !taints) return "";
  return absl::StrCat(
      kField, ": ",
      wish ? "whenUnsatisfiable: ScheduleAnyway decides nothing" : "",
      wish && taints ? "; " : "",
      taints ? "nodeTaintsPolicy: Ignore is taken for Honor" : "");
}

}  // namespace muster::kubernetes
