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

// One search, and where it stands.
struct Trial {
  bool Decide(size_t next);
  void Offer();

  Problem& problem;
  const SlotBoard& board;
  VictimSet& victims;
  const Region& region;
  std::span<const uint32_t> candidates;
  Solution* best;
  std::vector<Victim> chosen{};  // Of those decided.
  Score score{};                 // Of the chosen.
};

// Asks the law about the chosen, who are enough.
void Trial::Offer() {
  if (!victims.EnterAll(chosen)) return;
  if (victims.QuotaSuffices()) best->Offer(victims, region);
  victims.LeaveAll();
}

bool Trial::Decide(size_t next) {
  if (best->found && score > best->score) return true;
  if (next == candidates.size()) {
    Offer();
    return true;
  }
  const uint32_t c = candidates[next];
  const uint32_t size = problem.Size(c);
  bool complete = true;
  // All its tasks, then ever fewer surplus ones, then none.
  uint32_t cut = problem.Cuts(c) + 1;
  for (uint32_t tasks = size;;) {
    if (!problem.Spend()) {
      complete = false;
      break;
    }
    victims.Release(c, tasks);
    if (tasks < size && !board.Fits()) break;
    const Score before = score;
    score += problem.ScoreOf(c, tasks);
    if (tasks > 0) chosen.push_back({c, tasks});
    complete = Decide(next + 1) && complete;
    if (tasks > 0) chosen.pop_back();
    score = before;
    if (tasks == 0) break;
    tasks = problem.Cut(c, --cut);
  }
  victims.Release(c, size);
  return complete;
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

bool MayTryAll(const Problem& problem, std::span<const uint32_t> candidates) {
  if (candidates.size() > kMostCandidates) return false;
  uint64_t combinations = 1;
  for (uint32_t c : candidates) {
    combinations *= problem.Cuts(c) + 2;
    if (combinations > kMostCombinations) return false;
  }
  return true;
}

bool TryAll(Problem& problem, const SlotBoard& board, VictimSet& victims,
            const Region& region, std::span<const uint32_t> candidates,
            Solution* best) {
  return Trial{problem, board, victims, region, candidates, best}.Decide(0);
}

}  // namespace muster::preempt
