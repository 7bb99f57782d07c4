// Which pods start together, and what is asked of them together.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/kubernetes/api/objects.h"
#include "muster/ids.h"
#include "muster/topology.h"

namespace muster::kubernetes {

// What kind of object describes a group.
enum class GroupKind : uint8_t {
  kPod,       // A pod by itself; the name is its UID.
  kPodGroup,  // scheduling.k8s.io, spec.schedulingGroup.podGroupName.
  // Likewise: the PodGroups that name it as their parent.
  kCompositeGroup,
  // The label muster.dev/pod-group: an object of muster.dev, or, without one,
  // what the annotation muster.dev/min-pods of its pods says.
  kMusterGroup,
  kKueueGroup,  // No object: the label and annotation of Kueue's pod groups.
  kVolcanoGroup,
  kCoschedulingGroup,  // scheduling.x-k8s.io.
  // What a training operator makes its pods for, say: "TFJob/NAME"; see
  // owner_kind.h.
  kOwner,
  kJob,  // batch/v1: the owner of the pod; the name is its UID.
};

// Which group a pod is of.
struct GroupRef {
  GroupKind kind = GroupKind::kPod;
  std::string namespace_name{};
  std::string name{};

  friend auto operator<=>(const GroupRef&, const GroupRef&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const GroupRef& r) {
    return H::combine(std::move(h), r.kind, r.namespace_name, r.name);
  }
};

// Pods of a group that have a minimum of their own.
struct Subgroup {
  std::string name{};
  // So many of them run, or the group does not.
  uint32_t min_pods = 1;
  TopologyConstraint topology{};
  // Its pods are made when others run or are through: the group starts without
  // them, and what there is of them joins.
  bool later = false;

  friend bool operator==(const Subgroup&, const Subgroup&) = default;
};

// What is asked of a group, whichever object says so.
struct GroupSpec {
  // The gang's key: the object's UID, so that pods which are made again find
  // their old place. Of a group that only pods tell of, it holds the namespace,
  // so that no text of a pod makes it another namespace's.
  std::string key{};
  std::string display{};  // namespace/name.
  // So many pods run, or none does. Where only pods tell of the group, the
  // largest number that one of them says: PodRecord::min_pods.
  uint32_t min_pods = 1;
  bool by_pods = false;
  // By name; pods that name none of them count for the group alone. So many of
  // them run, each with its minimum; 0: all.
  std::vector<Subgroup> subgroups{};
  uint32_t min_subgroups = 0;
  // When it is stopped to make room, then all of it.
  bool whole = false;
  // Its pods must have this priority, and this class. A group's object raises
  // no priority.
  std::optional<int64_t> priority{};
  std::string priority_class{};
  bool may_preempt = true;
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
inline constexpr char kSubgroupLabel[] = "muster.dev/subgroup";

// Of several that it names, the first in the order of GroupKind from kPodGroup
// on; a pod that names none and has no owner is a group by itself. O(labels).
GroupRef GroupOf(const api::Pod& pod);
// Which subgroup of the group the pod says it is of; "": of none. O(labels).
std::string SubgroupOf(const GroupRef& ref, const api::Pod& pod);
// How people name the object that describes it: "PodGroup 'NAME'".
std::string Describe(const GroupRef& ref);

// Of a group that needs no object, but for its minimum. None: the group has an
// object, which is to be waited for.
std::optional<GroupSpec> SpecFromPod(const GroupRef& ref, const api::Pod& pod);
// The annotation by which its pods say how many start together; null: they
// cannot.
const char* MinPodsAnnotation(GroupKind kind);
// What the pod says there; 0: no number from 1 to Gang::kMaxTasks. None: it
// says nothing.
std::optional<uint32_t> MinPodsOf(const GroupRef& ref, const api::Pod& pod);

}  // namespace muster::kubernetes
