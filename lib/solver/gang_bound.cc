#include "lib/solver/gang_bound.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "lib/base/fraction.h"

namespace muster::solver {
namespace {

// More traffic edges are not bounded: that would take longer than
// placing them.
constexpr size_t kMaxLines = 64;

}  // namespace

void GangBound::Start(PartialPlacement& placement, const Traffic& traffic) {
  placement_ = &placement;
  problem_ = &placement.problem();
  traffic_ = &traffic;
  const SlotTable& table = placement.table();
  table.FindNeeds(&need_, &kind_need_);
  capacities_used_ = 0;
  for (const uint32_t r : problem_->Active()) AddCapacity(r);
  // A kind of one column alone: its slots say more.
  for (size_t k = 0; k < kind_need_.size(); ++k) {
    uint32_t columns = 0;
    for (uint32_t c = 0; c < need_.size(); ++c) {
      columns += need_[c] > 0 && problem_->Demand(c)[table.kinds()[k]] > 0;
    }
    if (columns < 2) kind_need_[k] = 0;
  }
}

// Tasks of the role in one domain of the level, by its spreads.
uint32_t GangBound::Limit(uint32_t role, int level) const {
  uint32_t limit = kNoRoom;
  for (const uint32_t i : problem_->Spreads(role)) {
    const SpreadRule& rule = problem_->spreads()[i];
    if (rule.tree == 0 && rule.level == level) {
      limit = std::min(limit, rule.most);
    }
  }
  return limit;
}

// Tasks of one slice on the level; 1 if there are none.
uint32_t GangBound::SliceAt(uint32_t role, int level) const {
  uint32_t size = 1;
  if (problem_->FixedCount(role) > 0) return size;
  for (const SliceRule& slice : problem_->Slices(role)) {
    if (slice.tree == 0 && slice.level == level) {
      size = std::max(size, slice.size);
    }
  }
  return size;
}

void GangBound::AddCapacity(uint32_t role) {
  const Tree& tree = problem_->tree(0);
  // What is left over of the largest slices may be split in any way.
  uint32_t largest = 1;
  bool any = false;
  for (int l = 0; l <= tree.hosts; ++l) {
    const uint32_t size = SliceAt(role, l);
    if (largest % size != 0 && largest > 1) return;  // No proper chain.
    largest = std::max(largest, size);
    any = any || size > 1 || Limit(role, l) != kNoRoom;
  }
  if (!any) return;
  if (capacities_.size() == capacities_used_) capacities_.emplace_back();
  RoleCapacity& capacity = capacities_[capacities_used_++];
  capacity.role = role;
  const uint32_t tasks = problem_->add(role);
  capacity.need = tasks - tasks % largest;
  FillCapacity(&capacity);
}

void GangBound::FillCapacity(RoleCapacity* capacity) {
  const Tree& tree = problem_->tree(0);
  const uint32_t role = capacity->role;
  const uint32_t column = problem_->column(role);
  const SlotTable& table = placement_->table();
  const auto cut = [&](uint64_t slots, int level) {
    slots -= slots % SliceAt(role, level);
    return static_cast<uint32_t>(std::min<uint64_t>(slots, Limit(role, level)));
  };
  capacity->sums.resize(tree.hosts);
  const bool nodes =
      SliceAt(role, tree.hosts) > 1 || Limit(role, tree.hosts) != kNoRoom;
  for (int l = tree.hosts - 1; l >= 0; --l) {
    const std::vector<Domain>& domains = tree.index->levels[l];
    std::vector<uint32_t>& sums = capacity->sums[l];
    sums.assign(domains.size(), 0);
    problem_->Spend(domains.size(), kLookNs);
    for (uint32_t d = 0; d < domains.size(); ++d) {
      const DomainRef domain{0, l, d};
      uint64_t sum = 0;
      if (l + 1 < tree.hosts) {
        for (uint32_t c = 0; c < domains[d].child_count; ++c) {
          sum += capacity->sums[l + 1][domains[d].first_child + c];
        }
      } else if (nodes) {
        table.ForEachNode(column, domain, [&](NodeIndex n) {
          sum += cut(table.slots(column, n), tree.hosts);
          problem_->Spend(1, kBoundNs);
        });
      } else {
        sum = table.Sum(column, domain);
      }
      sums[d] = cut(sum, l);
    }
  }
}

// The gang needs so much of something, of which domains have some: those that
// it holds first, and then as few others as will do.
void GangBound::Need(int64_t need) {
  missing_ = need;
  offers_.clear();
}

void GangBound::Have(int64_t amount, bool has_tasks) {
  if (has_tasks) {
    missing_ -= amount;
  } else {
    offers_.push_back(amount);
  }
}

// To the number of those others; kNoRoom where all are not enough.
void GangBound::Raise(uint32_t* least) {
  std::ranges::make_heap(offers_);
  uint32_t fewest = 0;
  for (; missing_ > 0; ++fewest) {
    if (offers_.empty() || offers_.front() <= 0) {
      *least = kNoRoom;
      return;
    }
    missing_ -= offers_.front();
    std::ranges::pop_heap(offers_);
    offers_.pop_back();
  }
  *least = std::max(*least, fewest);
}

// A node outside is a domain by itself.
void GangBound::AtDomains(const DomainRef& domain, int level, uint32_t* least) {
  const SlotTable& table = placement_->table();
  const auto [first, last] = problem_->tree(0).Inside(domain, level);
  std::span<const NodeIndex> outside;
  if (domain.level == kEverywhere) outside = table.Outside();
  for (uint32_t c = 0; c < need_.size(); ++c) {
    if (need_[c] == 0) continue;
    Need(need_[c]);
    problem_->Spend(last - first + outside.size(), kBoundNs);
    for (uint32_t d = first; d < last; ++d) {
      const DomainRef inner{0, level, d};
      Have(static_cast<int64_t>(table.Sum(c, inner)),
           placement_->HasTasks(inner));
    }
    for (const NodeIndex n : outside) {
      Have(table.slots(c, n), placement_->Touched(n));
    }
    Raise(least);
  }
  for (size_t w = 0; w < capacities_used_; ++w) {
    Need(capacities_[w].need);
    problem_->Spend(last - first, kBoundNs);
    for (uint32_t d = first; d < last; ++d) {
      Have(capacities_[w].sums[level][d], placement_->HasTasks({0, level, d}));
    }
    Raise(least);
  }
}

// At least so many nodes, as if all were like the one with most slots.
uint32_t GangBound::FewestNodes(uint32_t column, int64_t need,
                                const DomainRef& domain) {
  const SlotTable& table = placement_->table();
  placement_->ForEachDomainWithTasks(problem_->tree(0).hosts, [&](NodeIndex n) {
    need -= table.slots(column, n);
  });
  if (need <= 0) return 0;
  const uint32_t most = table.Most(column, domain);
  return most == 0 ? kNoRoom
                   : static_cast<uint32_t>(CeilDiv(need, int64_t{most}));
}

// The fewest nodes that have the gang's devices, were each like the largest.
uint32_t GangBound::ByDevices() {
  const SlotTable& table = placement_->table();
  const std::span<const ResourceKind> kinds = table.kinds();
  const auto kind =
      std::ranges::find(kinds, placement_->cluster().device_kind());
  if (kind == kinds.end() || !table.indexed()) return 0;
  const int64_t most =
      int64_t{table.shape_slots(0, 0).most_devices()} * kWholeDevice;
  int64_t need = kind_need_[static_cast<size_t>(kind - kinds.begin())];
  placement_->ForEachDomainWithTasks(problem_->tree(0).hosts,
                                     [&](NodeIndex) { need -= most; });
  if (need <= 0 || most == 0) return 0;
  return static_cast<uint32_t>(CeilDiv(need, most));
}

void GangBound::AtNodes(const DomainRef& domain, bool each, uint32_t* least) {
  const SlotTable& table = placement_->table();
  const int hosts = problem_->tree(0).hosts;
  for (uint32_t c = 0; c < need_.size(); ++c) {
    if (need_[c] == 0) continue;
    if (!each) {
      *least = std::max(*least, FewestNodes(c, need_[c], domain));
      continue;
    }
    Need(need_[c]);
    table.ForEachNode(c, domain, [&](NodeIndex n) {
      Have(table.slots(c, n), placement_->Touched(n));
      problem_->Spend(1, kBoundNs);
    });
    Raise(least);
  }
  for (size_t w = 0; each && w < capacities_used_; ++w) {
    const uint32_t role = capacities_[w].role;
    const uint32_t size = SliceAt(role, hosts);
    Need(capacities_[w].need);
    table.ForEachNode(problem_->column(role), domain, [&](NodeIndex n) {
      const uint32_t slots = table.slots(problem_->column(role), n);
      Have(std::min(slots - slots % size, Limit(role, hosts)),
           placement_->Touched(n));
    });
    Raise(least);
  }
}

// What the whole gang needs of each kind, against what is useful in domains
// and nodes.
void GangBound::ByKinds(const DomainRef& domain, std::span<uint32_t> least) {
  const SlotTable& table = placement_->table();
  const Tree& tree = problem_->tree(0);
  const size_t kinds = kind_need_.size();
  if (std::ranges::all_of(kind_need_, [](int64_t need) { return need == 0; })) {
    return;
  }
  for (int l = std::max(domain.level + 1, 0); l <= tree.hosts; ++l) {
    const bool nodes = l == tree.hosts;
    const auto [first, last] =
        nodes ? std::pair<uint32_t, uint32_t>{} : tree.Inside(domain, l);
    has_tasks_.clear();
    for (uint32_t d = first; d < last; ++d) {
      has_tasks_.push_back(placement_->HasTasks({0, l, d}));
    }
    by_domain_.assign(has_tasks_.size() * kinds, 0);
    table.ForEachNodeOfAny(domain, [&](NodeIndex n) {
      problem_->Spend(1, kLookNs);
      size_t at = has_tasks_.size();
      if (nodes || !tree.Contains(n)) {
        has_tasks_.push_back(placement_->Touched(n));
        by_domain_.resize(has_tasks_.size() * kinds, 0);
      } else {
        at = tree.DomainOf(l, n) - first;
      }
      table.AddUseful(n, by_domain_.data() + at * kinds);
    });
    for (size_t k = 0; k < kinds; ++k) {
      if (kind_need_[k] == 0) continue;
      Need(kind_need_[k]);
      for (size_t i = 0; i < has_tasks_.size(); ++i) {
        Have(by_domain_[i * kinds + k], has_tasks_[i] != 0);
      }
      Raise(&least[l]);
    }
  }
}

void GangBound::Domains(const DomainRef& domain, bool nodes,
                        std::span<uint32_t> least) {
  const Tree& tree = problem_->tree(0);
  std::ranges::fill(least, 0);
  for (int l = 0; l <= domain.level; ++l) {
    least[l] = placement_->HasTasksAround(domain, l) ? 0 : 1;
  }
  for (int l = domain.level + 1; l < tree.hosts; ++l) {
    AtDomains(domain, l, &least[l]);
  }
  if (domain.level < tree.hosts) {
    least[tree.hosts] = ByDevices();
    AtNodes(domain, nodes, &least[tree.hosts]);
  }
  for (uint32_t i = 0; i < problem_->spreads().size(); ++i) {
    const SpreadRule& rule = problem_->spreads()[i];
    const uint32_t tasks = problem_->AddBelow(rule.scope);
    if (rule.tree != 0 || tasks == 0) continue;
    const uint32_t must = placement_->spreads().Needed(i, tasks);
    const uint32_t has = placement_->spreads().FixedDomains(i);
    if (must <= has) continue;
    // Fixed tasks of other roles may lie in some of the domains that get more.
    if (!problem_->request().fixed.empty()) continue;
    uint32_t& known = least[rule.level];
    known = std::max(known, must - has);
    if (rule.level <= domain.level && must - has > 1) known = kNoRoom;
  }
  if (nodes) ByKinds(domain, least);
}

// The most of `others` that so many tasks meet, each where there are most.
int64_t GangBound::MostPairs(int64_t tasks) {
  std::ranges::sort(meetings_, std::greater<>(), &Meeting::others);
  int64_t met = 0;
  for (const Meeting& m : meetings_) {
    if (tasks == 0 || m.others <= 0) break;
    const int64_t there = std::min(tasks, m.tasks);
    met += there * m.others;
    tasks -= there;
  }
  return met;
}

// The most pairs of a task of the role with one of the other that domains of
// the level hold, as far as the role's own tasks reach.
int64_t GangBound::Together(const DomainRef& domain, int level, uint32_t role,
                            uint32_t other) {
  const SlotTable& table = placement_->table();
  const Tree& tree = problem_->tree(0);
  const uint32_t mine = problem_->column(role);
  const uint32_t its = problem_->column(other);
  const int64_t left = problem_->add(role);
  const int64_t others = problem_->add(other);
  meetings_.clear();
  const auto meet = [&](uint64_t its_slots, uint64_t slots) {
    const auto most = std::min(static_cast<int64_t>(its_slots), others);
    meetings_.push_back({role == other ? most - 1 : most,
                         std::min(static_cast<int64_t>(slots), left)});
  };
  const bool nodes = level == tree.hosts;
  if (nodes && (tree.hosts == 0 || domain.level == tree.hosts - 1)) {
    table.ForEachNode(mine, domain, [&](NodeIndex n) {
      meet(table.slots(its, n), table.slots(mine, n));
    });
  } else {
    const int from = nodes ? level - 1 : level;
    const auto [first, last] = tree.Inside(domain, from);
    for (uint32_t d = first; d < last; ++d) {
      const DomainRef inner{0, from, d};
      meet(nodes ? table.Most(its, inner) : table.Sum(its, inner),
           table.Sum(mine, inner));
    }
  }
  problem_->Spend(meetings_.size(), kBoundNs);
  const int64_t pairs = MostPairs(left);
  return role == other ? pairs / 2 : pairs;
}

// The most weight of pairs with fixed tasks.
int64_t GangBound::WithFixed(int level, uint32_t role) {
  const uint32_t column = problem_->column(role);
  const int64_t left = problem_->add(role);
  meetings_.clear();
  placement_->ForEachDomainWithTasks(level, [&](uint32_t domain) {
    const int64_t weight = traffic_->FixedTraffic(level, domain, role);
    const DomainRef at{0, level, domain};
    meetings_.push_back(
        {weight, static_cast<int64_t>(placement_->table().Sum(column, at))});
  });
  return MostPairs(left);
}

int64_t GangBound::LeastTraffic(const DomainRef& domain) {
  if (traffic_->edges().size() > kMaxLines) return 0;
  const int hosts = problem_->tree(0).hosts;
  const int64_t all = traffic_->AllPairs(*problem_);
  int64_t cost = 0;
  for (int l = domain.level + 1; l <= hosts; ++l) {
    int64_t together = 0;
    for (const Traffic::Edge& edge : traffic_->edges()) {
      if (problem_->add(edge.from) == 0 || problem_->add(edge.to) == 0) {
        continue;
      }
      together +=
          edge.weight * std::min(Together(domain, l, edge.from, edge.to),
                                 Together(domain, l, edge.to, edge.from));
    }
    if (!problem_->request().fixed.empty()) {
      for (const uint32_t r : problem_->Active()) together += WithFixed(l, r);
    }
    cost += all - std::min(all, together);
  }
  return cost;
}

}  // namespace muster::solver
