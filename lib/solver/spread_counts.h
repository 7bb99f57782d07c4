// How a gang's tasks are spread at the moment, and what the spreads allow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/solver/placement_problem.h"
#include "lib/solver/spread_fill.h"

namespace muster::solver {

// Counts tasks by domain for each spread of a problem. New tasks are judged,
// fixed ones are only counted: see Spread in muster/topology.h.
class SpreadCounts {
 public:
  // No task is entered yet. O(domains), and O(nodes) for a skew.
  void Reset(PlacementProblem& problem);
  // All tasks entered so far are fixed.
  void Fix();
  void Enter(uint32_t role, NodeIndex node, bool enter);

  // Whether the bounds by domain let one more task of the role onto the node.
  bool Open(uint32_t role, NodeIndex node) const;
  // The same, and it leaves the other bounds met, if they are. If each task of
  // a row was placed so, all spreads hold at the end.
  bool Keeps(uint32_t role, NodeIndex node) const;
  // New tasks will lie on these nodes only: a sharper MayBeMet. Until Reset.
  void Confine(std::span<const NodeIndex> nodes);
  // False only if the spreads cannot hold any more when all of problem.add()
  // lie placed; once they do, exact. O(domains).
  bool MayBeMet() const;

  // The domains of a spread's level by number, without room; those outside the
  // region that `node` lies in are not looked at by the skew.
  void Describe(uint32_t spread, NodeIndex node,
                std::vector<SpreadDomain>* domains) const;
  // False only if `tasks` more, all in the node's domain, break the spread.
  bool MayGoIntoOne(uint32_t spread, uint32_t tasks, NodeIndex node) const;
  // How many domains hold fixed tasks.
  uint32_t FixedDomains(uint32_t spread) const {
    return counts_[spread].fixed_used;
  }
  // How many domains must hold tasks when `tasks` more lie placed.
  uint32_t Needed(uint32_t spread, uint32_t tasks) const;

 private:
  // A domain of the spread's level.
  struct Tally {
    uint32_t count = 0;  // Tasks,
    uint32_t fixed = 0;  // and those of them that are fixed.
    uint32_t region = 0;
    bool eligible = false;  // The skew looks at it.
    bool reachable = true;  // New tasks may lie there: see Confine.
  };
  struct Counts {
    std::vector<Tally> domains{};
    std::vector<uint32_t> eligibles{};  // By region.
    size_t looked_at = 0;  // Domains; keys of removed nodes are none.
    uint32_t tasks = 0;
    uint32_t used = 0;  // Domains with tasks.
    uint32_t fixed_tasks = 0;
    uint32_t fixed_used = 0;
    uint32_t here = 0;  // The tasks' region, if there are any.
  };
  // The domain of the spread's level that the node is in.
  uint32_t DomainOf(size_t spread, NodeIndex node) const {
    const SpreadRule& rule = problem_->spreads()[spread];
    return problem_->tree(rule.tree).DomainOf(rule.level, node);
  }
  // The domain in which the skew compares; 0 where that is everywhere.
  uint32_t RegionOf(const SpreadRule& rule, NodeIndex node) const {
    return rule.region == kEverywhere
               ? 0
               : problem_->tree(rule.tree).DomainOf(rule.region, node);
  }
  void FindEligible(const SpreadRule& rule, Counts* counts);
  static bool Within(const Counts& counts, const Tally& domain) {
    return counts.tasks == 0 || domain.region == counts.here;
  }
  uint64_t Fewest(size_t spread) const;
  bool MayBeMet(const SpreadRule& rule, const Counts& counts) const;

  PlacementProblem* problem_ = nullptr;
  std::vector<Counts> counts_;
  // By spread: the fewest tasks of an eligible domain; kUnknown: not counted.
  mutable std::vector<uint64_t> fewest_;
};

}  // namespace muster::solver
