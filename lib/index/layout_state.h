// What the slots of all shapes have in common, in one layout and ledger.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/index/layout.h"
#include "lib/scoring/node_policy.h"

namespace muster::index {

// Reads the cluster's log of changed nodes once for all shapes, and lists them
// by chunk: what happens to a rack is one entry, not one for each node. Beside
// it, what many shapes ask alike: which nodes of a chunk have how many devices
// wholly free, and the policy's summaries of nodes. A cache, like ShapeSlots.
class LayoutState {
 public:
  // Nodes of one chunk that changed: bit i is the chunk's node i.
  struct Change {
    uint64_t nodes = 0;
    uint32_t chunk = 0;
    bool structure = false;  // More than what is charged, perhaps.
  };

  // Forgets everything; layout and policy must stay until the next Bind.
  void Bind(const Layout& layout, const scoring::NodePolicy& policy,
            Ledger ledger);
  // Brings everything but summaries up to the cluster's state: O(changes); by
  // one scan where the cluster's log no longer tells them.
  void Refresh(const Cluster& cluster);
  // NodePolicy::NodeSummary of the chunk's nodes; up to date for these `nodes`.
  const uint64_t* NodeSummaries(const Cluster& cluster, uint32_t chunk,
                                uint64_t nodes);

  const Layout& layout() const { return *layout_; }
  Ledger ledger() const { return ledger_; }
  // The number of changes so far.
  uint64_t version() const { return version_; }
  // Whether all that changed since then is still known: chunk by chunk, at the
  // least.
  bool Reaches(uint64_t version) const { return version >= oldest_; }
  bool ChangedSince(uint64_t version, uint32_t chunk) const {
    return chunk_version_[chunk] > version;
  }
  // Whether change() knows them, too.
  bool Lists(uint64_t version) const {
    return version + ring_.size() >= version_;
  }
  const Change& change(uint64_t version) const {
    return ring_[version & (ring_.size() - 1)];
  }
  // Whether that change is the last of its chunk.
  bool IsLast(uint64_t version) const {
    return chunk_version_[change(version).chunk] == version + 1;
  }
  // Changes of structure: slots counted before one must ask anew which nodes
  // admit the tasks, where they do not follow the changes.
  uint64_t structure_version() const { return structure_version_; }

  // Devices wholly free, by position, and all that the node has.
  std::span<const uint8_t> whole() const { return whole_; }
  std::span<const uint8_t> devices() const { return devices_; }
  uint32_t most_devices() const { return levels_; }
  // at_least(chunk)[k - 1]: the chunk's nodes with k of them, or more; for all
  // k up to the most devices of a node.
  std::span<const uint64_t> at_least(uint32_t chunk) const {
    return {at_least_.data() + size_t{chunk} * levels_, levels_};
  }
  // Nodes that have a taint which asks to avoid them, by chunk.
  bool any_avoidable() const { return avoidable_nodes_ > 0; }
  uint64_t avoidable(uint32_t chunk) const { return avoidable_[chunk]; }

 private:
  void Build(const Cluster& cluster);
  void Follow(const Cluster& cluster);
  void ReadStructure(const Cluster& cluster, Position p);
  void SetWhole(Position p, uint32_t devices, uint32_t levels);
  void SortAll();

  const Layout* layout_ = nullptr;
  const scoring::NodePolicy* policy_ = nullptr;
  Ledger ledger_ = Ledger::kBoth;
  bool has_summaries_ = false;
  bool built_ = false;
  uint64_t cluster_version_ = 0;
  uint64_t structure_version_ = 0;

  std::vector<Change> ring_;  // 2^i.
  uint64_t version_ = 0;
  uint64_t oldest_ = 0;                  // Built anew then.
  std::vector<uint64_t> chunk_version_;  // After its last change.
  std::vector<NodeIndex> changed_;
  std::vector<uint8_t> free_;  // Devices of theirs.

  static_assert(DeviceSet::kCapacity <= 0xff, "a node's devices fill a byte");
  std::vector<uint8_t> whole_;
  std::vector<uint8_t> devices_;
  std::vector<uint64_t> avoidable_;
  uint32_t avoidable_nodes_ = 0;
  uint32_t levels_ = 0;  // The most devices of a node.
  std::vector<uint64_t> at_least_;
  std::vector<uint64_t> summaries_;    // By position.
  std::vector<uint64_t> chunk_stale_;  // The nodes whose summary may differ.
};

}  // namespace muster::index
