// Objects as Events name them.
#pragma once

#include <string>

#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/controller/requests.h"
#include "adapters/kubernetes/model/group.h"

namespace muster::kubernetes {

inline ObjectRef QueueRef(const api::ObjectMeta& meta) {
  return {"muster.dev/v1alpha1", "Queue", "", meta.name, meta.uid};
}

inline ObjectRef JobRef(const std::string& namespace_name,
                        const std::string& name, const std::string& uid) {
  return {"batch/v1", "Job", namespace_name, name, uid};
}

// A group that has an object, of that UID.
inline ObjectRef GroupObject(const GroupRef& ref, const std::string& uid) {
  const bool native = ref.kind == GroupKind::kPodGroup;
  return {native ? "scheduling.k8s.io/v1beta1" : "muster.dev/v1alpha1",
          "PodGroup", ref.namespace_name, ref.name, uid};
}

}  // namespace muster::kubernetes
