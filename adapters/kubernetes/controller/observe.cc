// What the API server tells, as records.
#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/controller/controller.h"
#include "adapters/kubernetes/model/translate_node.h"
#include "adapters/kubernetes/model/translate_pod.h"
#include "adapters/kubernetes/model/unix_time.h"

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

PodRecord::End EndOf(const api::Pod& pod) {
  if (pod.phase == "Succeeded") return PodRecord::End::kSucceeded;
  if (pod.phase == "Failed") return PodRecord::End::kFailed;
  return PodRecord::End::kNone;
}

}  // namespace

bool Controller::Manages(const api::Pod& pod) const {
  return std::ranges::find(options_.scheduler_names, pod.scheduler_name) !=
         options_.scheduler_names.end();
}

PodRecord Controller::ToRecord(const api::Pod& pod) {
  PodRecord record;
  record.ref = {pod.meta.namespace_name, pod.meta.name, pod.meta.uid};
  record.group = GroupOf(pod);
  auto role = ToRole(pod, kinds_);
  if (role.ok()) {
    record.role = roles_.Share(*std::move(role));
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
  record.end = EndOf(pod);
  return record;
}

PodUsage Controller::UsageOf(const api::Pod& pod) const {
  const int64_t devices =
      std::min<int64_t>(kinds_.Devices(pod.requests), DeviceSet::kCapacity);
  return {pod.node_name, kinds_.Request(pod.requests),
          static_cast<uint32_t>(devices)};
}

void Controller::UpdateUsage(GangRecord* gang) {
  for (const auto& [uid, task] : gang->members()) {
    const auto it = pods_.find(uid);
    if (it == pods_.end()) continue;
    const PodRecord& pod = it->second;
    PodUsage usage;
    const bool placed = task && gang->SlotOf(*task)->placed();
    if (!placed && pod.runs()) {
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
    const bool counts =
        it != pods_.end() && it->second.runs() && !gang.told.key.empty();
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

void Controller::LoseNode(const std::string& name) {
  for (auto& [ref, gang] : gangs_) {
    if (gang.LoseNode(name)) Touch(ref);
  }
}

void Controller::Observe(const api::Pod& pod) {
  config_due_ |= kinds_.LearnRequested(pod.requests);
  if (!Manages(pod)) {
    const bool runs =
        !pod.node_name.empty() && EndOf(pod) == PodRecord::End::kNone;
    nodes_.SetUsage(pod.meta.uid, runs ? UsageOf(pod) : PodUsage());
    return;
  }
  PodRecord record = ToRecord(pod);
  const auto known = pods_.find(record.ref.uid);
  if (known != pods_.end()) {
    // A binding is for good; what says otherwise is older than its answer.
    if (record.node.empty()) record.node = known->second.node;
    if (known->second == record) return;
    if (known->second.group != record.group) PodGone(record.ref.uid);
  }
  GangRecord& gang = GangOf(record.group);
  if (!gang.spec) {
    gang.spec = SpecFromPod(record.group, pod);
    const auto job =
        jobs_.find({record.group.namespace_name, record.group.name});
    if (record.group.kind == GroupKind::kJob && job != jobs_.end()) {
      gang.spec->submitted = job->second;
    }
  }
  gang.Add(record.ref.uid);
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
  gang.spec = std::move(spec);
  if (!LearnTopology(gang.spec->topology.topology) &&
      gang.spec->error.empty()) {
    gang.spec->error =
        "topology: there are too many, or this is no label's key";
  }
  if (!gang.spec->error.empty()) gang.spec->topology = {};
  Touch(ref);
}

bool Controller::LearnTopology(const std::string& key) {
  if (key.empty() || topologies_.contains(key) ||
      std::ranges::find(options_.topologies, key, &Topology::key) !=
          options_.topologies.end()) {
    return true;
  }
  if (key.size() > kMaxKeyLength) return false;
  const size_t room =
      SchedulerConfig::kMaxTopologies - options_.topologies.size();
  if (topologies_.size() >= room) {  // Those of groups that are over may go.
    std::set<std::string> used;
    for (const auto& [ref, gang] : gangs_) {
      if (gang.spec) used.insert(gang.spec->topology.topology);
      for (const Group& group : gang.told.groups) {
        used.insert(group.topology.topology);
      }
    }
    used.erase(key);
    std::erase_if(topologies_, [&](const std::string& known) {
      return !used.contains(known);
    });
  }
  if (topologies_.size() >= room) return false;
  topologies_.insert(key);
  config_due_ = true;
  return true;
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
  jobs_[{job.meta.namespace_name, job.meta.uid}] = created;
  const GroupRef ref{GroupKind::kJob, job.meta.namespace_name, job.meta.uid};
  const auto gang = gangs_.find(ref);
  if (gang == gangs_.end() || !gang->second.spec) return;
  if (std::exchange(gang->second.spec->submitted, created) != created) {
    Touch(ref);
  }
}

void Controller::JobGone(const std::string& namespace_name,
                         const std::string& uid) {
  jobs_.erase({namespace_name, uid});
  GroupGone({GroupKind::kJob, namespace_name, uid});
}

void Controller::Observe(const api::Queue& queue) {
  api::ResourceList resources;
  for (const api::QueueQuota& quota : queue.quotas) {
    resources[quota.resource] = 0;
  }
  config_due_ |= kinds_.Learn(resources);
  if (queues_.Set(queue)) TouchAllOf(queue.meta.name, "");
}

void Controller::QueueGone(const std::string& name) {
  queues_.Remove(name);
  TouchAllOf(name, "");
}

void Controller::Observe(const api::Namespace& ns) {
  if (!queues_.SetNamespace(ns.meta.name, ns.meta.labels)) return;
  TouchAllOf("", ns.meta.name);
}

void Controller::NamespaceGone(const std::string& name) {
  queues_.RemoveNamespace(name);
  TouchAllOf("", name);
}

void Controller::TouchAllOf(const std::string& queue,
                            const std::string& namespace_name) {
  for (const auto& [ref, gang] : gangs_) {
    const bool of_queue = !queue.empty() && gang.told.queue == queue;
    if (of_queue || ref.namespace_name == namespace_name) Touch(ref);
  }
  TouchOutside();
}

void Controller::TouchOutside() {
  dirty_.merge(outside_);
  outside_.clear();
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
