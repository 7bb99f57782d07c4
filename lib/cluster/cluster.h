// The indexed state of the cluster: nodes, devices, topologies, free capacity,
// and the transactions in which solvers try things.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "muster/cluster_view.h"
#include "muster/device_set.h"
#include "muster/gang.h"
#include "muster/ids.h"
#include "muster/node.h"
#include "muster/resources.h"
#include "muster/topology.h"

namespace muster {

// An interned task shape: what a task needs, which nodes admit it and how it
// likes them.
using ShapeId = uint32_t;

// What one task holds: a shape on a node, on these devices.
struct Allocation {
  NodeIndex node = 0;
  ShapeId shape = 0;
  DeviceSet devices{};
  uint32_t first_slice = 0;  // Of its partition; 0 if it has none.

  friend bool operator==(const Allocation&, const Allocation&) = default;
};

// One domain of one level: a contiguous range of TopologyIndex::nodes.
struct Domain {
  std::string_view name{};  // The label's value; owned by the cluster.
  uint32_t parent = 0;  // Position in the next wider level; 0 at the widest.
  uint32_t first_child = 0;  // Children are contiguous in the next level, too.
  uint32_t child_count = 0;
  uint32_t first_node = 0;  // Into TopologyIndex::nodes.
  uint32_t node_count = 0;
};

// One topology, laid out flat. Level l < levels.size() are the configured
// levels, widest first; the host level (every node by itself) is not stored.
// Domains of a level are ordered by their path of names, nodes inside a domain
// by key: an order no arrival can change.
struct TopologyIndex {
  std::vector<std::vector<Domain>> levels{};
  std::vector<NodeIndex> nodes{};    // Only nodes inside the topology.
  std::vector<uint32_t> position{};  // Node -> place in `nodes`, or kOutside.
  // domain_of[l][node] = the node's domain at level l, or kOutside.
  std::vector<std::vector<uint32_t>> domain_of{};
  static constexpr uint32_t kOutside = 0xffffffff;
};

// Not synchronised; one thread at a time. Copying gives an independent cluster
// with the same indices, shapes and free capacity (no open transaction may
// exist). Everything asked for in "key order" depends on keys alone. Values are
// as the scheduler takes them, within the bounds their headers name and
// Resources::kMaxTotal together: the caller, who is its own scheduler then, has
// made sure of it. Nothing is checked here. It has many functions because
// solvers, policies and caches each read another side of one state.
class Cluster {
 public:
  // `resource_count` kinds; `device_kind` is the one counted by devices,
  // `node_kind` the one of whole nodes (SchedulerConfig::node_kind); no
  // kind below resource_count: there is none. Topologies and schemes (valid
  // ones) are fixed for life.
  Cluster(uint32_t resource_count, ResourceKind device_kind,
          std::vector<Topology> topologies,
          std::vector<PartitionScheme> partition_schemes = {},
          ResourceKind node_kind = Resources::kMaxKinds);
  Cluster(const Cluster&);
  Cluster& operator=(const Cluster&);
  Cluster(Cluster&&) noexcept;
  Cluster& operator=(Cluster&&) noexcept;
  ~Cluster();

  // --- Structure. Called between transactions only. ---------------------

  // Of a cluster without nodes: no NodeId will be one with a smaller
  // generation. For a cluster that takes the place of another, whose ids are
  // void then.
  void StartGenerationsAt(uint32_t first);
  // The largest of any NodeId given out. O(nodes).
  uint32_t last_generation() const;
  // Adds the node, or replaces it if the key is known (same NodeId; what is
  // charged stays charged: the caller credits allocations first and charges
  // them again when devices change). The caller has validated the node.
  // A new node has all its capacity free. O(capacity kinds + devices).
  NodeId Upsert(const Node& node);
  // The node and its id are gone; charges on it are forgotten.
  void Remove(NodeIndex node);
  // Take back the last Upsert that added the node, and the last Remove, of a
  // node with these values: everything since has been taken back, and nothing
  // is charged. Ids are given out again as if it had not been.
  void UndoAdd(NodeIndex node);
  NodeIndex UndoRemove(const Node& node);
  // An unavailable node admits nothing and has no slots; charges stay.
  void SetAvailable(NodeIndex node, bool available);
  bool available(NodeIndex node) const;
  // Replaces the external usage of the node, in both ledgers; whether some of
  // what was used is given up.
  bool SetExternalUsage(NodeIndex node, const ExternalUsage& usage);
  // Defines or replaces a node set; nodes that come later join by key.
  void SetNodeSet(const NodeSet& set);
  void RemoveNodeSet(std::string_view key);
  bool HasNodeSet(std::string_view key) const;

