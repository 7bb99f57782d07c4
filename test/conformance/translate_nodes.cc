#include "test/conformance/translate_nodes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "adapters/translate/selectors.h"
#include "muster/device_set.h"
#include "test/conformance/device_book.h"
#include "test/conformance/places.h"
#include "test/conformance/role_maker.h"
#include "test/conformance/translate_queues.h"

namespace muster::conformance {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

class NodeTranslator {
 public:
  NodeTranslator(const Scenario& s, const Kinds& kinds, const Flavors& flavors,
                 const translate::Topologies& topologies, Translation* t)
      : s_(s),
        kinds_(kinds),
        flavors_(flavors),
        topologies_(topologies),
        t_(*t) {}

  absl::Status Run() {
    for (const NodeSpec& spec : s_.cluster.nodes) AddNode(spec);
    AddQuotaNodes();
    SeatPodSets();
    SeatFinished();
    AddGhostNodes();
    if (auto status = LoseNodes(); !status.ok()) return status;
    for (const ForeignPodSpec& pod : s_.cluster.foreign_pods) AddForeign(pod);
    for (const DomainUsageSpec& usage : s_.cluster.domain_usage) {
      AddDomainUsage(usage);
    }
    if (kinds_.gpus_are_devices()) ChooseDevices();
    WriteMoments();
    return absl::OkStatus();
  }

 private:
  struct NodePlan {
    Node node;
    Resources free;  // Plain kinds, to seat pods whose node is not told.
    Resources external;
    DeviceRequest others_devices;
    bool down = false;
  };

  void AddNode(const NodeSpec& spec) {
    NodePlan& plan = nodes_[spec.name];
    Node& node = plan.node;
    node.key = spec.name;
    node.capacity = kinds_.Capacity(spec, s_.cluster);
    flavors_.AddCapacity(spec, kinds_, &node.capacity);
    plan.free = node.capacity;
    StringMap labels = spec.labels;
    labels.merge(topologies_.LabelsOf(spec.name));
    t_.node_labels[spec.name] = labels;
    node.labels = translate::ToLabels(labels);
    node.taints = spec.taints;
    node.schedulable = !spec.unschedulable;
    plan.down = !spec.ready;
    const auto gpus = spec.capacity.find("gpu");
    if (!kinds_.gpus_are_devices() || gpus == spec.capacity.end()) return;
    Device device;
    device.memory_bytes = spec.gpu_memory_mib * kMiB;
    node.devices.assign(static_cast<size_t>(gpus->second), device);
  }

  const TaskShape& ShapeOf(const Unit& unit) const {
    return t_.gangs[unit.gang].gang.roles[unit.task.role].shape;
  }

  // Where no nodes are described, capacity is the quotas: a node for each tree
  // of queues has what they may have together, or what they use if that is
  // more.
  void AddQuotaNodes() {
    if (!flavors_.any()) return;
    std::map<std::string, Resources> used;
    for (const Unit& unit : t_.units) {
      if (unit.member && Seated(unit)) {
        used[RootOf(s_, s_.gangs[unit.gang].queue)].Add(
            ShapeOf(unit).resources);
      }
    }
    for (const Queue& queue : t_.queues) {
      if (!queue.parent.empty()) continue;
      NodePlan& plan = nodes_[QuotaNodeOf(queue.key)];
      plan.node.key = QuotaNodeOf(queue.key);
      plan.node.labels = {{kQuotaOnlyLabel, queue.key}};
      plan.node.capacity = used[queue.key];
      for (const Quota& quota : queue.quotas) {
        const auto& names = t_.config.resources;
        const auto kind = static_cast<ResourceKind>(
            std::find(names.begin(), names.end(), quota.resource) -
            names.begin());
        plan.node.capacity.Set(kind, std::max(plan.node.capacity[kind],
                                              quota.guarantee.value_or(0)));
      }
    }
  }

  static std::string QuotaNodeOf(const std::string& root) {
    return "(quota of " + root + ")";
  }

  static bool Seated(const Unit& unit) {
    return unit.state == "running" || unit.state == "terminating";
  }

