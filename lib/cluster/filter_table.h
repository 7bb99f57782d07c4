// Filters: which nodes admit tasks of a kind, capacity aside. One bit a node,
// kept up to date lazily.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lib/cluster/change_log.h"
#include "lib/cluster/cluster.h"
#include "lib/cluster/interned.h"
#include "lib/cluster/node_table.h"
#include "muster/fields/protocol.h"
#include "muster/selector.h"

namespace muster {

using FilterId = uint32_t;

// The part of a task shape that nodes pass or fail whatever is free.
struct Filter {
  NodeSelector selector{};
  std::vector<Toleration> tolerations{};
  std::vector<std::string> node_sets{};
  std::vector<std::string> models{};  // The node has one of them; empty: any.
  // A profile that a device of such a model can have, and the keys of the
  // schemes that know it; empty: none is asked for.
  std::string partition{};
  std::vector<std::string> schemes{};

  friend bool operator==(const Filter&, const Filter&) = default;
};

template <>
struct FieldsOf<Filter> {
  template <class Self, class V>
  static void Visit(Self& s, V&& v) {
    v(1, "selector", s.selector);
    v(2, "tolerations", s.tolerations);
    v(3, "node_sets", s.node_sets);
    v(4, "models", s.models);
    v(5, "partition", s.partition);
    v(6, "schemes", s.schemes);
  }
};

// What filters are evaluated on.
struct NodeView {
  const NodeTable& nodes;
  const NodeSetTable& sets;
};

bool Admits(const Filter& filter, NodeIndex node, const NodeView& view);

// Interned filters, with their bits. After a change to a node, every filter
// looks at that node alone once it is asked again.
class FilterTable {
 public:
  FilterId Intern(const Filter& filter) {
    const auto [id, added] = filters_.Intern(filter);
    if (added) filters_[id].serial = ++last_serial_;
    return id;
  }
  void Unref(FilterId id) { filters_.Unref(id); }
  const Filter& operator[](FilterId id) const { return filters_[id].key; }

  // Tells the filter from all others there have been: ids are used again.
  uint64_t serial(FilterId id) const { return filters_[id].serial; }

  // What filters look at has changed on this node, or it came or went.
  void MarkChanged(NodeIndex node);
  // Rises with every MarkChanged.
  uint64_t version() const { return log_.version(); }

  bool Admits(FilterId id, NodeIndex node, const NodeView& view) const {
    const auto& entry = filters_[id];
    if (entry.seen != version()) Refresh(entry.key, entry, view);
    const size_t word = node / 64;
    return word < entry.bits.size() && (entry.bits[word] >> node % 64 & 1) != 0;
  }

  // Evaluates everything anew and compares; `refs` are the expected counts.
  absl::Status Validate(const std::vector<uint32_t>& refs,
                        const NodeView& view) const;
  size_t size() const { return filters_.size(); }

 private:
  static constexpr size_t kMaxIdle = 64;

  struct Cache {
    uint64_t serial = 0;
    // Bits as of version `seen`, which at first is none.
    mutable uint64_t seen = ~uint64_t{0};
    mutable std::vector<uint64_t> bits{};
  };

  void Refresh(const Filter& filter, const Cache& cache,
               const NodeView& view) const;

  Interned<Filter, Cache, kMaxIdle> filters_{};
  ChangeLog log_{};
  mutable std::vector<NodeIndex> changed_{};
  uint32_t node_limit_ = 0;
  uint64_t last_serial_ = 0;
};

}  // namespace muster
