// NodeDriver: the node as its host tells of it, without what is out of service.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "adapters/local/controller/state.h"
#include "adapters/local/model/drain_row.h"
#include "muster/node.h"

namespace muster::local {

// The node without what is drained: it takes no task, or its devices are not
// healthy. Pure; O(devices).
Node InService(const Node& node, const std::map<int64_t, DrainRow>& drains);

// Not synchronised.
class NodeDriver {
 public:
  // Not owned.
  explicit NodeDriver(ControllerState* state) : s_(*state) {}

  // As Controller has them.
  absl::Status Change(const Node& node);
  absl::Status Drain(DrainRow row);
  absl::Status Resume(std::optional<uint32_t> device);
  // What has failed too often goes out of service.
  void Quarantine();

 private:
  absl::Status Tell();

  ControllerState& s_;
};

}  // namespace muster::local
