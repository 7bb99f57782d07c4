// What a placement policy is to the solver: the cost of a node for one task.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "lib/cluster/cluster.h"
#include "muster/placement_policy.h"

namespace muster::scoring {

// A node by one ledger, as policies see it.
struct NodeLedger {
  const Cluster& cluster;
  NodeIndex node;
  Ledger ledger;

  int64_t free(ResourceKind k) const { return cluster.free(node, k, ledger); }
  int32_t free_milli(uint32_t device) const {
    return cluster.free_milli(node, device, ledger);
  }
  int64_t capacity(ResourceKind k) const { return cluster.capacity(node, k); }
  const std::vector<Device>& devices() const {
    return cluster.node(node).devices;
  }
};

// One task that is to be placed, as policies see it.
struct NodeQuestion {
  ShapeId shape = 0;
  std::string_view gang{};  // Its key.
  // Rails that tasks of the gang use already (bit r: rail r): for the choice of
  // devices; costs do not depend on it.
  uint64_t rails = 0;
};

// One thread at a time: policies keep scratch memory.
class NodePolicy {
 public:
  virtual ~NodePolicy() = default;

  // The greatest cost of a node.
  static constexpr uint32_t kMaxNodeCost = 0xfffffff0;

  // The cost of placing one such task on the node, which has room, in units of
  // the policy: the node of least cost is preferred. Allocates nothing once it
  // has seen such a node. A function of the node's own state (in its ledger),
  // of the shape and of the options alone, so that the solver may keep it until
  // the node changes; of the gang's key, too, where PerGang() says so.
  virtual uint32_t NodeCost(const NodeLedger& at,
                            const NodeQuestion& question) const = 0;
  virtual bool PerGang() const { return false; }

  // NodeCost in two steps, for shapes that share no device, where
  // HasNodeSummary(): a summary of the node, which does not depend on the shape
  // and is read once for all of them; and from it the cost for a shape.
  virtual bool HasNodeSummary() const { return false; }
  virtual uint64_t NodeSummary(const NodeLedger&) const { return 0; }
  // costs[i] = NodeCost, by summaries[i], for each bit i of `which` that is
  // set.
  virtual void NodeCosts(const DeviceRequest& /*request*/, uint64_t /*which*/,
                         const uint64_t* /*summaries*/,
                         uint32_t* /*costs*/) const {}

  // Which devices of the node, which has room: charges nothing. By default
  // the cluster's own choice (see Cluster::Choose), as it is always for tasks
  // that share no device.
  virtual Allocation Choose(const NodeLedger& at,
                            const NodeQuestion& question) const;
};

std::unique_ptr<NodePolicy> NewNodePolicy(const PlacementOptions& options);
// Those by what a task would leave for the usual work; by how full nodes are;
// what FGD was published against. Null if it is none of them.
std::unique_ptr<NodePolicy> NewByTypicalMix(const PlacementOptions& options);
std::unique_ptr<NodePolicy> NewFullness(const PlacementOptions& options);
std::unique_ptr<NodePolicy> NewFgdRival(const PlacementOptions& options);

}  // namespace muster::scoring
