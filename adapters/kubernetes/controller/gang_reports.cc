#include "adapters/kubernetes/controller/gang_reports.h"

#include <algorithm>
#include <map>

#include "adapters/kubernetes/model/label_selector.h"

namespace muster::kubernetes {

std::optional<Time> CheckpointOf(const GangRecord& gang,
                                 const GangRecord::Pods& pods) {
  std::optional<Time> earliest;
  for (const auto& [uid, task] : gang.members()) {
    const auto it = pods.find(uid);
    if (it == pods.end() || !it->second.runs()) continue;
    const std::optional<Time>& said = it->second.checkpoint;
    if (said) earliest = std::min(earliest.value_or(*said), *said);
  }
  return earliest;
}

std::string WhyNotSpread(const GangRecord& gang, const GangRecord::Pods& pods) {
  const bool spreads = std::ranges::any_of(
      gang.roles(),
      [](const RoleSlots& role) { return !role.model->topology.empty(); });
  if (!spreads) return "";
  std::map<uint32_t, const api::LabelSelector*> selectors;  // By role.
  const auto for_each = [&](auto&& f) {
    for (const auto& [uid, task] : gang.members()) {
      const auto it = pods.find(uid);
      if (task && it != pods.end()) f(task->role, it->second);
    }
  };
  for_each([&](uint32_t role, const PodRecord& pod) {
    if (pod.spread != nullptr) selectors.emplace(role, pod.spread.get());
  });
  std::string why;
  for_each([&](uint32_t role, const PodRecord& pod) {
    for (const auto& [of, selector] : selectors) {
      if (Selects(*selector, *pod.labels) == (role == of)) continue;
      why = role == of ? "spec.topologySpreadConstraints: a labelSelector that "
                         "selects only some of the like pods of a group is not "
                         "supported"
                       : "spec.topologySpreadConstraints: a labelSelector that "
                         "selects unlike pods of the group is not supported";
    }
  });
  return why;
}

}  // namespace muster::kubernetes
