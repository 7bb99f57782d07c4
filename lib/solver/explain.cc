#include "lib/solver/explain.h"

#include <algorithm>

#include "lib/solver/reasons.h"

namespace muster::solver {
// At most how many tasks of the shape the role could ever have beside its
// fixed ones; counting ends at `enough`.
uint32_t Explain::ShapeEver(PlacementProblem& problem, uint32_t role,
                            ShapeId shape, uint32_t enough, Reason* reason) {
  // The narrowest level that all tasks must share; any tree will do.
  ScopeConstraint rule;
  for (const ScopeIndex s : problem.Chain(role)) {
    const ScopeConstraint& r = problem.rule(s);
    if (rule.tree < 0) rule.tree = r.tree;
    if (r.tree == rule.tree)
      rule.required = std::max(rule.required, r.required);
  }
  static_assert(index::CapacityTable::kInside == kEverywhere);
  const bool named = rule.tree >= 0;
  const auto [admitted, best] = capacity_.Get(
      problem.cluster(), named ? problem.tree(rule.tree).topology : -1,
      named ? rule.required : index::CapacityTable::kAnywhere, shape, enough);
  problem.Spend(problem.cluster().node_count(), kCapacityNs);
  if (best < enough) {
    *reason =
        OfRole(admitted ? ReasonCode::kNeverFits : ReasonCode::kNoNodeAdmits,
               role, enough, static_cast<int64_t>(best));
    return static_cast<uint32_t>(best);
  }
  for (const uint32_t spread : problem.Spreads(role)) {
    const uint32_t ever = SpreadEver(problem, role, spread, shape, enough);
    if (ever >= enough) continue;
    *reason = OfLevel(ReasonCode::kConstraint, problem.spreads()[spread].level,
                      enough, ever);
    return ever;
  }
  return enough;
}

// At most how many tasks one spread allows on the empty cluster; `enough` if
// some are fixed, for then it is a matter of where those lie.
uint32_t Explain::SpreadEver(PlacementProblem& problem, uint32_t role,
                             uint32_t spread, ShapeId shape, uint32_t enough) {
  if (!problem.request().fixed.empty()) return enough;
  const Cluster& cluster = problem.cluster();
  SpreadRule rule = problem.spreads()[spread];
  // Other roles may help with the rest.
  if (!rule.one_role) rule.skew = rule.domains = 0;
  const Tree& tree = problem.tree(rule.tree);
  ever_.assign(problem.DomainLimit(rule.tree, rule.level), {});
  problem.Spend(cluster.node_count(), kCapacityNs);
  for (const NodeIndex node : cluster.nodes()) {
    const uint32_t d = tree.DomainOf(rule.level, node);
    if (d == kOutside) continue;
    auto& [region, domain] = ever_[d];
    if (rule.region != kEverywhere) region = tree.DomainOf(rule.region, node);
    domain.room += static_cast<uint64_t>(
        index::CapacitySlots(cluster, node, shape, enough));
    for (const ShapeId any : problem.request().gang->shapes[role]) {
      domain.counts =
          domain.counts || index::CapacitySlots(cluster, node, any, 1) > 0;
    }
  }
  std::ranges::stable_sort(ever_, {}, [](const auto& e) { return e.first; });
  uint32_t most = 0;
  for (size_t i = 0; i < ever_.size() && most < enough;) {
    const uint32_t region = ever_[i].first;
    domains_.clear();
    for (; i < ever_.size() && ever_[i].first == region; ++i) {
      domains_.push_back(ever_[i].second);
    }
    most = std::max(most, fill_.Most(rule, 0, enough, &domains_));
  }
  return most;
}

// The same over the role's alternatives; the reason is that of the best one.
uint32_t Explain::MostEver(PlacementProblem& problem, uint32_t role,
                           uint32_t enough, Reason* reason) {
  uint32_t most = 0;
  for (const uint32_t c : problem.ColumnsOf(role)) {
    Reason why;
    const uint32_t ever =
        ShapeEver(problem, role, problem.columns()[c].shape, enough, &why);
    if (ever >= enough) return enough;
    const bool better = reason->code == ReasonCode::kNone || ever > most ||
                        (reason->code == ReasonCode::kNoNodeAdmits &&
                         why.code != ReasonCode::kNoNodeAdmits);
    if (better) *reason = why;
    most = std::max(most, ever);
  }
  return most;
}

bool Explain::Never(PlacementProblem& problem, ScopeIndex top, CountPlan& plan,
                    Reason* reason) {
  most_.assign(problem.role_count(), 0);
  bool any_short = false;
  Reason first;
  for (uint32_t r = 0; r < problem.role_count(); ++r) {
    most_[r] = plan.unique() ? plan.add()[r] : problem.MayGet(r);
    if (most_[r] == 0) continue;
    Reason why;
    const uint32_t ever = MostEver(problem, r, most_[r], &why);
    if (ever >= most_[r]) continue;
    most_[r] = ever;
    if (!any_short) first = why;
    any_short = true;
  }
  if (!any_short) return false;
  *reason = first;
  if (plan.unique()) return true;
  plan.Start(problem, top);
  plan.Bound(most_);
  return !plan.Next() && !plan.cut_short();
}

// One role by itself: no slots for all its tasks, wherever.
std::optional<Reason> Explain::RoleShort(PartialPlacement& placement,
                                         uint32_t role) {
  PlacementProblem& problem = placement.problem();
  const Cluster& cluster = placement.cluster();
  const int64_t needed = problem.add(role);
  uint32_t column = problem.column(role);
  for (const uint32_t c : problem.ColumnsOf(role)) {
    if (placement.table().Total(c) > placement.table().Total(column))
      column = c;
  }
  const int64_t slots = static_cast<int64_t>(placement.table().Total(column));
  if (slots >= needed) return std::nullopt;
  const ShapeId shape = problem.columns()[column].shape;
  const std::span<const NodeIndex> nodes = placement.table().Everywhere(0);
  problem.Spend(nodes.size(), kNodeNs);
  const bool admitted = std::ranges::any_of(
      nodes, [&](NodeIndex n) { return cluster.Admits(n, shape); });
  if (!admitted) return OfRole(ReasonCode::kNoNodeAdmits, role, needed, 0);
  return Shortage(cluster, shape, role, needed, slots, [&](ResourceKind k) {
    int64_t free = 0;
    for (const NodeIndex n : nodes) {
      if (!cluster.Admits(n, shape)) continue;
      free += std::max<int64_t>(0, cluster.free(n, k, problem.ledger()));
    }
    return free;
  });
}

// All roles together: more of a kind than the nodes they can use have.
std::optional<Reason> Explain::SumShort(PartialPlacement& placement) {
  const PlacementProblem& problem = placement.problem();
  SlotTable& table = placement.table();
  const std::span<const int64_t> all = table.Useful({});
  for (size_t k = 0; k < table.kinds().size(); ++k) {
    const ResourceKind kind = table.kinds()[k];
    int64_t needed = 0;
    for (const uint32_t r : problem.Active()) {
      needed +=
          placement.cluster().demand(problem.shape(r))[kind] * problem.add(r);
    }
    if (all[k] >= needed) continue;
    return Reason{.code = ReasonCode::kInsufficient,
                  .resource = kind,
                  .needed = needed,
                  .available = all[k]};
  }
  return std::nullopt;
}

// Room in all, but not inside one required domain, or not in whole slices.
std::optional<Reason> Explain::DomainShort(PartialPlacement& placement,
                                           uint32_t role) {
  const PlacementProblem& problem = placement.problem();
  const std::span<const uint32_t> indices = problem.NewIndices(role);
  const int64_t needed = problem.add(role);
  ScopeConstraint rule;
  for (const ScopeIndex s : problem.Chain(role)) {
    const ScopeConstraint& r = problem.rule(s);
    if (r.required > rule.required) rule = r;
  }
  const std::span<const SliceRule> slices = problem.Slices(role);
  if (rule.tree < 0 && !slices.empty()) rule.tree = slices[0].tree;
  if (rule.tree < 0) return std::nullopt;
  layers_.clear();
  for (const SliceRule& s : slices) {
    if (s.tree == rule.tree && problem.FixedCount(role) == 0) {
      layers_.push_back(s);
    }
  }
  forest_.Build(placement, {role, indices[0]}, {rule.tree, kEverywhere, 0}, {},
                layers_);
  const int64_t best = static_cast<int64_t>(forest_.Best(rule.required));
  const uint32_t size = layers_.empty() ? 1 : layers_[0].size;
  if (best >= needed - needed % size) return std::nullopt;
  const int level =
      rule.required != kEverywhere ? rule.required : slices[0].level;
  return OfLevel(ReasonCode::kNoDomain, level, needed, best);
}

// Room in all, but not as a spread wants it.
std::optional<Reason> Explain::SpreadShort(PartialPlacement& placement,
                                           uint32_t role) {
  const PlacementProblem& problem = placement.problem();
  for (const uint32_t i : problem.Spreads(role)) {
    const SpreadRule& rule = problem.spreads()[i];
    if (problem.ActiveRoles(rule.scope) > 1) continue;
    forest_.Build(placement, {role, problem.NewIndices(role)[0]},
                  {rule.tree, kEverywhere, 0}, {}, {});
    const uint32_t most = forest_.MostSpread(problem.add(role), i);
    if (most >= problem.add(role)) continue;
    return OfLevel(ReasonCode::kConstraint, rule.level, problem.add(role),
                   most);
  }
  return std::nullopt;
}

Reason Explain::NotNow(PartialPlacement& placement) {
  const PlacementProblem& problem = placement.problem();
  int64_t needed = 0;
  for (const uint32_t r : problem.Active()) {
    needed += problem.add(r);
    if (const auto reason = RoleShort(placement, r)) return *reason;
  }
  if (const auto reason = SumShort(placement)) return *reason;
  for (const uint32_t r : problem.Active()) {
    if (const auto reason = DomainShort(placement, r)) return *reason;
  }
  for (const uint32_t r : problem.Active()) {
    if (const auto reason = SpreadShort(placement, r)) return *reason;
  }
  const bool constrained = problem.constrained();
  return {
      .code = constrained ? ReasonCode::kConstraint : ReasonCode::kInsufficient,
      .object_kind = constrained ? ReasonObject::kGroup : ReasonObject::kNone,
      .needed = needed,
      .available = static_cast<int64_t>(placement.most_placed())};
}

}  // namespace muster::solver
