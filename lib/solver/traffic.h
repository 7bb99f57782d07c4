// The traffic between the roles of a gang, and its cost.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lib/solver/partial_placement.h"
#include "lib/solver/placement_problem.h"

namespace muster::solver {

// The cost of a placement: weight x levels up to the common domain, in the
// gang's first tree, over all pairs of tasks whose roles have an edge, one new
// at least.
//
// Two tasks are as far apart as there are levels, hosts among them, at which
// their domains differ. So the cost is what all pairs would cost that never
// meet, less, for each domain of each level, the pairs inside it: domains can
// be looked at one by one.
class Traffic {
 public:
  // Roles with traffic, each pair once; `from` may be `to`.
  struct Edge {
    uint32_t from = 0;
    uint32_t to = 0;
    int64_t weight = 0;
  };

  void Init(const PlacementProblem& problem);
  bool empty() const { return edges_.empty(); }
  std::span<const Edge> edges() const { return edges_; }
  // The weight of all pairs: what they cost for each level they do not share.
  int64_t AllPairs(const PlacementProblem& problem) const;

  // The weight of all pairs of one new task of the role with the fixed tasks of
  // a domain (a node; with kEverywhere, all). O(edges).
  int64_t FixedTraffic(int level, uint32_t domain, uint32_t role) const;

  // What a task of the role on the node would add to the cost of all placed
  // and fixed tasks.
  int64_t CostOf(const PartialPlacement& placement, uint32_t role,
                 NodeIndex node) const;
  // O(levels x tasks x log tasks + domains x edges).
  int64_t Total(const PartialPlacement& placement) const;

  // Moves single tasks and swaps pairs inside the domain as long as that makes
  // the cost less and the step count is below `deadline`. Needs an open
  // transaction.
  void Improve(PartialPlacement& placement, const DomainRef& domain,
               uint64_t deadline);

 private:
  // Tasks of a role on a node.
  struct Item {
    uint64_t domain = 0;
    uint32_t role = 0;
    bool fixed = false;
    NodeIndex node = 0;
  };
  void CountFixed(const PlacementProblem& problem);
  int64_t PlacedBy(int level, uint32_t domain, uint32_t role) const;
  int64_t Between(const PlacementProblem& problem, uint32_t role,
                  NodeIndex node, const Assignment& other) const;
  int64_t PairsTogether(const PlacementProblem& problem, int level) const;
  int64_t PairsOf(std::span<const uint32_t> all,
                  std::span<const uint32_t> fixed) const;
  bool Move(PartialPlacement& placement, size_t task, const DomainRef& domain);
  bool Swap(PartialPlacement& placement, size_t a, size_t b);

  std::vector<Edge> edges_;
  // Fixed tasks by level, domain and role.
  absl::flat_hash_map<std::tuple<int, uint32_t, uint32_t>, int64_t> placed_;
  mutable std::vector<Item> items_;
  mutable std::vector<uint32_t> counts_;  // By role.
  mutable std::vector<uint32_t> fixed_;   // By role.
};

}  // namespace muster::solver
