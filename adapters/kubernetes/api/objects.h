// Objects of the Kubernetes API, as far as a scheduler looks at them: plain
// values with Kubernetes' own field names. Absent and empty are one unless a
// field is optional. Readers make them (readers.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace muster::kubernetes::api {

// Labels, annotations, selectors.
using StringMap = std::map<std::string, std::string, std::less<>>;
// Resource name to amount, in thousandths of the unit (cores, bytes, pieces),
// rounded up as the API server does.
using ResourceList = std::map<std::string, int64_t>;
// Milliseconds since 1970.
using UnixMillis = int64_t;

struct OwnerReference {
  std::string api_version{};
  std::string kind{};
  std::string name{};
  std::string uid{};
  bool controller = false;

  friend bool operator==(const OwnerReference&,
                         const OwnerReference&) = default;
};

struct ObjectMeta {
  std::string name{};
  std::string namespace_name{};
  std::string uid{};
  std::string resource_version{};
  int64_t generation = 0;
  UnixMillis creation = 0;
  // deletionTimestamp: the object is being deleted, and gone at this time.
  std::optional<UnixMillis> deletion{};
  StringMap labels{};
  StringMap annotations{};
  std::vector<OwnerReference> owners{};

  friend bool operator==(const ObjectMeta&, const ObjectMeta&) = default;
};

// A list's own metadata.
struct ListMeta {
  std::string resource_version{};
  // Where the list goes on; "" at its end.
  std::string continue_token{};
  std::optional<int64_t> remaining{};

  friend bool operator==(const ListMeta&, const ListMeta&) = default;
};

// --- Selectors, taints -------------------------------------------------------

struct SelectorRequirement {
  std::string key{};
  std::string op{};  // "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt".
  std::vector<std::string> values{};

  friend bool operator==(const SelectorRequirement&,
                         const SelectorRequirement&) = default;
};

// A term of a node selector: all of both lists hold; matches nothing if both
// are empty.
struct NodeSelectorTerm {
  std::vector<SelectorRequirement> match_expressions{};
  std::vector<SelectorRequirement> match_fields{};  // metadata.name.

  friend bool operator==(const NodeSelectorTerm&,
                         const NodeSelectorTerm&) = default;
};

struct PreferredTerm {
  int32_t weight = 0;
  NodeSelectorTerm preference{};

  friend bool operator==(const PreferredTerm&, const PreferredTerm&) = default;
};

struct LabelSelector {
  StringMap match_labels{};
  std::vector<SelectorRequirement> match_expressions{};

  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

struct Taint {
  std::string key{};
  std::string value{};
  std::string effect{};
  std::optional<UnixMillis> time_added{};

  friend bool operator==(const Taint&, const Taint&) = default;
};

struct Toleration {
  std::string key{};
  std::string op{};
  std::string value{};
  std::string effect{};
  std::optional<int64_t> seconds{};

  friend bool operator==(const Toleration&, const Toleration&) = default;
};

// --- Nodes -------------------------------------------------------------------

struct Node {
  ObjectMeta meta{};
  bool unschedulable = false;
  std::vector<Taint> taints{};
  ResourceList allocatable{};
  // The Ready condition's status: "True", "False", "Unknown"; "" if there is
  // none.
  std::string ready{};

  friend bool operator==(const Node&, const Node&) = default;
};

// --- Pods --------------------------------------------------------------------

struct SpreadConstraint {
  int32_t max_skew = 0;
  std::string topology_key{};
  std::string when_unsatisfiable{};
  std::optional<int32_t> min_domains{};
  std::optional<LabelSelector> selector{};
  std::vector<std::string> match_label_keys{};
  std::string node_affinity_policy{};
  std::string node_taints_policy{};

  friend bool operator==(const SpreadConstraint&,
                         const SpreadConstraint&) = default;
};

// A pod's need of another object that a scheduler has to look at, or may not
// pass over.
struct PodVolume {
  std::string name{};
  // "persistentVolumeClaim", "ephemeral", "hostPath", "configMap", ...: the
  // field that is set.
  std::string type{};
  std::string claim{};  // Of a persistentVolumeClaim.

  friend bool operator==(const PodVolume&, const PodVolume&) = default;
};

// What a pod's spec asks of its node; pods of one template ask for the same.
struct PodDemand {
  // What the pod needs in all: containers, init containers, sidecars, overhead
  // and pod-level resources, by Kubernetes' rule (pod_requests.h).
  ResourceList requests{};
  StringMap node_selector{};
  std::vector<NodeSelectorTerm> required_node_affinity{};
  bool has_required_node_affinity = false;
  std::vector<PreferredTerm> preferred_node_affinity{};
  std::vector<Toleration> tolerations{};
  // Host ports in use: "TCP/0.0.0.0/8080".
  std::vector<std::string> host_ports{};
  // JSON paths of fields that are set and that a scheduler would have to
  // understand, and this one does not: spec.affinity.podAffinity.required...,
  // spec.resourceClaims, ...
  std::vector<std::string> not_understood{};

