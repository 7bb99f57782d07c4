// One preemption's question, with the arithmetic every part of the search
// shares: what the gang needs, what a victim costs, whether it fits now.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "lib/base/fraction.h"
#include "lib/base/step_cost.h"
#include "lib/cluster/cluster.h"
#include "lib/preempt/victim_search.h"
#include "lib/solver/gang_solver.h"

namespace muster::preempt {

// The cost of a set of victims, compared after its top priority.
struct VictimCost {
  int64_t cost = 0;
  uint32_t broken = 0;  // Gangs stopped as a whole.
  uint64_t tasks = 0;   // Tasks stopped, with their gang or by a shrink.

  friend auto operator<=>(const VictimCost&, const VictimCost&) = default;
  // Whether nothing within the bound is better.
  bool Reaches(const VictimCost& bound) const {
    return std::tie(cost, broken) <= std::tie(bound.cost, bound.broken);
  }
  VictimCost& operator+=(const VictimCost& more) {
    cost += more.cost;
    broken += more.broken;
    tasks += more.tasks;
    return *this;
  }
  VictimCost& operator-=(const VictimCost& less) {
    cost -= less.cost;
    broken -= less.broken;
    tasks -= less.tasks;
    return *this;
  }
};

// How many slots one role needs. The gang cannot fit while no alternative of
// the role has `count` slots; `want` is what the greedy search aims at.
struct RoleNeed {
  uint32_t role = 0;
  uint32_t count = 0;
  uint32_t want = 0;
  int64_t weight = 1;  // What one slot is worth beside other roles' slots.
};

class PreemptionProblem {
 public:
  PreemptionProblem(Cluster& cluster, GangSolver& solver,
                    const PreemptionRequest& request);

  Cluster& cluster() { return cluster_; }
  const PreemptionRequest& request() const { return request_; }
  const PreparedGang& gang() const { return *request_.placement.gang; }
  const std::vector<RoleNeed>& needs() const { return needs_; }
  // One task is asked for.
  bool single() const { return needs_.size() == 1 && needs_[0].want == 1; }
  // The kind that is scarce for this gang: the device kind if it asks for
  // devices, else the one of which it asks the largest part of the cluster.
  ResourceKind scarce() const { return scarce_; }

  // --- Candidates ---------------------------------------------------------
  size_t candidate_count() const { return request_.candidates.size(); }
  const VictimCandidate& candidate(uint32_t c) const {
    return request_.candidates[c];
  }
  uint32_t Size(uint32_t c) const {
    return static_cast<uint32_t>(candidate(c).tasks.size());
  }
  // The most tasks that may be taken without breaking the gang: less than Size,
  // or all there are to take.
  uint32_t Surplus(uint32_t c) const;
  // The gang can shrink by ShrinkSize(c, 1) to ShrinkSize(c,
  // ShrinkSizeCount(c)) tasks, ascending and below Size; ShrinkSize(c, 0) is 0.
  uint32_t ShrinkSizeCount(uint32_t c) const;
  uint32_t ShrinkSize(uint32_t c, uint32_t i) const {
    const std::span<const uint32_t> shrink_sizes = candidate(c).shrink_sizes;
    return i == 0 || shrink_sizes.empty() ? i : shrink_sizes[i - 1];
  }
  // The fewest tasks, at least `tasks` > 0, that may be taken: a shrink size,
  // or all.
  uint32_t AtLeast(uint32_t c, uint32_t tasks) const;
  // The task of c that a shrink stops as number `back`, from 0.
  const Allocation& Task(uint32_t c, uint32_t back) const {
    return candidate(c).tasks[Size(c) - 1 - back].at;
  }
  // The cost of releasing `tasks` tasks from the back of c.
  VictimCost CostOf(uint32_t c, uint32_t tasks) const;
  // What that costs beyond releasing only `fewer` of them.
  VictimCost CostBeyond(uint32_t c, uint32_t fewer, uint32_t tasks) const;
  // What the allocation holds of the scarce kind; more for a share of a
  // device's memory costs a look at the device.
  int64_t Amount(const Allocation& a) const;
  // Orders the victims by what they release, the least first; equal ones stay
  // in their order.
  void SortSmallestFirst(std::vector<Victim>* victims);

  // --- Questions ----------------------------------------------------------
  // Whether the gang fits `within` (empty: wherever the request allows) as
  // the cluster is now. The cluster stays as it is.
  Fit Ask(std::span<const NodeIndex> within);
  // Whether counting slots tells the answer; then a question counts without
  // being asked.
  bool SlotsDecide() const { return slots_decide_; }
  void CountQuestion() { ++searched_; }
  // Appends, by key, the nodes that have room for a task, and perhaps others.
  void NodesWithRoom(std::vector<NodeIndex>* nodes) {
    solver_.NodesWithRoom(cluster_, request_.placement, nodes);
  }
  // Where the last answer of kFits put the gang.
  const std::vector<Assignment>& placed() const { return answer_.tasks; }

  // --- The budget ---------------------------------------------------------
  // Counts one victim step; false when there is none left.
  bool Spend();
  bool Exhausted() const { return searched_ >= request_.victim_steps; }
  uint64_t searched() const { return searched_; }  // Victim steps so far.
  // Whether the solver left an answer open.
  bool CutShort() const { return cut_short_; }
  // What is charged for it, the solver's answers included.
  void Charge(uint64_t count, uint64_t each) { nanos_ += count * each; }
  uint64_t steps() const { return StepsOf(nanos_) + answered_; }

 private:
  struct Sized {
    int64_t amount = 0;
    size_t position = 0;
    Victim victim{};
  };

  void FindNeeds();
  void RaiseWantTo(uint32_t tasks);
  void FindScarce();

  Cluster& cluster_;
  GangSolver& solver_;
  const PreemptionRequest& request_;
  const int64_t most_cost_;  // Those of all candidates together are in range.
  std::vector<RoleNeed> needs_;
  ResourceKind scarce_ = 0;
  bool slots_decide_ = false;
  std::vector<Sized> sized_;  // For SortSmallestFirst.
  PlacementResult answer_;
  bool cut_short_ = false;
  uint64_t searched_ = 0;  // Victim steps so far.
  uint64_t answered_ = 0;  // Work steps of the solver.
  uint64_t nanos_ = 0;     // Charged for all else.
};

}  // namespace muster::preempt
