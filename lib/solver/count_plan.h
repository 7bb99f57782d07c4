// How many tasks each role gets: the smallest choices that satisfy a gang.
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "lib/solver/placement_problem.h"

namespace muster::solver {

// Enumerates what to add, by role, so that a scope is satisfied: the fewest
// tasks first; among equals, roles of higher order and then of lower position
// get more. A role gets nothing, or enough to be at its minimum. A choice that
// has all of a failed choice is not tried: it would fail, too (but for spreads
// that more tasks may meet: see PlacementProblem::entangled).
class CountPlan {
 public:
  static constexpr uint32_t kImpossible = std::numeric_limits<uint32_t>::max();

  // Plans for the scope `top`, all other roles getting nothing.
  void Start(PlacementProblem& problem, ScopeIndex top);
  // Whether the scope can be satisfied by any number of tasks.
  bool satisfiable() const { return satisfiable_; }
  // Whether every choice contains the first one, so that no other is needed.
  bool unique() const { return unique_; }
  // The first choice, if unique.
  std::span<const uint32_t> add() const { return add_; }
  uint64_t tasks() const {
    return std::accumulate(add_.begin(), add_.end(), uint64_t{0});
  }

  // Otherwise: steps through the choices, within bounds of what each role can
  // get.
  void Bound(std::span<const uint32_t> most);
  bool Next();
  // The last choice cannot be placed.
  void Failed() { failed_.insert(failed_.end(), add_.begin(), add_.end()); }
  bool cut_short() const { return cut_short_; }

  // Whether `counts` tasks by role, the fixed ones among them, satisfy the
  // scope. A new Start goes before whatever is asked next.
  bool Satisfied(ScopeIndex s, std::span<const uint32_t> counts);

 private:
  struct Range {
    uint32_t fixed = 0;      // Tasks that run.
    uint32_t low = 0;        // Added for certain.
    uint32_t high = 0;       // At most so many tasks in all.
    uint32_t satisfied = 0;  // The least added if it is to be satisfied.
  };
  bool SatisfiedNow(ScopeIndex s);
  bool FindUnique(ScopeIndex s);
  uint32_t Least(uint32_t role) const;  // The smallest step up from nothing.
  Range RangeOf(ScopeIndex s);
  Range RangeOfRole(uint32_t role) const;
  void Restart();
  bool Resume();
  bool ContainsFailed() const;
  void Decide(uint32_t role, uint32_t add);

  PlacementProblem* problem_ = nullptr;
  ScopeIndex top_ = 0;
  bool satisfiable_ = false;
  bool unique_ = false;
  bool cut_short_ = false;
  std::vector<uint32_t> add_;
  std::vector<uint32_t> most_;
  std::vector<uint8_t> decided_;
  std::vector<uint32_t> order_;   // Roles below top, in order of preference.
  std::vector<uint32_t> failed_;  // Choices, one after the other.
  std::vector<uint32_t> extra_;   // A stack, for RangeOf.
  size_t depth_ = 0;
  uint32_t sum_ = 0;
  uint32_t total_ = 0;
  uint32_t most_total_ = 0;
  uint64_t visits_ = 0;
  bool forward_ = true;
};

}  // namespace muster::solver
