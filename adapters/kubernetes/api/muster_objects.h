// Muster's own objects, of the group muster.dev/v1alpha1. Plain values, as in
// objects.h; what their fields mean is said in muster/queue.h and
// muster/gang.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapters/kubernetes/api/objects.h"
#include "muster/queue.h"

namespace muster::kubernetes::api {

// spec.quotas[] of a Queue: {resource, guarantee, limit, borrowLimit}, amounts
// as quantities, here in thousandths.
struct QueueQuota {
  std::string resource{};
  std::optional<int64_t> guarantee{};
  std::optional<int64_t> limit{};
  std::optional<int64_t> borrow_limit{};

  friend bool operator==(const QueueQuota&, const QueueQuota&) = default;
};

// Queue, cluster-scoped:
//   spec: {parent, weight, band, ordering: BestEffortFIFO | StrictFIFO,
//          closed, held,
//          quotas: [...], preemption: {within: Never | LowerPriority |
//          LowerOrNewerEqualPriority, across: Never | LowerPriority | Any,
//          borrowing: Never | LowerPriority, borrowingThreshold},
//          namespaces: {names: [...], selector: {...}}}
struct Queue {
  ObjectMeta meta{};
  std::string parent{};
  uint32_t weight = 1;  // 1..muster::Queue::kMaxWeight.
  int32_t band = 0;
  QueueOrdering ordering = QueueOrdering::kBestEffortFifo;
  bool closed = false;
  bool held = false;
  std::vector<QueueQuota> quotas{};  // No resource twice.
  PreemptionPolicy preemption{};
  // Pods of these namespaces may be submitted: of those named and those
  // selected. Neither is set: of every namespace.
  bool has_namespaces = false;  // spec.namespaces is set.
  std::vector<std::string> namespace_names{};
  std::optional<LabelSelector> namespace_selector{};
  // JSON paths of fields that this version does not know.
  std::vector<std::string> not_understood{};

  friend bool operator==(const Queue&, const Queue&) = default;
};

// slices[] of a topology: every `size` tasks sit in one domain of the level.
struct TopologySlice {
  std::string required{};
  int64_t size = 0;  // 1 or more.

  friend bool operator==(const TopologySlice&, const TopologySlice&) = default;
};

// topology: {required, preferred, slices: [{required, size}]}, levels by name.
struct GroupTopology {
  std::string required{};
  std::string preferred{};
  std::vector<TopologySlice> slices{};  // Outer first.

  friend bool operator==(const GroupTopology&, const GroupTopology&) = default;
};

// groups[] of a PodGroup: pods that a label says are in it.
struct MemberGroup {
  std::string name{};  // Unique in the PodGroup.
  std::optional<int32_t> min_member{};
  GroupTopology topology{};

  friend bool operator==(const MemberGroup&, const MemberGroup&) = default;
};

// PodGroup, namespaced:
//   spec: {queue, priorityClassName, minMember, groups: [...], topology: {...}}
struct MusterPodGroup {
  ObjectMeta meta{};
  std::string queue{};
  std::string priority_class_name{};
  std::optional<int32_t> min_member{};
  std::vector<MemberGroup> groups{};
  GroupTopology topology{};
  std::vector<std::string> not_understood{};  // As in a Queue.

  friend bool operator==(const MusterPodGroup&,
                         const MusterPodGroup&) = default;
};

}  // namespace muster::kubernetes::api
