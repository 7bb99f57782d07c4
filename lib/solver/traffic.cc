#include "lib/solver/traffic.h"

#include <limits>

namespace muster::solver {

void Traffic::Init(const Problem& problem) {
  lines_.clear();
  const auto find = [&](const std::string& name, uint32_t* role) {
    for (uint32_t r = 0; r < problem.role_count(); ++r) {
      *role = r;
      if (problem.role(r).name == name) return true;
    }
    return false;
  };
  for (const muster::Traffic& t : problem.gang().traffic) {
    Line line{.weight = t.weight};
    if (find(t.from, &line.from) && find(t.to, &line.to)) {
      lines_.push_back(line);
    }
  }
}

int64_t Traffic::Between(const Problem& problem, uint32_t role, NodeIndex node,
                         const Assignment& other) const {
  int64_t weight = 0;
  for (const Line& line : lines_) {
    if ((line.from == role && line.to == other.task.role) ||
        (line.to == role && line.from == other.task.role)) {
      weight += line.weight;
    }
  }
  if (weight == 0) return 0;
  return weight * problem.tree(0).Distance(node, other.at.node);
}

int64_t Traffic::CostOf(const Board& board, uint32_t role,
                        NodeIndex node) const {
  const Problem& problem = board.problem();
  int64_t cost = 0;
  for (const Assignment& a : board.placed()) {
    cost += Between(problem, role, node, a);
  }
  for (const Line& line : lines_) {
    const uint32_t other = line.from == role ? line.to : line.from;
    if (line.from != role && line.to != role) continue;
    for (const Assignment& a : problem.Fixed(other)) {
      cost += line.weight * problem.tree(0).Distance(node, a.at.node);
    }
  }
  return cost;
}

// Each pair of new tasks once, and each new task with all fixed ones.
int64_t Traffic::Total(const Board& board) const {
  const Problem& problem = board.problem();
  const std::span<const Assignment> placed = board.placed();
  int64_t pairs = 0;
  int64_t all = 0;
  for (const Assignment& a : placed) {
    all += CostOf(board, a.task.role, a.at.node);
    for (const Assignment& b : placed) {
      pairs += Between(problem, a.task.role, a.at.node, b);
    }
  }
  return all - pairs / 2;
}

// The lifted task is still listed where it was: its own part is taken off.
bool Traffic::Move(Board& board, size_t task, const Spot& spot) {
  Problem& problem = board.problem();
  const Assignment old = board.placed()[task];
  const auto cost = [&](NodeIndex node) {
    return CostOf(board, old.task.role, node) -
           Between(problem, old.task.role, node, old);
  };
  int64_t best_cost = cost(old.at.node);
  if (best_cost == 0) return false;
  NodeIndex best = old.at.node;
  board.Lift(task);
  for (const NodeIndex node : board.table().Nodes(spot)) {
    ++problem.steps;
    if (board.Slots(old.task.role, node) == 0) continue;
    if (!board.Allowed(old.task, node)) continue;
    const int64_t there = cost(node);
    if (there >= best_cost) continue;
    if (!board.SpreadsHoldWith(old.task, node)) continue;
    best_cost = there;
    best = node;
  }
  if (best != old.at.node && board.Replace(task, best)) return true;
  board.PutBack(task, old.at);
  return false;
}

bool Traffic::Swap(Board& board, size_t a, size_t b) {
  const Assignment old_a = board.placed()[a];
  const Assignment old_b = board.placed()[b];
  if (old_a.at.node == old_b.at.node || old_a.task.role == old_b.task.role) {
    return false;
  }
  const int64_t before = Total(board);
  board.problem().steps += board.placed().size();
  board.Lift(a);
  board.Lift(b);
  bool moved_a = false;
  bool moved_b = false;
  if (board.Allowed(old_a.task, old_b.at.node)) {
    moved_a = board.Replace(a, old_b.at.node);
  }
  if (moved_a && board.Allowed(old_b.task, old_a.at.node)) {
    moved_b = board.Replace(b, old_a.at.node);
  }
  if (moved_b && Total(board) < before && board.spreads().MayHold()) {
    return true;
  }
  if (moved_b) board.Lift(b);
  if (moved_a) board.Lift(a);
  board.PutBack(a, old_a.at);
  board.PutBack(b, old_b.at);
  return false;
}

void Traffic::Improve(Board& board, const Spot& spot, uint64_t deadline) {
  const size_t tasks = board.placed().size();
  bool better = true;
  while (better) {
    better = false;
    for (size_t a = 0; a < tasks; ++a) {
      if (board.problem().steps >= deadline) return;
      better |= Move(board, a, spot);
    }
    for (size_t a = 0; a < tasks; ++a) {
      for (size_t b = a + 1; b < tasks; ++b) {
        if (board.problem().steps >= deadline) return;
        better |= Swap(board, a, b);
      }
    }
  }
}

}  // namespace muster::solver