  uint32_t resource_count() const;
  ResourceKind device_kind() const;
  ResourceKind node_kind() const;
  // How many exist.
  uint32_t node_count() const;
  // One past the largest NodeIndex in use.
  uint32_t node_limit() const;
  bool exists(NodeIndex node) const;
  NodeId id(NodeIndex node) const;
  // An invalid id when there is none.
  NodeId Find(std::string_view key) const;
  const Node& node(NodeIndex node) const;
  // All nodes, in key order. Amortised O(n log n) after a structural change.
  std::span<const NodeIndex> nodes() const;
  // Rises with everything above that changes anything (not with charges).
  uint64_t structure_version() const;

  std::span<const Topology> topologies() const;
  // Position in topologies(), or -1. The empty key is the first.
  int FindTopology(std::string_view key) const;
  // Level's position; levels.size() for kHostLevel; -1 for no such level.
  int FindLevel(int topology, std::string_view level) const;
  // Rebuilt lazily after structural changes; the reference holds until then.
  const TopologyIndex& index(int topology) const;

  // --- Shapes ------------------------------------------------------------

  // Interns `role`'s shape (alternative 0) or alternatives[alternative - 1]
  // with the role's tolerations, node sets and preferences. Equal ones share an
  // id; each Intern is undone by one Unref.
  ShapeId Intern(const Role& role, uint32_t alternative);
  // The shape that takes just these amounts of any node that tolerates nothing.
  ShapeId Intern(const Resources& amounts);
  // The same shape, which has memory shares and partitions only of
  // devices of which a task takes no more than so many thousandths: one of 40
  // GB has 500 of a device of 80 GB, 250 of one of 160 GB.
  ShapeId Intern(ShapeId shape, int32_t most_milli);
  // That bound; kAnyMilli if it has none.
  int32_t most_milli(ShapeId shape) const;
  // Those of the role and the alternative.
  std::span<const Toleration> tolerations(ShapeId shape) const;
  void Unref(ShapeId shape);
  // What one such task uses of each kind, the device kind included (for a
  // memory share: its thousandths of the largest-memory device that admits it,
  // or of one device where none is known; for a partition: the least that any
  // scheme says). Holds until nodes change or the
  // shape's last Unref.
  const Resources& demand(ShapeId shape) const;
  const DeviceRequest& device_request(ShapeId shape) const;
  // Whether it asks for labels.
  bool has_selector(ShapeId shape) const;
  // Tells the shape from all others this cluster (or the one it was copied
  // from) has had: ids are used again. For caches.
  uint64_t shape_serial(ShapeId shape) const;
  // The same of what decides Admits, which shapes may share.
  uint64_t filter_serial(ShapeId shape) const;
  // Whether the node would take such tasks, capacity aside: selector, taints,
  // node sets, schedulable, available, device models and partitions (the node
  // has a device of one of them that can have such a partition). O(1)
  // amortised: after a change to a node, each shape looks at that node alone.
  bool Admits(NodeIndex node, ShapeId shape) const;
  // Number of untolerated kPreferNoSchedule taints on the node.
  uint32_t SoftTaints(NodeIndex node, ShapeId shape) const;
  std::span<const Preference> preferences(ShapeId shape) const;
  // How well such tasks like the node: the weights of the preferences that hold
  // there, less the penalty of its soft taints, of which one outweighs them
  // all.
  static constexpr int64_t kSoftTaintPenalty = int64_t{1} << 32;
  int64_t Score(NodeIndex node, ShapeId shape) const;

  // --- Capacity ----------------------------------------------------------

  // How many more such tasks fit on the node, at most `limit`: with kNow and
  // kLater both where the ledger is kBoth. 0 if the node does not admit it.
  uint32_t Slots(NodeIndex node, ShapeId shape, Ledger ledger,
                 uint32_t limit) const;
  // The same of a node that admits the shape, were there enough devices.
  uint32_t SlotsBesideDevices(NodeIndex node, ShapeId shape, Ledger ledger,
                              uint32_t limit) const;
  // Chooses devices for one task: the tightest share first; whole devices of
  // few islands, few NUMA nodes, preferably on these rails (bit r: rail r), of
  // the smallest island or NUMA node that has enough, lowest numbers first; a
  // partition where it leaves the most other ones possible. docs/placement.md,
  // "Inside the node", has the exact order. False if none fits.
  bool Choose(NodeIndex node, ShapeId shape, Ledger ledger, Allocation* out,
              uint64_t rails = 0) const;
  // The rails of the devices that are held; 0 where none is known.
  uint64_t Rails(const Allocation& a) const;
  // False: no device ever had a rail.
  bool has_rails() const;
  // Choose for one task on each of the nodes, which differ and all have room;
  // replaces `out`. Faster than one by one.
  void ChooseEach(std::span<const NodeIndex> nodes, ShapeId shape,
                  Ledger ledger, std::vector<Allocation>* out) const;
  // Choose, and charges it. No change if none fits.
  bool Take(NodeIndex node, ShapeId shape, Ledger ledger, Allocation* out);
  // Exactly this allocation; may overcommit, since reality may. Nothing
  // happens on a node that is gone.
  void Charge(const Allocation& a, Ledger ledger);
  void Credit(const Allocation& a, Ledger ledger);
  // Whether exactly this allocation fits in the ledger: never on a node that is
  // not available or a device that is not healthy; selector, taints and cordon
  // are not looked at.
  bool Fits(const Allocation& a, Ledger ledger) const;
  // What the allocation uses of each kind, the device kind in thousandths.
  Resources Usage(const Allocation& a) const;

