// An allowed set of victims where one excludes another: local search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/preempt/dice.h"
#include "lib/preempt/greedy.h"
#include "lib/preempt/preemption_problem.h"
#include "lib/preempt/region_slots.h"
#include "lib/preempt/regions.h"
#include "lib/preempt/victim_set.h"

namespace muster::preempt {

// Where the policy lets a queue lose one gang and not two, nodes exclude each
// other, and a search that takes the cheapest ones ends with too few. This is a
// search for an independent set of bundles, by min-conflicts (Minton, Johnston,
// Philips, Laird 1992) with the age of a bundle against going round in circles:
// the bundle that clashes with the fewest of those taken goes in, what clashes
// with it goes out.
class Exchange {
 public:
  Exchange(PreemptionProblem& problem, RegionSlots& region_slots,
           VictimSet& victims, Greedy& greedy)
      : problem_(problem),
        region_slots_(region_slots),
        victims_(victims),
        greedy_(greedy) {}

  // Adds victims to the set, which is empty, until the gang fits the region,
  // which RegionSlots watches. False if none were found within so many
  // steps; the set is then of no use.
  bool Build(const VictimRegion& region, uint64_t steps);

 private:
  struct ExclusiveBundle {
    std::vector<Victim> moves{};
    VictimCost added{};
    bool taken = false;
    uint32_t clashes = 0;  // With those taken.
    uint64_t left = 0;     // The turn in which it went out last.
  };

  void FindBundles(const VictimRegion& region);
  bool Clash(size_t a, size_t b);
  bool Enter(const ExclusiveBundle& bundle);
  size_t Choose();
  void PutIn(size_t in);
  void TakeOut(size_t out);
  bool TakeAll();

  PreemptionProblem& problem_;
  RegionSlots& region_slots_;
  VictimSet& victims_;
  Greedy& greedy_;
  std::vector<ExclusiveBundle> bundles_;
  std::vector<uint8_t> known_;  // [a * bundles + b]: not asked, no, yes.
  std::vector<size_t> taken_;   // In the order in which they went in.
  uint64_t turn_ = 0;
  Dice dice_;
};

}  // namespace muster::preempt
