#include "test/adapters/kubernetes/fake_api.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace muster::kubernetes {
namespace {

constexpr char kGpu[] = "nvidia.com/gpu";

bool Ended(const api::Pod& pod) {
  return pod.phase == "Succeeded" || pod.phase == "Failed";
}

}  // namespace

FakeApi::FakeApi(ControllerOptions options)
    : storage([this](std::string object, auto tell) {
        Tell(std::move(object), std::move(tell));
      }),
      options_(std::move(options)),
      groups_([this](std::string object, auto tell) {
        Tell(std::move(object), std::move(tell));
      }) {
  Restart();
}

void FakeApi::Restart() {
  auto controller = Controller::Create(options_);
  ASSERT_TRUE(controller.ok()) << controller.status();
  controller_ = *std::move(controller);
  late_.clear();
  bound_.clear();
  for (const auto& [name, node] : nodes_) controller_->observer().Observe(node);
  groups_.ObserveAll(controller_.get());
  for (const auto& [name, queue] : queues_)
    controller_->observer().Observe(queue);
  for (const auto& [name, ns] : namespaces_)
    controller_->observer().Observe(ns);
  for (const auto& [name, budget] : budgets_)
    controller_->observer().Observe(budget);
  for (const auto& [name, quota] : quotas_)
    controller_->observer().Observe(quota);
  storage.ObserveAll(controller_.get());
  for (const auto& [name, pod] : pods_) controller_->observer().Observe(pod);
  ASSERT_TRUE(controller_->Synced(now_).ok());
}

void FakeApi::Die(size_t carried_out) {
  std::vector<ApiRequest> requests;
  controller_->Step(now_, &requests);
  carried_out = std::min(carried_out, requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    seen_.push_back(requests[i]);
    const auto* bind = std::get_if<BindRequest>(&requests[i].body);
    const auto pod = bind == nullptr ? pods_.end() : pods_.find(bind->pod.name);
    if (pod != pods_.end()) disturbed_.insert(FakeGroups::NameOf(pod->second));
    if (i < carried_out) Perform(requests[i]);
  }
  Restart();
}

void FakeApi::Tell(std::string object, std::function<void(Controller&)> tell) {
  late_.push_back({std::move(object), std::move(tell)});
  if (!random_) Deliver(true);
}

void FakeApi::Deliver(bool all) {
  std::set<std::string> held;  // Nothing of one object overtakes.
  std::deque<Observation> later;
  for (Observation& observation : std::exchange(late_, {})) {
    if (!all && (held.contains(observation.object) || (*random_)() % 2 == 0)) {
      held.insert(observation.object);
      later.push_back(std::move(observation));
    } else {
      observation.tell(*controller_);
    }
  }
  late_ = std::move(later);
}

