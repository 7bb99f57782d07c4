#include "adapters/kubernetes/controller/pod_record.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
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

}  // namespace

PodRecord::End EndOf(const api::Pod& pod) {
  if (pod.phase == "Succeeded") return PodRecord::End::kSucceeded;
  if (pod.phase == "Failed") return PodRecord::End::kFailed;
  return PodRecord::End::kNone;
}

PodUsage UsageOf(const api::Pod& pod, const ResourceKinds& kinds) {
  const int64_t devices =
      std::min<int64_t>(kinds.Devices(pod.requests), DeviceSet::kCapacity);
  return {pod.node_name, kinds.Request(pod.requests),
          static_cast<uint32_t>(devices)};
}

PodRecord ToRecord(const api::Pod& pod, const ResourceKinds& kinds,
                   const PodRecord* known, RolePool* roles) {
  PodRecord record;
  record.ref = {pod.meta.namespace_name, pod.meta.name, pod.meta.uid};
  record.group = GroupOf(pod);
  auto role = ToRole(pod, kinds);
  if (role.ok()) {
    record.own_role = roles->Share(*std::move(role));
    record.role = record.own_role;
  } else {
    record.error = std::string(role.status().message());
    record.usage = UsageOf(pod, kinds);
  }
  const auto queue = pod.meta.labels.find(kQueueLabel);
  if (queue != pod.meta.labels.end()) record.queue = queue->second;
  if (known != nullptr && *known->labels == pod.meta.labels) {
    record.labels = known->labels;
  } else {
    record.labels = std::make_shared<const api::StringMap>(pod.meta.labels);
  }
  record.claims = ClaimsOf(pod);
  if (known != nullptr && known->own_role == record.own_role) {
    record.role = known->role;
    record.lacks = known->lacks;
    record.lacks_told = known->lacks_told;
  }
  record.priority = pod.priority.value_or(0);
  record.may_preempt = pod.preemption_policy != "Never";
  record.created = ToTime(pod.meta.creation);
  if (pod.start_time) record.started = ToTime(*pod.start_time);
  record.index = IndexOf(pod);
  record.node = pod.node_name;
  record.gated = !pod.scheduling_gates.empty();
  record.deleting = pod.meta.deletion.has_value();
  record.end = EndOf(pod);
  return record;
}

}  // namespace muster::kubernetes
