#include "adapters/kubernetes/model/volumes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/label_selector.h"
#include "adapters/kubernetes/model/translate_pod.h"
#include "muster/ids.h"

namespace muster::kubernetes {
namespace {

constexpr char kOnePod[] = "ReadWriteOncePod";

std::string Named(const std::string& claim) {
  return absl::StrCat("claim '", claim, "' ");
}

ClaimVerdict Waits(const PodClaim& claim, const std::string& why) {
  return {.why_not = Named(claim.name) + why};
}

std::string ModeOf(const std::string& mode) {
  return mode.empty() ? "Filesystem" : mode;
}

ClaimVerdict JudgeBound(const PodClaim& claim, const ClaimObjects& objects) {
  const std::string& name = objects.claim->volume_name;
  if (objects.volume == nullptr) {
    return Waits(claim,
                 absl::StrCat("is of volume '", name, "', which is not there"));
  }
  if (!IsKeptFor(*objects.volume, *objects.claim)) {
    return Waits(claim, absl::StrCat("is of volume '", name,
                                     "', which is another claim's"));
  }
  auto nodes = NodesOf(*objects.volume);
  if (!nodes.ok()) {
    return Waits(claim,
                 absl::StrCat("is of volume '", name,
                              "': nodeAffinity: ", nodes.status().message()));
  }
  return {.stage = ClaimStage::kBound, .nodes = *std::move(nodes)};
}

// One node that any of them reaches will do.
ClaimVerdict JudgeStatic(const PodClaim& claim, const ClaimObjects& objects) {
  ClaimVerdict verdict{.stage = ClaimStage::kChoose};
  for (const api::PersistentVolume* volume : objects.candidates) {
    const auto nodes = NodesOf(*volume);
    if (!nodes.ok()) continue;
    if (nodes->any_of.empty()) {
      verdict.nodes.any_of.clear();
      return verdict;
    }
    std::ranges::copy(nodes->any_of, std::back_inserter(verdict.nodes.any_of));
  }
  if (verdict.nodes.any_of.empty()) {
    return Waits(claim, absl::StrCat("finds no volume of class '",
                                     objects.storage_class->meta.name,
                                     "' that suits it and is free"));
  }
  verdict.nodes = Both(verdict.nodes, {});
  return verdict;
}

ClaimVerdict JudgeUnbound(const PodClaim& claim, const ClaimObjects& objects) {
  const api::PersistentVolumeClaim& object = *objects.claim;
  if (!object.volume_name.empty()) {
    return Waits(claim, absl::StrCat("is not bound to volume '",
                                     object.volume_name, "' yet"));
  }
  if (object.storage_class_name.value_or("").empty()) {
    return Waits(claim, "has no storage class, and is not bound yet");
  }
  if (objects.storage_class == nullptr) {
    return Waits(claim,
                 absl::StrCat("is of class '", *object.storage_class_name,
                              "', which is not there"));
  }
  const api::StorageClass& storage_class = *objects.storage_class;
  if (!WaitsForConsumer(storage_class)) return Waits(claim, "is not bound yet");
  if (IsStatic(storage_class)) return JudgeStatic(claim, objects);
  auto terms = ToTerms(storage_class.allowed_topologies);
  if (!terms.ok()) {
    return Waits(claim, absl::StrCat("is of class '", storage_class.meta.name,
                                     "': allowedTopologies: ",
                                     terms.status().message()));
  }
  return {.stage = ClaimStage::kProvision, .nodes = {*std::move(terms)}};
}

// The label's values, if that is all the term says.
const Requirement* OnlyValues(const SelectorTerm& term) {
  const bool only =
      term.all_of.size() == 1 && term.all_of[0].op == SelectorOp::kIn;
  return only ? &term.all_of[0] : nullptr;
}

// Adds it to those that say as much of the same label.
void AddTerm(SelectorTerm term, std::vector<SelectorTerm>* terms) {
  const Requirement* values = OnlyValues(term);
  for (SelectorTerm& known : *terms) {
    if (known == term) return;
    const Requirement* same = OnlyValues(known);
    if (values == nullptr || same == nullptr || same->key != values->key) {
      continue;
    }
    std::vector<std::string>& all = known.all_of[0].values;
    for (const std::string& value : values->values) {
      if (all.size() >= kMaxListLength) break;
      const auto at = std::ranges::lower_bound(all, value);
      if (at == all.end() || *at != value) all.insert(at, value);
    }
    return;
  }
  if (values != nullptr) {
    std::vector<std::string>& all = term.all_of[0].values;
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
  }
  if (terms->size() < kMaxVolumeTerms) terms->push_back(std::move(term));
}

}  // namespace

absl::StatusOr<NodeSelector> NodesOf(const api::PersistentVolume& volume) {
  NodeSelector nodes;
  if (!volume.has_node_affinity) return nodes;
  auto terms = ToTerms(volume.node_affinity);
  if (!terms.ok()) return terms.status();
  nodes.any_of = *std::move(terms);
  if (nodes.any_of.empty()) nodes.any_of = {NoNode()};
  return nodes;
}

std::vector<PodClaim> ClaimsOf(const api::Pod& pod) {
  std::vector<PodClaim> claims;
  for (const api::PodVolume& volume : pod.volumes) {
    PodClaim claim;
    if (volume.type == "persistentVolumeClaim") {
      claim.name = volume.claim;
    } else if (volume.type == "ephemeral") {
      claim = {absl::StrCat(pod.meta.name, "-", volume.name), true};
    } else {
      continue;
    }
    const auto known = std::ranges::find(claims, claim.name, &PodClaim::name);
    if (known == claims.end()) {
      claims.push_back(std::move(claim));
    } else {
      known->ephemeral |= claim.ephemeral;
    }
  }
  return claims;
}

ClaimVerdict Judge(const PodClaim& claim, const std::string& pod_uid,
                   const ClaimObjects& objects) {
  if (objects.claim == nullptr) return Waits(claim, "is not there");
  const api::PersistentVolumeClaim& object = *objects.claim;
  if (object.meta.deletion) return Waits(claim, "is being deleted");
  if (object.phase == "Lost") {
    return Waits(
        claim, absl::StrCat("has lost its volume '", object.volume_name, "'"));
  }
  const auto owns = [&](const api::OwnerReference& owner) {
    return owner.controller && owner.uid == pod_uid;
  };
  if (claim.ephemeral && std::ranges::none_of(object.meta.owners, owns)) {
    return Waits(claim, "was not made for this pod");
  }
  const bool bound = object.phase == "Bound" && !object.volume_name.empty();
  return bound ? JudgeBound(claim, objects) : JudgeUnbound(claim, objects);
}

bool WaitsForConsumer(const api::StorageClass& storage_class) {
  return storage_class.volume_binding_mode == "WaitForFirstConsumer";
}

bool IsStatic(const api::StorageClass& storage_class) {
  return storage_class.provisioner == "kubernetes.io/no-provisioner";
}

bool IsForOnePod(const api::PersistentVolumeClaim& claim) {
  return std::ranges::find(claim.access_modes, kOnePod) !=
         claim.access_modes.end();
}

bool IsKeptFor(const api::PersistentVolume& volume,
               const api::PersistentVolumeClaim& claim) {
  return volume.claim_namespace == claim.meta.namespace_name &&
         volume.claim_name == claim.meta.name &&
         (volume.claim_uid.empty() || volume.claim_uid == claim.meta.uid);
}

bool Suits(const api::PersistentVolume& volume,
           const api::PersistentVolumeClaim& claim) {
  if (volume.meta.deletion || volume.capacity < claim.request ||
      volume.storage_class_name != claim.storage_class_name.value_or("") ||
      ModeOf(volume.volume_mode) != ModeOf(claim.volume_mode)) {
    return false;
  }
  const bool has_modes =
      std::ranges::all_of(claim.access_modes, [&](const std::string& mode) {
        return std::ranges::find(volume.access_modes, mode) !=
               volume.access_modes.end();
      });
  if (!has_modes) return false;
  if (claim.selector && !Selects(*claim.selector, volume.meta.labels)) {
    return false;
  }
  const bool is_free = volume.claim_name.empty() && volume.phase == "Available";
  return is_free || IsKeptFor(volume, claim);
}

bool Admits(const api::PersistentVolume& volume, const Labels& node) {
  const auto nodes = NodesOf(volume);
  return nodes.ok() && Matches(*nodes, node);
}

NodeSelector Both(const NodeSelector& a, const NodeSelector& b) {
  const std::vector<SelectorTerm> every(1);
  NodeSelector both;
  for (const SelectorTerm& x : a.any_of.empty() ? every : a.any_of) {
    for (const SelectorTerm& y : b.any_of.empty() ? every : b.any_of) {
      SelectorTerm term = x;
      for (const Requirement& requirement : y.all_of) {
        if (std::ranges::find(term.all_of, requirement) == term.all_of.end()) {
          term.all_of.push_back(requirement);
        }
      }
      // A term that holds for every node decides: nothing is asked for.
      if (term.all_of.empty()) return {};
      AddTerm(std::move(term), &both.any_of);
    }
  }
  return both;
}

}  // namespace muster::kubernetes
