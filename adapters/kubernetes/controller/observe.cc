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
  const auto known = pods_.find(record.ref.uid);
  if (known != pods_.end() && *known->second.labels == pod.meta.labels) {
    record.labels = known->second.labels;
  } else {
    record.labels = std::make_shared<const api::StringMap>(pod.meta.labels);
  }
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

void Controller::UpdateBudgets(const GangRecord& gang) {
  const std::string& ns = gang.ref.namespace_name;
  for (const auto& [uid, task] : gang.members()) {
    const auto it = pods_.find(uid);
    const bool counts = it != pods_.end() && !it->second.node.empty() &&
                        it->second.end == PodRecord::End::kNone &&
                        !gang.told.key.empty();
    if (counts) {
      budgets_.SetPod(ns, uid, gang.told.key, *it->second.labels);
    } else {
      budgets_.RemovePod(ns, uid);
    }
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
  const auto known = pods_.find(record.ref.uid);
  if (known != pods_.end()) {
    if (known->second == record) return;
    if (known->second.group != record.group) PodGone(record.ref.uid);
  }
  GangRecord& gang = GangOf(record.group);
  if (!gang.spec) {
    gang.spec = SpecFromPod(record.group, pod);
    const auto job = jobs_.find(record.group.name);
    if (record.group.kind == GroupKind::kJob && job != jobs_.end()) {
      gang.spec->submitted = job->second;
    }
  }
  gang.Add(record.ref.uid);
  if (known == pods_.end()) gang.reported.clear();  // It has not heard it.
  Touch(record.group);
  pods_[record.ref.uid] = std::move(record);
}

void Controller::PodGone(const std::string& uid) {
  nodes_.SetUsage(uid, {});
  const auto it = pods_.find(uid);
  if (it == pods_.end()) return;
  const GroupRef group = it->second.group;
  budgets_.RemovePod(group.namespace_name, uid);
  pods_.erase(it);
  gangs_[group].Remove(uid);
  Touch(group);
}

GangRecord& Controller::GangOf(const GroupRef& ref) {
  const auto [it, is_new] = gangs_.try_emplace(ref);
  GangRecord& gang = it->second;
  gang.ref = ref;
  if (is_new && synced_) gang.arrival = next_arrival_++ % kSecond;
  return gang;
}

void Controller::SetGroup(const GroupRef& ref, GroupSpec spec) {
  GangRecord& gang = GangOf(ref);
  gang.has_object = true;
  gang.gone = false;
  // One of that name that is another object is another gang.
  if (gang.spec && gang.spec->key != spec.key && !gang.told.key.empty()) {
    MustTell(GangFinished{gang.told.key});
    Forget(&gang);
  }
  const std::string& topology = spec.topology.topology;
  if (!topology.empty() &&
      std::ranges::find(options_.topologies, topology, &Topology::key) ==
          options_.topologies.end()) {
    config_due_ |= topologies_.insert(topology).second;
  }
  gang.spec = std::move(spec);
  Touch(ref);
}

void Controller::Observe(const api::PodGroup& group) {
  SetGroup({GroupKind::kPodGroup, group.meta.namespace_name, group.meta.name},
           ToSpec(group));
}

void Controller::Observe(const api::MusterPodGroup& group) {
  SetGroup(
      {GroupKind::kMusterGroup, group.meta.namespace_name, group.meta.name},
      ToSpec(group, options_.topologies));
}

void Controller::Observe(const api::Owner& job) {
  const Time created = ToTime(job.meta.creation);
  jobs_[job.meta.uid] = created;
  const GroupRef ref{GroupKind::kJob, job.meta.namespace_name, job.meta.uid};
  const auto gang = gangs_.find(ref);
  if (gang == gangs_.end() || !gang->second.spec) return;
  if (std::exchange(gang->second.spec->submitted, created) != created) {
    Touch(ref);
  }
}

void Controller::JobGone(const std::string& namespace_name,
                         const std::string& uid) {
  jobs_.erase(uid);
  GroupGone({GroupKind::kJob, namespace_name, uid});
}

void Controller::Observe(const api::Queue& queue) {
  api::ResourceList resources;
  for (const api::QueueQuota& quota : queue.quotas) {
    resources[quota.resource] = 0;
  }
  config_due_ |= kinds_.Learn(resources);
  queues_.Set(queue);
}

void Controller::QueueGone(const std::string& name) { queues_.Remove(name); }

void Controller::Observe(const api::Namespace& ns) {
  queues_.SetNamespace(ns.meta.name, ns.meta.labels);
  dirty_.merge(outside_);
  outside_.clear();
}

void Controller::NamespaceGone(const std::string& name) {
  queues_.RemoveNamespace(name);
}

void Controller::Observe(const api::PodDisruptionBudget& budget) {
  budgets_.Set(budget);
}

void Controller::BudgetGone(const std::string& namespace_name,
                            const std::string& name) {
  budgets_.Remove(namespace_name, name);
}

void Controller::GroupGone(const GroupRef& ref) {
  const auto it = gangs_.find(ref);
  if (it == gangs_.end()) return;
  it->second.has_object = false;
  it->second.gone = true;
  Touch(ref);
}

}  // namespace muster::kubernetes
