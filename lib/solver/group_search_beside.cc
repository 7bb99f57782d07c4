// Small roles beside a large one, which lies where it would by itself.
#include <algorithm>
#include <optional>
#include <tuple>

#include "lib/solver/group_search.h"
#include "lib/solver/node_choice.h"

namespace muster::solver {

// The domain with tasks in which one more of the role talks at the least cost;
// none if the role does not talk.
std::optional<Spot> GroupSearch::LeastTalk(uint32_t role) const {
  const Tree& tree = problem_->tree(0);
  std::optional<Spot> best;
  std::tuple<int64_t, int, uint32_t> least;  // Cost, level, place; keys decide.
  const auto consider = [&](const Spot& spot) {
    std::optional<NodeIndex> first;
    board_->table().ForEachNode(problem_->column(role), spot, [&](NodeIndex n) {
      if (!first) first = n;
    });
    if (!first) return;
    problem_->Spend(board_->placed().size(), kLookNs);
    const std::tuple rank(traffic_.CostOf(*board_, role, *first), -spot.level,
                          tree.PositionOf(*first));
    if (best && rank >= least) return;
    best = spot;
    least = rank;
  };
  const auto talks = [&](const Traffic::Line& line) {
    return line.from == role || line.to == role;
  };
  if (std::ranges::none_of(traffic_.lines(), talks)) return best;
  for (int level = 0; level <= tree.hosts; ++level) {
    board_->ForEachHeld(level, [&](uint32_t d) { consider({0, level, d}); });
  }
  return best;
}

// These tasks where they are, the others as near to them as there is room.
bool GroupSearch::PutBeside(const PlacementResult& alone) {
  for (const Assignment& a : alone.tasks) {
    if (!board_->PutExactly(a.task, a.at)) return false;
  }
  for (const uint32_t r : problem_->Active()) {
    if (r == alone.tasks[0].task.role) continue;
    const std::span<const uint32_t> indices = problem_->NewIndices(r);
    for (size_t i = 0; i < indices.size(); ++i) {
      const auto after = static_cast<uint32_t>(indices.size() - i);
      const std::optional<Spot> spot = LeastTalk(r);
      std::optional<NodeIndex> node;
      if (spot) node = FindNode(*board_, {r, indices[i]}, {&*spot, 1}, after);
      if (!node) node = FindNode(*board_, {r, indices[i]}, {}, after);
      if (!node || !board_->Put({r, indices[i]}, *node)) return false;
    }
  }
  return true;
}

// Where a narrower domain may hold all, that goes first.
bool GroupSearch::PlaceBeside(const PlacementResult& alone) {
  const Board::Mark mark = board_->Begin();
  if (alone.tasks.empty() || !PutBeside(alone)) {
    board_->Rollback(mark);
    return false;
  }
  // What is narrower than the domain around these tasks has no room for them.
  const int level = Enclosure(board_->placed()).level;
  if (level == Enclosure(alone.tasks).level) {
    board_->Commit(mark);
    return true;
  }
  beside_.assign(board_->placed().begin(), board_->placed().end());
  board_->Rollback(mark);
  root_below_ = level;
  if (PlaceScope(0, true)) return true;
  for (const Assignment& a : beside_) board_->PutExactly(a.task, a.at);
  return true;
}

// Whether all lie in no more domains than some of them need by themselves.
bool GroupSearch::NeedsNoMore(const Certificate& alone) const {
  if (!alone.optimal) return false;
  for (size_t l = 0; l < alone.levels.size(); ++l) {
    uint32_t used = 0;
    board_->ForEachHeld(static_cast<int>(l), [&](uint32_t) { ++used; });
    if (used != alone.levels[l].used) return false;
  }
  return true;
}

}  // namespace muster::solver
