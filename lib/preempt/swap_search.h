// Cheaper victims than those found: local search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lib/preempt/dice.h"
#include "lib/preempt/greedy.h"
#include "lib/preempt/node_offers.h"
#include "lib/preempt/preemption_problem.h"
#include "lib/preempt/region_slots.h"
#include "lib/preempt/regions.h"
#include "lib/preempt/victim_set.h"

namespace muster::preempt {

// A node gives its slots one after the other, each for the cheapest victims on
// it, and a gang that is stopped for one node costs nothing on its others: the
// search is one for the cheapest union of victims (iterated local search:
// Lourenco, Martin, Stutzle 2003). From what the greedy search found it goes to
// the first better neighbour, until there is none:
//   - a node gives one slot more, or all nodes of a gang do, and those that
//     save the most give as many less;
//   - a gang stays, and the cheapest nodes without it give what it gave.
// Then it begins again, a little away from there or anywhere. Neighbours are
// weighed by sums; the policy is asked about those that are better. For gangs
// of one role.
class SwapSearch {
 public:
  SwapSearch(PreemptionProblem& problem, RegionSlots& region_slots,
             VictimSet& victims, Greedy& greedy)
      : problem_(problem),
        region_slots_(region_slots),
        victims_(victims),
        greedy_(greedy) {}

  // Whether there is anything to exchange.
  bool MayImprove(const VictimRegion& region) const {
    return problem_.needs().size() == 1 && region.nodes.size() > 1;
  }
  // Makes *found, who make room in the region, which RegionSlots watches,
  // cheaper if it can, in so many steps. The set is empty, before and after.
  bool Improve(const VictimRegion& region, uint64_t steps,
               std::vector<Victim>* found);

 private:
  void FindPlaces(const VictimRegion& region);
  void FindOffers(NodeIndex node, std::vector<NodeOffers::Offer>* offers);
  void StartFrom(const std::vector<Victim>& victims);

  bool Descend();
  bool Kick(uint32_t away);
  bool Visit();
  void BeginAnew(uint32_t places);
  void TakeNear(uint32_t neighbours);
  void LeaveSome(uint32_t count);
  bool Improves();
  bool TryNeighbour(size_t number);
  void FindMostSaved();
  bool MayPay(std::span<const uint32_t> places);
  bool TryRaise(std::span<const uint32_t> places);
  uint32_t CheapestOf(std::span<const uint32_t> places);
  bool TryWithout(uint32_t candidate);
  void Raise(uint32_t place);
  void LeaveOut(uint32_t candidate);
  bool Accept();
  void Undo();

  void SetLevel(uint32_t place, uint32_t level);
  bool Fill(uint32_t without);
  uint32_t CheapestOpen();
  void Trim();
  const std::vector<Victim>& Victims();

  PreemptionProblem& problem_;
  RegionSlots& region_slots_;
  VictimSet& victims_;
  Greedy& greedy_;
  uint64_t last_step_ = 0;
  NodeOffers node_offers_{problem_};
  std::vector<bool> raised_;  // By place: Trim leaves it.
  std::vector<std::pair<uint32_t, uint32_t>> changes_;  // Place and old level.
  std::vector<uint32_t> all_;                           // Places.
  std::vector<uint32_t> open_;                          // Of them, for Fill.
  std::vector<uint32_t> levels_;  // By place: before a kick.
  // What giving up so many levels, and what giving up one saves at the most.
  std::vector<int64_t> most_saved_;
  int64_t most_saved_by_one_ = 0;
  size_t next_ = 0;             // Of the neighbours: where Improves goes on.
  std::vector<uint64_t> seen_;  // Visit: hashes of levels.
  Dice dice_;
  uint64_t goal_ = 0;  // Slots that must be given.
  VictimCost best_{};
  std::vector<Victim>* found_ = nullptr;
  std::vector<Victim> before_kick_;
  std::vector<Victim> gone_;  // For Victims().
};

}  // namespace muster::preempt
