// The whole search for victims: which priorities, which region, who there.
#ifndef LIB_PREEMPT_SEARCH_H_
#define LIB_PREEMPT_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/preempt/exhaustive.h"
#include "lib/preempt/greedy.h"
#include "lib/preempt/problem.h"
#include "lib/preempt/regions.h"
#include "lib/preempt/slot_board.h"
#include "lib/preempt/victim_set.h"

namespace muster::preempt {

// Runs inside a transaction that its owner rolls back.
class Search {
 public:
  explicit Search(Problem& problem);

  // Fills in the solution if there is one.
  void Run();
  const Solution& solution() const { return best_; }
  // The gang cannot ever fit.
  bool never() const { return never_; }
  // No better solution exists; or none at all, if none was found.
  bool proven() const { return proven_; }
  // Tells the law the solution's victims, after the owner's rollback. False if
  // it refuses them now.
  bool EnterSolution();
  // Takes that back.
  void LeaveSolution() { victims_.Clear(); }

 private:
  std::vector<uint32_t> Thresholds() const;
  size_t LowestFeasible(const std::vector<uint32_t>& ends);
  size_t LowestFeasibleIn(const Region& region,
                          const std::vector<uint32_t>& ends, size_t from,
                          size_t to);
  void SearchBelow(uint32_t count);
  void SearchRegion(const Region& region);
  void TryGreedy(const Region& region, uint32_t alternative, bool quota_first);
  bool Beyond(const Score& bound) const;
  void ReleaseAll(std::span<const uint32_t> candidates);
  void TakeBackAll(std::span<const uint32_t> candidates);

  void KeepTouched(const Region& region);
  void Reduce();
  bool ReduceTo(uint32_t c, uint32_t tasks);
  void Settle();
  bool SettleOnce();
  std::vector<uint32_t> WorthSettling() const;

  Problem& problem_;
  Regions regions_;
  SlotBoard board_;
  VictimSet victims_;
  Greedy greedy_;
  uint32_t count_ = 0;              // Candidates below the threshold.
  std::vector<uint32_t> everyone_;  // The same, one by one.
  uint32_t alternatives_ = 1;       // The most a role has.
  bool quota_lacks_ = false;        // With no victim.
  Solution best_;
  bool reduced_ = true;      // In its region the best needs all its victims.
  std::vector<Score> open_;  // Bounds of regions that were not searched to
                             // the end.
  bool never_ = false;
  bool proven_ = true;
};

}  // namespace muster::preempt

#endif  // LIB_PREEMPT_SEARCH_H_
