#include "adapters/kubernetes/controller/pod_record.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "adapters/kubernetes/model/checkpoint.h"
#include "adapters/kubernetes/model/owner_kind.h"
#include "adapters/kubernetes/model/translate_pod.h"
#include "adapters/kubernetes/model/unix_time.h"
#include "muster/device_set.h"

namespace muster::kubernetes {
namespace {

constexpr char kCompletionIndex[] = "batch.kubernetes.io/job-completion-index";

std::optional<uint32_t> IndexOf(const api::Pod& pod) {
  for (const char* key : {kCompletionIndex, kTaskAnnotation}) {
    const auto it = pod.meta.annotations.find(key);
    uint32_t index = 0;
    if (it != pod.meta.annotations.end() &&
        absl::SimpleAtoi(it->second, &index)) {
      return index;
    }
  }
  return std::nullopt;
}

// The value, as `known` has it if it is equal.
template <typename T>
std::shared_ptr<const T> Shared(const T& value,
                                const std::shared_ptr<const T>& known) {
  if (known != nullptr && *known == value) return known;
  return std::make_shared<const T>(value);
}

// Of an object that the pod names by its UID as well.
std::string GroupUidOf(const GroupRef& ref, const api::Pod& pod) {
  if (ref.kind != GroupKind::kOwner) return "";
  for (const api::OwnerReference& owner : pod.meta.owners) {
    const bool is_group =
        OwnerGroup(owner.kind, ref.namespace_name, owner.name) == ref;
    if (owner.controller && is_group) return owner.uid;
  }
  return "";
}

}  // namespace

PodRecord::End EndOf(const api::Pod& pod) {
  if (pod.phase == "Succeeded") return PodRecord::End::kSucceeded;
  if (pod.phase == "Failed") return PodRecord::End::kFailed;
  return PodRecord::End::kNone;
}

bool IsSettled(const api::Pod& pod) {
  const bool pending = pod.phase.empty() || pod.phase == "Pending";
  return !pending || pod.start_time.has_value();
}

PodUsage UsageOf(const api::Pod& pod, const ResourceKinds& kinds) {
  const int64_t devices =
      std::min<int64_t>(kinds.Devices(pod.requests), DeviceSet::kCapacity);
  return {.node = pod.node_name,
          .amount = kinds.Request(pod.requests),
          .devices = static_cast<uint32_t>(devices),
          .settled = IsSettled(pod),
          .created = ToTime(pod.meta.creation)};
}

PodRecord ToRecord(const api::Pod& pod, const ResourceKinds& kinds,
                   const PodRecord* known, RolePool* roles) {
  PodRecord record;
  record.ref = {pod.meta.namespace_name, pod.meta.name, pod.meta.uid};
  record.group = GroupOf(pod);
  record.subgroup = SubgroupOf(record.group, pod);
  record.group_uid = GroupUidOf(record.group, pod);
  record.min_pods = MinPodsOf(record.group, pod);
  auto role = roles->Share(pod, kinds);
  auto spreads = SpreadsOf(pod);
  if (role.ok() && !spreads.ok()) role = spreads.status();
  const bool spreads_out = spreads.ok() && !spreads->empty();
  if (spreads_out && record.group.kind == GroupKind::kPod) {
    // There are no others to count.
    role = absl::UnimplementedError(
        "spec.topologySpreadConstraints with DoNotSchedule is supported within "
        "a group alone");
  }
  if (role.ok()) {
    if (spreads_out) {
      record.spreads =
          Shared(*spreads, known == nullptr ? nullptr : known->spreads);
    }
    record.own_role = *std::move(role);
    record.role = record.own_role;
  } else {
    record.error = std::string(role.status().message());
    record.usage = UsageOf(pod, kinds);
  }
  const auto queue = pod.meta.labels.find(kQueueLabel);
  if (queue != pod.meta.labels.end()) record.queue = queue->second;
  record.labels =
      Shared(pod.meta.labels, known == nullptr ? nullptr : known->labels);
  const auto checkpoint = CheckpointOf(pod.meta.annotations);
  if (checkpoint.ok()) {
    record.checkpoint = *checkpoint;
  } else {
    record.annotation_error = std::string(checkpoint.status().message());
  }
  for (const api::OwnerReference& owner : pod.meta.owners) {
    if (owner.controller && owner.kind == "Job") record.job = owner.uid;
  }
  record.claims = ClaimsOf(pod);
  if (known != nullptr && known->own_role == record.own_role) {
    record.role = known->role;
    record.lacks = known->lacks;
    record.lacks_told = known->lacks_told;
  }
  if (known != nullptr) record.refused = known->refused;
  record.priority = pod.priority.value_or(0);
  record.priority_class = pod.priority_class_name;
  record.may_preempt = pod.preemption_policy != "Never";
  record.unused_spreads = !UnusedSpreadsOf(pod).empty();
  record.created = ToTime(pod.meta.creation);
  if (pod.start_time) record.started = ToTime(*pod.start_time);
  record.index = IndexOf(pod);
  record.node = pod.node_name;
  record.gated = !pod.scheduling_gates.empty();
  record.deleting = pod.meta.deletion.has_value();
  record.settled = IsSettled(pod);
  record.end = EndOf(pod);
  return record;
}

}  // namespace muster::kubernetes
