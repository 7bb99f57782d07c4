#include "adapters/local/controller/device_names.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace muster::local {
namespace {

std::string DeviceName(uint32_t device) {
  return absl::StrCat("number ", device);
}

}  // namespace

Node WithDeviceNames(Node node) {
  for (uint32_t d = 0; d < node.devices.size(); ++d) {
    node.devices[d].model = DeviceName(d);
  }
  return node;
}

void ChooseDevices(const workload::Job& job, workload::GangForm* form) {
  for (size_t r = 0; r < form->gang.roles.size(); ++r) {
    DeviceRequest& devices = form->gang.roles[r].shape.devices;
    if (devices.count == 0) continue;
    for (const uint32_t d : job.roles[form->ranges[r].role].task.device_ids) {
      devices.models.push_back(DeviceName(d));
    }
  }
}

absl::Status CheckChosenDevices(const Node& node, const JobRecord& job) {
  for (size_t r = 0; r < job.requests.size(); ++r) {
    const workload::Role& role = job.job().roles[job.form.ranges[r].role];
    const std::vector<uint32_t>& chosen = role.task.device_ids;
    if (chosen.empty()) continue;
    const auto bad = [&](const auto&... what) {
      return absl::InvalidArgumentError(
          absl::StrCat(role.path, ": GPUs by number: ", what...));
    };
    if (chosen.back() >= node.devices.size()) {
      return bad(chosen.back(), " is none; the node has ", node.devices.size(),
                 ", from 0 on");
    }
    const uint32_t count = job.requests[r].count;
    if (count == 0) return bad("the task asks for no GPU");
    if (count > chosen.size()) {
      return bad("the task asks for ", count, " of ", chosen.size());
    }
  }
  return absl::OkStatus();
}

}  // namespace muster::local
