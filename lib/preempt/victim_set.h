// The set of victims under trial, on its two sides: what has been released in
// the cluster, and what the law has been asked for.
#ifndef LIB_PREEMPT_VICTIM_SET_H_
#define LIB_PREEMPT_VICTIM_SET_H_

#include <cstdint>
#include <vector>

#include "absl/container/btree_set.h"
#include "lib/preempt/problem.h"
#include "lib/preempt/slot_board.h"
#include "muster/preemptor.h"

namespace muster::preempt {

// Releases credit the cluster's kLater and keep the board true; the owner's
// transaction undoes them all.
class VictimSet {
 public:
  VictimSet(Problem& problem, SlotBoard& board);

  // --- The cluster's side: no law is asked. -------------------------------
  // From now on exactly `tasks` tasks from the back of c are released.
  void Release(uint32_t c, uint32_t tasks);
  uint32_t released(uint32_t c) const { return released_[c]; }

  // --- The law's side -----------------------------------------------------
  // Makes c's entry `tasks`; false, and the entry as it was, if the law
  // refuses.
  bool Enter(uint32_t c, uint32_t tasks);
  uint32_t entered(uint32_t c) const { return entered_[c]; }
  bool QuotaSuffices() const;
  // Whether the law once refused to take back what it had accepted; such a
  // set is not to be trusted.
  bool broken_law() const { return broken_law_; }

  // --- Both ---------------------------------------------------------------
  bool Take(uint32_t c, uint32_t tasks);
  // Releases exactly what has been entered.
  void ReleaseEntered();
  // Nothing released (that was entered), nothing entered.
  void Clear();
  // The entered ones.
  const absl::btree_set<uint32_t>& members() const { return members_; }
  const Score& score() const { return score_; }
  std::vector<Victim> Victims() const;

 private:
  bool Ask(uint32_t c, uint32_t tasks);

  Problem& problem_;
  SlotBoard& board_;
  VictimRules* rules_;
  std::vector<uint32_t> released_;  // By candidate.
  std::vector<uint32_t> entered_;
  absl::btree_set<uint32_t> members_;
  Score score_;
  bool broken_law_ = false;
};

}  // namespace muster::preempt

#endif  // LIB_PREEMPT_VICTIM_SET_H_
