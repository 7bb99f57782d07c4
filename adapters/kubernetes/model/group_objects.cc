#include "adapters/kubernetes/model/group_objects.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/unix_time.h"
#include "muster/gang.h"

namespace muster::kubernetes {
namespace {

GroupSpec SpecOf(const api::ObjectMeta& meta) {
  GroupSpec spec;
  spec.key = meta.uid;
  spec.display = absl::StrCat(meta.namespace_name, "/", meta.name);
  spec.submitted = ToTime(meta.creation);
  return spec;
}

uint32_t AtLeastOne(const std::optional<int32_t>& count) {
  return static_cast<uint32_t>(std::max(count.value_or(1), 1));
}

// A node label by itself; "" for none.
TopologyConstraint InOneDomain(const std::vector<std::string>& keys) {
  if (keys.empty()) return {};
  return {.topology = keys[0], .required = keys[0]};
}

// What is not supported of either kind of scheduling.k8s.io; "": nothing.
template <typename Group>
std::string WhyNot(const Group& group) {
  if (group.topology_keys.size() > 1) {
    return "spec.schedulingConstraints.topology: more than one key is not "
           "supported";
  }
  if (!group.not_understood.empty()) {
    return absl::StrCat(group.not_understood[0], " is not supported");
  }
  return "";
}

template <typename Group>
GroupSpec SpecOfKubernetes(const Group& group) {
  GroupSpec spec = SpecOf(group.meta);
  spec.topology = InOneDomain(group.topology_keys);
  spec.whole = group.disruption_mode == "all";
  if (group.priority) spec.priority = *group.priority;
  spec.may_preempt = group.preemption_policy != "Never";
  spec.error = WhyNot(group);
  return spec;
}

// `field` is where the topology stands.
TopologyConstraint ToConstraint(const api::GroupTopology& asked,
                                std::span<const Topology> topologies,
                                const std::string& field, std::string* error) {
  TopologyConstraint constraint{.required = asked.required,
                                .preferred = asked.preferred};
  std::vector<std::string> levels;
  for (const std::string* level : {&asked.required, &asked.preferred}) {
    if (!level->empty()) levels.push_back(*level);
  }
  for (const api::TopologySlice& slice : asked.slices) {
    if (slice.size > Gang::kMaxTasks) {
      *error =
          absl::StrCat(field, ".slices: size: expected 1 to ", Gang::kMaxTasks);
      return {};
    }
    constraint.slices.push_back(
        {slice.required, static_cast<uint32_t>(slice.size)});
    levels.push_back(slice.required);
  }
  if (levels.empty()) return {};
  const auto has_all = [&](const Topology& topology) {
    return std::ranges::all_of(levels, [&](const std::string& level) {
      return std::ranges::find(topology.levels, level) != topology.levels.end();
    });
  };
  const auto topology = std::ranges::find_if(topologies, has_all);
  if (topology != topologies.end()) {
    constraint.topology = topology->key;
  } else if (levels.size() == 1 && asked.slices.empty()) {
    constraint.topology = levels[0];
  } else {
    *error =
        absl::StrCat(field, ": no topology of the scheduler has these levels");
    return {};
  }
  return constraint;
}

}  // namespace

GroupSpec ToSpec(const api::PodGroup& group) {
  GroupSpec spec = SpecOfKubernetes(group);
  spec.min_pods = AtLeastOne(group.min_count);
  return spec;
}

GroupSpec ToSpec(const api::CompositePodGroup& group) {
  GroupSpec spec = SpecOfKubernetes(group);
  spec.min_subgroups = AtLeastOne(group.min_group_count);
  if (spec.error.empty() && !group.min_group_count) {
    spec.error =
        "spec.schedulingPolicy: only gang is supported for a "
        "CompositePodGroup";
  } else if (spec.error.empty() && !group.parent.empty()) {
    spec.error =
        "spec.parentCompositePodGroupName of a CompositePodGroup is not "
        "supported";
  }
  return spec;
}

void AddSubgroup(const api::PodGroup& group, GroupSpec* composite) {
  composite->subgroups.push_back(
      {.name = group.meta.name,
       .min_pods = AtLeastOne(group.min_count),
       .topology = InOneDomain(group.topology_keys)});
  if (!composite->error.empty()) return;
  const std::string why_not = WhyNot(group);
  if (!why_not.empty()) {
    composite->error =
        absl::StrCat("PodGroup '", group.meta.name, "': ", why_not);
  } else if (composite->subgroups.size() >= Gang::kMaxGroups) {
    composite->error = absl::StrCat("more than ", Gang::kMaxGroups - 1,
                                    " PodGroups are not supported");
  }
}

GroupSpec ToSpec(const api::MusterPodGroup& group,
                 std::span<const Topology> topologies) {
  GroupSpec spec = SpecOf(group.meta);
  spec.queue = group.queue;
  spec.priority_class = group.priority_class_name;
  spec.min_pods = AtLeastOne(group.min_member);
  std::string error;
  spec.topology =
      ToConstraint(group.topology, topologies, "spec.topology", &error);
  for (size_t g = 0; g < group.groups.size(); ++g) {
    const api::MemberGroup& member = group.groups[g];
    spec.subgroups.push_back(
        {.name = member.name,
         .min_pods = AtLeastOne(member.min_member),
         .topology = ToConstraint(member.topology, topologies,
                                  absl::StrCat("spec.groups[", g, "].topology"),
                                  &error)});
  }
  if (!group.not_understood.empty()) {
    error = absl::StrCat(group.not_understood[0], " is not supported");
  } else if (group.groups.size() >= Gang::kMaxGroups) {
    error =
        absl::StrCat("spec.groups: expected at most ", Gang::kMaxGroups - 1);
  }
  spec.error = std::move(error);
  return spec;
}

}  // namespace muster::kubernetes
