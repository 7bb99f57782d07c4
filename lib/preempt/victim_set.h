// The set of victims under trial, on its two sides: what has been released in
// the cluster, and what the policy has been asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/preempt/preemption_problem.h"
#include "lib/preempt/region_slots.h"
#include "lib/preempt/victim_search.h"

namespace muster::preempt {

// Releases credit the cluster's kLater and keep RegionSlots true; the
// owner's transaction undoes them all.
class VictimSet {
 public:
  static constexpr uint32_t kNobody = 0xffffffff;

  VictimSet(PreemptionProblem& problem, RegionSlots& region_slots);

  // --- The cluster's side: the policy is not asked ------------------------
  // From now on exactly `tasks` tasks from the back of c are released.
  void Release(uint32_t c, uint32_t tasks);
  uint32_t released(uint32_t c) const { return released_[c]; }
  // Of all their tasks; of one that is left out, none.
  void ReleaseAll(std::span<const uint32_t> candidates);
  void TakeBackAll(std::span<const uint32_t> candidates);

  // --- The policy's side --------------------------------------------------
  // Makes c's entry `tasks`; false, and all as it was, if the policy refuses.
  bool Enter(uint32_t c, uint32_t tasks);
  uint32_t entered(uint32_t c) const { return entered_[c]; }
  bool QuotaSuffices() const;
  bool GivesQuota(uint32_t c) const;
  // RevertTo(Mark()) undoes the entries made in between. What the policy once
  // accepted in some order, it is asked for in that order again.
  size_t Mark() const { return changes_.size(); }
  void RevertTo(size_t mark);
  // Adds the victims to an empty set, smallest first: a policy that lets the
  // last of a queue's victims take it below its floor accepts most in that
  // order. False, and the set is empty, if it refuses.
  bool EnterAll(const std::vector<Victim>& victims);
  // Exactly these are entered, in this order, which the policy once accepted.
  void Reenter(const std::vector<Victim>& in_order);
  // As Enter, but all anew, the smallest first.
  bool Reorder(uint32_t c, uint32_t tasks);
  // Removes all entries.
  void LeaveAll();
  // From now on c, which is not entered, is refused.
  void LeaveOut(uint32_t c) { left_out_ = c; }

  // --- Both ---------------------------------------------------------------
  bool Take(uint32_t c, uint32_t tasks);
  // Releases exactly what has been entered.
  void ReleaseEntered();
  // Nothing released (that was entered), nothing entered.
  void Clear();
  const VictimCost& cost() const { return cost_; }
  // Those entered, by candidate; and in an order the policy accepts.
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

  PreemptionProblem& problem_;
  RegionSlots& region_slots_;
  VictimPolicy* rules_;
  std::vector<uint32_t> released_;  // By candidate.
  std::vector<uint32_t> entered_;
  std::vector<uint32_t> order_;  // Those entered, as the policy accepted them.
  std::vector<Change> changes_;
  std::vector<Victim> to_enter_;  // For EnterAll.
  VictimCost cost_;
  uint32_t left_out_ = kNobody;
};

}  // namespace muster::preempt
