// Tasks of one role shared out under a spread.
#include <algorithm>

#include "lib/solver/forest.h"

namespace muster::solver {

// Fills in spread_domains_ for tasks that go below the entries [first, last).
void Forest::DescribeSpread(int level, EntryIndex first, EntryIndex last,
                            uint32_t spread) {
  const SpreadRule& rule = placement_->problem().spreads()[spread];
  const NodeIndex node =
      at(tree_->hosts)[Below(level, first, last, tree_->hosts).first].domain;
  placement_->spreads().Describe(spread, node, &spread_domains_);
  // Of hosts there are places for nodes that are gone, too.
  const size_t domains = rule.level == tree_->hosts
                             ? placement_->problem().cluster().node_count()
                             : spread_domains_.size();
  placement_->problem().Spend(domains / 8 + 1, kLookNs);
  if (level > rule.level) {
    SpreadDomain& d = spread_domains_[tree_->DomainOf(rule.level, node)];
    for (EntryIndex p = first; p < last; ++p) d.room += at(level)[p].slots;
    return;
  }
  const auto [from, to] = Below(level, first, last, rule.level);
  for (EntryIndex p = from; p < to; ++p) {
    const DomainEntry& e = at(rule.level)[p];
    SpreadDomain& d = spread_domains_[e.domain];
    d.room = e.slots;
    d.nearness = NearnessOf(rule.level, e);
  }
}

// Whether the tasks can go below the entries; spread_domains_ tells how many
// go into which domain.
bool Forest::TrySpread(int level, EntryIndex first, EntryIndex last,
                       uint32_t tasks, uint32_t spread) {
  DescribeSpread(level, first, last, spread);
  return fill_.Fill(placement_->problem().spreads()[spread],
                    placement_->spreads().Needed(spread, tasks), tasks,
                    &spread_domains_);
}

// After TrySpread: down to the nodes.
void Forest::GiveSpread(int level, EntryIndex first, EntryIndex last,
                        uint32_t tasks, int spread_level) {
  if (level > spread_level) {
    picks_.clear();
    for (EntryIndex p = first; p < last; ++p) picks_.push_back(p);
    if (picks_.size() == 1) {
      at(level)[first].chosen = tasks;
    } else {
      ChooseFewest(level, tasks);
    }
    Descend(level, tasks);
    return;
  }
  const auto [from, to] = Below(level, first, last, spread_level);
  for (EntryIndex p = from; p < to; ++p) {
    DomainEntry& e = at(spread_level)[p];
    e.chosen = spread_domains_[e.domain].tasks;
    if (e.chosen == 0) continue;
    picks_.assign(1, p);
    Descend(spread_level, e.chosen);
  }
}

bool Forest::DistributeSpread(uint32_t tasks, int required, uint32_t spread,
                              std::vector<NodeTasks>* shares) {
  shares->clear();
  if (capacity_ < tasks) return false;
  const PlacementProblem& problem = placement_->problem();
  const SpreadRule& rule = problem.spreads()[spread];
  for (int l = tree_->hosts; l >= base_ && l >= required; --l) {
    costs_.clear();
    for (EntryIndex p = 0; p < at(l).size(); ++p) {
      if (at(l)[p].slots < tasks) continue;
      const EntryIndex host = Below(l, p, p + 1, tree_->hosts).first;
      const NodeIndex node = at(tree_->hosts)[host].domain;
      if (l >= rule.level &&
          !placement_->spreads().MayGoIntoOne(spread, tasks, node)) {
        continue;
      }
      costs_.push_back(CostOf(l, p, tasks));
    }
    std::ranges::sort(costs_);
    for (const DomainCost& cost : costs_) {
      if (!TrySpread(l, cost.pick, cost.pick + 1, tasks, spread)) continue;
      GiveSpread(l, cost.pick, cost.pick + 1, tasks, rule.level);
      Collect(shares);
      return true;
    }
  }
  const EntryIndex last = static_cast<EntryIndex>(at(base_).size());
  if (required >= base_ || !TrySpread(base_, 0, last, tasks, spread)) {
    return false;
  }
  GiveSpread(base_, 0, last, tasks, rule.level);
  Collect(shares);
  return true;
}

uint32_t Forest::MostSpread(uint32_t enough, uint32_t spread) {
  if (capacity_ == 0) return 0;
  const SpreadRule& rule = placement_->problem().spreads()[spread];
  const uint32_t used = placement_->spreads().FixedDomains(spread);
  const bool regions = rule.region >= base_;
  const EntryIndex last =
      regions ? static_cast<EntryIndex>(at(rule.region).size()) : EntryIndex{1};
  uint32_t most = 0;
  for (EntryIndex p = 0; p < last && most < enough; ++p) {
    if (regions) {
      DescribeSpread(rule.region, p, p + 1, spread);
    } else {
      DescribeSpread(base_, 0, static_cast<EntryIndex>(at(base_).size()),
                     spread);
    }
    most = std::max(most, fill_.Most(rule, used, enough, &spread_domains_));
  }
  return most;
}

}  // namespace muster::solver
