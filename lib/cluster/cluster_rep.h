// What a Cluster is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lib/cluster/change_log.h"
#include "lib/cluster/cluster.h"
#include "lib/cluster/filter_table.h"
#include "lib/cluster/interned.h"
#include "lib/cluster/ledgers.h"
#include "lib/cluster/needs.h"
#include "lib/cluster/node_table.h"
#include "lib/cluster/topology_builder.h"
#include "muster/fields/protocol.h"

namespace muster {

class StableHash;

// What tells shapes apart.
struct ShapeKey {
  FilterId filter = 0;
  Resources resources{};  // As asked for.
  DeviceRequest request{};
  std::vector<Preference> preferences{};
  int32_t most_milli = kAnyMilli;

  friend bool operator==(const ShapeKey&, const ShapeKey&) = default;
};

template <>
struct FieldsOf<ShapeKey> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "filter", s.filter);
    v(2, "resources", s.resources);
    v(3, "request", s.request);
    v(4, "preferences", s.preferences);
    v(5, "most_milli", s.most_milli);
  }
};

struct ShapeRecord {
  uint64_t serial = 0;  // Never used twice, as ids are.
  // The cache of Cluster::demand: as of this version of the filters.
  mutable uint64_t demand_seen = ~uint64_t{0};
  mutable Resources demand{};
};

// What the hot questions need of a shape.
struct Shape {
  FilterId filter = 0;
  Needs needs{};
};

// The tables know nothing of each other; what concerns several of them is
// here. A value type: copying it copies the cluster.
class Cluster::Rep {
 public:
  Rep(Ledgers empty, std::vector<Topology> configured);

  // Structure.
  // A node that was added to the table; one that goes from it.
  void Enter(NodeIndex node);
  void Leave(NodeIndex node);
  // Whether the labels put a node into the same domains everywhere.
  bool SamePlaces(const Labels& a, const Labels& b) const;
  void CountCapacity(NodeIndex node, int64_t times);
  void NodeSetChanged(const std::vector<std::string>& keys);
  const TopologyIndex& Index(size_t topology) const;

  // Shapes.
  ShapeId Intern(const Role& role, uint32_t alternative);
  ShapeId Intern(const Filter& filter, ShapeKey key);
  ShapeId Intern(ShapeId shape, int32_t most_milli);
  const Resources& Demand(ShapeId shape) const;
  bool Admits(NodeIndex node, ShapeId shape) const {
    return filters.Admits(shapes[shape].filter, node, View());
  }

  // Capacity; Post remembers it for Rollback.
  void Post(const Allocation& a, Ledger ledger, int sign);
  void Apply(const Allocation& a, Ledger ledger, int sign);

  uint64_t Hash() const;
  absl::Status Validate() const;

  NodeView View() const { return {nodes, sets}; }

  NodeTable nodes{};
  NodeSetTable sets{};
  FilterTable filters{};
  // Each shape holds one reference to its filter. What caches know of a shape
  // is found by its serial: it outlives the gangs that have it one by one.
  static constexpr size_t kMaxIdleShapes = 256;
  Interned<ShapeKey, ShapeRecord, kMaxIdleShapes, std::deque> shape_records{};
  std::vector<Shape> shapes{};
  uint64_t last_serial = 0;
  Ledgers ledgers;
  ChangeLog changed{};
  Identity identity{};
  std::vector<Topology> topologies;
  Resources total_capacity;
  Resources nodes_capacity;  // Unavailable ones included.
  uint64_t structure_version = 0;
  uint64_t layout_version = 1;  // Rises when nodes or their places change.

  struct Posting {
    Allocation allocation{};
    Ledger ledger = Ledger::kBoth;
    int sign = 0;
  };
  struct Transaction {
    size_t postings = 0;   // Made before it began.
    uint64_t changes = 0;  // Logged by then: ChangeLog::Mark.
  };
  std::vector<Transaction> transactions{};  // The open ones, outermost first.
  std::vector<Posting> postings{};          // The undo log.

 private:
  // What an index was built from: layout_version then. 0: never.
  struct CachedTopology {
    BuiltTopology built{};
    uint64_t version = 0;
  };

  Needs NeedsOf(const ShapeKey& shape);
  void HashNode(NodeIndex node, StableHash* hash) const;
  absl::Status ValidateNodes() const;
  absl::Status ValidateShapes() const;
  absl::Status ValidateTopologies() const;

  mutable std::vector<CachedTopology> indexes_;
};

}  // namespace muster
