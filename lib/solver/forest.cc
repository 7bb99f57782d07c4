#include "lib/solver/forest.h"

#include <algorithm>
#include <tuple>

namespace muster::solver {

void Forest::Build(const PartialPlacement& placement, TaskId task,
                   const DomainRef& domain, std::span<const DomainRef> also,
                   std::span<const SliceRule> layers) {
  placement_ = &placement;
  tree_ = &placement.problem().tree(domain.tree);
  domain_ = domain;
  column_ = placement.problem().column(task.role);
  layers_.assign(layers.begin(), layers.end());
  base_ = std::min(domain.level + 1, tree_->hosts);
  const size_t levels = static_cast<size_t>(tree_->hosts - base_ + 1);
  if (levels_.size() < levels) levels_.resize(levels);
  for (size_t l = 0; l < levels; ++l) levels_[l].clear();
  lazy_ = FromSums(task, also, domain);
  if (!lazy_) AddNodes(task, also);
  Round();
}

// Whether the table's sums are what domains can take of the task's role; makes
// the entries of all domains then.
bool Forest::FromSums(TaskId task, std::span<const DomainRef> also,
                      DomainRef domain) {
  const SlotTable& table = placement_->table();
  if (!table.indexed() || !also.empty() || table.HasScores(column_)) {
    return false;
  }
  const index::ShapeSlots& slots = table.shape_slots(domain.tree, column_);
  const bool named = !placement_->problem().Chain(task.role).empty();
  if (domain.level == kEverywhere && slots.totals().outside > 0 && !named)
    return false;
  bool nowhere = false;
  if (!placement_->Narrow(task, &domain, &nowhere)) return false;
  if (base_ >= tree_->hosts || domain.level >= tree_->hosts) return false;
  if (!nowhere) AddDomains(domain);
  return true;
}

// The domains with slots inside `domain`, which lies in domain_, and those
// around them.
void Forest::AddDomains(const DomainRef& domain) {
  const index::ShapeSlots& slots =
      placement_->table().shape_slots(domain.tree, column_);
  const int narrowest = tree_->hosts - 1;
  const auto [first, last] = tree_->Inside(domain, narrowest);
  placement_->problem().Spend(last - first, kLookNs);
  const std::span<const uint32_t> sums = slots.sums(narrowest);
  for (uint32_t d = first; d < last; ++d) {
    if (sums[d] == 0) continue;
    for (int l = base_; l <= narrowest; ++l) {
      const uint32_t around = tree_->Around(narrowest, d, l);
      if (at(l).empty() || at(l).back().domain != around) Append(l, around);
    }
    DomainEntry& entry = at(narrowest).back();
    entry.slots = entry.room = sums[d];
    entry.closed = true;
  }
}

// Makes an entry below the last one of the level above.
void Forest::Append(int level, uint32_t domain) {
  DomainEntry entry{.domain = domain};
  if (level > base_) {
    entry.parent = static_cast<uint32_t>(at(level - 1).size()) - 1;
    DomainEntry& parent = at(level - 1).back();
    if (parent.count++ == 0) {
      parent.first = static_cast<uint32_t>(at(level).size());
    }
  }
  at(level).push_back(entry);
}

void Forest::AddNodes(TaskId task, std::span<const DomainRef> also) {
  const PlacementProblem& problem = placement_->problem();
  uint64_t looked_at = 0;
  placement_->table().ForEachNode(column_, domain_, [&](NodeIndex node) {
    ++looked_at;
    if (!placement_->Allowed(task, node)) return;
    const bool inside = std::ranges::all_of(also, [&](const DomainRef& s) {
      return problem.tree(s.tree).Contains(s, node);
    });
    if (inside) Add(node, placement_->table().slots(column_, node));
  });
  placement_->problem().Spend(looked_at, kNodeNs);
}

// Makes the entries of a narrowest domain's nodes, if there are none yet.
void Forest::ExpandChildren(EntryIndex parent) {
  DomainEntry& e = at(tree_->hosts - 1)[parent];
  if (!e.closed) return;
  e.closed = false;
  std::vector<DomainEntry>& hosts = at(tree_->hosts);
  e.first = static_cast<uint32_t>(hosts.size());
  const uint32_t size = SizeAt(tree_->hosts);
  const DomainRef domain{domain_.tree, tree_->hosts - 1, e.domain};
  placement_->table().ForEachNode(column_, domain, [&](NodeIndex node) {
    const uint32_t slots = placement_->table().slots(column_, node);
    hosts.push_back({.domain = node,
                     .parent = parent,
                     .slots = slots - slots % size,
                     .room = slots});
  });
  e.count = static_cast<uint32_t>(hosts.size()) - e.first;
  placement_->problem().Spend(e.count, kNodeNs);
}

// Nodes come in the order of the tree, hence domains do, too.
void Forest::Add(NodeIndex node, uint32_t slots) {
  bool fresh = false;  // A wider domain was new, so this one is.
  for (int l = base_; l <= tree_->hosts; ++l) {
    const uint32_t domain = l == tree_->hosts ? node : tree_->DomainOf(l, node);
    fresh = fresh || at(l).empty() || at(l).back().domain != domain ||
            domain == kOutside;
    if (fresh) Append(l, domain);
  }
  DomainEntry& entry = at(tree_->hosts).back();
  entry.slots = entry.room = slots;
}

// Slices on the level are of so many tasks.
uint32_t Forest::SizeAt(int level) const {
  uint32_t size = 1;
  for (const SliceRule& layer : layers_) {
    if (layer.level == level) size = std::max(size, layer.size);
  }
  return size;
}

void Forest::Round() {
  capacity_ = 0;
  int narrowest = tree_->hosts;
  if (lazy_) {
    --narrowest;
    // Slices on nodes: remainders of nodes do not add up.
    const bool nodes = SizeAt(tree_->hosts) > 1;
    for (EntryIndex p = 0; nodes && p < at(narrowest).size(); ++p) {
      ExpandChildren(p);
      DomainEntry& e = at(narrowest)[p];
      e.slots = 0;
      for (EntryIndex c = e.first; c < e.first + e.count; ++c) {
        e.slots += at(tree_->hosts)[c].slots;
      }
    }
  }
  for (int l = narrowest; l >= base_; --l) {
    const uint32_t size = SizeAt(l);
    for (DomainEntry& e : at(l)) {
      e.slots -= e.slots % size;
      if (l > base_) {
        at(l - 1)[e.parent].slots += e.slots;
        at(l - 1)[e.parent].room += e.room;
      } else {
        capacity_ += e.slots;
      }
    }
  }
}

uint64_t Forest::Best(int level) {
  if (level < base_) return capacity_;
  if (lazy_ && level == tree_->hosts) {
    for (EntryIndex p = 0; p < at(level - 1).size(); ++p) ExpandChildren(p);
  }
  uint64_t best = 0;
  for (const DomainEntry& e : at(level)) best = std::max(best, e.slots);
  return best;
}

// The entries of the level `down` below those in [first, last).
std::pair<Forest::EntryIndex, Forest::EntryIndex> Forest::Below(
    int level, EntryIndex first, EntryIndex last, int down) const {
  for (int l = level; l < down; ++l) {
    last = at(l)[last - 1].first + at(l)[last - 1].count;
    first = at(l)[first].first;
  }
  return {first, last};
}

// The score that `tasks` tasks get in the domain at best.
int64_t Forest::ScoreOf(int level, EntryIndex pick, uint32_t tasks) {
  if (!placement_->table().HasScores(column_)) return 0;
  const auto [first, last] = Below(level, pick, pick + 1, tree_->hosts);
  by_score_.clear();
  for (EntryIndex p = first; p < last; ++p) {
    const DomainEntry& e = at(tree_->hosts)[p];
    by_score_.emplace_back(-placement_->table().Score(column_, e.domain),
                           static_cast<uint32_t>(e.slots));
  }
  std::ranges::sort(by_score_);
  int64_t score = 0;
  for (const auto& [negated, slots] : by_score_) {
    const uint32_t taken = std::min(slots, tasks);
    score -= negated * taken;
    tasks -= taken;
  }
  return score;
}

int Forest::NearnessOf(int level, const DomainEntry& e) const {
  if (e.domain == kOutside) return tree_->hosts + 1;
  return placement_->Nearness({domain_.tree, level, e.domain});
}

Forest::DomainCost Forest::CostOf(int level, EntryIndex pick, uint32_t tasks) {
  const DomainEntry& e = at(level)[pick];
  return {.nearness = NearnessOf(level, e),
          .score = -ScoreOf(level, pick, tasks),
          .tightness = static_cast<int64_t>(e.room),
          .pick = pick};
}

// Whether node a has less free than node b: devices, then the other kinds.
bool Forest::Tighter(EntryIndex a, EntryIndex b) const {
  const Cluster& cluster = placement_->cluster();
  const Ledger ledger = placement_->problem().ledger();
  const NodeIndex x = at(tree_->hosts)[a].domain;
  const NodeIndex y = at(tree_->hosts)[b].domain;
  for (ResourceKind k = 0; k < cluster.resource_count(); ++k) {
    const int64_t less =
        cluster.free(x, k, ledger) - cluster.free(y, k, ledger);
    if (less != 0) return less < 0;
  }
  return false;
}

// Makes the entry the best so far, if it has room for all tasks and costs less.
void Forest::Consider(int level, EntryIndex pick, uint32_t tasks,
                      std::optional<DomainCost>* best) {
  if (at(level)[pick].slots < tasks) return;
  DomainCost cost = CostOf(level, pick, tasks);
  if (level == tree_->hosts) {
    const Cluster& cluster = placement_->cluster();
    const ResourceKind device = cluster.device_kind();
    cost.tightness = 0;
    if (device < cluster.resource_count()) {
      cost.tightness = cluster.free(at(level)[pick].domain, device,
                                    placement_->problem().ledger());
    }
    const auto key = [](const DomainCost& r) {
      return std::tie(r.nearness, r.score, r.tightness);
    };
    if (*best && key(cost) > key(**best)) return;
    const bool like = *best && key(cost) == key(**best);
    if (like && !Tighter(pick, (*best)->pick)) return;
  } else if (*best && cost >= **best) {
    return;
  }
  *best = cost;
}

// The same of the nodes of the parents in [first, last).
void Forest::ConsiderHosts(EntryIndex first, EntryIndex last, uint32_t tasks,
                           std::optional<DomainCost>* best) {
  const int hosts = tree_->hosts;
  for (EntryIndex parent = first; parent < last; ++parent) {
    const DomainRef domain{domain_.tree, hosts - 1,
                           at(hosts - 1)[parent].domain};
    if (at(hosts - 1)[parent].slots < tasks) continue;
    if (lazy_ && placement_->table().NoneWith(column_, tasks, domain)) continue;
    ExpandChildren(parent);
    const DomainEntry& e = at(hosts - 1)[parent];
    for (EntryIndex c = e.first; c < e.first + e.count; ++c) {
      Consider(hosts, c, tasks, best);
    }
  }
}

// Gives all tasks to the best single entry of the narrowest level that has one
// with room for them, up to `widest`, among those below [first, last) of
// `from`. It is the one in picks_ then; returns its level, or kEverywhere.
int Forest::Enclose(int from, EntryIndex first, EntryIndex last, int widest,
                    uint32_t tasks) {
  for (int l = tree_->hosts; l >= widest; --l) {
    const bool hosts = l == tree_->hosts && l > from;
    const auto [begin, end] = Below(from, first, last, hosts ? l - 1 : l);
    std::optional<DomainCost> best;
    if (hosts) {
      ConsiderHosts(begin, end, tasks, &best);
    } else {
      for (EntryIndex p = begin; p < end; ++p) Consider(l, p, tasks, &best);
    }
    if (!best) continue;
    at(l)[best->pick].chosen = tasks;
    picks_.assign(1, best->pick);
    return l;
  }
  return kEverywhere;
}

// Keeps, of the candidates in picks_, the fewest that hold the tasks, and
// writes down how many each gets. The largest first; the last as tight as can
// be.
void Forest::ChooseFewest(int level, uint32_t tasks) {
  std::vector<DomainEntry>& entries = at(level);
  std::ranges::sort(picks_, [&](EntryIndex a, EntryIndex b) {
    if (entries[a].slots != entries[b].slots) {
      return entries[a].slots > entries[b].slots;
    }
    if (entries[a].room != entries[b].room) {
      return entries[a].room < entries[b].room;
    }
    // The nodes of a parent stand together, but those of parents in any order.
    return std::tie(entries[a].parent, a) < std::tie(entries[b].parent, b);
  });
  size_t domains = 0;
  for (uint64_t taken = 0; taken < tasks; ++domains) {
    taken += entries[picks_[domains]].slots;
  }
  if (placement_->table().HasScores(column_)) {
    ChooseFewestByScore(level, tasks, domains);
  } else {
    uint32_t left = tasks;
    for (size_t i = 0; i + 1 < domains; ++i) {
      entries[picks_[i]].chosen =
          static_cast<uint32_t>(entries[picks_[i]].slots);
      left -= entries[picks_[i]].chosen;
    }
    size_t tightest = domains - 1;
    std::pair<int, uint64_t> best{tree_->hosts + 2, 0};
    for (size_t i = domains - 1; i < picks_.size(); ++i) {
      const DomainEntry& e = entries[picks_[i]];
      if (e.slots < left) break;
      const std::pair<int, uint64_t> cost{NearnessOf(level, e), e.room};
      if (cost >= best) continue;
      best = cost;
      tightest = i;
    }
    entries[picks_[tightest]].chosen = left;
    picks_[domains - 1] = picks_[tightest];
    picks_.resize(domains);
  }
  std::ranges::sort(picks_);
}

// As ChooseFewest, the best score first among the choices that keep the number
// of domains.
void Forest::ChooseFewestByScore(int level, uint32_t tasks, size_t domains) {
  std::vector<DomainEntry>& entries = at(level);
  uint32_t left = tasks;
  for (size_t chosen = 0; chosen < domains; ++chosen) {
    const size_t others = domains - chosen - 1;
    uint64_t top = 0;  // What the largest `others` hold.
    for (size_t i = 0; i < others; ++i)
      top += entries[picks_[chosen + i]].slots;
    size_t best = chosen;
    DomainCost best_cost;
    bool found = false;
    for (size_t i = chosen; i < picks_.size(); ++i) {
      const uint64_t slots = entries[picks_[i]].slots;
      uint64_t rest = top;
      if (i < chosen + others) {
        rest = top - slots + entries[picks_[chosen + others]].slots;
      }
      if (slots + rest < left) break;
      DomainCost cost = CostOf(level, picks_[i],
                               std::min(left, static_cast<uint32_t>(slots)));
      // More preferred tasks before tighter fit; per task, not in all.
      cost.score /= static_cast<int64_t>(std::min<uint64_t>(left, slots));
      if (others > 0) cost.tightness = -cost.tightness;
      if (!found || cost < best_cost) {
        found = true;
        best = i;
        best_cost = cost;
      }
    }
    const EntryIndex pick = picks_[best];
    picks_.erase(picks_.begin() + best);
    picks_.insert(picks_.begin() + chosen, pick);
    entries[pick].chosen =
        std::min(left, static_cast<uint32_t>(entries[pick].slots));
    left -= entries[pick].chosen;
  }
  picks_.resize(domains);
}

// picks_ are the chosen entries of `level`, with `tasks` in all: chooses among
// their children, level by level, to the hosts.
void Forest::Descend(int level, uint32_t tasks) {
  while (level < tree_->hosts) {
    if (SizeAt(level) > 1 && picks_.size() > 1) return DescendSeparately(level);
    if (picks_.size() == 1) {
      const EntryIndex only = picks_[0];
      const int inner = Enclose(level, only, only + 1, level + 1, tasks);
      if (inner != kEverywhere) {
        level = inner;
        continue;
      }
    }
    const size_t parents = picks_.size();
    for (size_t i = 0; i < parents; ++i) {
      if (level + 1 == tree_->hosts) ExpandChildren(picks_[i]);
      const DomainEntry& e = at(level)[picks_[i]];
      for (uint32_t c = 0; c < e.count; ++c) picks_.push_back(e.first + c);
    }
    picks_.erase(picks_.begin(), picks_.begin() + parents);
    ++level;
    ChooseFewest(level, tasks);
  }
}

// Below the level of slices each domain keeps the number of tasks it got.
void Forest::DescendSeparately(int level) {
  const size_t first = separate_.size();
  separate_.insert(separate_.end(), picks_.begin(), picks_.end());
  const size_t last = separate_.size();
  for (size_t i = first; i < last; ++i) {
    picks_.assign(1, separate_[i]);
    Descend(level, at(level)[separate_[i]].chosen);
  }
  separate_.resize(first);
}

void Forest::Collect(std::vector<NodeTasks>* shares) const {
  const auto add = [&](const DomainEntry& e) {
    if (e.chosen > 0) shares->push_back({e.domain, e.chosen});
  };
  const std::vector<DomainEntry>& hosts = at(tree_->hosts);
  if (!lazy_) return std::for_each(hosts.begin(), hosts.end(), add), void();
  for (const DomainEntry& parent : at(tree_->hosts - 1)) {
    if (parent.closed) continue;
    for (EntryIndex c = parent.first; c < parent.first + parent.count; ++c) {
      add(hosts[c]);
    }
  }
}

bool Forest::Distribute(uint32_t tasks, int required,
                        std::vector<NodeTasks>* shares) {
  shares->clear();
  if (capacity_ < tasks) return false;
  const auto all = static_cast<EntryIndex>(at(base_).size());
  int level = Enclose(base_, 0, all, std::max(base_, required), tasks);
  if (level == kEverywhere) {
    if (required >= base_) return false;
    level = base_;
    picks_.clear();
    for (EntryIndex p = 0; p < all; ++p) picks_.push_back(p);
    ChooseFewest(base_, tasks);
  }
  Descend(level, tasks);
  Collect(shares);
  return true;
}

}  // namespace muster::solver
