// A lawful set of victims where one excludes another: local search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/preempt/dice.h"
#include "lib/preempt/greedy.h"
#include "lib/preempt/problem.h"
#include "lib/preempt/regions.h"
#include "lib/preempt/slot_board.h"
#include "lib/preempt/victim_set.h"

namespace muster::preempt {

// Where the law lets a queue lose one gang and not two, nodes exclude each
// other, and whoever takes the cheapest ones is stuck with too few. The search
// is one for an independent set of bundles, by min-conflicts (Minton, Johnston,
// Philips, Laird 1992) with the age of a bundle against going round in circles:
// the bundle that clashes with the fewest of those taken goes in, what clashes
// with it goes out.
class Exchange {
 public:
  Exchange(Problem& problem, SlotBoard& board, VictimSet& victims,
           Greedy& greedy)
      : problem_(problem), board_(board), victims_(victims), greedy_(greedy) {}

  // Adds victims to the set, which is empty, until the gang fits the region,
  // which the board watches. False if none were found within so many steps; the
  // set is then of no use.
  bool Build(const Region& region, uint64_t steps);

 private:
  struct Bundle {
    std::vector<Victim> moves{};
    Score added{};
    bool taken = false;
    uint32_t clashes = 0;  // With those taken.
    uint64_t left = 0;     // The turn in which it went out last.
  };

  void FindBundles(const Region& region);
  bool Clash(size_t a, size_t b);
  bool Enter(const Bundle& bundle);
  size_t Choose();
  void PutIn(size_t in);
  void TakeOut(size_t out);
  bool TakeAll();

  Problem& problem_;
  SlotBoard& board_;
  VictimSet& victims_;
  Greedy& greedy_;
  std::vector<Bundle> bundles_;
  std::vector<uint8_t> known_;  // [a * bundles + b]: not asked, no, yes.
  std::vector<size_t> taken_;   // In the order in which they went in.
  uint64_t turn_ = 0;
  Dice dice_;
};

}  // namespace muster::preempt
