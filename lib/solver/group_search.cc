#include "lib/solver/group_search.h"

#include <algorithm>

#include "lib/solver/large_role.h"
#include "lib/solver/node_choice.h"

namespace muster::solver {
namespace {

// The share of the remaining steps that one narrow domain may use up.
constexpr uint64_t kShareOfSteps = 4;
// Packings of a domain that are tried on the placement.
constexpr int kMaxPackings = 16;

}  // namespace

int GroupSearch::TreeOf(ScopeIndex s) const {
  return std::max(problem_->rule(s).tree, 0);
}

// The innermost chosen domain of the tree; everywhere if there is none.
DomainRef GroupSearch::Innermost(int tree) const {
  for (size_t i = pins_.size(); i > 0; --i) {
    if (pins_[i - 1].tree == tree) return pins_[i - 1];
  }
  return {tree, kEverywhere, 0};
}

// Domains narrower than this are not tried for the scope: those inside which
// narrower preferences of its parts could not be met any better.
int GroupSearch::NarrowestLevel(ScopeIndex s, int tree) const {
  const ScopeConstraint& rule = problem_->rule(s);
  if (!problem_->PrefersBelow(s)) return problem_->tree(tree).hosts;
  return rule.preferred != kEverywhere ? rule.preferred : rule.required;
}

// What the scope's tasks need in all, against the slots of the domain.
bool GroupSearch::HasSlots(const ScopeNeed& need, const DomainRef& domain) {
  const SlotTable& table = placement_->table();
  if (!table.HasSlots(Tasks(need), domain)) return false;
  const std::span<const int64_t> amounts = Amounts(need);
  for (size_t k = 0; k < amounts.size(); ++k) {
    if (table.UsefulAtMost(k, domain) < amounts[k]) return false;
  }
  return true;
}

// The same against what is free there for all roles together. O(nodes).
bool GroupSearch::MayFit(const ScopeNeed& need, const DomainRef& domain) {
  if (!HasSlots(need, domain)) return false;
  const std::span<const int64_t> useful = placement_->table().Useful(domain);
  for (size_t k = 0; k < useful.size(); ++k) {
    if (useful[k] < Amounts(need)[k]) return false;
  }
  return true;
}

GroupSearch::ScopeNeed GroupSearch::PushNeeds(ScopeIndex s) {
  const ScopeNeed need{needs_.size(), problem_->columns().size()};
  needs_.resize(need.first + need.columns + placement_->table().kinds().size(),
                0);
  placement_->table().AddNeeds(s, Tasks(need), Amounts(need));
  return need;
}

// The column whose tasks take most devices, or else the first that is needed:
// its slots tell how tight a domain is.
uint32_t GroupSearch::MainColumn(const ScopeNeed& need) const {
  const Cluster& cluster = placement_->cluster();
  const ResourceKind device = cluster.device_kind();
  uint32_t main = 0;
  int64_t most = -1;
  for (uint32_t c = 0; c < need.columns; ++c) {
    if (needs_[need.first + c] == 0) continue;
    const int64_t devices =
        device < cluster.resource_count() ? problem_->Demand(c)[device] : 0;
    if (devices <= most) continue;
    most = devices;
    main = c;
  }
  return main;
}

// Pushes the nodes of the domain that may hold the scope by themselves. O(nodes
// / 64 + those with slots), where some column has nodes with enough.
void GroupSearch::FindHosts(const ScopeNeed& need, const DomainRef& around,
                            bool named) {
  const SlotTable& table = placement_->table();
  uint32_t scarce = 0;
  for (uint32_t c = 0; c < need.columns; ++c) {
    const int64_t tasks = needs_[need.first + c];
    if (tasks == 0) continue;
    scarce = c;
    if (table.NoneWith(c, static_cast<uint32_t>(tasks), around)) return;
  }
  const Tree& tree = problem_->tree(around.tree);
  const uint32_t main = MainColumn(need);
  table.ForEachNode(scarce, around, [&](NodeIndex n) {
    if (named && !tree.Contains(n)) return;
    Consider(need, main, {around.tree, tree.hosts, n});
  });
}

// Pushes the domain, if it has slots enough.
void GroupSearch::Consider(const ScopeNeed& need, uint32_t main,
                           const DomainRef& domain) {
  problem_->Spend(1, kLookNs);
  if (!HasSlots(need, domain)) return;
  const auto slots =
      static_cast<int64_t>(placement_->table().Sum(main, domain));
  candidates_.push_back(
      {placement_->Nearness(domain), slots, candidates_.size(), domain.index});
}

// Pushes the domains of the level, inside `around`, that may hold the scope:
// in the order in which they are to be tried.
void GroupSearch::FindCandidates(ScopeIndex s, const ScopeNeed& need,
                                 const DomainRef& around, int level) {
  const size_t base = candidates_.size();
  const Tree& tree = problem_->tree(around.tree);
  const uint32_t main = MainColumn(need);
  const PlacementProblem::Anchor& anchor = problem_->anchor(s);
  if (anchor.any) {
    const uint32_t domain = tree.DomainOf(level, anchor.node);
    if (anchor.level >= level && domain != kOutside &&
        tree.Contains(around, anchor.node)) {
      Consider(need, main, {around.tree, level, domain});
    }
    return;
  }
  if (level == tree.hosts) {
    FindHosts(need, around, problem_->rule(s).tree >= 0);
  } else {
    const auto [first, last] = tree.Inside(around, level);
    for (uint32_t d = first; d < last; ++d) {
      Consider(need, main, {around.tree, level, d});
    }
  }
  std::sort(candidates_.begin() + base, candidates_.end());
}

bool GroupSearch::PlaceScope(ScopeIndex s, bool root) {
  if (problem_->AddBelow(s) == 0) return true;
  uint32_t role = 0;
  ScopeConstraint rule;
  if (MergedRole(s, &role, &rule)) return PlaceMerged(s, role, rule);
  const size_t needs = needs_.size();
  const ScopeNeed need = PushNeeds(s);
  const bool placed = PlaceGroup(s, need, root);
  needs_.resize(needs);
  return placed;
}

bool GroupSearch::PlaceGroup(ScopeIndex s, const ScopeNeed& need, bool root) {
  const ScopeConstraint& rule = problem_->rule(s);
  const DomainRef around = Innermost(TreeOf(s));
  const bool must = rule.required > around.level;
  if (!HasSlots(need, around)) return false;
  const int below = root ? root_below_ : kAny;
  const int widest = std::max({rule.required, around.level + 1, below + 1});
  for (int level = NarrowestLevel(s, around.tree); level >= widest; --level) {
    // Scopes that narrower domains did not settle are settled here.
    if (root && must && level == widest) cut_short_ = false;
    const size_t base = candidates_.size();
    FindCandidates(s, need, around, level);
    const size_t last = candidates_.size();
    bool placed = false;
    for (size_t c = base; c < last && !placed; ++c) {
      if (problem_->steps >= deadline_) {
        cut_short_ = true;
        break;
      }
      const DomainRef domain{around.tree, level, candidates_[c].domain};
      if (!MayFit(need, domain)) continue;
      pins_.push_back(domain);
      placed = PlaceInside(s, domain, root, false);
      pins_.pop_back();
    }
    candidates_.resize(base);
    if (placed) return true;
    if (problem_->steps >= deadline_) return false;
  }
  if (must || below >= kEverywhere || !MayFit(need, around)) return false;
  return PlaceInside(s, around, root, true);
}

// Places the scope's children, all of them in the domain.
bool GroupSearch::PlaceInside(ScopeIndex s, const DomainRef& domain, bool root,
                              bool last) {
  return placement_->Try([&] { return PlaceChildren(s); }) ||
         Exhaust(s, domain, root, last);
}

// By packing parts; the root, by the program over counts before, and by
// exhaustive search after that. `last`: they may take all steps left, as there
// is no other choice.
bool GroupSearch::Exhaust(ScopeIndex s, const DomainRef& domain, bool root,
                          bool last) {
  if (packing_ == packs_.size()) packs_.emplace_back();
  PackSearch& pack = packs_[packing_++];
  const bool packs = prices_left_ > 0 && pack.Start(*placement_, s, domain);
  if (packs) prices_left_ -= std::min(prices_left_, pack.steps());
  bool none = packs && pack.refuted();
  if (none && root) NoteShortage(pack);
  const bool placed =
      !none && ((root && PutBest(domain, last, &none)) ||
                (!none && packs && PutPacked(pack, last, &none)) ||
                (!none && root && PutExact(domain, last, &none)));
  --packing_;
  if (root && !placed && !none) cut_short_ = true;
  if (root && last && none) cut_short_ = false;  // It was the widest domain.
  return placed;
}

bool GroupSearch::PutPacked(PackSearch& pack, bool last, bool* none) {
  uint64_t share = last ? pack_left_ : pack_left_ / kShareOfSteps;
  const auto place = [&](ScopeIndex scope, const DomainRef& domain) {
    pins_.push_back(domain);
    const bool placed = PlaceScope(scope, false);
    pins_.pop_back();
    return placed;
  };
  for (int tries = 0; tries < kMaxPackings; ++tries) {
    const uint64_t before = pack.steps();
    const SearchOutcome outcome = pack.Solve(share);
    const uint64_t spent = pack.steps() - before;
    share -= std::min(share, spent);
    pack_left_ -= std::min(pack_left_, spent);
    *none = outcome == SearchOutcome::kNone;
    if (outcome != SearchOutcome::kFound) return false;
    if (placement_->Try([&] { return pack.Put(place); })) return true;
  }
  return false;
}

bool GroupSearch::PutExact(const DomainRef& domain, bool last, bool* none) {
  const uint64_t before = problem_->steps;
  const uint64_t share = last ? exact_left_ : exact_left_ / kShareOfSteps;
  const SearchOutcome outcome =
      exact_.Find(*placement_, domain, problem_->steps + share);
  exact_left_ -= std::min(exact_left_, problem_->steps - before);
  *none = outcome == SearchOutcome::kNone;
  return outcome == SearchOutcome::kFound;
}

void GroupSearch::NoteShortage(const PackSearch& pack) {
  const std::optional<Reason> shortage = pack.Shortage();
  if (!shortage) return;
  if (!shortage_ || shortage->available > shortage_->available) {
    shortage_ = shortage;
  }
}

// The fewest slots for each task needed, over the roles below.
GroupSearch::Child GroupSearch::Scarcity(ScopeIndex s,
                                         const DomainRef& domain) const {
  if (problem_->IsRole(s)) {
    const uint32_t role = problem_->RoleOf(s);
    return {placement_->table().Sum(problem_->column(role), domain),
            problem_->add(role), s};
  }
  Child scarcest{1, 0, s};  // More than any.
  for (const ScopeIndex child : problem_->Children(s)) {
    if (problem_->AddBelow(child) == 0) continue;
    const Child c = Scarcity(child, domain);
    if (c.slots * scarcest.need < scarcest.slots * c.need) {
      scarcest = {c.slots, c.need, s};
    }
  }
  return scarcest;
}

// The scarcest child first.
bool GroupSearch::PlaceChildren(ScopeIndex s) {
  const size_t base = children_.size();
  const DomainRef domain = pins_.empty() ? DomainRef{} : pins_.back();
  for (const ScopeIndex child : problem_->Children(s)) {
    if (problem_->AddBelow(child) == 0) continue;
    children_.push_back(Scarcity(child, domain));
  }
  std::sort(children_.begin() + base, children_.end(),
            [](const Child& a, const Child& b) {
              const uint64_t x = a.slots * b.need;
              const uint64_t y = b.slots * a.need;
              return x != y ? x < y : a.scope < b.scope;
            });
  const size_t last = children_.size();
  bool placed = true;
  for (size_t c = base; c < last && placed; ++c) {
    placed = PlaceScope(children_[c].scope, false);
  }
  children_.resize(base);
  return placed;
}

// Whether the scope's tasks are all of one role, and the constraints between
// can be seen as one: all in one tree, slices whole.
bool GroupSearch::MergedRole(ScopeIndex s, uint32_t* role,
                             ScopeConstraint* rule) const {
  if (problem_->ActiveRoles(s) != 1) return false;
  ScopeIndex at = s;
  while (!problem_->IsRole(at)) {
    for (const ScopeIndex child : problem_->Children(at)) {
      if (problem_->AddBelow(child) == 0) continue;
      at = child;
      break;
    }
  }
  *role = problem_->RoleOf(at);
  *rule = {};
  if (at != s && !WholeSlices(*role)) return false;
  for (const ScopeIndex up : problem_->Chain(*role)) {
    const ScopeConstraint& r = problem_->rule(up);
    if (rule->tree >= 0 && r.tree != rule->tree) return false;
    rule->tree = r.tree;
    rule->required = std::max(rule->required, r.required);
    if (up == s) break;
  }
  return at == s || problem_->Spreads(*role).empty() ||
         IsArithmetic(*role, *rule);
}

// Whether the role's spreads are one, for it alone.
bool GroupSearch::IsArithmetic(uint32_t role,
                               const ScopeConstraint& rule) const {
  const std::span<const uint32_t> spreads = problem_->Spreads(role);
  const SpreadRule& spread = problem_->spreads()[spreads[0]];
  return spreads.size() == 1 && problem_->ActiveRoles(spread.scope) == 1 &&
         spread.tree == rule.tree && problem_->Slices(role).empty();
}

// Whether the role's slices are layers of the tree, one inside the other.
bool GroupSearch::AreLayers(std::span<const SliceRule> slices, int tree) const {
  for (size_t i = 0; i < slices.size(); ++i) {
    if (slices[i].tree != tree) return false;
    if (i > 0 && (slices[i].level <= slices[i - 1].level ||
                  slices[i - 1].size % slices[i].size != 0)) {
      return false;
    }
  }
  return true;
}

bool GroupSearch::WholeSlices(uint32_t role) const {
  const std::span<const SliceRule> slices = problem_->Slices(role);
  return slices.empty() || (problem_->FixedCount(role) == 0 &&
                            problem_->add(role) % slices[0].size == 0);
}

bool GroupSearch::PlaceRole(uint32_t role, const ScopeConstraint& rule) {
  const int tree = std::max(rule.tree, 0);
  if (!problem_->Spreads(role).empty()) return PlaceSpread(role, rule);
  std::span<const SliceRule> layers = problem_->Slices(role);
  if (!AreLayers(layers, tree) ||
      (!layers.empty() && problem_->FixedCount(role) > 0)) {
    decided_ = false;
    return PlaceOneByOne(role);
  }
  if (!WholeSlices(role)) decided_ = false;
  // Whole slices of the widest layer, then what is left, whole slices of the
  // next one, and so on; what is left over stays together.
  std::span<const uint32_t> rest = problem_->NewIndices(role);
  int required = rule.required;
  while (!rest.empty()) {
    const uint32_t size = layers.empty() ? 1 : layers[0].size;
    const size_t whole = rest.size() - rest.size() % size;
    if (!PlaceChunk(role, rest.first(whole), tree, required, layers)) {
      return false;
    }
    rest = rest.subspan(whole);
    if (layers.empty()) break;
    required = std::max(required, layers[0].level);
    layers = layers.subspan(1);
  }
  return true;
}

bool GroupSearch::PlaceChunk(uint32_t role, std::span<const uint32_t> indices,
                             int tree, int required,
                             std::span<const SliceRule> layers) {
  if (indices.empty()) return true;
  BuildForest({role, indices[0]}, tree, layers);
  return forest_.Distribute(static_cast<uint32_t>(indices.size()), required,
                            &shares_) &&
         PutShares(role, indices);
}

void GroupSearch::BuildForest(TaskId task, int tree,
                              std::span<const SliceRule> layers) {
  const DomainRef domain = Innermost(tree);
  also_.clear();
  for (const DomainRef& pin : pins_) {
    if (pin.tree != tree) also_.push_back(pin);
  }
  forest_.Build(*placement_, task, domain, also_, layers);
}

bool GroupSearch::PutShares(uint32_t role, std::span<const uint32_t> indices) {
  size_t i = 0;
  for (const Forest::NodeTasks& share : shares_) {
    for (uint32_t k = 0; k < share.tasks; ++k, ++i) {
      if (!placement_->Put({role, indices[i]}, share.node)) return false;
    }
  }
  return true;
}

// One spread for the role alone is a matter of arithmetic; others are kept task
// by task, which may fail where there is a way.
bool GroupSearch::PlaceSpread(uint32_t role, const ScopeConstraint& rule) {
  if (!IsArithmetic(role, rule)) {
    decided_ = false;
    return PlaceOneByOne(role);
  }
  const std::span<const uint32_t> indices = problem_->NewIndices(role);
  BuildForest({role, indices[0]}, rule.tree, {});
  return forest_.DistributeSpread(static_cast<uint32_t>(indices.size()),
                                  rule.required, problem_->Spreads(role)[0],
                                  &shares_) &&
         PutShares(role, indices);
}

bool GroupSearch::PlaceOneByOne(uint32_t role) {
  const std::span<const uint32_t> indices = problem_->NewIndices(role);
  for (size_t i = 0; i < indices.size(); ++i) {
    const TaskId task{role, indices[i]};
    const uint32_t after = static_cast<uint32_t>(indices.size() - i);
    const auto node = FindNode(*placement_, task, pins_, after);
    if (!node || !placement_->Put(task, *node)) return false;
  }
  return true;
}

// New tasks go as near to the scope's fixed ones as there is room.
bool GroupSearch::PlaceMerged(ScopeIndex s, uint32_t role,
                              const ScopeConstraint& rule) {
  const PlacementProblem::Anchor& anchor = problem_->anchor(s);
  const int tree = std::max(rule.tree, 0);
  const DomainRef around = Innermost(tree);
  if (!anchor.any || TreeOf(s) != tree) return PlaceRole(role, rule);
  for (int level = anchor.level; level > around.level; --level) {
    if (!problem_->tree(tree).Contains(around, anchor.node)) break;
    pins_.push_back(
        {tree, level, problem_->tree(tree).DomainOf(level, anchor.node)});
    const bool placed = placement_->Try([&] { return PlaceRole(role, rule); });
    pins_.pop_back();
    if (placed) return true;
  }
  return PlaceRole(role, rule);
}

// Where a narrower domain may hold all, that goes first.
bool GroupSearch::PlaceBeside(const PlacementResult& alone) {
  const PartialPlacement::Mark mark = placement_->Begin();
  if (alone.tasks.empty() || !PutBeside(*placement_, traffic_, alone)) {
    placement_->Rollback(mark);
    return false;
  }
  // Domains narrower than the one around these tasks have no room for them.
  const int level = Enclosure(placement_->placed()).level;
  if (level == Enclosure(alone.tasks).level) {
    placement_->Commit(mark);
    return true;
  }
  beside_.assign(placement_->placed().begin(), placement_->placed().end());
  placement_->Rollback(mark);
  root_below_ = level;
  if (PlaceScope(0, true)) return true;
  for (const Assignment& a : beside_) placement_->PutExactly(a.task, a.at);
  return true;
}

bool GroupSearch::PlaceRoot(const PlacementResult& alone) {
  uint32_t role = 0;
  ScopeConstraint rule;
  if (!MergedRole(0, &role, &rule)) {
    return PlaceBeside(alone) || PlaceScope(0, true);
  }
  // One role: the greedy answer is exact, but for irregular slices.
  decided_ = true;
  if (placement_->Try([&] { return PlaceMerged(0, role, rule); })) return true;
  return !decided_ && Exhaust(0, {.tree = std::max(rule.tree, 0)}, true, true);
}

// The narrowest domain of the first tree around these tasks and all fixed ones.
DomainRef GroupSearch::Enclosure(std::span<const Assignment> tasks) const {
  const Tree& tree = problem_->tree(0);
  NodeIndex node = tasks[0].at.node;
  int level = tree.Contains(node) ? tree.hosts : kEverywhere;
  for (const Assignment& a : tasks) {
    level = std::min(level, tree.SharedLevel(node, a.at.node));
  }
  for (const Assignment& a : problem_->Fixed()) {
    level = std::min(level, tree.SharedLevel(node, a.at.node));
  }
  if (level == kEverywhere) return {};
  return {0, level, tree.DomainOf(level, node)};
}

// By the program over counts; `none`: there is no placement in the domain.
bool GroupSearch::PutBest(const DomainRef& domain, bool last, bool* none) {
  const uint64_t before = problem_->steps;
  const uint64_t share = last ? counts_left_ : counts_left_ / kShareOfSteps;
  mix_.Start(*placement_, traffic_);
  const SearchOutcome outcome = mix_.Solve(domain, share);
  counts_left_ -= std::min(counts_left_, problem_->steps - before);
  *none = outcome == SearchOutcome::kNone;
  return outcome == SearchOutcome::kFound && mix_.Put();
}

// Whether the placement depends on preferences that counts of domains do not
// express: preferred nodes, preferred levels of parts of the gang.
bool GroupSearch::KeepsChoice() const {
  return problem_->PrefersBelow(0) ||
         std::ranges::any_of(problem_->Active(), [&](uint32_t r) {
           return placement_->table().HasScores(problem_->column(r));
         });
}

void GroupSearch::Start(PartialPlacement& placement, const Budget& budget) {
  placement_ = &placement;
  problem_ = &placement.problem();
  deadline_ = problem_->steps + budget.greedy;
  prices_left_ = pack_left_ = budget.pack;
  exact_left_ = budget.exact;
  counts_left_ = budget.refine.steps;
  cut_short_ = false;
  shortage_.reset();
  packing_ = 0;
  decided_ = false;
  root_below_ = kAny;
  certificate_.levels.clear();
  certificate_.traffic = {};
  certificate_.optimal = false;
  traffic_.Init(*problem_);
}

void GroupSearch::Refine(PartialPlacement::Mark* mark, const Certificate& alone,
                         const Refiner::Budget& budget) {
  refiner_.Refine(*placement_, mark, Enclosure(placement_->placed()), traffic_,
                  traffic_.empty() && KeepsChoice(), alone, budget,
                  &certificate_);
}

bool GroupSearch::Place(PartialPlacement& placement, const Budget& budget,
                        const PlacementResult& alone) {
  Start(placement, budget);
  PartialPlacement::Mark mark = placement.Begin();
  if (!PlaceRoot(alone)) {
    placement.Rollback(mark);
    return false;
  }
  const bool refine = budget.refine.steps > 0 || !traffic_.empty();
  if (refine && traffic_.empty() && NeedsNoMore(placement, alone.certificate)) {
    certificate_ = alone.certificate;
  } else if (refine && !placement.placed().empty()) {
    Refine(&mark, alone.certificate, {counts_left_, budget.refine.search});
  }
  placement.Commit(mark);
  return true;
}

void GroupSearch::Improve(PartialPlacement& placement,
                          std::span<const Assignment> tasks,
                          const Refiner::Budget& budget) {
  Start(placement, {.refine = budget});
  PartialPlacement::Mark mark = placement.Begin();
  for (const Assignment& a : tasks) placement.PutExactly(a.task, a.at);
  Refine(&mark, {}, budget);
  placement.Commit(mark);
}

}  // namespace muster::solver
