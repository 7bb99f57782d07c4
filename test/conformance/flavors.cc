#include "test/conformance/flavors.h"

#include <algorithm>
#include <map>
#include <utility>

#include "adapters/translate/selectors.h"
#include "adapters/translate/taints.h"

namespace muster::conformance {
namespace {

double RequestOf(const PodSpec& pod, const std::string& resource) {
  const auto it = pod.requests.find(resource);
  if (it != pod.requests.end()) return it->second;
  return resource == "pods" ? 1 : 0;  // Each pod is one.
}

// A queue's quotas that stand in one group: their resources, and the flavours
// in order of preference.
struct Group {
  std::vector<std::string> resources;
  std::vector<std::pair<int64_t, std::string>> flavors;
};

std::map<int64_t, Group> GroupsOf(const QueueSpec& queue) {
  std::map<int64_t, Group> groups;
  for (const QuotaSpec& quota : queue.quotas) {
    Group& group = groups[quota.group];
    if (std::find(group.resources.begin(), group.resources.end(),
                  quota.resource) == group.resources.end()) {
      group.resources.push_back(quota.resource);
    }
    const std::pair<int64_t, std::string> flavor{quota.flavor_order,
                                                 quota.flavor};
    if (std::find(group.flavors.begin(), group.flavors.end(), flavor) ==
        group.flavors.end()) {
      group.flavors.push_back(flavor);
    }
  }
  for (auto& [unused, group] : groups) {
    std::sort(group.flavors.begin(), group.flavors.end());
  }
  return groups;
}

}  // namespace

bool Flavors::any() const {
  if (!scenario_.cluster.flavors.empty()) return true;
  for (const QueueSpec& queue : scenario_.queues) {
    for (const QuotaSpec& quota : queue.quotas) {
      if (!quota.flavor.empty()) return true;
    }
  }
  return false;
}

const FlavorSpec* Flavors::Find(const std::string& name) const {
  for (const FlavorSpec& flavor : scenario_.cluster.flavors) {
    if (flavor.name == name) return &flavor;
  }
  return nullptr;
}

// Pods that are to stay together ask for a topology only where they say how
// near; else it is enough that they share a flavour.
static bool AsksForTopology(const TopologyRequestSpec& request) {
  return request.unconstrained || !request.topology.empty() ||
         !request.required.empty() || !request.preferred.empty() ||
         !request.slices.empty();
}

// Whether the flavour's topology has what the pod asks of one.
static bool HasLevels(const FlavorSpec& flavor, const PodSpec& pod,
                      const ClusterSpec& cluster) {
  if (!AsksForTopology(pod.topology)) return true;
  for (const TopologySpec& topology : cluster.topologies) {
    if (topology.name != flavor.topology) continue;
    std::vector<std::string> asked{pod.topology.required,
                                   pod.topology.preferred};
    for (const SliceSpec& slice : pod.topology.slices) {
      asked.push_back(slice.required);
    }
    return std::all_of(asked.begin(), asked.end(), [&](const auto& level) {
      return level.empty() ||
             std::find(topology.levels.begin(), topology.levels.end(), level) !=
                 topology.levels.end();
    });
  }
  return false;
}

// A pod's selector speaks of a flavour only where it names a label key that the
// flavour has; the rest is for the nodes.
bool Flavors::Takes(const FlavorSpec& flavor, const PodSpec& pod) const {
  if (!HasLevels(flavor, pod, scenario_.cluster)) return false;
  for (const Taint& taint : flavor.taints) {
    if (taint.effect == TaintEffect::kPreferNoSchedule) continue;
    if (!translate::Tolerates(pod.tolerations, taint) &&
        !translate::Tolerates(flavor.tolerations, taint)) {
      return false;
    }
  }
  const auto holds = [&](const std::vector<Requirement>& all_of) {
    for (const Requirement& r : all_of) {
      if (flavor.node_labels.contains(r.key) &&
          !translate::Matches(r, flavor.node_labels)) {
        return false;
      }
    }
    return true;
  };
  if (!holds(pod.selector)) return false;
  if (pod.affinity_any.empty()) return true;
  return std::any_of(
      pod.affinity_any.begin(), pod.affinity_any.end(),
      [&](const SelectorTerm& term) { return holds(term.all_of); });
}

std::vector<FlavorChoice> Flavors::Choices(const PodSpec& pod,
                                           const QueueSpec& queue,
                                           const FlavorChoice& fixed) const {
  std::vector<FlavorChoice> choices{fixed};
  StringMap seen;
  for (const auto& [unused, group] : GroupsOf(queue)) {
    std::vector<std::string> open;
    for (const std::string& resource : group.resources) {
      seen[resource];
      if (RequestOf(pod, resource) > 0 && !fixed.contains(resource)) {
        open.push_back(resource);
      }
    }
    if (open.empty()) continue;
    std::vector<std::string> names;
    for (const auto& [order, name] : group.flavors) {
      const FlavorSpec* flavor = Find(name);
      if (flavor != nullptr && Takes(*flavor, pod)) names.push_back(name);
    }
    if (names.empty()) names.push_back(kNoFlavor);
    std::vector<FlavorChoice> longer;
    for (const FlavorChoice& choice : choices) {
      for (const std::string& name : names) {
        FlavorChoice& more = longer.emplace_back(choice);
        for (const std::string& resource : open) more[resource] = name;
      }
    }
    choices = std::move(longer);
  }
  for (const auto& [resource, amount] : pod.requests) {
    if (amount <= 0 || seen.contains(resource) || fixed.contains(resource)) {
      continue;
    }
    for (FlavorChoice& choice : choices) choice[resource] = kNoFlavor;
  }
  return choices;
}

std::string Flavors::TopologyOf(const FlavorChoice& choice) const {
  for (const auto& [resource, name] : choice) {
    const FlavorSpec* flavor = Find(name);
    if (flavor != nullptr && !flavor->topology.empty()) return flavor->topology;
  }
  return "";
}

bool Flavors::OnNodes(const FlavorChoice& choice) const {
  return !TopologyOf(choice).empty();
}

std::vector<Requirement> Flavors::NodesFor(const FlavorChoice& choice) const {
  StringMap labels;
  for (const auto& [resource, name] : choice) {
    if (const FlavorSpec* flavor = Find(name)) {
      labels.insert(flavor->node_labels.begin(), flavor->node_labels.end());
    }
  }
  return translate::ToRequirements(labels);
}

std::vector<Toleration> Flavors::TolerationsOf(
    const FlavorChoice& choice) const {
  std::map<std::string, bool> names;
  for (const auto& [resource, name] : choice) names[name] = true;
  std::vector<Toleration> all;
  for (const auto& [name, unused] : names) {
    if (const FlavorSpec* flavor = Find(name)) {
      all.insert(all.end(), flavor->tolerations.begin(),
                 flavor->tolerations.end());
    }
  }
  return all;
}

void Flavors::Charge(const PodSpec& pod, const FlavorChoice& choice,
                     const Kinds& kinds, Resources* request) const {
  for (const auto& [resource, flavor] : choice) {
    const ResourceKind kind = kinds.Find(Kinds::Flavored(resource, flavor));
    request->Set(kind, kinds.Asked(kind, RequestOf(pod, resource)));
  }
}

void Flavors::AddCapacity(const NodeSpec& node, const Kinds& kinds,
                          Resources* capacity) const {
  for (const FlavorSpec& flavor : scenario_.cluster.flavors) {
    if (flavor.topology.empty()) continue;
    const bool covers = std::all_of(
        flavor.node_labels.begin(), flavor.node_labels.end(),
        [&](const auto& label) {
          const auto it = node.labels.find(label.first);
          return it != node.labels.end() && it->second == label.second;
        });
    if (!covers) continue;
    for (const auto& [resource, amount] : node.capacity) {
      const ResourceKind kind =
          kinds.Find(Kinds::Flavored(resource, flavor.name));
      capacity->Set(kind, kinds.There(kind, amount));
    }
  }
}

}  // namespace muster::conformance
