#include "adapters/local/controller/device_names.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

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
    const auto& chosen = job.roles[form->ranges[r].role].task.device_ids;
    ForEachShape(&form->gang.roles[r], [&](TaskShape& shape) {
      if (shape.devices.count == 0) return;
      for (const uint32_t d : chosen) {
        shape.devices.models.push_back(DeviceName(d));
      }
    });
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
    uint32_t most = 0;
    for (const DeviceRequest& ask : job.requests[r]) {
      most = std::max(most, ask.count);
    }
    if (most == 0) return bad("the task asks for no GPU");
    if (most > chosen.size()) {
      return bad("the task asks for ", most, " of ", chosen.size());
    }
  }
  return absl::OkStatus();
}

std::string ChosenDevicesText(const workload::Job& job) {
  for (const workload::Role& role : job.roles) {
    const std::vector<uint32_t>& chosen = role.task.device_ids;
    if (chosen.empty()) continue;
    return absl::StrCat("too few of the GPUs ", absl::StrJoin(chosen, ", "),
                        ", which it chooses, are free");
  }
  return "";
}

}  // namespace muster::local