void FakeApi::AddNode(const std::string& name, int64_t gpus,
                      api::StringMap labels) {
  EditNode(name, [&](api::Node& node) {
    node.meta.name = name;
    node.meta.labels = std::move(labels);
    node.meta.labels["kubernetes.io/hostname"] = name;
    node.allocatable = {{"cpu", 64'000},
                        {"memory", int64_t{1000} << 38},
                        {"pods", 110'000},
                        {kGpu, gpus * 1000}};
    node.ready = "True";
  });
}

void FakeApi::EditNode(const std::string& name,
                       absl::FunctionRef<void(api::Node&)> edit) {
  api::Node& node = nodes_[name];
  edit(node);
  Tell("node/" + name, [node](Controller& c) { c.observer().Observe(node); });
}

void FakeApi::RemoveNode(const std::string& name) {
  nodes_.erase(name);
  Tell("node/" + name, [name](Controller& c) { c.observer().NodeGone(name); });
}

void FakeApi::AddGroup(const std::string& name, int32_t min_count,
                       const std::string& topology_key) {
  api::PodGroup group;
  group.meta.name = name;
  group.min_count = min_count;
  if (!topology_key.empty()) group.topology_keys = {topology_key};
  Put(group);
}

void FakeApi::AddGang(const std::string& group,
                      const std::vector<std::string>& pods) {
  AddGroup(group, static_cast<int32_t>(pods.size()));
  for (const std::string& pod : pods) {
    AddPod({.name = pod, .gpus = 1, .group = group});
  }
}

void FakeApi::Stamp(api::ObjectMeta* meta) {
  meta->namespace_name = "default";
  meta->creation = now_ / kMillisecond;
  if (meta->uid.empty()) meta->uid = absl::StrCat("uid-", next_uid_++);
}

void FakeApi::Put(api::Owner owner) {
  const bool is_job = owner.roles.empty();
  if (!is_job) Stamp(&owner.meta);
  groups_.Put(owner);
}

void FakeApi::RemoveGroup(GroupKind kind, const std::string& name) {
  disturbed_.insert(FakeGroups::NameOf(kind, name));
  groups_.Remove(kind, name);
}

void FakeApi::Put(api::Queue queue) {
  queues_[queue.meta.name] = queue;
  Tell("queue/" + queue.meta.name,
       [queue](Controller& c) { c.observer().Observe(queue); });
}

void FakeApi::RemoveQueue(const std::string& name) {
  queues_.erase(name);
  Tell("queue/" + name,
       [name](Controller& c) { c.observer().QueueGone(name); });
}

void FakeApi::Put(api::Namespace ns) {
  namespaces_[ns.meta.name] = ns;
  Tell("ns/" + ns.meta.name, [ns](Controller& c) { c.observer().Observe(ns); });
}

void FakeApi::Put(api::PodDisruptionBudget budget) {
  budget.meta.namespace_name = "default";
  budgets_[budget.meta.name] = budget;
  Tell("budget/" + budget.meta.name,
       [budget](Controller& c) { c.observer().Observe(budget); });
}

void FakeApi::Put(api::ResourceQuota quota) {
  quotas_[{quota.meta.namespace_name, quota.meta.name}] = quota;
  Tell(absl::StrCat("quota/", quota.meta.namespace_name, "/", quota.meta.name),
       [quota](Controller& c) { c.observer().Observe(quota); });
}

void FakeApi::RemoveQuota(const std::string& namespace_name,
                          const std::string& name) {
  quotas_.erase({namespace_name, name});
  Tell(absl::StrCat("quota/", namespace_name, "/", name),
       [=](Controller& c) { c.observer().QuotaGone(namespace_name, name); });
}

void FakeApi::AddPod(const PodSpec& spec) {
  api::Pod pod;
  pod.meta = {.name = spec.name,
              .namespace_name = spec.namespace_name,
              .uid = absl::StrCat("uid-", next_uid_++),
              .creation = now_ / kMillisecond,
              .labels = spec.labels,
              .annotations = spec.annotations};
  if (!spec.job.empty()) {
    pod.meta.owners.push_back(
        {"batch/v1", "Job", spec.job, "job-" + spec.job, true});
  }
  if (!spec.owner.empty()) {
    const size_t slash = spec.owner.find('/');
    pod.meta.owners.push_back({"kubeflow.org/v1", spec.owner.substr(0, slash),
                               spec.owner.substr(slash + 1),
                               "uid-of-" + spec.owner, true});
  }
  pod.scheduler_name = spec.scheduler;
  pod.requests = {{"cpu", spec.milli_cpu}};
  if (spec.gpus > 0) pod.requests[kGpu] = spec.gpus * 1000;
  pod.priority = spec.priority;
  pod.pod_group_name = spec.group;
  for (const std::string& claim : spec.claims) {
    pod.volumes.push_back({"v" + claim, "persistentVolumeClaim", claim});
  }
  for (const std::string& name : spec.ephemeral) {
    pod.volumes.push_back({name, "ephemeral", ""});
  }
  if (spec.gated) pod.scheduling_gates = {"example.com/gate"};
  pod.phase = "Pending";
  specs_[spec.name] = spec;
  pods_[spec.name] = std::move(pod);
  Changed(spec.name);
}

void FakeApi::EditPod(const std::string& name,
                      absl::FunctionRef<void(api::Pod&)> edit) {
  api::Pod& pod = pods_.at(name);
  disturbed_.insert(FakeGroups::NameOf(pod));
  edit(pod);
  disturbed_.insert(FakeGroups::NameOf(pod));
  Changed(name);
}

void FakeApi::Changed(const std::string& name) {
  const api::Pod& pod = pods_.at(name);
  Tell(pod.meta.uid, [pod](Controller& c) { c.observer().Observe(pod); });
}

void FakeApi::Remove(const std::string& name) {
  const api::Pod pod = pods_.extract(name).mapped();
  disturbed_.insert(FakeGroups::NameOf(pod));
  Tell(pod.meta.uid,
       [uid = pod.meta.uid](Controller& c) { c.observer().PodGone(uid); });
}

void FakeApi::DeletePod(const std::string& name) {
  Remove(name);
  const PodSpec spec = specs_.at(name);
  if (!spec.job.empty() || !spec.owner.empty()) AddPod(spec);
}

void FakeApi::Finish(const std::string& name, bool well) {
  pods_.at(name).phase = well ? "Succeeded" : "Failed";
  if (!well) disturbed_.insert(FakeGroups::NameOf(pods_.at(name)));
  Changed(name);
}

void FakeApi::BindBehind(const std::string& name, const std::string& node) {
  pods_.at(name).node_name = node;
  pods_.at(name).phase = "Running";
  Changed(name);
  Deliver(true);  // Two schedulers that do not see each other would overbook.
}

bool FakeApi::BudgetsAllow(const api::Pod& pod) {
  std::vector<api::PodDisruptionBudget*> of_pod;
  for (auto& [name, budget] : budgets_) {
    const auto& wanted = budget.selector->match_labels;
    const bool selects = std::ranges::all_of(wanted, [&](const auto& label) {
      const auto it = pod.meta.labels.find(label.first);
      return it != pod.meta.labels.end() && it->second == label.second;
    });
    if (!selects) continue;
    if (budget.disruptions_allowed < 1) return false;
    of_pod.push_back(&budget);
  }
  for (api::PodDisruptionBudget* budget : of_pod) {
    --budget->disruptions_allowed;
    Put(*budget);
  }
  return true;
}

ApiAnswer FakeApi::Perform(uint64_t id, const BindRequest& bind) {
  std::optional<Fault> fault;
  if (!bind_faults.empty()) {
    fault = bind_faults.back();
    bind_faults.pop_back();
    const auto pod = pods_.find(bind.pod.name);
    if (pod != pods_.end()) disturbed_.insert(FakeGroups::NameOf(pod->second));
    if (!fault->done) return {id, fault->outcome, "fault"};
  }
  const auto it = pods_.find(bind.pod.name);
  if (it == pods_.end()) return {id, ApiOutcome::kNotFound, "no such pod"};
  api::Pod& pod = it->second;
  if (bound_.contains(bind.pod.uid)) {
    ADD_FAILURE() << bind.pod.name << " is bound twice";
  }
  if (pod.meta.uid != bind.pod.uid || !pod.node_name.empty() ||
      pod.meta.deletion) {
    return {id, ApiOutcome::kConflict, "already assigned, or being deleted"};
  }
  const std::string why_not = storage.WhyNot(pod, bind.node);
  if (!why_not.empty()) ADD_FAILURE() << bind.pod.name << ": " << why_not;
  pod.node_name = bind.node;
  pod.phase = "Running";
  pod.start_time = now_ / kMillisecond;
  pod.meta.annotations[kTaskAnnotation] = absl::StrCat(bind.task);
  pod.meta.annotations[kDecisionAnnotation] = absl::StrCat(bind.decision);
  Changed(bind.pod.name);
  if (!fault) bound_.insert(bind.pod.uid);
  return {id, fault ? fault->outcome : ApiOutcome::kDone, ""};
}

ApiAnswer FakeApi::Perform(uint64_t id, const EvictRequest& evict) {
  const auto it = pods_.find(evict.pod.name);
  if (it == pods_.end()) return {id, ApiOutcome::kNotFound, "no such pod"};
  if (it->second.meta.uid != evict.pod.uid) {
    return {id, ApiOutcome::kConflict, "another pod"};
  }
  if (protected_pods.contains(evict.pod.name)) {
    return {id, ApiOutcome::kTooManyRequests, "disruption budget"};
  }
  if (it->second.meta.deletion) return {id, ApiOutcome::kDone, ""};
  if (!BudgetsAllow(it->second)) {
    return {id, ApiOutcome::kTooManyRequests, "disruption budget"};
  }
  disturbed_.insert(FakeGroups::NameOf(it->second));
  it->second.meta.deletion = now_ / kMillisecond;
  Changed(evict.pod.name);
  return {id, ApiOutcome::kDone, ""};
}

// What is read is newer than what is on its way.
ApiAnswer FakeApi::Perform(uint64_t id, const ReadRequest& read) {
  if (read_faults > 0) {
    --read_faults;
    return {id, ApiOutcome::kUnknown, "fault"};
  }
  const auto it = pods_.find(read.pod.name);
  if (it != pods_.end() && it->second.meta.uid == read.pod.uid) {
    controller_->observer().PodRead(it->second);
  } else {
    controller_->observer().PodGone(read.pod.uid);
  }
  return {id, ApiOutcome::kDone, ""};
}

ApiAnswer FakeApi::Perform(uint64_t id, const NominateRequest& nominate) {
  const auto it = pods_.find(nominate.pod.name);
  if (it == pods_.end()) return {id, ApiOutcome::kNotFound, "no such pod"};
  if (it->second.meta.uid != nominate.pod.uid) {
    return {id, ApiOutcome::kConflict, "another pod"};
  }
  it->second.nominated_node_name = nominate.node;
  Changed(nominate.pod.name);
  return {id, ApiOutcome::kDone, ""};
}

ApiAnswer FakeApi::Perform(const ApiRequest& request) {
  if (const auto* bind = std::get_if<BindRequest>(&request.body)) {
    return Perform(request.id, *bind);
  }
  if (const auto* evict = std::get_if<EvictRequest>(&request.body)) {
    return Perform(request.id, *evict);
  }
  if (const auto* read = std::get_if<ReadRequest>(&request.body)) {
    return Perform(request.id, *read);
  }
  if (const auto* nominate = std::get_if<NominateRequest>(&request.body)) {
    return Perform(request.id, *nominate);
  }
  if (const auto* select = std::get_if<SelectNodeRequest>(&request.body)) {
    return storage.Perform(request.id, *select);
  }
  if (const auto* give = std::get_if<GiveVolumeRequest>(&request.body)) {
    return storage.Perform(request.id, *give);
  }
  return {request.id, ApiOutcome::kDone, ""};
}

void FakeApi::Settle() {
  for (int round = 0; round < 100; ++round) {
    if (random_) Deliver(round > 20);
    std::vector<ApiRequest> requests;
    controller_->Step(now_, &requests);
    for (const ApiRequest& request : requests) {
      seen_.push_back(request);
      controller_->Answer(Perform(request));
    }
    const bool works = storage.Work(pods_, nodes_);
    std::vector<std::string> going;
    for (const auto& [name, pod] : pods_) {
      const bool goes = pod.meta.deletion &&
                        now_ >= *pod.meta.deletion * kMillisecond + grace;
      if (goes) going.push_back(name);
    }
    for (const std::string& name : going) DeletePod(name);
    if (requests.empty() && !works && going.empty() && late_.empty() &&
        controller_->next_step() > now_) {
      EXPECT_TRUE(controller_->defects().empty()) << controller_->defects()[0];
      return;
    }
  }
  ADD_FAILURE() << "it does not come to rest";
}

void FakeApi::Pass(Duration time) {
  now_ += time;
  Settle();
}

std::string FakeApi::NodeOf(const std::string& name) const {
  const auto it = pods_.find(name);
  return it == pods_.end() ? "gone" : it->second.node_name;
}

std::string FakeApi::On(const std::string& node) const {
  std::string names;
  for (const auto& [name, pod] : pods_) {
    if (pod.node_name != node || Ended(pod)) continue;
    absl::StrAppend(&names, names.empty() ? "" : " ", name);
  }
  return names;
}

std::vector<std::string> FakeApi::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, pod] : pods_) names.push_back(name);
  return names;
}

