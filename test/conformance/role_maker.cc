#include "test/conformance/role_maker.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "adapters/translate/devices.h"
#include "adapters/translate/selectors.h"
#include "muster/device_set.h"
#include "test/conformance/translate_queues.h"

namespace muster::conformance {
namespace {

// Scenarios tell GPUs as numbers with fractions, of any size.
int64_t MilliOf(double gpus) {
  return std::llround(1000 * std::clamp(gpus, 0.0, 1e6));
}

absl::StatusOr<DeviceRequest> DevicesOf(const PodSpec& pod, bool are_devices) {
  const auto gpus = pod.requests.find("gpu");
  translate::GpuAsk ask;
  if (gpus != pod.requests.end()) ask.milli = MilliOf(gpus->second);
  if (pod.gpu_share) {
    if (!are_devices) {
      return absl::UnimplementedError("shares beside counted GPUs");
    }
    const GpuShareSpec& share = *pod.gpu_share;
    ask.share = {.devices = share.devices,
                 .milli = MilliOf(share.fraction.value_or(1)),
                 .memory_mib = share.memory_mib};
  } else if (!are_devices) {
    return DeviceRequest{};
  }
  return translate::ToDeviceRequest(ask);
}

}  // namespace

std::vector<FlavorChoice> RoleMaker::ChoicesOf(const GangSpec& gang,
                                               const PodSpec& pod) const {
  if (!flavors_.any()) return {{}};
  if (!pod.flavors.empty()) return {pod.flavors};  // It runs with these.
  FlavorChoice fixed;
  if (gang.name == s_.preemptor) {
    for (const NeedSpec& need : s_.needs) {
      if (need.pod_set == pod.name) fixed[need.resource] = need.flavor;
    }
  }
  const QueueSpec* queue = FindQueue(s_, gang.queue);
  if (queue == nullptr) return {fixed};
  return flavors_.Choices(pod, *queue, fixed);
}

std::string RoleMaker::TopologyOf(const GangSpec& gang,
                                  const PodSpec& pod) const {
  if (!pod.topology.topology.empty()) return pod.topology.topology;
  return flavors_.TopologyOf(ChoicesOf(gang, pod).front());
}

bool RoleMaker::IsQuotaOnly(const GangSpec& gang, const PodSpec& pod) const {
  return flavors_.any() && !flavors_.OnNodes(ChoicesOf(gang, pod).front());
}

bool RoleMaker::AsksTooMuch(const Role& role) {
  const auto too_much = [](const TaskShape& shape) {
    for (ResourceKind k = 0; k < shape.resources.size(); ++k) {
      if (shape.resources[k] > Resources::kMaxQuantity) return true;
    }
    return shape.devices.count > DeviceSet::kCapacity;
  };
  return too_much(role.shape) || std::any_of(role.alternatives.begin(),
                                             role.alternatives.end(), too_much);
}

TaskShape RoleMaker::ShapeFor(const GangSpec& gang, const PodSpec& pod,
                              const FlavorChoice& choice) const {
  TaskShape shape;
  if (flavors_.any() && !flavors_.OnNodes(choice)) {
    flavors_.Charge(pod, choice, kinds_, &shape.resources);
    shape.selector.any_of = {
        {{{kQuotaOnlyLabel, SelectorOp::kIn, {RootOf(s_, gang.queue)}}}}};
    return shape;
  }
  shape.resources = kinds_.Request(pod, s_.cluster);
  flavors_.Charge(pod, choice, kinds_, &shape.resources);
  std::vector<Requirement> all_of = pod.selector;
  for (const auto& [key, value] : s_.cluster.node_filter) {
    all_of.push_back({key, SelectorOp::kIn, {value}});
  }
  for (const Requirement& r : flavors_.NodesFor(choice)) all_of.push_back(r);
  if (s_.kind == "placement" || flavors_.any()) {
    // Where everything is placed by topology, a node outside it takes nothing.
    const std::string topology = pod.topology.topology.empty()
                                     ? flavors_.TopologyOf(choice)
                                     : pod.topology.topology;
    if (const auto* levels = topologies_.LevelsOf(topology)) {
      for (const std::string& level : *levels) {
        all_of.push_back({level, SelectorOp::kExists, {}});
      }
    }
  }
  shape.selector = translate::ToNodeSelector(all_of, pod.affinity_any);
  return shape;
}

absl::Status RoleMaker::CheckClaims(const PodSpec& pod) const {
  for (const std::string& name : pod.device_claims) {
    const DeviceClaimSpec* claim = nullptr;
    for (const DeviceClaimSpec& c : s_.cluster.device_claims) {
      if (c.name == name) claim = &c;
    }
    if (claim == nullptr) {
      return absl::UnimplementedError("device claim " + name +
                                      ", of which nothing is told");
    }
    size_t users = 0;
    for (const GangSpec& gang : s_.gangs) {
      for (const PodSpec& other : gang.pods) {
        const auto& claims = other.device_claims;
        users += std::find(claims.begin(), claims.end(), name) != claims.end();
      }
    }
    if (users > 1) {
      return absl::UnimplementedError("a device claim shared by pods");
    }
    if (claim->allocated && pod.node.empty()) {
      return absl::UnimplementedError(
          "a device claim allocated before its pod is placed");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Role> RoleMaker::Make(const GangSpec& gang,
                                     const PodSpec& pod) const {
  if (auto status = CheckClaims(pod); !status.ok()) return status;
  const std::vector<FlavorChoice> choices = ChoicesOf(gang, pod);
  Role role;
  role.shape = ShapeFor(gang, pod, choices.front());
  for (size_t i = 1; i < choices.size(); ++i) {
    if (flavors_.TopologyOf(choices[i]) !=
        flavors_.TopologyOf(choices.front())) {
      return absl::UnimplementedError(
          "a choice between flavours of unlike topology");
    }
    role.alternatives.push_back(ShapeFor(gang, pod, choices[i]));
  }
  if (!IsQuotaOnly(gang, pod)) {
    auto devices = DevicesOf(pod, kinds_.gpus_are_devices());
    if (!devices.ok()) return devices.status();
    role.shape.devices = *devices;
    for (TaskShape& shape : role.alternatives) shape.devices = *devices;
    role.preferences = pod.preferences;
  }
  role.tolerations = pod.tolerations;
  for (const FlavorChoice& choice : choices) {
    for (const Toleration& t : flavors_.TolerationsOf(choice)) {
      role.tolerations.push_back(t);
    }
  }
  role.preemptible = pod.preemptible.value_or(true);
  const int64_t favoured =
      pod.order != 0 ? pod.order
                     : pod.priority.value_or(gang.priority) - gang.priority;
  role.order =
      static_cast<int32_t>(std::clamp<int64_t>(favoured, INT32_MIN, INT32_MAX));
  return role;
}

}  // namespace muster::conformance
