// An API server and what surrounds it, in a few lines: objects, bindings and
// evictions, a kubelet, controllers that make pods again. For tests of the
// controller.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "adapters/kubernetes/controller/controller.h"
#include "test/adapters/kubernetes/fake_groups.h"
#include "test/adapters/kubernetes/fake_storage.h"

namespace muster::kubernetes {

struct PodSpec {
  std::string name{};
  std::string namespace_name = "default";
  int64_t gpus = 0;
  int64_t milli_cpu = 100;
  int32_t priority = 0;
  std::string group{};  // A PodGroup's name.
  std::string job{};    // Its Job makes it again when it is stopped.
  // "KIND/NAME" of kubeflow.org: likewise.
  std::string owner{};
  std::string scheduler = "muster";
  api::StringMap labels{};
  api::StringMap annotations{};
  bool gated = false;
  std::vector<std::string> claims{};
  std::vector<std::string> ephemeral{};  // Names of volumes.
};

class FakeApi {
 public:
  explicit FakeApi(ControllerOptions options = {});

  void AddNode(const std::string& name, int64_t gpus,
               api::StringMap labels = {});
  void RemoveNode(const std::string& name);
  void AddGroup(const std::string& name, int32_t min_count,
                const std::string& topology_key = "");
  // A PodGroup of these pods, all of which are needed, of one GPU each.
  void AddGang(const std::string& group, const std::vector<std::string>& pods);
  void RemoveGroup(const std::string& name) {
    RemoveGroup(GroupKind::kPodGroup, name);
  }
  void AddPod(const PodSpec& spec);
  // At once, without grace.
  void DeletePod(const std::string& name);
  void Finish(const std::string& name, bool well = true);
  void BindBehind(const std::string& name, const std::string& node);
  // Objects by name, new or changed. A group is of namespace "default", is new
  // now and gets a UID if it has none; a Job is as it is given.
  void Put(api::Queue queue);
  void Put(api::Namespace ns);
  void Put(api::PodDisruptionBudget budget);
  void Put(api::ResourceQuota quota);
  void Put(api::Owner owner);
  template <typename Group>
  void Put(Group group) {
    Stamp(&group.meta);
    groups_.Put(group);
  }
  // One that Put has put, but for Jobs.
  void RemoveGroup(GroupKind kind, const std::string& name);
  void RemoveQuota(const std::string& namespace_name, const std::string& name);
  void RemoveQueue(const std::string& name);
  void EditPod(const std::string& name,
               absl::FunctionRef<void(api::Pod&)> edit);
  void EditNode(const std::string& name,
                absl::FunctionRef<void(api::Node&)> edit);

  // From now on observations come late, those of different objects in another
  // order than they happened; at the end of Settle all have come.
  void Delay(uint64_t seed) { random_.emplace(seed); }
  // A controller that knows nothing lists everything.
  void Restart();
  // The same after the former one has died in the middle of a step, with so
  // many of its requests carried out.
  void Die(size_t carried_out);
  // Steps, carries out and observes until nothing happens any more.
  void Settle();
  void Pass(Duration time);
  Time now() const { return now_; }

  // Where a pod is, "" while it waits; "gone" if it is not there.
  std::string NodeOf(const std::string& name) const;
  // Names of pods on a node, with spaces between them.
  std::string On(const std::string& node) const;
  std::vector<std::string> Names() const;
  const api::Pod& PodNamed(const std::string& name) const;
  const std::map<std::string, api::Node>& nodes() const { return nodes_; }
  // GPUs of a node that no pod holds; negative: too many are held.
  int64_t FreeGpus(const std::string& node) const;
  // Pods that are to run now and do not, though nothing but Muster's decision
  // is missing: names, with spaces between them.
  std::string Startable() const;
  // No node holds more than it has; each undisturbed group runs with its
  // minimum or not at all; the scheduler's state is sound.
  absl::Status Check() const;

  Controller& controller() { return *controller_; }
  const std::vector<ApiRequest>& seen() const { return seen_; }
  size_t CountBinds() const;

  // What goes wrong: the next request that is a binding has this outcome.
  // `done`: it was carried out nevertheless.
  struct Fault {
    ApiOutcome outcome = ApiOutcome::kUnknown;
    bool done = false;
  };
  std::vector<Fault> bind_faults{};        // The last one first.
  size_t read_faults = 0;                  // So many reads have no answer.
  std::set<std::string> protected_pods{};  // From eviction, by a budget.
  Duration grace = 0;  // From a pod's deletionTimestamp to its end.
  FakeStorage storage;

 private:
  struct Observation {
    std::string object{};
    std::function<void(Controller&)> tell{};
  };

  ApiAnswer Perform(const ApiRequest& request);
  ApiAnswer Perform(uint64_t id, const BindRequest& bind);
  ApiAnswer Perform(uint64_t id, const EvictRequest& evict);
  ApiAnswer Perform(uint64_t id, const ReadRequest& read);
  ApiAnswer Perform(uint64_t id, const NominateRequest& nominate);
  // A budget of the pod that allows nothing; takes one from each otherwise.
  bool BudgetsAllow(const api::Pod& pod);
  // What the API server adds to a new object.
  void Stamp(api::ObjectMeta* meta);
  void Tell(std::string object, std::function<void(Controller&)> tell);
  void Deliver(bool all);
  void Changed(const std::string& name);
  void Remove(const std::string& name);

  ControllerOptions options_;
  std::unique_ptr<Controller> controller_;
  std::map<std::string, api::Node> nodes_;
  FakeGroups groups_;
  std::map<std::string, api::Queue> queues_;
  std::map<std::string, api::Namespace> namespaces_;
  std::map<std::string, api::PodDisruptionBudget> budgets_;
  // By namespace and name.
  std::map<std::pair<std::string, std::string>, api::ResourceQuota> quotas_;
  std::map<std::string, api::Pod> pods_;  // By name.
  std::map<std::string, PodSpec> specs_;
  // Groups, named as by FakeGroups, of which a pod was deleted, failed or could
  // not be bound: they may run in part until that is mended.
  std::set<std::string> disturbed_;
  std::set<std::string> bound_;  // UIDs whose binding was confirmed.
  std::vector<ApiRequest> seen_;
  std::deque<Observation> late_;
  std::optional<std::mt19937_64> random_;
  Time now_ = 1'000 * kSecond;
  int64_t next_uid_ = 1;
};

}  // namespace muster::kubernetes