const api::Pod& FakeApi::PodNamed(const std::string& name) const {
  return pods_.at(name);
}

size_t FakeApi::CountBinds() const {
  return static_cast<size_t>(
      std::ranges::count_if(seen_, [](const ApiRequest& request) {
        return std::holds_alternative<BindRequest>(request.body);
      }));
}

int64_t FakeApi::FreeGpus(const std::string& node) const {
  int64_t free = nodes_.at(node).allocatable.at(kGpu);
  for (const auto& [name, pod] : pods_) {
    const auto it = pod.requests.find(kGpu);
    if (pod.node_name == node && !Ended(pod) && it != pod.requests.end()) {
      free -= it->second;
    }
  }
  return free / 1000;
}

std::string FakeApi::Startable() const {
  std::map<std::string, int64_t> there;  // By group: could run, or have run.
  const auto waits = [](const api::Pod& pod) {
    return pod.node_name.empty() && pod.scheduling_gates.empty() &&
           !pod.meta.deletion && pod.scheduler_name == "muster";
  };
  for (const auto& [name, pod] : pods_) {
    if (waits(pod) || pod.phase == "Succeeded")
      ++there[FakeGroups::NameOf(pod)];
  }
  std::string names;
  for (const auto& [name, pod] : pods_) {
    const std::string group = FakeGroups::NameOf(pod);
    if (!waits(pod)) continue;
    const std::optional<int64_t> minimum = groups_.MinimumOf(group);
    if (!group.empty() && (!minimum || there[group] < *minimum)) continue;
    if (!groups_.ParentIsComplete(group, there)) continue;
    absl::StrAppend(&names, names.empty() ? "" : " ", name);
  }
  return names;
}

absl::Status FakeApi::Check() const {
  std::map<std::string, int64_t> running;
  for (const auto& [name, pod] : pods_) {
    const std::string group = FakeGroups::NameOf(pod);
    if (!pod.node_name.empty() && !group.empty()) ++running[group];
  }
  for (const auto& [name, node] : nodes_) {
    if (FreeGpus(name) < 0) {
      return absl::InternalError(
          absl::StrCat(name, " holds too much: ", On(name)));
    }
  }
  for (const auto& [name, pods] : running) {
    if (disturbed_.contains(name)) continue;
    if (pods < groups_.MinimumOf(name).value_or(1)) {
      return absl::InternalError(
          absl::StrCat("group ", name, " runs with ", pods, " pods"));
    }
  }
  return controller_->scheduler().Validate();
}

}  // namespace muster::kubernetes
