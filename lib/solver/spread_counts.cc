#include "lib/solver/spread_counts.h"

#include <algorithm>
#include <limits>

#include "lib/index/capacity_table.h"

namespace muster::solver {
namespace {

constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kNoDomain = kUnknown >> 1;

}  // namespace

void SpreadCounts::Reset(PlacementProblem& problem) {
  problem_ = &problem;
  const std::span<const SpreadRule> rules = problem.spreads();
  counts_.resize(rules.size());
  fewest_.assign(rules.size(), kUnknown);
  for (size_t i = 0; i < rules.size(); ++i) {
    const SpreadRule& rule = rules[i];
    Counts& counts = counts_[i];
    counts = {};
    const uint32_t region = rule.region == kEverywhere ? 0 : kOutside;
    counts.domains.assign(problem.DomainLimit(rule.tree, rule.level),
                          {.region = region});
    if (rule.skew > 0) FindEligible(rule, &counts);
    counts.looked_at = rule.level == problem.tree(rule.tree).hosts
                           ? problem.cluster().node_count()
                           : counts.domains.size();
    problem.Charge(counts.looked_at, kLookNs);
  }
}

// Domains with a node that would take a task of the scope, were it empty.
void SpreadCounts::FindEligible(const SpreadRule& rule, Counts* counts) {
  const Tree& tree = problem_->tree(rule.tree);
  const Cluster& cluster = problem_->cluster();
  counts->eligibles.assign(rule.region == kEverywhere
                               ? 1
                               : problem_->DomainLimit(rule.tree, rule.region),
                           0);
  problem_->Charge(cluster.node_count(), kCapacityNs);
  for (const NodeIndex node : cluster.nodes()) {
    const uint32_t d = tree.DomainOf(rule.level, node);
    if (d == kOutside) continue;
    Tally& domain = counts->domains[d];
    domain.region = RegionOf(rule, node);
    const auto takes = [&](ShapeId shape) {
      return index::CapacitySlots(cluster, node, shape, 1) != 0;
    };
    for (uint32_t r = 0; r < problem_->role_count(); ++r) {
      if (domain.eligible) break;
      if (!problem_->IsBelow(r, rule.scope)) continue;
      domain.eligible =
          std::ranges::any_of(problem_->request().gang->shapes[r], takes);
      if (domain.eligible) ++counts->eligibles[domain.region];
    }
  }
}

void SpreadCounts::Fix() {
  for (Counts& counts : counts_) {
    for (Tally& domain : counts.domains) domain.fixed = domain.count;
    counts.fixed_tasks = counts.tasks;
    counts.fixed_used = counts.used;
  }
}

void SpreadCounts::Enter(uint32_t role, NodeIndex node, bool enter) {
  for (const uint32_t i : problem_->Spreads(role)) {
    const uint32_t d = DomainOf(i, node);
    if (d == kOutside) continue;
    Counts& counts = counts_[i];
    fewest_[i] = kUnknown;
    Tally& domain = counts.domains[d];
    if (!enter) {
      --counts.tasks;
      if (--domain.count == 0) --counts.used;
      continue;
    }
    if (counts.tasks++ == 0) counts.here = domain.region;
    if (domain.count++ == 0) ++counts.used;
  }
}

bool SpreadCounts::Open(uint32_t role, NodeIndex node) const {
  for (const uint32_t i : problem_->Spreads(role)) {
    const SpreadRule& rule = problem_->spreads()[i];
    const uint32_t d = DomainOf(i, node);
    if (d == kOutside || counts_[i].domains[d].count >= rule.most) return false;
  }
  return true;
}

uint64_t SpreadCounts::Fewest(size_t spread) const {
  uint64_t& fewest = fewest_[spread];
  if (fewest != kUnknown) return fewest;
  const Counts& counts = counts_[spread];
  fewest = kNoDomain;
  if (counts.tasks == 0) fewest = 0;
  for (const Tally& domain : counts.domains) {
    if (!domain.eligible || !Within(counts, domain)) continue;
    fewest = std::min<uint64_t>(fewest, domain.count);
    if (fewest == 0) break;
  }
  return fewest;
}

bool SpreadCounts::Keeps(uint32_t role, NodeIndex node) const {
  if (!Open(role, node)) return false;
  for (const uint32_t i : problem_->Spreads(role)) {
    const SpreadRule& rule = problem_->spreads()[i];
    const Counts& counts = counts_[i];
    const uint64_t count = counts.domains[DomainOf(i, node)].count;
    if (count > 0 && counts.used < rule.domains) return false;
    if (rule.skew > 0 && count + 1 > Fewest(i) + rule.skew) return false;
  }
  return true;
}

void SpreadCounts::Confine(std::span<const NodeIndex> nodes) {
  for (size_t i = 0; i < counts_.size(); ++i) {
    Counts& counts = counts_[i];
    for (Tally& domain : counts.domains) domain.reachable = false;
    for (const NodeIndex node : nodes) {
      const uint32_t d = DomainOf(i, node);
      if (d != kOutside) counts.domains[d].reachable = true;
    }
  }
}

uint32_t SpreadCounts::Needed(uint32_t spread, uint32_t tasks) const {
  return std::min(problem_->spreads()[spread].domains,
                  counts_[spread].fixed_used + tasks);
}

bool SpreadCounts::MayGoIntoOne(uint32_t spread, uint32_t tasks,
                                NodeIndex node) const {
  const SpreadRule& rule = problem_->spreads()[spread];
  const Counts& counts = counts_[spread];
  const Tally& domain = counts.domains[DomainOf(spread, node)];
  const uint64_t peak = uint64_t{domain.count} + tasks;
  if (peak > rule.most) return false;
  if (Needed(spread, tasks) > counts.used + (domain.count == 0 ? 1 : 0)) {
    return false;
  }
  if (rule.skew == 0) return true;
  // No other domain holds more than all tasks there are.
  return counts.eligibles[domain.region] < 2 ||
         peak <= uint64_t{counts.tasks} + rule.skew;
}

bool SpreadCounts::MayBeMet(const SpreadRule& rule,
                            const Counts& counts) const {
  problem_->Charge(counts.looked_at, kLookNs);
  const uint32_t add = problem_->AddBelow(rule.scope);
  const uint64_t left = add - (counts.tasks - counts.fixed_tasks);
  const uint32_t need = std::min(rule.domains, counts.fixed_used + add);
  if (left == 0 && rule.skew == 0) return counts.used >= need;
  uint64_t room = 0;
  uint64_t fresh = 0;  // Domains that could still be opened.
  uint64_t peak = 0;
  for (const Tally& domain : counts.domains) {
    const uint32_t count = domain.count;
    if (count > domain.fixed) peak = std::max<uint64_t>(peak, count);
    if (count >= rule.most || !domain.reachable || !Within(counts, domain)) {
      continue;
    }
    room += std::min<uint64_t>(left, rule.most - count);
    if (count == 0) ++fresh;
  }
  if (room < left || counts.used + std::min(left, fresh) < need) return false;
  if (rule.skew == 0 || peak <= rule.skew) return true;
  uint64_t lack = 0;  // What the domains with few tasks must still get.
  for (const Tally& domain : counts.domains) {
    const uint64_t enough = uint64_t{domain.count} + rule.skew;
    if (!domain.eligible || !Within(counts, domain) || enough >= peak) continue;
    if (!domain.reachable) return false;
    lack += peak - enough;
  }
  return lack <= left;
}

bool SpreadCounts::MayBeMet() const {
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (problem_->AddBelow(problem_->spreads()[i].scope) == 0) continue;
    if (!MayBeMet(problem_->spreads()[i], counts_[i])) return false;
  }
  return true;
}

void SpreadCounts::Describe(uint32_t spread, NodeIndex node,
                            std::vector<SpreadDomain>* domains) const {
  const uint32_t region = RegionOf(problem_->spreads()[spread], node);
  domains->clear();
  for (const Tally& domain : counts_[spread].domains) {
    domains->push_back({.placed = domain.count,
                        .counts = domain.eligible && domain.region == region});
  }
}

}  // namespace muster::solver
