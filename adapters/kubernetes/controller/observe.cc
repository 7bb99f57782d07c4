// What the API server tells, as records.
#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/controller/controller.h"
#include "adapters/kubernetes/model/translate_node.h"
#include "adapters/kubernetes/model/translate_pod.h"

namespace muster::kubernetes {
namespace {

constexpr char kCompletionIndex[] = "batch.kubernetes.io/job-completion-index";

Time ToTime(api::UnixMillis ms) {
  return std::clamp<Time>(ms, 0, kMaxTime / kMillisecond) * kMillisecond;
}

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

// Few roles differ, and those that do differ here.
size_t HashOf(const Role& role) {
  size_t hash = role.shape.devices.count;
  for (ResourceKind k = 0; k < role.shape.resources.size(); ++k) {
    hash = hash * 1'000'003 + static_cast<size_t>(role.shape.resources[k]);
  }
  return hash * 31 + role.tolerations.size();
}

}  // namespace

bool Controller::Manages(const api::Pod& pod) const {
  return std::ranges::find(options_.scheduler_names, pod.scheduler_name) !=
         options_.scheduler_names.end();
}

std::shared_ptr<const Role> Controller::Share(Role role) {
  std::vector<std::weak_ptr<const Role>>& alike = roles_[HashOf(role)];
  std::erase_if(alike, [](const auto& known) { return known.expired(); });
  for (const std::weak_ptr<const Role>& known : alike) {
    if (auto shared = known.lock(); *shared == role) return shared;
  }
  auto shared = std::make_shared<const Role>(std::move(role));
  alike.push_back(shared);
  return shared;
}

PodRecord Controller::ToRecord(const api::Pod& pod) {
  PodRecord record;
  record.ref = {pod.meta.namespace_name, pod.meta.name, pod.meta.uid};
  record.group = GroupOf(pod);
  auto role = ToRole(pod, kinds_);
  if (role.ok()) {
    record.role = Share(*std::move(role));
  } else {
    record.error = std::string(role.status().message());
    record.usage = UsageOf(pod);
  }
  const auto queue = pod.meta.labels.find(kQueueLabel);
  if (queue != pod.meta.labels.end()) record.queue = queue->second;
  record.priority = pod.priority.value_or(0);
  record.may_preempt = pod.preemption_policy != "Never";
  record.created = ToTime(pod.meta.creation);
  if (pod.start_time) record.started = ToTime(*pod.start_time);
  record.index = IndexOf(pod);
  record.node = pod.node_name;
  record.gated = !pod.scheduling_gates.empty();
  record.deleting = pod.meta.deletion.has_value();
  if (pod.phase == "Succeeded") record.end = PodRecord::End::kSucceeded;
  if (pod.phase == "Failed") record.end = PodRecord::End::kFailed;
  return record;
}

PodUsage Controller::UsageOf(const api::Pod& pod) const {
  Resources amount = kinds_.Request(pod.requests);
  amount.Set(kinds_.KindOf(kPods), 1);
  const int64_t devices =
      std::min<int64_t>(kinds_.Devices(pod.requests), DeviceSet::kCapacity);
  return {pod.node_name, std::move(amount), static_cast<uint32_t>(devices)};
}

void Controller::UpdateUsage(GangRecord* gang) {
  for (const auto& [uid, task] : gang->members()) {
    const auto it = pods_.find(uid);
    if (it == pods_.end()) continue;
    const PodRecord& pod = it->second;
    PodUsage usage;
    const bool placed = task && gang->SlotOf(*task)->placed();
    if (!placed && !pod.node.empty() && pod.end == PodRecord::End::kNone) {
      usage = pod.role == nullptr
                  ? pod.usage
                  : PodUsage{pod.node, pod.role->shape.resources,
                             pod.role->shape.devices.count};
    }
    nodes_.SetUsage(uid, std::move(usage));
  }
}

void Controller::Observe(const api::Node& node) {
  config_due_ |= kinds_.Learn(node.allocatable);
  auto translated = ToNode(node, kinds_, options_.model_label);
  if (translated.ok()) {
    nodes_.Set(*std::move(translated));
  } else {
    // It is not used until it says what it means.
    nodes_.Remove(node.meta.name);
  }
}

void Controller::NodeGone(const std::string& name) { nodes_.Remove(name); }

void Controller::Observe(const api::Pod& pod) {
  config_due_ |= kinds_.Learn(pod.requests);
  if (!Manages(pod)) {
    const bool ended = pod.phase == "Succeeded" || pod.phase == "Failed";
    const bool runs = !pod.node_name.empty() && !ended;
    nodes_.SetUsage(pod.meta.uid, runs ? UsageOf(pod) : PodUsage());
    return;
  }
  PodRecord record = ToRecord(pod);
  const auto [it, is_new] = pods_.try_emplace(record.ref.uid);
  if (!is_new && it->second == record) return;
  if (!is_new && it->second.group != record.group) PodGone(record.ref.uid);
  GangRecord& gang = gangs_[record.group];
  gang.ref = record.group;
  if (!gang.spec) gang.spec = SpecFromPod(record.group, pod);
  gang.Add(record.ref.uid);
  Touch(record.group);
  pods_[record.ref.uid] = std::move(record);
}

void Controller::PodGone(const std::string& uid) {
  nodes_.SetUsage(uid, {});
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return;
  const GroupRef group = it->second.group;
  pods_.erase(it);
  gangs_[group].Remove(uid);
  Touch(group);
}

void Controller::Observe(const api::PodGroup& group) {
  const GroupRef ref{GroupKind::kPodGroup, group.meta.namespace_name,
                     group.meta.name};
  GroupSpec spec = ToSpec(group);
  GangRecord& gang = gangs_[ref];
  gang.ref = ref;
  // One of that name that is another object is another gang.
  if (gang.spec && gang.spec->key != spec.key && !gang.told.key.empty()) {
    MustTell(GangFinished{gang.told.key});
    Forget(&gang);
  }
  if (!spec.topology.topology.empty() &&
      topologies_.insert(spec.topology.topology).second) {
    config_due_ = true;
  }
  gang.spec = std::move(spec);
  Touch(ref);
}

void Controller::GroupGone(const GroupRef& ref) {
  const auto it = gangs_.find(ref);
  if (it == gangs_.end()) return;
  it->second.gone = true;
  Touch(ref);
}

}  // namespace muster::kubernetes
