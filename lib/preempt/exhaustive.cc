#include "lib/preempt/exhaustive.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace muster::preempt {
namespace {

bool BeforeByKey(const std::vector<Victim>& a, const std::vector<Victim>& b) {
  const auto key = [](const Victim& v) {
    return std::pair(v.candidate, v.tasks);
  };
  return std::ranges::lexicographical_compare(a, b, {}, key, key);
}

// One search, and where it stands.
struct Trial {
  bool Decide(size_t next);
  void Offer();

  PreemptionProblem& problem;
  const RegionSlots& region_slots;
  VictimSet& victims;
  const VictimRegion& region;
  std::span<const uint32_t> candidates;
  const uint64_t last_step;
  Solution* best;
  std::vector<Victim> chosen{};  // Of those decided.
  VictimCost cost{};             // Of the chosen.
};

// Asks the policy about the chosen victims, which give room enough.
void Trial::Offer() {
  std::vector<Victim> by_candidate = chosen;
  std::ranges::sort(by_candidate, {}, &Victim::candidate);
  if (!victims.EnterAll(by_candidate)) return;
  if (victims.QuotaSuffices()) best->Offer(victims, region);
  victims.LeaveAll();
}

bool Trial::Decide(size_t next) {
  if (best->found && cost > best->victim_cost) return true;
  if (next == candidates.size()) {
    Offer();
    return true;
  }
  const uint32_t c = candidates[next];
  const uint32_t size = problem.Size(c);
  bool complete = true;
  // All its tasks, then ever fewer surplus ones, then none.
  uint32_t i = problem.ShrinkSizeCount(c) + 1;
  for (uint32_t tasks = size;;) {
    if (problem.searched() >= last_step || !problem.Spend()) {
      complete = false;
      break;
    }
    victims.Release(c, tasks);
    if (tasks < size && !region_slots.Fits()) break;
    const VictimCost before = cost;
    cost += problem.CostOf(c, tasks);
    if (tasks > 0) chosen.push_back({c, tasks});
    complete = Decide(next + 1) && complete;
    if (tasks > 0) chosen.pop_back();
    cost = before;
    if (tasks == 0) break;
    tasks = problem.ShrinkSize(c, --i);
  }
  victims.Release(c, size);
  return complete;
}

}  // namespace

bool Solution::Offer(const VictimSet& set, const VictimRegion& where) {
  if (found && set.cost() > victim_cost) return false;
  std::vector<Victim> offered = set.Victims();
  if (found && set.cost() == victim_cost && !BeforeByKey(offered, victims)) {
    return false;
  }
  found = true;
  victim_cost = set.cost();
  victims = std::move(offered);
  in_order = set.InOrder();
  region = &where;
  return true;
}

bool FewSets(const PreemptionProblem& problem,
             std::span<const uint32_t> candidates, uint64_t most) {
  for (const uint32_t c : candidates) most /= problem.ShrinkSizeCount(c) + 2;
  return most > 0;
}

bool TryAll(PreemptionProblem& problem, const RegionSlots& region_slots,
            VictimSet& victims, const VictimRegion& region,
            std::span<const uint32_t> candidates, uint64_t steps,
            Solution* best) {
  std::vector<uint32_t> order(candidates.begin(), candidates.end());
  std::ranges::stable_sort(order, std::greater<>(), [&](uint32_t c) {
    return problem.CostOf(c, problem.Size(c));
  });
  const uint64_t last_step = problem.searched() + steps;
  return Trial{problem, region_slots, victims, region, order, last_step, best}
      .Decide(0);
}

}  // namespace muster::preempt
