// URL paths of the API server. Names come from objects that anybody may have
// written: one that would leave its segment of the path is refused, and what
// is no letter, digit or one of -._~ is percent-encoded. Pure functions: any
// thread; O(bytes).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "adapters/text/percent.h"

namespace muster::kubernetes::api {

// A kind of objects as the server's paths name it.
struct ResourceType {
  std::string_view group{};  // "" for the core.
  std::string_view version{};
  std::string_view plural{};
  bool namespaced = true;
  std::string_view kind{};  // Of its objects, where somebody has to name it.
};

inline constexpr ResourceType kPods{"", "v1", "pods", true, "Pod"};
inline constexpr ResourceType kNodes{"", "v1", "nodes", false, "Node"};
inline constexpr ResourceType kNamespaces{"", "v1", "namespaces", false,
                                          "Namespace"};
inline constexpr ResourceType kResourceQuotas{"", "v1", "resourcequotas", true,
                                              "ResourceQuota"};
inline constexpr ResourceType kPersistentVolumes{"", "v1", "persistentvolumes",
                                                 false, "PersistentVolume"};
inline constexpr ResourceType kPersistentVolumeClaims{
    "", "v1", "persistentvolumeclaims", true, "PersistentVolumeClaim"};
inline constexpr ResourceType kEvents{"events.k8s.io", "v1", "events"};
inline constexpr ResourceType kLeases{"coordination.k8s.io", "v1", "leases"};
inline constexpr ResourceType kStorageClasses{
    "storage.k8s.io", "v1", "storageclasses", false, "StorageClass"};
inline constexpr ResourceType kPriorityClasses{"scheduling.k8s.io", "v1",
                                               "priorityclasses", false};
inline constexpr ResourceType kPodDisruptionBudgets{
    "policy", "v1", "poddisruptionbudgets", true, "PodDisruptionBudget"};
inline constexpr ResourceType kJobs{"batch", "v1", "jobs", true, "Job"};
inline constexpr ResourceType kQueues{"muster.dev", "v1alpha1", "queues", false,
                                      "Queue"};
inline constexpr ResourceType kMusterPodGroups{"muster.dev", "v1alpha1",
                                               "podgroups", true, "PodGroup"};
inline constexpr ResourceType kCoschedulingPodGroups{
    "scheduling.x-k8s.io", "v1alpha1", "podgroups", true, "PodGroup"};
inline constexpr ResourceType kVolcanoPodGroups{
    "scheduling.volcano.sh", "v1beta1", "podgroups", true, "PodGroup"};

// Of scheduling.k8s.io, in the version that is served: "v1beta1", ...
constexpr ResourceType PodGroupsOf(std::string_view version) {
  return {"scheduling.k8s.io", version, "podgroups", true, "PodGroup"};
}
constexpr ResourceType CompositePodGroupsOf(std::string_view version) {
  return {"scheduling.k8s.io", version, "compositepodgroups", true,
          "CompositePodGroup"};
}

// Whether the server takes it for a name in a path: 1 to 253 bytes, not "." or
// "..", no '/' or '%', no control characters.
bool IsPathSegment(std::string_view name);

// "/api/v1/namespaces/NAMESPACE/pods". `namespace_name` "" means the objects of
// all namespaces; it has to be "" where the type has none. Errors:
// InvalidArgument names the part.
absl::StatusOr<std::string> CollectionPath(const ResourceType& type,
                                           std::string_view namespace_name);

// "/api/v1/namespaces/NAMESPACE/pods/NAME/SUBRESOURCE"; a namespace has to be
// given where the type has one. Errors as above.
absl::StatusOr<std::string> ObjectPath(const ResourceType& type,
                                       std::string_view namespace_name,
                                       std::string_view name,
                                       std::string_view subresource = "");

// Where to POST a pod's Binding, and its Eviction.
absl::StatusOr<std::string> BindingPath(std::string_view namespace_name,
                                        std::string_view pod);
absl::StatusOr<std::string> EvictionPath(std::string_view namespace_name,
                                         std::string_view pod);

// A path to the objects that own pods, of a type that is known by the
// apiVersion and kind of an ownerReference: the plural is the kind in lower
// case with "s", or "es" behind s, x, z, ch and sh. Errors as above.
absl::StatusOr<std::string> OwnerPath(std::string_view api_version,
                                      std::string_view kind,
                                      std::string_view namespace_name,
                                      std::string_view name);

using text::PercentEncoded;

}  // namespace muster::kubernetes::api