  // Pod sets that run are told by domains: a seat in the first node of the
  // domain that has room; without any domain, on the node of their quotas.
  void SeatPodSets() {
    std::map<std::pair<size_t, size_t>, std::vector<Unit*>> sets;
    for (Unit& unit : t_.units) {
      if (!unit.member || !Seated(unit) || !unit.node.empty()) continue;
      sets[{unit.gang, unit.pod}].push_back(&unit);
    }
    for (auto& [where, units] : sets) {
      const GangSpec& gang = s_.gangs[where.first];
      const PodSpec& pod = gang.pods[where.second];
      size_t next = 0;
      if (const AssignmentSpec* places = PlacesOf(pod)) {
        for (const DomainCountSpec& domain : places->domains) {
          for (int64_t i = 0; i < domain.count && next < units.size(); ++i) {
            Seat(places->levels, domain.values, units[next++]);
          }
        }
      }
      if (pod.previous_assignment) ForgetGone(units);
      const std::string rest = QuotaNodeOf(RootOf(s_, gang.queue));
      while (next < units.size()) units[next++]->node = rest;
    }
  }

  // What ran on a node that is gone since is not there to be kept.
  void ForgetGone(const std::vector<Unit*>& units) {
    for (Unit* unit : units) {
      if (nodes_.contains(unit->node)) continue;
      unit->node.clear();
      unit->state = "pending";
    }
  }

  std::vector<NodePlan*> NodesIn(const std::vector<std::string>& levels,
                                 const std::vector<std::string>& values) {
    std::vector<NodePlan*> in;
    for (auto& [name, plan] : nodes_) {
      const StringMap& labels = t_.node_labels[name];
      bool inside = levels.size() == values.size() && !levels.empty();
      for (size_t i = 0; inside && i < levels.size(); ++i) {
        const auto it = labels.find(levels[i]);
        inside = it != labels.end() && it->second == values[i];
      }
      if (inside) in.push_back(&plan);
    }
    return in;
  }

  void Seat(const std::vector<std::string>& levels,
            const std::vector<std::string>& values, Unit* unit) {
    const Resources& need = ShapeOf(*unit).resources;
    NodePlan* seat = nullptr;
    for (NodePlan* plan : NodesIn(levels, values)) {
      if (seat == nullptr ||
          (!need.FitsIn(seat->free) && need.FitsIn(plan->free))) {
        seat = plan;
      }
    }
    if (seat == nullptr) {
      if (!values.empty()) unit->node = values.back();
      return;
    }
    seat->free.Subtract(need);
    unit->node = seat->node.key;
  }

  // What succeeded ran somewhere before; where is of no consequence any more.
  void SeatFinished() {
    for (Unit& unit : t_.units) {
      if (!unit.member || unit.state != "succeeded" || nodes_.empty()) continue;
      const std::string& told = s_.gangs[unit.gang].pods[unit.pod].node;
      unit.node = nodes_.contains(told) ? told : nodes_.begin()->first;
      TasksAnswered& answer = t_.answers.emplace_back();
      answer.gang = t_.gangs[unit.gang].gang.key;
      answer.tasks.push_back({.task = unit.task,
                              .attempt = 0,
                              .outcome = TaskOutcome::kSucceeded,
                              .node = {},
                              .devices = {}});
    }
  }

  // A node that is gone and that pods are still said to be on: it holds them,
  // and takes nothing else.
  void AddGhostNodes() {
    for (const Unit& unit : t_.units) {
      if (!unit.member || unit.node.empty()) continue;
      const bool known = nodes_.contains(unit.node);
      if (known && !ghosts_.contains(unit.node)) continue;
      ghosts_.insert(unit.node);
      NodePlan& plan = nodes_[unit.node];
      plan.node.key = unit.node;
      plan.node.schedulable = false;
      plan.node.capacity.Add(ShapeOf(unit).resources);
      const uint32_t devices = ShapeOf(unit).devices.count;
      plan.node.devices.resize(std::min<size_t>(
          DeviceSet::kCapacity, plan.node.devices.size() + devices));
    }
  }

