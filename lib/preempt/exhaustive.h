// The best set of victims, by trying all that could be it: for few candidates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/preempt/problem.h"
#include "lib/preempt/regions.h"
#include "lib/preempt/slot_board.h"
#include "lib/preempt/victim_set.h"

namespace muster::preempt {

// A set of victims that makes room.
struct Solution {
  bool found = false;
  Score score{};
  std::vector<Victim> victims{};   // By candidate.
  std::vector<Victim> in_order{};  // As the law accepts them.
  const Region* region = nullptr;  // Where the gang then fits.

  // Keeps the set if it is better than what was found before; whether it is.
  bool Offer(const VictimSet& set, const Region& where);
};

// Whether there are at most so many sets of victims among the candidates.
bool FewSets(const Problem& problem, std::span<const uint32_t> candidates,
             uint64_t most);

// Branch and bound: decides candidate by candidate, the dearest first, how many
// of its tasks go, while all undecided ones are gone. What does not fit then
// never fits with fewer gone, and what costs more than the best known is not
// looked into.
//
// All candidates are released, nobody is entered, and the gang fits the region,
// which the board watches; on return it is so again. Improves *best. False if
// every combination was not covered in so many steps.
bool TryAll(Problem& problem, const SlotBoard& board, VictimSet& victims,
            const Region& region, std::span<const uint32_t> candidates,
            uint64_t steps, Solution* best);

}  // namespace muster::preempt
