// A node: what a host says of one machine of its cluster.
#ifndef MUSTER_NODE_H_
#define MUSTER_NODE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "muster/device.h"
#include "muster/ids.h"
#include "muster/resources.h"
#include "muster/selector.h"

namespace muster {

// What a node has of the kind SchedulerConfig::node_kind; a task takes 1 of
// it, or all.
inline constexpr int64_t kWholeNode = int64_t{1} << 20;

// A value. Its place in each topology is read from its labels (topology.h).
struct Node {
  static constexpr size_t kMaxTaints = 256;

  std::string key{};  // Unique among nodes.
  // What gangs may use in all, before anything runs. The device kind
  // (SchedulerConfig::device_kind) is left 0: it is 1000 x devices. So is
  // the node kind (node_kind): it is kWholeNode.
  Resources capacity{};
  std::vector<Device> devices{};  // At most DeviceSet::kCapacity.
  Labels labels{};
  std::vector<Taint> taints{};  // At most kMaxTaints.
  bool schedulable = true;  // false: no new task; what runs may stay (cordon).
  // false: something on the node picks devices (a device plugin): plans name
  // none here, as everywhere with HostCapabilities::choose_devices false.
  bool choose_devices = true;

  friend bool operator==(const Node&, const Node&) = default;
};

// Capacity of a node that something outside Muster uses (system daemons,
// another scheduler's work). Replaces what was reported before.
struct ExternalUsage {
  std::string node{};
  Resources amount{};  // Without the device kind.
  std::vector<DeviceShare> devices{};
  // Further whole devices that are not named (a device plugin chose them). They
  // are booked as devices that no task has; where these are too few, as some of
  // the tasks that would give way first: nominated ones, those that are being
  // released, then, of those that may be preempted, the last in queue order.
  // They are booked anew when a task turns out to have one of them and when one
  // leaves the node: no device counts as free that they may be.
  uint32_t unnamed_devices = 0;

  friend bool operator==(const ExternalUsage&, const ExternalUsage&) = default;
};

// A named set of nodes that the host supplies and updates: what a core cannot
// know (where a volume is reachable, which nodes have a licence, a flavour).
struct NodeSet {
  std::string key{};
  // Keys, at most kMaxNodes; a node not known yet may be named.
  std::vector<std::string> nodes{};

  friend bool operator==(const NodeSet&, const NodeSet&) = default;
};

}  // namespace muster

#endif  // MUSTER_NODE_H_