  friend bool operator==(const PodDemand&, const PodDemand&) = default;
};

struct Pod : PodDemand {
  ObjectMeta meta{};
  // spec
  std::string scheduler_name{};
  std::string node_name{};
  std::vector<SpreadConstraint> spread{};
  std::string priority_class_name{};
  std::optional<int32_t> priority{};
  std::string preemption_policy{};
  std::vector<std::string> scheduling_gates{};
  std::string pod_group_name{};  // spec.schedulingGroup.podGroupName.
  std::vector<PodVolume> volumes{};
  std::optional<int64_t> termination_grace_seconds{};
  // status
  std::string phase{};  // "Pending", "Running", "Succeeded", "Failed", ...
  std::string nominated_node_name{};
  std::optional<UnixMillis> start_time{};
  bool ready = false;  // The Ready condition is True.
  // Conditions that the scheduler writes, PodScheduled and DisruptionTarget:
  // type to "status/reason".
  StringMap conditions{};

  friend bool operator==(const Pod&, const Pod&) = default;
};

// --- Groups ------------------------------------------------------------------

// scheduling.k8s.io PodGroup, in whatever version is served.
struct PodGroup {
  ObjectMeta meta{};
  std::optional<int32_t> min_count{};  // spec.schedulingPolicy.gang.minCount.
  // spec.schedulingConstraints.topology[].key: required.
  std::vector<std::string> topology_keys{};
  std::string disruption_mode{};  // "single", "all" or "".
  std::string priority_class_name{};
  std::optional<int32_t> priority{};
  std::string preemption_policy{};
  std::string parent{};  // spec.parentCompositePodGroupName.
  // JSON paths below spec of what else is set.
  std::vector<std::string> not_understood{};

  friend bool operator==(const PodGroup&, const PodGroup&) = default;
};

// scheduling.k8s.io CompositePodGroup: a group of groups.
struct CompositePodGroup {
  ObjectMeta meta{};
  // spec.schedulingPolicy.gang.minGroupCount.
  std::optional<int32_t> min_group_count{};
  std::vector<std::string> topology_keys{};  // As in a PodGroup.
  std::string disruption_mode{};
  std::string priority_class_name{};
  std::optional<int32_t> priority{};
  std::string preemption_policy{};
  std::string parent{};
  std::vector<std::string> not_understood{};

  friend bool operator==(const CompositePodGroup&,
                         const CompositePodGroup&) = default;
};

// PodGroup of scheduling.x-k8s.io, of the scheduler plugins.
struct CoschedulingPodGroup {
  ObjectMeta meta{};
  int32_t min_member = 0;
  std::optional<int64_t> schedule_timeout_seconds{};
  ResourceList min_resources{};

  friend bool operator==(const CoschedulingPodGroup&,
                         const CoschedulingPodGroup&) = default;
};

// PodGroup of scheduling.volcano.sh.
struct VolcanoPodGroup {
  ObjectMeta meta{};
  int32_t min_member = 0;
  std::map<std::string, int32_t> min_task_member{};  // By the task's name.
  std::string queue{};
  std::string priority_class_name{};
  ResourceList min_resources{};
  std::vector<std::string> not_understood{};  // As in a PodGroup.

  friend bool operator==(const VolcanoPodGroup&,
                         const VolcanoPodGroup&) = default;
};

// --- Tenants -----------------------------------------------------------------

struct PriorityClass {
  ObjectMeta meta{};
  int32_t value = 0;
  bool global_default = false;
  std::string preemption_policy{};

  friend bool operator==(const PriorityClass&, const PriorityClass&) = default;
};

struct PodDisruptionBudget {
  ObjectMeta meta{};
  std::optional<LabelSelector> selector{};
  int32_t disruptions_allowed = 0;  // status

  friend bool operator==(const PodDisruptionBudget&,
                         const PodDisruptionBudget&) = default;
};

struct ResourceQuota {
  ObjectMeta meta{};
  ResourceList hard{};
  // It has scopes, so that it holds for some of the pods only.
  bool scoped = false;

  friend bool operator==(const ResourceQuota&, const ResourceQuota&) = default;
};

struct Namespace {
  ObjectMeta meta{};

  friend bool operator==(const Namespace&, const Namespace&) = default;
};

}  // namespace muster::kubernetes::api
