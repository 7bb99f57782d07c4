// What is free in all, on the nodes that admit a shape.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/index/recent.h"

namespace muster::index {

// Sums of FreeOn by kind, once for all shapes that the same nodes admit. A
// cache: after changes to k nodes a call costs O(k + those that have more or
// less free now * filters). Memory: O(nodes * kinds + nodes * filters / 8).
class FreeTable {
 public:
  static constexpr size_t kMaxFilters = 32;

  // By kind. Valid until the next call.
  const std::vector<int64_t>& Get(const Cluster& cluster, ShapeId shape,
                                  Ledger ledger);

 private:
  static constexpr size_t kLedgers = 4;  // Values of Ledger, from 0 on.

  // Of one ledger, as counted at `version`.
  struct Counted {
    uint64_t version = 0;
    std::vector<int64_t> free{};  // [node * kinds + kind]; empty: not yet.
  };
  // The nodes that admit the shapes of one serial, and the sums over them.
  struct Filter {
    uint64_t serial = 0;
    uint64_t structure = 0;          // Of which `admits` is known,
    uint64_t version = 0;            // and up to which change.
    std::vector<uint64_t> admits{};  // Bit n % 64 of word n / 64.
    std::array<std::vector<int64_t>, kLedgers> sums{};  // Empty: not yet.
  };

  Filter& FilterOf(const Cluster& cluster, ShapeId shape);
  void Admit(const Cluster& cluster, ShapeId shape, NodeIndex node,
             Filter* filter);
  void Refresh(const Cluster& cluster, Ledger ledger);
  void Recount(const Cluster& cluster, NodeIndex node, Ledger ledger);
  void Sum(const Cluster& cluster, Ledger ledger, Filter* filter);
  bool FindChanged(const Cluster& cluster, uint64_t version);

  MadeFrom made_from_;
  std::array<Counted, kLedgers> counted_;
  Recent<Filter, kMaxFilters> filters_;
  std::vector<NodeIndex> changed_;
  std::vector<bool> seen_;  // By node, scratch.
};

}  // namespace muster::index
