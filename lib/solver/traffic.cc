#include "lib/solver/traffic.h"

#include <algorithm>

namespace muster::solver {

void Traffic::Init(const PlacementProblem& problem) {
  edges_.clear();
  const std::vector<Role>& roles = problem.gang().roles;
  for (const muster::Traffic& t : problem.gang().traffic) {
    const auto from = std::ranges::find(roles, t.from, &Role::name);
    const auto to = std::ranges::find(roles, t.to, &Role::name);
    if (from == roles.end() || to == roles.end()) continue;
    const auto [first, last] = std::minmax(from, to);
    const Edge edge{static_cast<uint32_t>(first - roles.begin()),
                    static_cast<uint32_t>(last - roles.begin()), t.weight};
    const auto same = std::ranges::find_if(edges_, [&](const Edge& other) {
      return other.from == edge.from && other.to == edge.to;
    });
    if (same != edges_.end()) {
      same->weight += edge.weight;
    } else {
      edges_.push_back(edge);
    }
  }
  CountFixed(problem);
}

void Traffic::CountFixed(const PlacementProblem& problem) {
  placed_.clear();
  if (edges_.empty()) return;
  const Tree& tree = problem.tree(0);
  for (const Assignment& a : problem.Fixed()) {
    ++placed_[{kEverywhere, 0, a.task.role}];
    ++placed_[{tree.hosts, a.at.node, a.task.role}];
    if (!tree.Contains(a.at.node)) continue;
    for (int l = 0; l < tree.hosts; ++l) {
      ++placed_[{l, tree.DomainOf(l, a.at.node), a.task.role}];
    }
  }
}

int64_t Traffic::PlacedBy(int level, uint32_t domain, uint32_t role) const {
  const auto it = placed_.find({level, domain, role});
  return it != placed_.end() ? it->second : 0;
}

int64_t Traffic::FixedTraffic(int level, uint32_t domain, uint32_t role) const {
  int64_t weight = 0;
  for (const Edge& edge : edges_) {
    if (edge.from == role) {
      weight += edge.weight * PlacedBy(level, domain, edge.to);
    } else if (edge.to == role) {
      weight += edge.weight * PlacedBy(level, domain, edge.from);
    }
  }
  return weight;
}

// The weight of the pairs among tasks with these counts by role, but for those
// of which both are fixed.
int64_t Traffic::PairsOf(std::span<const uint32_t> all,
                         std::span<const uint32_t> fixed) const {
  const auto pairs = [](const Edge& edge, std::span<const uint32_t> counts) {
    const int64_t a = counts[edge.from];
    const int64_t b = counts[edge.to];
    return edge.from == edge.to ? a * (a - 1) / 2 : a * b;
  };
  int64_t sum = 0;
  for (const Edge& edge : edges_) {
    sum += edge.weight * (pairs(edge, all) - pairs(edge, fixed));
  }
  return sum;
}

int64_t Traffic::AllPairs(const PlacementProblem& problem) const {
  counts_.assign(problem.role_count(), 0);
  fixed_.assign(problem.role_count(), 0);
  for (uint32_t r = 0; r < problem.role_count(); ++r) {
    fixed_[r] = problem.FixedCount(r);
    counts_[r] = fixed_[r] + problem.add(r);
  }
  return PairsOf(counts_, fixed_);
}

// The weight of the pairs of items_ that share a domain of the level.
int64_t Traffic::PairsTogether(const PlacementProblem& problem,
                               int level) const {
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

int64_t Traffic::Between(const PlacementProblem& problem, uint32_t role,
                         NodeIndex node, const Assignment& other) const {
  int64_t weight = 0;
  for (const Edge& edge : edges_) {
    if ((edge.from == role && edge.to == other.task.role) ||
        (edge.to == role && edge.from == other.task.role)) {
      weight += edge.weight;
    }
  }
  if (weight == 0) return 0;
  return weight * problem.tree(0).Distance(node, other.at.node);
}

int64_t Traffic::CostOf(const PartialPlacement& placement, uint32_t role,
                        NodeIndex node) const {
  const PlacementProblem& problem = placement.problem();
  int64_t cost = 0;
  for (const Assignment& a : placement.placed()) {
    cost += Between(problem, role, node, a);
  }
  for (const Edge& edge : edges_) {
    const uint32_t other = edge.from == role ? edge.to : edge.from;
    if (edge.from != role && edge.to != role) continue;
    for (const Assignment& a : problem.Fixed(other)) {
      cost += edge.weight * problem.tree(0).Distance(node, a.at.node);
    }
  }
  return cost;
}

int64_t Traffic::Total(const PartialPlacement& placement) const {
  const PlacementProblem& problem = placement.problem();
  items_.clear();
  for (const Assignment& a : placement.placed()) {
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
bool Traffic::Move(PartialPlacement& placement, size_t task,
                   const DomainRef& domain) {
  PlacementProblem& problem = placement.problem();
  const Assignment old = placement.placed()[task];
  const auto cost = [&](NodeIndex node) {
    return CostOf(placement, old.task.role, node) -
           Between(problem, old.task.role, node, old);
  };
  int64_t best_cost = cost(old.at.node);
  if (best_cost == 0) return false;
  NodeIndex best = old.at.node;
  placement.Lift(task);
  const uint32_t column = problem.column(old.task.role);
  const uint64_t tasks = placement.placed().size();
  placement.table().ForEachNode(column, domain, [&](NodeIndex node) {
    problem.Spend(1, kNodeNs);
    problem.Charge(tasks, kLookNs);
    if (!placement.Allowed(old.task, node)) return;
    const int64_t there = cost(node);
    if (there >= best_cost) return;
    if (!placement.SpreadsMetWith(old.task, node)) return;
    best_cost = there;
    best = node;
  });
  if (best != old.at.node && placement.Replace(task, best)) return true;
  placement.PutBack(task, old.at);
  return false;
}

bool Traffic::Swap(PartialPlacement& placement, size_t a, size_t b) {
  const Assignment old_a = placement.placed()[a];
  const Assignment old_b = placement.placed()[b];
  if (old_a.at.node == old_b.at.node || old_a.task.role == old_b.task.role) {
    return false;
  }
  const int64_t before = Total(placement);
  placement.problem().Spend(placement.placed().size(), kNodeNs);
  placement.Lift(a);
  placement.Lift(b);
  bool moved_a = false;
  bool moved_b = false;
  if (placement.Allowed(old_a.task, old_b.at.node)) {
    moved_a = placement.Replace(a, old_b.at.node);
  }
  if (moved_a && placement.Allowed(old_b.task, old_a.at.node)) {
    moved_b = placement.Replace(b, old_a.at.node);
  }
  if (moved_b && Total(placement) < before && placement.spreads().MayBeMet()) {
    return true;
  }
  if (moved_b) placement.Lift(b);
  if (moved_a) placement.Lift(a);
  placement.PutBack(a, old_a.at);
  placement.PutBack(b, old_b.at);
  return false;
}

void Traffic::Improve(PartialPlacement& placement, const DomainRef& domain,
                      uint64_t deadline) {
  const size_t tasks = placement.placed().size();
  bool better = true;
  while (better) {
    better = false;
    for (size_t a = 0; a < tasks; ++a) {
      if (placement.problem().steps >= deadline) return;
      better |= Move(placement, a, domain);
    }
    for (size_t a = 0; a < tasks; ++a) {
      for (size_t b = a + 1; b < tasks; ++b) {
        if (placement.problem().steps >= deadline) return;
        better |= Swap(placement, a, b);
      }
    }
  }
}

}  // namespace muster::solver