  // Of the device kind, what healthy devices have free; capacity() counts all
  // devices.
  int64_t free(NodeIndex node, ResourceKind kind, Ledger ledger) const;
  // Healthy devices of the node that are wholly free.
  uint32_t free_devices(NodeIndex node, Ledger ledger) const;
  // The same of each of the nodes; replaces `out`.
  void FreeDevicesEach(std::span<const NodeIndex> nodes, Ledger ledger,
                       std::vector<uint8_t>* out) const;
  // Free thousandths of one device (0 if it is unhealthy).
  int32_t free_milli(NodeIndex node, uint32_t device, Ledger ledger) const;
  int64_t free_memory(NodeIndex node, uint32_t device, Ledger ledger) const;
  // Slices of the device that partitions hold in (one of) the ledger(s), bit i
  // for slice i.
  uint32_t busy_slices(NodeIndex node, uint32_t device, Ledger ledger) const;
  // Devices that the host split or that hold a partition: they give no shares.
  DeviceSet split_devices(NodeIndex node, Ledger ledger) const;
  // Devices on which partitions overlap each other or other use, as a host
  // reported it. Such a node is overcommitted.
  DeviceSet clashing_devices(NodeIndex node, Ledger ledger) const;
  // Appends every place that one such task could have on the node, devices
  // then slots rising; for shapes that ask for a partition.
  void PartitionPlaces(NodeIndex node, ShapeId shape, Ledger ledger,
                       std::vector<Allocation>* out) const;
  // How many such partitions the node's devices, healthy or not, can have.
  uint32_t PartitionCapacity(NodeIndex node, ShapeId shape) const;
  // Capacity of the node, the device kind included; negative free capacity in
  // kNow means that the host overcommitted the node.
  int64_t capacity(NodeIndex node, ResourceKind kind) const;
  // Tasks charged to the node; kBoth: in the ledger that has fewer of them.
  uint32_t task_count(NodeIndex node, Ledger ledger) const;
  // Sums over the nodes that are available, and over all.
  const Resources& total_capacity() const;
  const Resources& nodes_capacity() const;
  // Whether anything is negative: kNow, because the host overcommitted the
  // node; kLater, because it still will be when all releases are done; kBoth:
  // either.
  bool Overcommitted(NodeIndex node, Ledger ledger = Ledger::kNow) const;

  // Everything that changes what a node offers is logged, for caches of what
  // Slots, Admits and free tell; what is undone is no change where nobody has
  // asked for the version in between. No decision may depend on it.
  uint64_t changed_version() const;
  // Replaces `nodes` by those changed since `version`, each at least once.
  // False if the log no longer reaches back that far.
  bool ChangedSince(uint64_t version, std::vector<NodeIndex>* nodes) const;
  // Rises when nodes come or go or move to other domains: when nodes() or
  // index() may differ. It starts at 1.
  uint64_t layout_version() const;
  // Differs between any two clusters, a copy and its original included, while a
  // reference to it is kept: versions compare only under the same identity.
  const std::shared_ptr<const char>& identity() const;

  // --- Transactions, nesting ----------------------------------------------

  using Mark = size_t;
  // Starts a transaction; everything charged or credited from here on is
  // undone by Rollback(mark), kept by Commit(mark). Innermost first.
  Mark Begin();
  void Rollback(Mark mark);
  void Commit(Mark mark);

  // A hash of structure and both ledgers, by keys: equal for equal states
  // whatever the indices are. O(n log n). For tests and replay checks.
  uint64_t Hash() const;
  // Re-derives every incremental value and compares: InternalError names the
  // first difference. For tests.
  absl::Status Validate() const;

 private:
  class Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace muster
