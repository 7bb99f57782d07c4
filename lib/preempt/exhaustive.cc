#include "lib/preempt/exhaustive.h"

#include <algorithm>
#include <utility>

namespace muster::preempt {
namespace {

constexpr size_t kMostCandidates = 12;
constexpr uint64_t kMostCombinations = uint64_t{1} << 13;

bool BeforeByKey(const std::vector<Victim>& a, const std::vector<Victim>& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](const Victim& x, const Victim& y) {
                                        return std::pair(x.candidate, x.tasks) <
                                               std::pair(y.candidate, y.tasks);
                                      });
}

}  // namespace

void Solution::Offer(const VictimSet& set, const Region& where) {
  if (set.broken_law() || (found && set.score() > score)) return;
  std::vector<Victim> offered = set.Victims();
  if (found && set.score() == score && !BeforeByKey(offered, victims)) return;
  found = true;
  score = set.score();
  victims = std::move(offered);
  region = &where;
}

Exhaustive::Exhaustive(Problem& problem, const SlotBoard& board,
                       VictimSet& victims)
    : problem_(problem), board_(board), victims_(victims) {}

bool Exhaustive::Suits(const Problem& problem,
                       std::span<const uint32_t> candidates) {
  if (candidates.size() > kMostCandidates) return false;
  uint64_t combinations = 1;
  for (uint32_t c : candidates) {
    combinations *= problem.Surplus(c) + 2;
    if (combinations > kMostCombinations) return false;
  }
  return true;
}

bool Exhaustive::Search(const Region& region,
                        std::span<const uint32_t> candidates, Solution* best) {
  region_ = &region;
  candidates_ = candidates;
  best_ = best;
  return Decide(0);
}

bool Exhaustive::Worse() const {
  return best_->found && victims_.score() > best_->score;
}

bool Exhaustive::Decide(size_t next) {
  if (Worse()) return true;
  if (next == candidates_.size()) {
    if (victims_.QuotaSuffices()) best_->Offer(victims_, *region_);
    return true;
  }
  const uint32_t c = candidates_[next];
  bool complete = true;
  // The whole gang, then ever fewer surplus tasks, then none.
  for (uint32_t tasks = problem_.Size(c);;) {
    if (!problem_.Spend()) {
      complete = false;
      break;
    }
    victims_.Release(c, tasks);
    const bool all = tasks == problem_.Size(c);
    if (!all &&
        (!board_.Possible() || problem_.Ask(region_->nodes) != Fit::kFits)) {
      break;
    }
    if (victims_.Enter(c, tasks)) {
      complete = Decide(next + 1) && complete;
      victims_.Enter(c, 0);
    }
    if (tasks == 0) break;
    tasks = all ? problem_.Surplus(c) : tasks - 1;
  }
  victims_.Release(c, problem_.Size(c));
  return complete;
}

}  // namespace muster::preempt
