#include "adapters/kubernetes/controller/object_refs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/owner_kind.h"

namespace muster::kubernetes {
namespace {

// "TFJob/NAME".
ObjectRef OwnerObject(const GroupRef& ref, const std::string& uid) {
  const size_t slash = ref.name.find('/');
  const std::string kind = ref.name.substr(0, slash);
  const auto known = std::ranges::find(OwnerKinds(), kind, &OwnerKind::kind);
  if (known == OwnerKinds().end() || slash == std::string::npos) return {};
  const std::string group(known->group), version(known->versions[0]);
  return {absl::StrCat(group, "/", version), kind, ref.namespace_name,
          ref.name.substr(slash + 1), uid};
}

}  // namespace

ObjectRef QueueRef(const api::ObjectMeta& meta) {
  return {"muster.dev/v1alpha1", "Queue", "", meta.name, meta.uid};
}

ObjectRef JobRef(const std::string& namespace_name, const std::string& name,
                 const std::string& uid) {
  return {"batch/v1", "Job", namespace_name, name, uid};
}

ObjectRef GroupObject(const GroupRef& ref, const std::string& uid) {
  const auto of = [&](const char* version, const char* kind) -> ObjectRef {
    return {version, kind, ref.namespace_name, ref.name, uid};
  };
  switch (ref.kind) {
    case GroupKind::kPodGroup:
      return of("scheduling.k8s.io/v1beta1", "PodGroup");
    case GroupKind::kCompositeGroup:
      return of("scheduling.k8s.io/v1beta1", "CompositePodGroup");
    case GroupKind::kVolcanoGroup:
      return of("scheduling.volcano.sh/v1beta1", "PodGroup");
    case GroupKind::kCoschedulingGroup:
      return of("scheduling.x-k8s.io/v1alpha1", "PodGroup");
    case GroupKind::kOwner:
      return OwnerObject(ref, uid);
    default:
      return of("muster.dev/v1alpha1", "PodGroup");
  }
}

}  // namespace muster::kubernetes
