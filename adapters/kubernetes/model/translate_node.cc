#include "adapters/kubernetes/model/translate_node.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/unix_time.h"
#include "adapters/translate/selectors.h"
#include "adapters/translate/taints.h"
#include "muster/device_set.h"
#include "muster/ids.h"

namespace muster::kubernetes {

absl::StatusOr<Node> ToNode(const api::Node& node, const ResourceKinds& kinds,
                            const std::string& model_label) {
  Node result;
  result.key = node.meta.name;
  result.capacity = kinds.Capacity(node.allocatable);
  Device device;
  const auto model = node.meta.labels.find(model_label);
  if (model != node.meta.labels.end()) device.model = model->second;
  result.devices.assign(
      static_cast<size_t>(std::min<int64_t>(kinds.Devices(node.allocatable),
                                            DeviceSet::kCapacity)),
      device);
  result.choose_devices = false;
  result.labels = translate::ToLabels(node.meta.labels);
  result.labels.push_back({kNodeNameLabel, node.meta.name});
  for (const api::Taint& taint : node.taints) {
    auto translated = translate::ToTaint(taint.key, taint.value, taint.effect);
    if (!translated.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("spec.taints: ", translated.status().message()));
    }
    translated->since = ToTime(taint.time_added.value_or(0));
    result.taints.push_back(*std::move(translated));
  }
  result.schedulable =
      !node.unschedulable && (node.ready.empty() || node.ready == "True");
  return result;
}

}  // namespace muster::kubernetes
