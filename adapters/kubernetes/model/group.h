// Which pods start together, and what is asked of them together.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "adapters/kubernetes/api/muster_objects.h"
#include "adapters/kubernetes/api/objects.h"
#include "muster/ids.h"
#include "muster/topology.h"

namespace muster::kubernetes {

// What kind of object describes a group.
enum class GroupKind : uint8_t {
  kPod,       // A pod by itself; the name is its UID.
  kPodGroup,  // scheduling.k8s.io, spec.schedulingGroup.podGroupName.
  // The label muster.dev/pod-group: an object of muster.dev, or, without one,
  // what the annotation muster.dev/min-pods of its pods says.
  kMusterGroup,
  kKueueGroup,  // No object: the label and annotation of Kueue's pod groups.
  kVolcanoGroup,
  kCoschedulingGroup,  // scheduling.x-k8s.io.
  kJob,                // batch/v1: the owner of the pod; the name is its UID.
};

// Which group a pod is of.
struct GroupRef {
  GroupKind kind = GroupKind::kPod;
  std::string namespace_name{};
  std::string name{};

  friend auto operator<=>(const GroupRef&, const GroupRef&) = default;
};

// What is asked of a group, whichever object says so.
struct GroupSpec {
  // The gang's key: the object's UID, so that pods which are made again find
  // their old place; of a group without an object its namespace and name.
  std::string key{};
  std::string display{};  // namespace/name.
  // So many pods run, or none does.
  uint32_t min_pods = 1;
  std::string queue{};  // Empty: as the pods say, else the default one.
  Time submitted = 0;
  TopologyConstraint topology{};
  // Something makes its pods again when they are stopped.
  bool has_controller = true;
  // The group was found to be faulty: what is wrong. None of its pods starts.
  std::string error{};

  friend bool operator==(const GroupSpec&, const GroupSpec&) = default;
};

inline constexpr char kPodGroupLabel[] = "muster.dev/pod-group";
inline constexpr char kMinPodsAnnotation[] = "muster.dev/min-pods";
inline constexpr char kQueueLabel[] = "muster.dev/queue";

// Of several that it names, the first in the order of GroupKind from kPodGroup
// on; a pod that names none and has no Job is a group by itself. O(labels).
GroupRef GroupOf(const api::Pod& pod);

// Of a group that needs no object: its pods say how many they are. None: this
// kind has an object, which is to be waited for.
std::optional<GroupSpec> SpecFromPod(const GroupRef& ref, const api::Pod& pod);

GroupSpec ToSpec(const api::PodGroup& group);
// Levels are those of the first of the topologies that has them; a required
// level of none is a label key by itself, and a topology with that one level.
GroupSpec ToSpec(const api::MusterPodGroup& group,
                 std::span<const Topology> topologies);

}  // namespace muster::kubernetes
