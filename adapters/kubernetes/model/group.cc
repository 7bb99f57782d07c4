#include "adapters/kubernetes/model/group.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/owner_kind.h"
#include "adapters/kubernetes/model/unix_time.h"
#include "muster/gang.h"

namespace muster::kubernetes {
namespace {

constexpr std::string_view kKueueGroupLabel = "kueue.x-k8s.io/pod-group-name";
constexpr char kKueueCountAnnotation[] = "kueue.x-k8s.io/pod-group-total-count";
constexpr std::string_view kVolcanoGroupAnnotations[] = {
    "scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"};
constexpr char kVolcanoTaskAnnotation[] = "volcano.sh/task-spec";
constexpr std::string_view kCoschedulingLabel = "scheduling.x-k8s.io/pod-group";

const std::string* Find(const api::StringMap& map, std::string_view key) {
  const auto it = map.find(key);
  return it == map.end() || it->second.empty() ? nullptr : &it->second;
}

const api::OwnerReference* Controller(const api::Pod& pod) {
  const auto it = std::ranges::find(pod.meta.owners, true,
                                    &api::OwnerReference::controller);
  return it == pod.meta.owners.end() ? nullptr : &*it;
}

std::string ValueOf(const api::StringMap& map, std::string_view key) {
  const std::string* value = Find(map, key);
  return value == nullptr ? "" : *value;
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
  for (const std::string_view annotation : kVolcanoGroupAnnotations) {
    if (const auto* name = Find(pod.meta.annotations, annotation)) {
      return {GroupKind::kVolcanoGroup, ns, *name};
    }
  }
  if (const auto* name = Find(pod.meta.labels, kCoschedulingLabel)) {
    return {GroupKind::kCoschedulingGroup, ns, *name};
  }
  GroupRef owned = OwnerGroupOf(pod);
  if (!owned.name.empty()) return owned;
  const api::OwnerReference* owner = Controller(pod);
  if (owner != nullptr && owner->kind == "Job" &&
      owner->api_version.starts_with("batch/")) {
    return {GroupKind::kJob, ns, owner->uid};
  }
  return {GroupKind::kPod, ns, pod.meta.uid};
}

std::string SubgroupOf(const GroupRef& ref, const api::Pod& pod) {
  switch (ref.kind) {
    case GroupKind::kMusterGroup:
      return ValueOf(pod.meta.labels, kSubgroupLabel);
    case GroupKind::kVolcanoGroup:
      return ValueOf(pod.meta.annotations, kVolcanoTaskAnnotation);
    case GroupKind::kOwner:
      return OwnerRoleOf(pod);
    case GroupKind::kCompositeGroup:
      return pod.pod_group_name;
    default:
      return "";
  }
}

std::string Describe(const GroupRef& ref) {
  if (ref.kind == GroupKind::kCompositeGroup) {
    return absl::StrCat("CompositePodGroup '", ref.name, "'");
  }
  const size_t slash = ref.name.find('/');
  if (ref.kind != GroupKind::kOwner || slash == std::string::npos) {
    return absl::StrCat("PodGroup '", ref.name, "'");
  }
  return absl::StrCat(ref.name.substr(0, slash), " '",
                      ref.name.substr(slash + 1), "'");
}

const char* MinPodsAnnotation(GroupKind kind) {
  switch (kind) {
    case GroupKind::kMusterGroup:
    case GroupKind::kJob:
      return kMinPodsAnnotation;
    case GroupKind::kKueueGroup:
      return kKueueCountAnnotation;
    default:
      return nullptr;
  }
}

std::optional<uint32_t> MinPodsOf(const GroupRef& ref, const api::Pod& pod) {
  const char* annotation = MinPodsAnnotation(ref.kind);
  if (annotation == nullptr) return std::nullopt;
  const std::string* text = Find(pod.meta.annotations, annotation);
  if (text == nullptr) return std::nullopt;
  uint32_t pods = 0;
  const bool valid = absl::SimpleAtoi(*text, &pods) && pods <= Gang::kMaxTasks;
  return valid ? pods : 0;
}

std::optional<GroupSpec> SpecFromPod(const GroupRef& ref, const api::Pod& pod) {
  GroupSpec spec;
  spec.by_pods = true;
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
      return spec;
    case GroupKind::kMusterGroup:
      if (!MinPodsOf(ref, pod)) return std::nullopt;
      spec.key = absl::StrCat("group/", spec.display);
      return spec;
    case GroupKind::kKueueGroup:
      spec.key = absl::StrCat("kueue-group/", spec.display);
      return spec;
    case GroupKind::kPodGroup:
    case GroupKind::kCompositeGroup:
    case GroupKind::kVolcanoGroup:
    case GroupKind::kCoschedulingGroup:
    case GroupKind::kOwner:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace muster::kubernetes
