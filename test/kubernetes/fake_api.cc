#include "test/kubernetes/fake_api.h"

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

FakeApi::FakeApi(ControllerOptions options) : options_(std::move(options)) {
  Restart();
}

void FakeApi::Restart() {
  auto controller = Controller::Create(options_);
  ASSERT_TRUE(controller.ok()) << controller.status();
  controller_ = *std::move(controller);
  for (const auto& [name, node] : nodes_) controller_->Observe(node);
  for (const auto& [name, group] : groups_) controller_->Observe(group);
  for (const auto& [name, pod] : pods_) controller_->Observe(pod);
  ASSERT_TRUE(controller_->Synced(now_).ok());
}

void FakeApi::AddNode(const std::string& name, int64_t gpus,
                      api::StringMap labels) {
  api::Node& node = nodes_[name];
  node.meta.name = name;
  node.meta.labels = std::move(labels);
  node.allocatable = {{"cpu", 64'000},
                      {"memory", int64_t{1000} << 38},
                      {"pods", 110'000},
                      {kGpu, gpus * 1000}};
  node.ready = "True";
  controller_->Observe(node);
}

void FakeApi::RemoveNode(const std::string& name) {
  nodes_.erase(name);
  controller_->NodeGone(name);
}

void FakeApi::AddGroup(const std::string& name, int32_t min_count,
                       const std::string& topology_key) {
  api::PodGroup& group = groups_[name];
  group.meta = {.name = name,
                .namespace_name = "default",
                .uid = absl::StrCat("uid-", next_uid_++),
                .creation = now_ / kMillisecond};
  group.min_count = min_count;
  if (!topology_key.empty()) group.topology_keys = {topology_key};
  controller_->Observe(group);
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
  pod.scheduler_name = spec.scheduler;
  pod.requests = {{"cpu", spec.milli_cpu}};
  if (spec.gpus > 0) pod.requests[kGpu] = spec.gpus * 1000;
  pod.priority = spec.priority;
  pod.pod_group_name = spec.group;
  pod.phase = "Pending";
  specs_[spec.name] = spec;
  pods_[spec.name] = std::move(pod);
  Changed(spec.name);
}

void FakeApi::Changed(const std::string& name) {
  controller_->Observe(pods_.at(name));
}

void FakeApi::Remove(const std::string& name) {
  const api::Pod pod = pods_.extract(name).mapped();
  disturbed_.insert(pod.pod_group_name);
  controller_->PodGone(pod.meta.uid);
}

void FakeApi::DeletePod(const std::string& name) {
  Remove(name);
  const PodSpec spec = specs_.at(name);
  if (!spec.job.empty()) AddPod(spec);
}

void FakeApi::Finish(const std::string& name, bool well) {
  pods_.at(name).phase = well ? "Succeeded" : "Failed";
  if (!well) disturbed_.insert(pods_.at(name).pod_group_name);
  Changed(name);
}

void FakeApi::BindBehind(const std::string& name, const std::string& node) {
  pods_.at(name).node_name = node;
  Changed(name);
}

ApiAnswer FakeApi::Perform(uint64_t id, const BindRequest& bind) {
  std::optional<Fault> fault;
  if (!bind_faults.empty()) {
    fault = bind_faults.back();
    bind_faults.pop_back();
    const auto pod = pods_.find(bind.pod.name);
    if (pod != pods_.end()) disturbed_.insert(pod->second.pod_group_name);
    if (!fault->done) return {id, fault->outcome, "fault"};
  }
  const auto it = pods_.find(bind.pod.name);
  if (it == pods_.end()) return {id, ApiOutcome::kNotFound, "no such pod"};
  api::Pod& pod = it->second;
  if (pod.meta.uid != bind.pod.uid || !pod.node_name.empty()) {
    return {id, ApiOutcome::kConflict, "already assigned"};
  }
  pod.node_name = bind.node;
  pod.phase = "Running";
  pod.start_time = now_ / kMillisecond;
  for (const auto& [key, value] : bind.annotations) {
    pod.meta.annotations[key] = value;
  }
  return {id, fault ? fault->outcome : ApiOutcome::kDone, ""};
}

ApiAnswer FakeApi::Perform(uint64_t id, const EvictRequest& evict) {
  const auto it = pods_.find(evict.pod.name);
  if (it == pods_.end()) return {id, ApiOutcome::kNotFound, "no such pod"};
  if (it->second.meta.uid != evict.pod.uid) {
    return {id, ApiOutcome::kConflict, "another pod"};
  }
  if (protected_pods.contains(evict.pod.name)) {
    return {id, ApiOutcome::kForbidden, "disruption budget"};
  }
  it->second.meta.deletion = now_ / kMillisecond;
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
    const auto it = pods_.find(read->pod.name);
    if (it != pods_.end() && it->second.meta.uid == read->pod.uid) {
      Changed(it->first);
    } else {
      controller_->PodGone(read->pod.uid);
    }
  }
  return {request.id, ApiOutcome::kDone, ""};
}

void FakeApi::Settle() {
  for (int round = 0; round < 100; ++round) {
    std::vector<ApiRequest> requests;
    controller_->Step(now_, &requests);
    for (const ApiRequest& request : requests) {
      seen_.push_back(request);
      controller_->Answer(Perform(request));
    }
    std::vector<std::string> going;
    for (const auto& [name, pod] : pods_) {
      controller_->Observe(pod);
      if (pod.meta.deletion) going.push_back(name);
    }
    for (const std::string& name : going) DeletePod(name);
    if (requests.empty() && going.empty() && controller_->next_step() > now_) {
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
  size_t binds = 0;
  for (const ApiRequest& request : seen_) {
    binds += std::holds_alternative<BindRequest>(request.body) ? 1 : 0;
  }
  return binds;
}

absl::Status FakeApi::Check() const {
  std::map<std::string, int64_t> gpus;
  std::map<std::string, int64_t> running;
  for (const auto& [name, pod] : pods_) {
    if (pod.node_name.empty()) continue;
    const bool counts = !Ended(pod);
    const auto it = pod.requests.find(kGpu);
    if (counts && it != pod.requests.end()) gpus[pod.node_name] += it->second;
    if (!pod.pod_group_name.empty()) ++running[pod.pod_group_name];
  }
  for (const auto& [name, used] : gpus) {
    const auto node = nodes_.find(name);
    if (node != nodes_.end() && used > node->second.allocatable.at(kGpu)) {
      return absl::InternalError(absl::StrCat(name, " holds too much"));
    }
  }
  for (const auto& [name, pods] : running) {
    if (disturbed_.contains(name)) continue;
    if (pods < groups_.at(name).min_count.value_or(1)) {
      return absl::InternalError(
          absl::StrCat("group ", name, " runs with ", pods, " pods"));
    }
  }
  return controller_->scheduler().Validate();
}

}  // namespace muster::kubernetes
