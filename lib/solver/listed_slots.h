// How many tasks of each column the nodes of a list take: counted for one
// question.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/solver/domain_numbers.h"
#include "lib/solver/placement_problem.h"

namespace muster::solver {

// For questions about some nodes only, and for those that the index cannot
// answer. A node's slots are counted up to the column's limit. O(list x columns
// x levels); keeps its memory, and clears no more than it filled.
class ListedSlots {
 public:
  // Each node once, in any order.
  void Build(const PlacementProblem& problem, std::span<const NodeIndex> nodes);
  // Reads one node again; nodes that are not listed have no slots.
  void Update(NodeIndex node);

  uint32_t slots(uint32_t column, NodeIndex node) const {
    return static_cast<uint32_t>(
        sums_[DomainNumbers::OfNode(node) * columns_ + column]);
  }
  uint64_t Sum(uint32_t column, const DomainRef& domain) const {
    return sums_[numbers_[domain] * columns_ + column];
  }

 private:
  void Clear();

  const PlacementProblem* problem_ = nullptr;
  size_t columns_ = 0;
  std::vector<NodeIndex> filled_;  // Nodes that may have slots.
  std::vector<size_t> summed_;     // Entries of sums_ that may not be 0.
  DomainNumbers numbers_;
  std::vector<uint64_t> sums_;   // [domain][column]
  std::vector<uint8_t> listed_;  // [node]
};

}  // namespace muster::solver
