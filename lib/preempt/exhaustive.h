// The best set of victims, by trying all that could be it: for few candidates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/preempt/preemption_problem.h"
#include "lib/preempt/region_slots.h"
#include "lib/preempt/regions.h"
#include "lib/preempt/victim_set.h"

namespace muster::preempt {

// A set of victims that makes room.
struct Solution {
  bool found = false;
  VictimCost victim_cost{};
  std::vector<Victim> victims{};         // By candidate.
  std::vector<Victim> in_order{};        // As the policy accepts them.
  const VictimRegion* region = nullptr;  // Where the gang then fits.

  // Keeps the set if it is better than what was found before; whether it is.
  bool Offer(const VictimSet& set, const VictimRegion& where);
};

// Whether there are at most so many sets of victims among the candidates.
bool FewSets(const PreemptionProblem& problem,
             std::span<const uint32_t> candidates, uint64_t most);

// Branch and bound: decides candidate by candidate, most expensive first, how
// many of its tasks go, while all undecided ones are gone. What does not fit
// then never fits with fewer gone, and what costs more than the best known is
// not looked into.
//
// All candidates are released, none is entered, and the gang fits the region,
// which RegionSlots watches; on return it is so again. Improves *best.
// False if every combination was not covered in so many steps.
bool TryAll(PreemptionProblem& problem, const RegionSlots& region_slots,
            VictimSet& victims, const VictimRegion& region,
            std::span<const uint32_t> candidates, uint64_t steps,
            Solution* best);

}  // namespace muster::preempt
