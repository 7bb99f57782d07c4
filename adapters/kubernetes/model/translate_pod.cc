#include "adapters/kubernetes/model/translate_pod.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/translate_node.h"
#include "adapters/translate/devices.h"
#include "adapters/translate/selectors.h"
#include "adapters/translate/taints.h"

namespace muster::kubernetes {
namespace {

absl::StatusOr<SelectorTerm> ToTerm(const api::NodeSelectorTerm& term) {
  if (term.match_expressions.empty() && term.match_fields.empty()) {
    return NoNode();
  }
  SelectorTerm result;
  for (const api::SelectorRequirement& r : term.match_expressions) {
    auto requirement = translate::ToRequirement(r.key, r.op, r.values);
    if (!requirement.ok()) return requirement.status();
    result.all_of.push_back(*std::move(requirement));
  }
  for (const api::SelectorRequirement& r : term.match_fields) {
    if (r.key != "metadata.name") {
      return absl::UnimplementedError(
          absl::StrCat("matchFields: '", r.key, "' is not metadata.name"));
    }
    auto requirement = translate::ToRequirement(kNodeNameLabel, r.op, r.values);
    if (!requirement.ok()) return requirement.status();
    result.all_of.push_back(*std::move(requirement));
  }
  return result;
}

absl::StatusOr<NodeSelector> ToSelector(const api::PodDemand& pod) {
  auto terms = ToTerms(pod.required_node_affinity);
  if (!terms.ok()) return terms.status();
  if (pod.has_required_node_affinity && terms->empty()) {
    terms->push_back(NoNode());
  }
  return translate::ToNodeSelector(translate::ToRequirements(pod.node_selector),
                                   *terms);
}

absl::Status SetTolerations(const api::PodDemand& pod, Role* role) {
  for (const api::Toleration& t : pod.tolerations) {
    auto toleration = translate::ToToleration(t.key, t.op, t.value, t.effect);
    if (!toleration.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("spec.tolerations: ", toleration.status().message()));
    }
    if (t.seconds) {
      constexpr int64_t kMost = (int64_t{1} << 31) - 1;
      toleration->seconds = std::clamp<int64_t>(*t.seconds, 0, kMost);
    }
    role->tolerations.push_back(*std::move(toleration));
  }
  return absl::OkStatus();
}

absl::Status SetPreferences(const api::PodDemand& pod, Role* role) {
  for (const api::PreferredTerm& preferred : pod.preferred_node_affinity) {
    // An empty preferred term selects nothing, in Kubernetes as well.
    if (preferred.preference.match_expressions.empty() &&
        preferred.preference.match_fields.empty()) {
      continue;
    }
    auto term = ToTerm(preferred.preference);
    if (!term.ok()) return term.status();
    role->preferences.push_back(
        {.weight = preferred.weight, .term = *std::move(term)});
  }
  return absl::OkStatus();
}

absl::Status CheckUnderstood(const api::PodDemand& pod,
                             const ResourceKinds& kinds) {
  if (!pod.not_understood.empty()) {
    return absl::UnimplementedError(
        absl::StrCat(pod.not_understood[0], " is not supported"));
  }
  if (!pod.host_ports.empty()) {
    return absl::UnimplementedError(
        "spec.containers.ports.hostPort is not supported");
  }
  const std::string unknown(kinds.Unknown(pod.requests));
  if (!unknown.empty()) {
    return absl::UnimplementedError(
        absl::StrCat("resources.requests: there are too many kinds of "
                     "resources for '",
                     unknown, "'"));
  }
  return absl::OkStatus();
}

}  // namespace

SelectorTerm NoNode() {
  return {.all_of = {{.key = kNodeNameLabel, .op = SelectorOp::kDoesNotExist}}};
}

absl::StatusOr<std::vector<SelectorTerm>> ToTerms(
    std::span<const api::NodeSelectorTerm> terms) {
  std::vector<SelectorTerm> result;
  for (const api::NodeSelectorTerm& term : terms) {
    auto translated = ToTerm(term);
    if (!translated.ok()) return translated.status();
    result.push_back(*std::move(translated));
  }
  return result;
}

absl::StatusOr<Role> ToRole(const api::PodDemand& pod,
                            const ResourceKinds& kinds) {
  Role role;
  absl::Status status = CheckUnderstood(pod, kinds);
  if (!status.ok()) return status;
  role.min_tasks = 0;
  role.shape.resources = kinds.Request(pod.requests);
  auto devices = translate::ToDeviceRequest(
      {.milli = kinds.Devices(pod.requests) * kWholeDevice});
  if (!devices.ok()) return devices.status();
  role.shape.devices = *std::move(devices);
  auto selector = ToSelector(pod);
  if (!selector.ok()) return selector.status();
  role.shape.selector = *std::move(selector);
  status = SetPreferences(pod, &role);
  if (status.ok()) status = SetTolerations(pod, &role);
  if (!status.ok()) return status;
  return role;
}

}  // namespace muster::kubernetes
