// The slots of all shapes in the cluster that a solver works on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lib/cluster/cluster.h"
#include "lib/index/layout.h"
#include "lib/index/recent.h"
#include "lib/index/shape_slots.h"
#include "lib/scoring/node_policy.h"

namespace muster::index {

// Holds the slots of the shapes asked for last, all of one cluster, as many as
// fit into the memory, kMinEntries at least: another cluster, or one whose
// nodes came, went or moved, starts it anew. Nothing it says depends on what it
// held before.
class PlacementIndex {
 public:
  static constexpr size_t kMinEntries = 64;
  static constexpr size_t kMaxEntries = 4096;
  static constexpr size_t kMemory = size_t{256} << 20;

  // The policy must stay.
  explicit PlacementIndex(const scoring::NodePolicy& policy,
                          size_t memory = kMemory)
      : policy_(policy), memory_(memory) {}

  // The slots of a shape as the cluster is now. Valid, and true,
  // until the cluster changes or the next call. `topology`: -1 for none.
  // With a score, of the nodes that have it alone. O(1) where nothing changed;
  // see ShapeSlots.
  ShapeSlots& Get(const Cluster& cluster, int topology, ShapeId shape,
                  Ledger ledger, std::optional<int64_t> score = {});
  // Of what Get returned last.
  const Layout& layout() const { return entries_[last_]->slots.layout(); }

 private:
  static constexpr size_t kLedgers = 4;  // Values of Ledger, from 0 on.

  // What an entry is found by.
  struct Key {
    uint64_t serial = 0;
    int32_t topology = -1;
    Ledger ledger = Ledger::kBoth;
    std::optional<int64_t> score{};

    friend bool operator==(const Key&, const Key&) = default;
    template <class H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.serial, key.topology, key.ledger,
                        key.score);
    }
  };

  struct Entry {
    Key key{};
    uint64_t used = 0;  // The call that asked for it last.
    ShapeSlots slots{};
  };

  void Follow(const Cluster& cluster);
  size_t PlaceFor(const Key& key);
  LayoutState& StateOf(const Cluster& cluster, int topology, Ledger ledger);

  const scoring::NodePolicy& policy_;
  const size_t memory_;
  MadeFrom made_from_;
  std::vector<std::optional<Layout>> layouts_;      // By topology + 1.
  std::vector<std::optional<LayoutState>> states_;  // By (topology, ledger).
  size_t most_entries_ = kMinEntries;
  absl::flat_hash_map<Key, size_t> places_;      // Never iterated.
  std::vector<std::unique_ptr<Entry>> entries_;  // places_.size() are in use.
  size_t last_ = 0;
  uint64_t calls_ = 0;
};

}  // namespace muster::index
