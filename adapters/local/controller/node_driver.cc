#include "adapters/local/controller/node_driver.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/controller/device_names.h"
#include "muster/event.h"

namespace muster::local {

Node InService(const Node& node, const std::map<int64_t, DrainRow>& drains) {
  Node in = node;
  for (const auto& [device, row] : drains) {
    if (device == DrainRow::kWholeNode) {
      in.schedulable = false;
    } else if (static_cast<size_t>(device) < in.devices.size()) {
      in.devices[static_cast<size_t>(device)].healthy = false;
    }
  }
  return in;
}

absl::Status NodeDriver::Tell() {
  Node in = InService(s_.node, s_.drains);
  if (in == s_.config.node) return absl::OkStatus();
  absl::Status s = s_.link->Tell(NodeChanged{WithDeviceNames(in)});
  if (s.ok()) s_.config.node = std::move(in);
  return s;
}

absl::Status NodeDriver::Change(const Node& node) {
  const Node before = std::exchange(s_.node, node);
  s_.node.key = before.key;
  absl::Status s = Tell();
  if (!s.ok()) s_.node = before;
  return s;
}

absl::Status NodeDriver::Drain(DrainRow row) {
  if (row.device != DrainRow::kWholeNode &&
      static_cast<size_t>(row.device) >= s_.node.devices.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("device: ", row.device, ": the node has ",
                     s_.node.devices.size(), " devices"));
  }
  row.since = s_.now();
  s_.drains[row.device] = std::move(row);
  s_.drains_changed = true;
  return Tell();
}

absl::Status NodeDriver::Resume(std::optional<uint32_t> device) {
  if (device && !s_.drains.contains(*device)) {
    return absl::FailedPreconditionError(
        absl::StrCat("device ", *device, ": is not drained"));
  }
  for (auto it = s_.drains.begin(); it != s_.drains.end();) {
    if (device && it->first != *device) {
      ++it;
      continue;
    }
    s_.faults.Forget(it->first);
    it = s_.drains.erase(it);
  }
  s_.drains_changed = true;
  return Tell();
}

void NodeDriver::Quarantine() {
  for (DrainRow& row : s_.faults.Take()) {
    if (s_.drains.contains(row.device)) continue;
    row.quarantine = true;
    const absl::Status s = Drain(std::move(row));
    if (!s.ok()) s_.link->AddDefect(s.ToString());
  }
}

}  // namespace muster::local
