// The set of victims under trial, on its two sides: what has been released in
// the cluster, and what the law has been asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/preempt/problem.h"
#include "lib/preempt/slot_board.h"
#include "lib/preempt/victim_search.h"

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
  // Makes c's entry `tasks`; false, and all as it was, if the law refuses.
  bool Enter(uint32_t c, uint32_t tasks);
  uint32_t entered(uint32_t c) const { return entered_[c]; }
  bool QuotaSuffices() const;
  bool GivesQuota(uint32_t c) const;
  // RevertTo(Mark()) undoes the entries made in between. What the law once
  // accepted in some order, it is asked for in that order again.
  size_t Mark() const { return changes_.size(); }
  void RevertTo(size_t mark);
  // Enters the victims, nobody having been, the smallest first: a law that
  // lets the last of a queue's victims take it below its floor accepts most in
  // that order. False, and nobody entered, if it refuses.
  bool EnterAll(const std::vector<Victim>& victims);
  // Exactly these are entered, in this order, which the law once accepted.
  void Reenter(const std::vector<Victim>& in_order);
  // As Enter, but all anew, the smallest first.
  bool Reorder(uint32_t c, uint32_t tasks);
  // Nobody is entered any more.
  void LeaveAll();

  // --- Both ---------------------------------------------------------------
  bool Take(uint32_t c, uint32_t tasks);
  // Releases exactly what has been entered.
  void ReleaseEntered();
  // Nothing released (that was entered), nothing entered.
  void Clear();
  const Score& score() const { return score_; }
  // Those entered, by candidate; and in an order the law accepts.
  std::vector<Victim> Victims() const;
  std::vector<Victim> InOrder() const;

 private:
  struct Change {
    uint32_t candidate = 0;
    uint32_t before = 0;
    size_t place = 0;  // In order_, if `before` is not 0.
  };

  bool Ask(uint32_t c, uint32_t tasks);
  void Note(uint32_t c, uint32_t tasks);
  void Restore(const Change& change);
  void Replay(uint32_t left_out);

  Problem& problem_;
  SlotBoard& board_;
  VictimPolicy* rules_;
  std::vector<uint32_t> released_;  // By candidate.
  std::vector<uint32_t> entered_;
  std::vector<uint32_t> order_;  // Those entered, as the law accepted them.
  std::vector<Change> changes_;
  Score score_;
};

}  // namespace muster::preempt