  // A node is named by its key, or as the narrowest domains are.
  bool IsNamed(const std::string& node, const std::string& name) {
    if (node == name) return true;
    const StringMap& labels = t_.node_labels[node];
    for (const Topology& topology : t_.config.topologies) {
      const auto it = labels.find(topology.levels.back());
      if (it != labels.end() && it->second == name) return true;
    }
    return false;
  }

  bool IsUnhealthyFor(const GangSpec& gang, const std::string& node) {
    return std::any_of(
        gang.unhealthy_nodes.begin(), gang.unhealthy_nodes.end(),
        [&](const std::string& name) { return IsNamed(node, name); });
  }

  // Pods on an unhealthy node have failed, and then the node is down: so says a
  // host that wants just these placed again. A node that goes down with pods
  // on it ends their gangs.
  absl::Status LoseNodes() {
    std::set<std::string> lost;
    for (const GangSpec& gang : s_.gangs) {
      for (auto& [name, plan] : nodes_) {
        if (!IsUnhealthyFor(gang, name)) continue;
        plan.down = false;  // As long as the pods ran.
        lost.insert(name);
      }
    }
    t_.lost_nodes.assign(lost.begin(), lost.end());
    std::map<size_t, TasksAnswered> failed;
    for (Unit& unit : t_.units) {
      if (!unit.member || !Seated(unit) || !lost.contains(unit.node)) continue;
      if (!IsUnhealthyFor(s_.gangs[unit.gang], unit.node)) {
        return absl::UnimplementedError(
            "a node that is unhealthy for one gang and not for another");
      }
      unit.lost = true;
      failed[unit.gang].gang = t_.gangs[unit.gang].gang.key;
      failed[unit.gang].tasks.push_back({.task = unit.task,
                                         .attempt = 0,
                                         .outcome = TaskOutcome::kFailed,
                                         .node = {},
                                         .devices = {}});
    }
    for (auto& [gang, answer] : failed) t_.answers.push_back(answer);
    return absl::OkStatus();
  }

  void AddForeign(const ForeignPodSpec& pod) {
    const auto node = nodes_.find(pod.node);
    if (node == nodes_.end() || pod.phase == "succeeded" ||
        pod.phase == "failed") {
      return;
    }
    PodSpec as_pod;
    as_pod.requests = pod.requests;
    NodePlan& plan = node->second;
    plan.external.Add(kinds_.Request(as_pod, s_.cluster));
    const auto gpus = pod.requests.find("gpu");
    if (kinds_.gpus_are_devices() && gpus != pod.requests.end()) {
      plan.others_devices.count += static_cast<uint32_t>(gpus->second);
    }
  }

  void AddDomainUsage(const DomainUsageSpec& usage) {
    std::vector<std::string> levels;
    if (!s_.cluster.topologies.empty()) {
      levels = s_.cluster.topologies.front().levels;
    }
    // A domain is told by its path, or by its own value where that suffices.
    if (usage.domain.size() < levels.size()) {
      levels.erase(levels.begin(), levels.end() - usage.domain.size());
    }
    PodSpec as_pod;
    as_pod.requests = usage.per_pod;
    const Resources need = kinds_.Request(as_pod, s_.cluster);
    for (int64_t i = 0; i < usage.count; ++i) {
      NodePlan* seat = nullptr;
      for (NodePlan* plan : NodesIn(levels, usage.domain)) {
        if (seat == nullptr ||
            (!need.FitsIn(seat->free) && need.FitsIn(plan->free))) {
          seat = plan;
        }
      }
      if (seat == nullptr) return;
      seat->free.Subtract(need);
      seat->external.Add(need);
    }
  }

  static bool IsWhole(const DeviceRequest& request) {
    return request.memory_bytes == 0 && request.milli == kWholeDevice;
  }

