#include "lib/preempt/exhaustive.h"

#include <algorithm>
#include <utility>

namespace muster::preempt {
namespace {

constexpr size_t kMostCandidates = 12;
constexpr uint64_t kMostCombinations = uint64_t{1} << 13;

bool BeforeByKey(const std::vector<Victim>& a, const std::vector<Victim>& b) {
  const auto key = [](const Victim& v) {
    return std::pair(v.candidate, v.tasks);
  };
  return std::ranges::lexicographical_compare(a, b, {}, key, key);
}

}  // namespace

void Solution::Offer(const VictimSet& set, const Region& where) {
  if (found && set.score() > score) return;
  std::vector<Victim> offered = set.Victims();
  if (found && set.score() == score && !BeforeByKey(offered, victims)) return;
  found = true;
  score = set.score();
  victims = std::move(offered);
  in_order = set.InOrder();
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
    combinations *= problem.Cuts(c) + 2;
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

// Asks the law about the chosen, who are enough.
void Exhaustive::Offer() {
  if (!victims_.EnterAll(chosen_)) return;
  if (victims_.QuotaSuffices()) best_->Offer(victims_, *region_);
  victims_.LeaveAll();
}

bool Exhaustive::Decide(size_t next) {
  if (best_->found && score_ > best_->score) return true;
  if (next == candidates_.size()) {
    Offer();
    return true;
  }
  const uint32_t c = candidates_[next];
  const uint32_t size = problem_.Size(c);
  bool complete = true;
  // All its tasks, then ever fewer surplus ones, then none.
  uint32_t cut = problem_.Cuts(c) + 1;
  for (uint32_t tasks = size;;) {
    if (!problem_.Spend()) {
      complete = false;
      break;
    }
    victims_.Release(c, tasks);
    if (tasks < size && !board_.Fits()) break;
    const Score before = score_;
    score_ += problem_.ScoreOf(c, tasks);
    if (tasks > 0) chosen_.push_back({c, tasks});
    complete = Decide(next + 1) && complete;
    if (tasks > 0) chosen_.pop_back();
    score_ = before;
    if (tasks == 0) break;
    tasks = problem_.Cut(c, --cut);
  }
  victims_.Release(c, size);
  return complete;
}

}  // namespace muster::preempt
