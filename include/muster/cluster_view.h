// ClusterView: the nodes of a scheduler or solver, with what is free on them.
#ifndef MUSTER_CLUSTER_VIEW_H_
#define MUSTER_CLUSTER_VIEW_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "muster/export.h"
#include "muster/ids.h"
#include "muster/node.h"
#include "muster/resources.h"

namespace muster {

class Cluster;  // The library's own; hosts see no more than this view of it.

// A node's position in the cluster's arrays: NodeId::index. Positions of nodes
// that are gone are used again.
using NodeIndex = uint32_t;

// Free capacity is kept twice (Volcano: Idle and FutureIdle). `kNow` is what
// nothing holds at this moment. `kLater` is what nothing will hold once
// everything that is being released has been, less what is nominated for
// nominated gangs. A running task is charged to both; one that is being evicted
// only to kNow; a nominated one only to kLater. A task may start where both
// have room.
enum class Ledger : uint8_t { kNow = 1, kLater = 2, kBoth = 3 };

// A view, to be passed by value: it owns nothing, and is valid until the
// scheduler or solver that gave it is changed or destroyed. Thread rule: that
// of its owner. Node positions must be those of nodes that exist; nothing is
// checked. Where a ledger is asked for, kBoth gives the smaller of the two.
class MUSTER_API ClusterView {
 public:
  explicit ClusterView(const Cluster& cluster) : cluster_(&cluster) {}

  // The nodes that exist, ordered by key. Amortised O(n log n) after nodes came
  // or went, else O(1).
  std::span<const NodeIndex> nodes() const;
  // An invalid id where there is no node with this key. O(1).
  NodeId Find(std::string_view key) const;
  // The node as the host described it last.
  const Node& node(NodeIndex node) const;
  // Whether tasks may run there: it is not down, and not cut off.
  bool available(NodeIndex node) const;

  // Number of resource kinds: kinds are 0 .. resource_count() - 1, in the order
  // of SchedulerConfig::resources.
  uint32_t resource_count() const;
  // The kind counted by devices; resource_count() or more where none is.
  ResourceKind device_kind() const;

  // What the node has of the kind, used or not; of the device kind, thousandths
  // of all its devices, unhealthy ones included. O(1).
  int64_t capacity(NodeIndex node, ResourceKind kind) const;
  // What is free of it; of the device kind, thousandths of healthy devices.
  // Negative where the host reported more use than the node has. O(1).
  int64_t free(NodeIndex node, ResourceKind kind, Ledger ledger) const;
  // How many healthy devices of the node are wholly free. O(1).
  uint32_t free_devices(NodeIndex node, Ledger ledger) const;
  // Free thousandths of one device, by its position in Node::devices; 0 if it
  // is unhealthy. O(1).
  int32_t free_milli(NodeIndex node, uint32_t device, Ledger ledger) const;
  // Whether more is held there than the node has, of a kind, of a device or of
  // its memory: see HostCapabilities::keeps_running. O(kinds + devices).
  bool overcommitted(NodeIndex node, Ledger ledger) const;
  // Sums of capacity over the nodes that are available. O(1).
  const Resources& total_capacity() const;

 private:
  const Cluster* cluster_;
};

}  // namespace muster

#endif  // MUSTER_CLUSTER_VIEW_H_
