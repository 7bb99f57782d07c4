#include "lib/solver/traffic.h"

#include <algorithm>

namespace muster::solver {

void Traffic::Init(const Problem& problem) {
  lines_.clear();
  const std::vector<Role>& roles = problem.gang().roles;
  for (const muster::Traffic& t : problem.gang().traffic) {
    const auto from = std::ranges::find(roles, t.from, &Role::name);
    const auto to = std::ranges::find(roles, t.to, &Role::name);
    if (from == roles.end() || to == roles.end()) continue;
    const auto [first, last] = std::minmax(from, to);
    const Line line{static_cast<uint32_t>(first - roles.begin()),
                    static_cast<uint32_t>(last - roles.begin()), t.weight};
    const auto same = std::ranges::find_if(lines_, [&](const Line& other) {
      return other.from == line.from && other.to == line.to;
    });
    if (same != lines_.end()) {
      same->weight += line.weight;
    } else {
      lines_.push_back(line);
    }
  }
  CountFixed(problem);
}

void Traffic::CountFixed(const Problem& problem) {
  held_.clear();
  if (lines_.empty()) return;
  const Tree& tree = problem.tree(0);
  for (const Assignment& a : problem.Fixed()) {
    ++held_[{kEverywhere, 0, a.task.role}];
    ++held_[{tree.hosts, a.at.node, a.task.role}];
    if (!tree.Contains(a.at.node)) continue;
    for (int l = 0; l < tree.hosts; ++l) {
      ++held_[{l, tree.DomainOf(l, a.at.node), a.task.role}];
    }
  }
}

int64_t Traffic::HeldBy(int level, uint32_t domain, uint32_t role) const {
  const auto it = held_.find({level, domain, role});
  return it != held_.end() ? it->second : 0;
}

int64_t Traffic::Pull(int level, uint32_t domain, uint32_t role) const {
  int64_t pull = 0;
  for (const Line& line : lines_) {
    if (line.from == role) {
      pull += line.weight * HeldBy(level, domain, line.to);
    } else if (line.to == role) {
      pull += line.weight * HeldBy(level, domain, line.from);
    }
  }
  return pull;
}

// The weight of the pairs among tasks with these counts by role, but for those
// of which both are fixed.
int64_t Traffic::PairsOf(std::span<const uint32_t> all,
                         std::span<const uint32_t> fixed) const {
  const auto pairs = [](const Line& line, std::span<const uint32_t> counts) {
    const int64_t a = counts[line.from];
    const int64_t b = counts[line.to];
    return line.from == line.to ? a * (a - 1) / 2 : a * b;
  };
  int64_t sum = 0;
  for (const Line& line : lines_) {
    sum += line.weight * (pairs(line, all) - pairs(line, fixed));
  }
  return sum;
}

int64_t Traffic::AllPairs(const Problem& problem) const {
  counts_.assign(problem.role_count(), 0);
  fixed_.assign(problem.role_count(), 0);
  for (uint32_t r = 0; r < problem.role_count(); ++r) {
    fixed_[r] = problem.FixedCount(r);
    counts_[r] = fixed_[r] + problem.add(r);
  }
  return PairsOf(counts_, fixed_);
}

// The weight of the pairs of items_ that share a domain of the level.
int64_t Traffic::PairsTogether(const Problem& problem, int level) const {
  const Tree& tree = problem.tree(0);
  for (Item& item : items_) {
    // A node outside the topology shares no domain with another.
    item.domain = tree.Contains(item.node) && level < tree.hosts
                      ? (uint64_t{tree.DomainOf(level, item.node)} + 1) << 32
                      : item.node;
  }
  std::ranges::sort(items_, {}, &Item::domain);
  int64_t sum = 0;
  counts_.assign(problem.role_count(), 0);
  fixed_.assign(problem.role_count(), 0);
  for (size_t i = 0; i < items_.size();) {
    const uint64_t domain = items_[i].domain;
    const size_t first = i;
    for (; i < items_.size() && items_[i].domain == domain; ++i) {
      ++counts_[items_[i].role];
      fixed_[items_[i].role] += items_[i].fixed;
    }
    sum += PairsOf(counts_, fixed_);
    for (size_t j = first; j < i; ++j) {
      counts_[items_[j].role] = fixed_[items_[j].role] = 0;
    }
  }
  return sum;
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

int64_t Traffic::Total(const Board& board) const {
  const Problem& problem = board.problem();
  items_.clear();
  for (const Assignment& a : board.placed()) {
    items_.push_back({.role = a.task.role, .node = a.at.node});
  }
  for (const Assignment& a : problem.Fixed()) {
    items_.push_back({.role = a.task.role, .fixed = true, .node = a.at.node});
  }
  const int hosts = problem.tree(0).hosts;
  int64_t cost = AllPairs(problem) * (hosts + 1);
  for (int l = 0; l <= hosts; ++l) cost -= PairsTogether(problem, l);
  return cost;
}

// The lifted task is still listed where it was: its own part is taken off.
bool Traffic::Move(Board& board, size_t task, const DomainRef& domain) {
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
  const uint32_t column = problem.column(old.task.role);
  const uint64_t tasks = board.placed().size();
  board.table().ForEachNode(column, domain, [&](NodeIndex node) {
    problem.Spend(1, kNodeNs);
    problem.Charge(tasks, kLookNs);
    if (!board.Allowed(old.task, node)) return;
    const int64_t there = cost(node);
    if (there >= best_cost) return;
    if (!board.SpreadsHoldWith(old.task, node)) return;
    best_cost = there;
    best = node;
  });
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
  board.problem().Spend(board.placed().size(), kNodeNs);
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

void Traffic::Improve(Board& board, const DomainRef& domain,
                      uint64_t deadline) {
  const size_t tasks = board.placed().size();
  bool better = true;
  while (better) {
    better = false;
    for (size_t a = 0; a < tasks; ++a) {
      if (board.problem().steps >= deadline) return;
      better |= Move(board, a, domain);
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
