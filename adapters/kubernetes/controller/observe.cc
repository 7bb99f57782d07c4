// What the API server tells, as records.
#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/controller/controller.h"
#include "adapters/kubernetes/model/translate_node.h"
#include "adapters/kubernetes/model/translate_pod.h"

namespace muster::kubernetes {
namespace {

constexpr char kCompletionIndex[] = "batch.kubernetes.io/job-completion-index";

// Beyond so many, those that nobody has are looked for.
constexpr size_t kFewRoles = 1024;

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

// Of what roles of pods differ in; equal for equal ones.
class RoleHash {
 public:
  explicit RoleHash(const Role& role) {
    Add(role.shape.devices.count);
    for (ResourceKind k = 0; k < role.shape.resources.size(); ++k) {
      const int64_t amount = role.shape.resources[k];
      if (amount != 0) Add(k * 31 + static_cast<size_t>(amount));
    }
    for (const SelectorTerm& term : role.shape.selector.any_of) Add(term);
    for (const Preference& preference : role.preferences) Add(preference.term);
    for (const Toleration& t : role.tolerations) {
      Add(t.key);
      Add(t.value);
    }
  }
  size_t value() const { return value_; }

 private:
  void Add(size_t more) { value_ = (value_ ^ more) * 0x9e3779b97f4a7c15u; }
  void Add(const std::string& text) { Add(std::hash<std::string>()(text)); }
  void Add(const SelectorTerm& term) {
    for (const Requirement& requirement : term.all_of) {
      Add(requirement.key);
      for (const std::string& value : requirement.values) Add(value);
    }
  }

  size_t value_ = 0;
};

}  // namespace

bool Controller::Manages(const api::Pod& pod) const {
  return std::ranges::find(options_.scheduler_names, pod.scheduler_name) !=
         options_.scheduler_names.end();
}

std::shared_ptr<const Role> Controller::Share(Role role) {
  const auto expired = [](const auto& known) { return known.expired(); };
  if (roles_.size() >= most_roles_) {  // Seldom: as often as it has doubled.
    std::erase_if(roles_, [&](const auto& alike) {
      return std::ranges::all_of(alike.second, expired);
    });
    most_roles_ = std::max(kFewRoles, 2 * roles_.size());
  }
  std::vector<std::weak_ptr<const Role>>& alike =
      roles_[RoleHash(role).value()];
  std::erase_if(alike, expired);
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

void Controller::LoseNode(const std::string& name) {
  for (auto& [ref, gang] : gangs_) {
    if (gang.LoseNode(name)) Touch(ref);
  }
}

void Controller::Observe(const api::Pod& pod) {
  config_due_ |= kinds_.LearnRequested(pod.requests);
  if (!Manages(pod)) {
    const bool ended = pod.phase == "Succeeded" || pod.phase == "Failed";
    const bool runs = !pod.node_name.empty() && !ended;
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
  gang.has_object = true;
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
