#include "adapters/kubernetes/controller/object_refs.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/owner_kind.h"

namespace muster::kubernetes {

api::ObjectReference ToReference(const api::ResourceType& type,
                                 std::string namespace_name, std::string name,
                                 std::string uid) {
  const std::string group(type.group), version(type.version);
  return {.api_version =
              group.empty() ? version : absl::StrCat(group, "/", version),
          .kind = std::string(type.kind),
          .namespace_name = std::move(namespace_name),
          .name = std::move(name),
          .uid = std::move(uid)};
}

api::ObjectReference PodObject(const PodRef& pod) {
  return ToReference(api::kPods, pod.namespace_name, pod.name, pod.uid);
}

api::ObjectReference NodeObject(const std::string& name) {
  return ToReference(api::kNodes, "", name, name);
}

api::ObjectReference QueueObject(const api::ObjectMeta& meta) {
  return ToReference(api::kQueues, "", meta.name, meta.uid);
}

api::ObjectReference GroupObject(const GroupRef& ref, const std::string& uid) {
  const auto of = [&](const api::ResourceType& type) {
    return ToReference(type, ref.namespace_name, ref.name, uid);
  };
  switch (ref.kind) {
    case GroupKind::kPodGroup:
      return of(api::PodGroupsOf("v1beta1"));
    case GroupKind::kCompositeGroup:
      return of(api::CompositePodGroupsOf("v1alpha3"));
    case GroupKind::kVolcanoGroup:
      return of(api::kVolcanoPodGroups);
    case GroupKind::kCoschedulingGroup:
      return of(api::kCoschedulingPodGroups);
    case GroupKind::kOwner:  // "TFJob/NAME", "LeaderWorkerSet/NAME/INDEX".
      for (const OwnerKind& kind : OwnerKinds()) {
        if (!ref.name.starts_with(absl::StrCat(std::string(kind.kind), "/"))) {
          continue;
        }
        return ToReference(kind.type(kind.versions[0]), ref.namespace_name,
                           OwnerOfCopy(ref).name.substr(kind.kind.size() + 1),
                           uid.substr(0, uid.find('/')));
      }
      return {};
    default:
      return of(api::kMusterPodGroups);
  }
}

}  // namespace muster::kubernetes
