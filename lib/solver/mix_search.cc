#include "lib/solver/mix_search.h"

#include <algorithm>
#include <utility>

namespace muster::solver {
namespace {

// Values must stay below what MixTree takes.
constexpr int64_t kMostWorth = int64_t{1} << 58;

// base^exponent, or kMostWorth if it is no less.
int64_t Power(int64_t base, int exponent) {
  int64_t power = 1;
  for (int i = 0; i < exponent; ++i) {
    if (power >= kMostWorth / base) return kMostWorth;
    power *= base;
  }
  return power;
}

}  // namespace

// Whether exchanging tasks of the two roles changes nothing.
bool MixSearch::SameType(uint32_t a, uint32_t b, const Traffic& traffic) const {
  if (a == b) return true;
  if (problem_->column(a) != problem_->column(b) ||
      !std::ranges::equal(problem_->Chain(a), problem_->Chain(b))) {
    return false;
  }
  // Slices and spreads of groups hold for each role by itself, or for all.
  if (!problem_->Slices(a).empty()) return false;
  return std::ranges::none_of(traffic.edges(), [&](const Traffic::Edge& edge) {
    return edge.from == a || edge.from == b || edge.to == a || edge.to == b;
  });
}

// The role type with most tasks last: its counts run fastest in tables.
void MixSearch::FindTypes(const Traffic& traffic) {
  able_ = false;
  types_.clear();
  type_of_.assign(problem_->role_count(), kMaxRoleTypes);
  for (const uint32_t r : problem_->Active()) {
    auto role_type = std::ranges::find_if(types_, [&](const RoleType& k) {
      return SameType(k.role, r, traffic);
    });
    if (role_type == types_.end()) {
      if (types_.size() == kMaxRoleTypes) return;
      role_type =
          types_.insert(role_type, {.column = problem_->column(r), .role = r});
    }
    role_type->tasks += problem_->add(r);
  }
  std::ranges::sort(types_, {}, [](const RoleType& role_type) {
    return std::pair(role_type.tasks, role_type.role);
  });
  want_.clear();
  for (uint32_t k = 0; k < types_.size(); ++k) {
    want_.push_back(types_[k].tasks);
    for (const uint32_t r : problem_->Active()) {
      if (SameType(types_[k].role, r, traffic)) type_of_[r] = k;
    }
  }
  able_ = MixTree::Takes(want_);
}

// What tasks share on a node: resources, and slots where role types share a
// column.
void MixSearch::FindDemand() {
  const Cluster& cluster = problem_->cluster();
  resources_.clear();
  shared_.clear();
  for (ResourceKind r = 0; types_.size() > 1 && r < cluster.resource_count();
       ++r) {
    const auto users =
        std::ranges::count_if(types_, [&](const RoleType& role_type) {
          return problem_->Demand(role_type.column)[r] > 0;
        });
    if (users > 1) resources_.push_back(r);
  }
  for (uint32_t c = 0; c < problem_->columns().size(); ++c) {
    const auto users = std::ranges::count_if(
        types_,
        [&](const RoleType& role_type) { return role_type.column == c; });
    if (users > 1) shared_.push_back(c);
  }
  demand_.clear();
  for (const RoleType& role_type : types_) {
    for (const ResourceKind r : resources_) {
      demand_.push_back(problem_->Demand(role_type.column)[r]);
    }
    for (const uint32_t c : shared_) demand_.push_back(role_type.column == c);
  }
}

void MixSearch::Start(PartialPlacement& placement, const Traffic& traffic) {
  placement_ = &placement;
  problem_ = &placement.problem();
  traffic_ = &traffic;
  FindTypes(traffic);
  if (able_) FindDemand();
}

// Units and weights inside a domain of the level: a domain of a level outweighs
// all there can be of the narrower ones, a pair with traffic all domains. False
// if the numbers would be too large.
bool MixSearch::FindUnits(int level) {
  const int hosts = problem_->tree(0).hosts;
  int64_t base = 1;
  for (const uint32_t n : want_) base += n;
  unit_.assign(hosts + 1, 0);
  scale_ = Power(base, hosts - level + 1);
  weight_.clear();
  const bool has_traffic = !traffic_->empty();
  if (has_traffic) {
    const int64_t worst = traffic_->AllPairs(*problem_) * (hosts + 2);
    if (worst >= kMostWorth) return false;
    if (worst > 0 && scale_ >= kMostWorth / worst) scale_ = 1;
  } else if (scale_ >= kMostWorth) {
    return false;
  }
  for (int l = level + 1; l <= hosts && scale_ > 1; ++l) {
    unit_[l] = Power(base, hosts - l);
  }
  if (!has_traffic) return true;
  weight_.assign(want_.size() * want_.size(), 0);
  for (const Traffic::Edge& edge : traffic_->edges()) {
    const uint32_t a = type_of_[edge.from];
    const uint32_t b = type_of_[edge.to];
    if (a >= want_.size() || b >= want_.size()) continue;
    weight_[a * want_.size() + b] += edge.weight * scale_;
    if (a != b) weight_[b * want_.size() + a] += edge.weight * scale_;
  }
  return true;
}

uint32_t MixSearch::TypesBelow(ScopeIndex s) const {
  uint32_t role_types = 0;
  for (uint32_t r = 0; r < problem_->role_count(); ++r) {
    if (type_of_[r] < types_.size() && problem_->IsBelow(r, s)) {
      role_types |= 1u << type_of_[r];
    }
  }
  return role_types;
}

void MixSearch::FindRules(int level) {
  rules_.clear();
  const uint32_t scopes = problem_->group_count() + problem_->role_count();
  for (ScopeIndex s = 0; s < scopes; ++s) {
    const ScopeConstraint& rule = problem_->rule(s);
    if (rule.tree != 0 || rule.required <= level) continue;
    const uint32_t role_types = TypesBelow(s);
    if (role_types != 0)
      rules_.push_back({.level = rule.required, .role_types = role_types});
  }
  for (const SpreadRule& spread : problem_->spreads()) {
    const uint32_t role_types = TypesBelow(spread.scope);
    if (spread.tree != 0 || role_types == 0) continue;
    rules_.push_back({.level = spread.level,
                      .role_types = role_types,
                      .ask = MixRule::Ask::kAtMost,
                      .amount = spread.most});
  }
  for (uint32_t k = 0; k < types_.size(); ++k) {
    const uint32_t role = types_[k].role;
    if (problem_->FixedCount(role) > 0) continue;
    for (const SliceRule& slice : problem_->Slices(role)) {
      if (slice.tree != 0) continue;
      rules_.push_back({.level = slice.level,
                        .role_types = 1u << k,
                        .ask = MixRule::Ask::kWhole,
                        .amount = slice.size});
    }
  }
}

// What the domain's fixed tasks say to new ones, by role type, into
// fixed_traffic_. Whether it has fixed tasks.
bool MixSearch::FindFixedTraffic(int level, uint32_t domain) {
  fixed_traffic_.assign(want_.size(), 0);
  if (!placement_->HasTasks({0, level, domain})) return false;
  if (traffic_->empty()) return true;
  if (level == kEverywhere) domain = 0;
  for (uint32_t k = 0; k < types_.size(); ++k) {
    fixed_traffic_[k] =
        scale_ * traffic_->FixedTraffic(level, domain, types_[k].role);
  }
  return true;
}

void MixSearch::AddLeaf(NodeIndex node) {
  const Cluster& cluster = problem_->cluster();
  const SlotTable& table = placement_->table();
  most_.clear();
  bool any = false;
  for (uint32_t k = 0; k < types_.size(); ++k) {
    const uint32_t role = types_[k].role;
    // Slices that have begun bind single tasks, not the role.
    const bool begun =
        problem_->FixedCount(role) > 0 && !problem_->Slices(role).empty();
    uint32_t slots = std::min(table.slots(types_[k].column, node), want_[k]);
    if (slots > 0 && !begun &&
        !placement_->Allowed({role, problem_->NewIndices(role)[0]}, node)) {
      slots = 0;
    }
    most_.push_back(slots);
    any = any || slots > 0;
  }
  if (!any) return;
  free_.clear();
  for (size_t i = 0; i < resources_.size(); ++i) {
    int64_t need = 0;
    const size_t stride = resources_.size() + shared_.size();
    for (size_t k = 0; k < most_.size(); ++k) {
      need += demand_[k * stride + i] * most_[k];
    }
    free_.push_back(
        FreeUpTo(cluster, node, resources_[i], problem_->ledger(), need));
  }
  for (const uint32_t c : shared_) free_.push_back(table.slots(c, node));
  const bool has_fixed = FindFixedTraffic(problem_->tree(0).hosts, node);
  tree_.Leaf(node, most_, free_, fixed_traffic_, has_fixed);
}

// Enters the domains and nodes inside `domain` into tree_, below a root of
// their own.
void MixSearch::EnterNodes(const DomainRef& domain, int level) {
  const Tree& tree = problem_->tree(0);
  FindFixedTraffic(domain.level, domain.index);
  tree_.Open(level, fixed_traffic_, true);
  open_.assign(tree.hosts + 1, kOutside);
  int deepest = level;  // Of the open domains.
  placement_->table().ForEachNodeOfAny(domain, [&](NodeIndex node) {
    if (tree_.out_of_steps()) return;
    int same = level;
    if (tree.Contains(node)) {
      while (same < deepest &&
             open_[same + 1] == tree.DomainOf(same + 1, node)) {
        ++same;
      }
    }
    for (; deepest > same; --deepest) tree_.Close();
    for (; deepest + 1 < tree.hosts; ++deepest) {
      const int l = deepest + 1;
      if (!tree.Contains(node)) {  // It is a domain by itself.
        open_[l] = kOutside;
        fixed_traffic_.assign(want_.size(), 0);
        tree_.Open(l, fixed_traffic_, placement_->Touched(node));
        continue;
      }
      open_[l] = tree.DomainOf(l, node);
      const bool has_fixed = FindFixedTraffic(l, open_[l]);
      tree_.Open(l, fixed_traffic_, has_fixed);
    }
    AddLeaf(node);
  });
  for (; deepest > level; --deepest) tree_.Close();
}

SearchOutcome MixSearch::Solve(const DomainRef& domain, uint64_t budget) {
  const Tree& tree = problem_->tree(0);
  // A node's root stands for what is right around it.
  const int level = std::min(domain.level, tree.hosts - 1);
  if (!able_ || domain.tree != 0 || !FindUnits(level))
    return SearchOutcome::kCutShort;
  FindRules(level);
  tree_.Start(
      {.want = want_,
       .resources = static_cast<uint32_t>(resources_.size() + shared_.size()),
       .demand = demand_,
       .weight = weight_,
       .unit = unit_,
       .rules = rules_,
       .budget = budget});
  EnterNodes(domain, level);
  root_ = tree_.Close();
  problem_->Spend(tree_.steps(), kMixNs);
  if (tree_.out_of_steps()) return SearchOutcome::kCutShort;
  int64_t worth = 0;
  if (root_ == MixTree::kNone || !tree_.Best(root_, &worth)) {
    return SearchOutcome::kNone;
  }
  Read(domain, level, worth);
  return SearchOutcome::kFound;
}

// From what the whole is worth to what it costs.
void MixSearch::Read(const DomainRef& domain, int level, int64_t worth) {
  const int hosts = problem_->tree(0).hosts;
  int64_t units = -worth;
  if (!traffic_->empty()) {
    // All pairs meet in the root.
    const int64_t all = traffic_->AllPairs(*problem_);
    const int64_t together = (worth + scale_ - 1) / scale_;
    traffic_cost_ = all * (hosts - level) - (together - all);
    units = together * scale_ - worth;
  }
  domains_.assign(hosts + 1, 0);
  for (int l = 0; l <= hosts; ++l) {
    uint32_t& count = domains_[l];
    if (l > level) {
      const int64_t unit = unit_[l];
      if (unit == 0) continue;
      count = static_cast<uint32_t>(units / unit);
      units %= unit;
      continue;
    }
    count = placement_->HasTasksAround(domain, l) ? 0 : 1;
  }
}

// Along the tree, so that slices stay whole; what is left over of them has the
// last tasks, so its domain comes last.
void MixSearch::OrderShares(uint32_t role, size_t k) {
  const Tree& tree = problem_->tree(0);
  std::ranges::sort(shares_, {}, [&](const MixTree::LeafShare& share) {
    return std::pair(tree.PositionOf(share.id), share.id);
  });
  for (int level = tree.hosts; level >= 0; --level) {
    for (const SliceRule& slice : problem_->Slices(role)) {
      if (slice.tree == 0 && slice.level == level) MoveRest(slice, k);
    }
  }
}

// The domain that holds a part of a slice goes to the end: there is one.
void MixSearch::MoveRest(const SliceRule& slice, size_t k) {
  const Tree& tree = problem_->tree(0);
  const auto domain = [&](size_t i) {
    return tree.DomainOrSelf(slice.level, shares_[i].id);
  };
  for (size_t i = 0, end = 0; i < shares_.size(); i = end) {
    uint32_t tasks = 0;
    while (end < shares_.size() && domain(end) == domain(i)) {
      tasks += shares_[end++].tasks[k];
    }
    if (tasks % slice.size == 0) continue;
    const auto at = [&](size_t n) { return shares_.begin() + n; };
    std::rotate(at(i), at(end), shares_.end());
    return;
  }
}

bool MixSearch::PutType(uint32_t k) {
  OrderShares(types_[k].role, k);
  size_t share = 0;
  uint32_t used = 0;  // Of the share.
  for (const uint32_t role : problem_->Active()) {
    if (type_of_[role] != k) continue;
    for (const uint32_t index : problem_->NewIndices(role)) {
      while (shares_[share].tasks[k] == used) {
        ++share;
        used = 0;
      }
      const NodeIndex node = shares_[share].id;
      const TaskId task{role, index};
      if (!placement_->Allowed(task, node) || !placement_->Put(task, node))
        return false;
      ++used;
    }
  }
  return true;
}

// Types that take devices first, then in order of roles.
bool MixSearch::Put() {
  shares_.clear();
  tree_.Collect(root_, &shares_);
  const Cluster& cluster = problem_->cluster();
  const auto devices = [&](uint32_t k) {
    return cluster.device_request(problem_->columns()[types_[k].column].shape)
        .count;
  };
  order_.clear();
  for (uint32_t k = 0; k < types_.size(); ++k) order_.push_back(k);
  std::ranges::sort(order_, {}, [&](uint32_t k) {
    return std::pair(~devices(k), types_[k].role);
  });
  return placement_->Try([&] {
    return std::ranges::all_of(order_,
                               [&](uint32_t k) { return PutType(k); }) &&
           placement_->spreads().MayBeMet();
  });
}

}  // namespace muster::solver