  void ChooseDevices() {
    std::map<std::string, uint32_t> whole_on;
    for (const auto& [name, plan] : nodes_) {
      whole_on[name] = plan.others_devices.count;
    }
    for (const Unit& unit : t_.units) {
      if (!unit.member || unit.node.empty()) continue;
      const DeviceRequest& request = ShapeOf(unit).devices;
      if (IsWhole(request)) whole_on[unit.node] += request.count;
    }
    std::map<std::string, DeviceBook> books;
    for (const auto& [name, plan] : nodes_) {
      const auto& devices = plan.node.devices;
      books.try_emplace(name, devices.size(),
                        devices.empty() ? 0 : devices[0].memory_bytes,
                        whole_on[name]);
    }
    for (const int round : {0, 1, 2}) {
      for (Unit& unit : t_.units) {
        if (!unit.member || unit.node.empty()) continue;
        const DeviceRequest& request = ShapeOf(unit).devices;
        const auto& labels = s_.gangs[unit.gang].pods[unit.pod].gpu_devices;
        if (request.count == 0) continue;
        if (round != (IsWhole(request) ? 1 : labels.empty() ? 2 : 0)) continue;
        unit.devices = books.at(unit.node).Enter(request, labels);
      }
    }
    for (auto& [name, plan] : nodes_) {
      if (plan.others_devices.count == 0) continue;
      for (uint32_t d : books.at(name).Enter(plan.others_devices, {})) {
        foreign_devices_[name].push_back({d, kWholeDevice, 0});
      }
    }
  }

  // Gangs that run began in the order of admission, or else of age: the later,
  // the less work there is to lose.
  std::map<size_t, int64_t> Beginnings() const {
    std::set<std::pair<std::string, int64_t>> order;
    std::vector<std::pair<std::string, int64_t>> keys;
    const bool told = std::any_of(
        s_.gangs.begin(), s_.gangs.end(),
        [](const GangSpec& gang) { return !gang.admitted_at.empty(); });
    for (const GangSpec& gang : s_.gangs) {
      keys.emplace_back(gang.admitted_at, told ? 0 : gang.order);
      order.insert(keys.back());
    }
    std::map<size_t, int64_t> beginnings;
    for (size_t g = 0; g < keys.size(); ++g) {
      beginnings[g] = std::distance(order.begin(), order.find(keys[g]));
    }
    return beginnings;
  }

  void WriteMoments() {
    Reconciled whole;
    for (const auto& [name, plan] : nodes_) {
      whole.nodes.push_back(plan.node);
      if (plan.down) whole.down.push_back(name);
      ExternalUsage external{name, plan.external, foreign_devices_[name]};
      if (!external.amount.IsZero() || !external.devices.empty()) {
        whole.external.push_back(external);
      }
    }
    const std::map<size_t, int64_t> beginnings = Beginnings();
    std::map<int64_t, std::vector<const Unit*>> by_beginning;
    for (const Unit& unit : t_.units) {
      if (!unit.member || unit.node.empty()) continue;
      by_beginning[beginnings.at(unit.gang)].push_back(&unit);
    }
    t_.moments.push_back({0, whole});
    for (const auto& [beginning, units] : by_beginning) {
      for (const Unit* unit : units) {
        RealTask& task = whole.tasks.emplace_back();
        task.gang = t_.gangs[unit->gang].gang.key;
        task.task = unit->task;
        task.node = unit->node;
        task.devices = unit->devices;
      }
      t_.moments.push_back({(beginning + 1) * kSecond, whole});
    }
    // Nothing is released until all is as the scenario has it.
    Moment& last = t_.moments.back();
    for (const Unit& unit : t_.units) {
      if (unit.state != "terminating") continue;
      for (RealTask& task : last.whole.tasks) {
        task.releasing |=
            task.task == unit.task && task.gang == t_.gangs[unit.gang].gang.key;
      }
    }
    t_.start = last.at + kHour;
  }

  const Scenario& s_;
  const Kinds& kinds_;
  const Flavors& flavors_;
  const translate::Topologies& topologies_;
  Translation& t_;
  std::map<std::string, NodePlan> nodes_;
  std::map<std::string, std::vector<DeviceShare>> foreign_devices_;
  std::set<std::string> ghosts_;
};

}  // namespace

absl::Status TranslateNodes(const Scenario& scenario, const Kinds& kinds,
                            const Flavors& flavors,
                            const translate::Topologies& topologies,
                            Translation* translation) {
  return NodeTranslator(scenario, kinds, flavors, topologies, translation)
      .Run();
}

}  // namespace muster::conformance
