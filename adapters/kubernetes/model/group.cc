#include "adapters/kubernetes/model/group.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/unix_time.h"
#include "muster/gang.h"

namespace muster::kubernetes {
namespace {

constexpr char kKueueGroupLabel[] = "kueue.x-k8s.io/pod-group-name";
constexpr char kKueueCountAnnotation[] = "kueue.x-k8s.io/pod-group-total-count";
constexpr char kVolcanoGroupAnnotation[] = "scheduling.k8s.io/group-name";
constexpr char kCoschedulingLabel[] = "scheduling.x-k8s.io/pod-group";

const std::string* Find(const api::StringMap& map, const char* key) {
  const auto it = map.find(key);
  return it == map.end() || it->second.empty() ? nullptr : &it->second;
}

const api::OwnerReference* Controller(const api::Pod& pod) {
  const auto it = std::ranges::find(pod.meta.owners, true,
                                    &api::OwnerReference::controller);
  return it == pod.meta.owners.end() ? nullptr : &*it;
}

// The number of pods that an annotation tells.
void SetMinimum(const api::Pod& pod, const char* annotation, GroupSpec* spec) {
  const std::string* text = Find(pod.meta.annotations, annotation);
  if (text == nullptr) return;
  uint32_t pods = 0;
  if (absl::SimpleAtoi(*text, &pods) && pods >= 1 && pods <= Gang::kMaxTasks) {
    spec->min_pods = pods;
    return;
  }
  spec->error =
      absl::StrCat("metadata.annotations[", annotation,
                   "]: expected a number of pods, 1 to ", Gang::kMaxTasks);
}

}  // namespace

GroupRef GroupOf(const api::Pod& pod) {
  const std::string& ns = pod.meta.namespace_name;
  if (!pod.pod_group_name.empty()) {
    return {GroupKind::kPodGroup, ns, pod.pod_group_name};
  }
  if (const auto* name = Find(pod.meta.labels, kPodGroupLabel)) {
    return {GroupKind::kMusterGroup, ns, *name};
  }
  if (const auto* name = Find(pod.meta.labels, kKueueGroupLabel)) {
    return {GroupKind::kKueueGroup, ns, *name};
  }
  if (const auto* name = Find(pod.meta.annotations, kVolcanoGroupAnnotation)) {
    return {GroupKind::kVolcanoGroup, ns, *name};
  }
  if (const auto* name = Find(pod.meta.labels, kCoschedulingLabel)) {
    return {GroupKind::kCoschedulingGroup, ns, *name};
  }
  const api::OwnerReference* owner = Controller(pod);
  if (owner != nullptr && owner->kind == "Job" &&
      owner->api_version.starts_with("batch/")) {
    return {GroupKind::kJob, ns, owner->uid};
  }
  return {GroupKind::kPod, ns, pod.meta.uid};
}

std::optional<GroupSpec> SpecFromPod(const GroupRef& ref, const api::Pod& pod) {
  GroupSpec spec;
  spec.display = absl::StrCat(ref.namespace_name, "/", ref.name);
  spec.submitted = ToTime(pod.meta.creation);
  const api::OwnerReference* owner = Controller(pod);
  spec.has_controller = owner != nullptr;
  switch (ref.kind) {
    case GroupKind::kPod:
      spec.key = pod.meta.uid;
      spec.display = absl::StrCat(ref.namespace_name, "/", pod.meta.name);
      // What its controller makes in its place is another pod, hence another
      // group.
      spec.has_controller = false;
      return spec;
    case GroupKind::kJob:
      // Whoever makes the pod writes its owner.
      spec.key = absl::StrCat("job/", ref.namespace_name, "/", ref.name);
      spec.display = absl::StrCat(ref.namespace_name, "/", owner->name);
      SetMinimum(pod, kMinPodsAnnotation, &spec);
      return spec;
    case GroupKind::kMusterGroup:
      if (Find(pod.meta.annotations, kMinPodsAnnotation) == nullptr) {
        return std::nullopt;
      }
      spec.key = absl::StrCat("group/", spec.display);
      SetMinimum(pod, kMinPodsAnnotation, &spec);
      return spec;
    case GroupKind::kKueueGroup:
      spec.key = absl::StrCat("kueue-group/", spec.display);
      SetMinimum(pod, kKueueCountAnnotation, &spec);
      return spec;
    case GroupKind::kPodGroup:
    case GroupKind::kVolcanoGroup:
    case GroupKind::kCoschedulingGroup:
      return std::nullopt;
  }
  return std::nullopt;
}

GroupSpec ToSpec(const api::PodGroup& group) {
  GroupSpec spec;
  spec.key = group.meta.uid;
  spec.display = absl::StrCat(group.meta.namespace_name, "/", group.meta.name);
  spec.submitted = ToTime(group.meta.creation);
  if (group.min_count) {
    spec.min_pods = static_cast<uint32_t>(std::max(*group.min_count, 1));
  }
  if (!group.topology_keys.empty()) {
    spec.topology = {.topology = group.topology_keys[0],
                     .required = group.topology_keys[0]};
  }
  if (group.topology_keys.size() > 1) {
    spec.error =
        "spec.schedulingConstraints.topology: more than one key is not "
        "supported";
  } else if (!group.not_understood.empty()) {
    spec.error = absl::StrCat(group.not_understood[0], " is not supported");
  } else if (!group.parent.empty()) {
    spec.error = "spec.parentCompositePodGroupName is not supported";
  }
  return spec;
}

GroupSpec ToSpec(const api::MusterPodGroup& group,
                 std::span<const Topology> topologies) {
  GroupSpec spec;
  spec.key = group.meta.uid;
  spec.display = absl::StrCat(group.meta.namespace_name, "/", group.meta.name);
  spec.submitted = ToTime(group.meta.creation);
  spec.queue = group.queue;
  if (group.min_member) {
    spec.min_pods = static_cast<uint32_t>(std::max(*group.min_member, 1));
  }
  spec.topology.required = group.topology.required;
  spec.topology.preferred = group.topology.preferred;
  std::vector<std::string> levels;
  bool too_large = false;
  for (const std::string* level :
       {&group.topology.required, &group.topology.preferred}) {
    if (!level->empty()) levels.push_back(*level);
  }
  for (const api::TopologySlice& slice : group.topology.slices) {
    const auto size = std::min<int64_t>(slice.size, Gang::kMaxTasks + 1);
    spec.topology.slices.push_back(
        {slice.required, static_cast<uint32_t>(size)});
    too_large |= size > Gang::kMaxTasks;
    levels.push_back(slice.required);
  }
  const auto has_all = [&](const Topology& topology) {
    return std::ranges::all_of(levels, [&](const std::string& level) {
      return std::ranges::find(topology.levels, level) != topology.levels.end();
    });
  };
  const auto topology = std::ranges::find_if(topologies, has_all);
  if (!group.not_understood.empty()) {
    spec.error = absl::StrCat(group.not_understood[0], " is not supported");
  } else if (!group.groups.empty()) {
    spec.error = "spec.groups is not supported yet";
  } else if (!group.priority_class_name.empty()) {
    // Whoever may write a group may not thereby choose a priority.
    spec.error = "spec.priorityClassName: is to be set on the pods";
  } else if (too_large) {
    spec.error = absl::StrCat("spec.topology.slices: size: expected 1 to ",
                              Gang::kMaxTasks);
  } else if (levels.empty()) {
    spec.topology = {};
  } else if (topology != topologies.end()) {
    spec.topology.topology = topology->key;
  } else if (levels.size() == 1 && !spec.topology.required.empty()) {
    spec.topology.topology = spec.topology.required;
  } else {
    spec.error = "spec.topology: no topology of the scheduler has these levels";
    spec.topology = {};
  }
  return spec;
}

}  // namespace muster::kubernetes
