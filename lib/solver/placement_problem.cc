#include "lib/solver/placement_problem.h"

#include <algorithm>
#include <tuple>

namespace muster::solver {

bool PlacementProblem::Init(const Cluster& cluster,
                            const PlacementRequest& request) {
  cluster_ = &cluster;
  request_ = &request;
  groups_ = static_cast<uint32_t>(gang().groups.size());
  roles_ = static_cast<uint32_t>(gang().roles.size());
  steps = nanos = 0;
  Charge(1, kQuestionNs);
  Charge(roles_ + groups_, kScopeNs);
  Charge(request.fixed.size(), kTaskNs);
  InitFixed();
  return InitScopes() && InitSlices() && InitSpreads() && InitAnchors();
}

const TopologyConstraint& PlacementProblem::Constraint(ScopeIndex s) const {
  return s < groups_ ? group(s).topology : role(s - groups_).topology;
}

bool PlacementProblem::Refuse(ScopeIndex s) {
  refusal_ = {
      .code = ReasonCode::kConstraint,
      .object_kind = s < groups_ ? ReasonObject::kGroup : ReasonObject::kRole,
      .object = s < groups_ ? s : s - groups_};
  return false;
}

int PlacementProblem::UseTree(int topology) {
  for (size_t t = 0; t < trees_.size(); ++t) {
    if (trees_[t].topology == topology) return static_cast<int>(t);
  }
  Tree tree;
  tree.topology = topology;
  if (topology >= 0) {
    tree.index = &cluster_->index(topology);
    tree.hosts = static_cast<int>(tree.index->levels.size());
  }
  trees_.push_back(tree);
  return static_cast<int>(trees_.size()) - 1;
}

// The level's number, -1 if the tree has none of that name.
int PlacementProblem::LevelOf(int tree, const std::string& name) const {
  const int topology = trees_[tree].topology;
  if (topology >= 0) return cluster_->FindLevel(topology, name);
  return name == kHostLevel ? 0 : -1;
}

bool PlacementProblem::Resolve(ScopeIndex s, const TopologyConstraint& c) {
  ScopeConstraint& rule = rules_[s];
  rule = {};
  if (c.empty()) return true;
  constrained_ = true;
  const int topology = cluster_->FindTopology(c.topology);
  if (topology < 0 && !cluster_->topologies().empty()) return Refuse(s);
  rule.tree = UseTree(topology);
  if (!c.required.empty()) {
    rule.required = LevelOf(rule.tree, c.required);
    if (rule.required < 0) return Refuse(s);
  }
  if (!c.preferred.empty()) rule.preferred = LevelOf(rule.tree, c.preferred);
  if (rule.preferred >= 0) {
    for (ScopeIndex up = parent_[s]; up != kNoScope; up = parent_[up]) {
      prefers_below_[up] = 1;
    }
  }
  return true;
}

bool PlacementProblem::InitScopes() {
  const uint32_t scopes = groups_ + roles_;
  trees_.clear();
  constrained_ = false;
  parent_.resize(scopes);
  rules_.resize(scopes);
  prefers_below_.assign(scopes, 0);
  for (ScopeIndex s = 0; s < scopes; ++s) {
    parent_[s] = s == 0        ? kNoScope
                 : s < groups_ ? group(s).parent
                               : role(s - groups_).group;
    if (!Resolve(s, Constraint(s))) return false;
  }
  InitChildren();
  if (trees_.empty()) UseTree(cluster_->topologies().empty() ? -1 : 0);
  chain_.Clear();
  for (uint32_t r = 0; r < roles_; ++r) {
    for (ScopeIndex s = ScopeOf(r); s != kNoScope; s = parent_[s]) {
      if (rules_[s].tree >= 0) chain_.Add(s);
    }
    chain_.Close();
  }
  return true;
}

// By parent, then position.
void PlacementProblem::InitChildren() {
  children_.Clear();
  for (ScopeIndex s = 1; s < parent_.size(); ++s) children_.Add(s);
  std::ranges::sort(children_.open(), {},
                    [&](ScopeIndex s) { return std::pair(parent_[s], s); });
  children_.Split(groups_, [&](ScopeIndex s) { return parent_[s]; });
}

// Widest level and largest size first, so that a proper chain is in order.
bool PlacementProblem::InitSlices() {
  slices_.Clear();
  slice_count_ = 0;
  for (uint32_t r = 0; r < roles_; ++r) {
    for (const ScopeIndex s : Chain(r)) {
      for (const Slice& slice : Constraint(s).slices) {
        const int level = LevelOf(rules_[s].tree, slice.level);
        if (level < 0 || slice.size == 0) return Refuse(s);
        if (slice.size == 1) continue;
        slices_.Add({rules_[s].tree, level, slice.size, 0});
      }
    }
    std::ranges::sort(slices_.open(), {}, [](const SliceRule& s) {
      return std::tuple(s.level, ~s.size, s.tree);
    });
    const std::span<const Assignment> fixed = Fixed(r);
    uint32_t last = role(r).desired_tasks + FixedCount(r);
    if (!fixed.empty()) last = std::max(last, fixed.back().task.index + 1);
    for (SliceRule& slice : slices_.open()) {
      slice.first_slice = slice_count_;
      slice_count_ += last / slice.size + 1;
    }
    slices_.Close();
  }
  return true;
}

bool PlacementProblem::InitSpreads() {
  spreads_.clear();
  role_spreads_.Clear();
  entangled_ = false;
  for (ScopeIndex s = 0; s < parent_.size(); ++s) {
    const Spread& spread = Constraint(s).spread;
    if (spread.level.empty()) continue;
    SpreadRule rule{.scope = s, .tree = rules_[s].tree};
    rule.level = LevelOf(rule.tree, spread.level);
    if (rule.level < 0) return Refuse(s);
    rule.most = spread.max_per_domain > 0 ? spread.max_per_domain : 0xffffffff;
    rule.skew = spread.max_skew;
    rule.domains = spread.min_domains;
    for (ScopeIndex up = s; up != kNoScope; up = parent_[up]) {
      if (rules_[up].tree != rule.tree) continue;
      rule.region = std::max(rule.region, rules_[up].required);
    }
    rule.region = std::min(rule.region, rule.level);
    spreads_.push_back(rule);
  }
  for (uint32_t r = 0; r < roles_; ++r) {
    for (const ScopeIndex s : Chain(r)) {
      for (uint32_t i = 0; i < spreads_.size(); ++i) {
        if (spreads_[i].scope == s) role_spreads_.Add(i);
      }
    }
    role_spreads_.Close();
  }
  for (SpreadRule& rule : spreads_) {
    uint32_t roles = 0;
    bool sliced = false;
    for (uint32_t r = 0; r < roles_; ++r) {
      if (!IsBelow(r, rule.scope)) continue;
      ++roles;
      sliced = sliced || !Slices(r).empty();
    }
    rule.one_role = roles == 1;
    const bool alone = rule.one_role && !sliced && spreads_.size() == 1;
    if ((rule.skew > 0 || rule.domains > 1) && !alone) entangled_ = true;
  }
  return true;
}

bool PlacementProblem::IsBelow(uint32_t role, ScopeIndex s) const {
  ScopeIndex up = ScopeOf(role);
  while (up != kNoScope && up != s) up = parent_[up];
  return up == s;
}

void PlacementProblem::InitFixed() {
  fixed_.Clear();
  for (const Assignment& a : request_->fixed) fixed_.Add(a);
  std::ranges::sort(fixed_.open(), {}, &Assignment::task);
  fixed_.Split(roles_, [](const Assignment& a) { return a.task.role; });
}

bool PlacementProblem::InitAnchors() {
  anchors_.assign(groups_ + roles_, {});
  for (const Assignment& a : Fixed()) {
    for (ScopeIndex s = ScopeOf(a.task.role); s != kNoScope; s = parent_[s]) {
      const Tree& tree = trees_[std::max(rules_[s].tree, 0)];
      Anchor& anchor = anchors_[s];
      if (!anchor.any) {
        anchor = {true, a.at.node, tree.hosts};
        if (!tree.Contains(a.at.node)) anchor.level = kEverywhere;
      } else {
        anchor.level =
            std::min(anchor.level, tree.SharedLevel(anchor.node, a.at.node));
      }
      if (anchor.level < rules_[s].required) return Refuse(s);
    }
  }
  return true;
}

void PlacementProblem::SetAdd(std::span<const uint32_t> add) {
  add_.assign(add.begin(), add.end());
  active_.clear();
  new_.Clear();
  add_below_.assign(groups_ + roles_, 0);
  active_below_.assign(groups_ + roles_, 0);
  for (uint32_t r = 0; r < roles_; ++r) {
    const std::span<const Assignment> fixed = Fixed(r);
    size_t f = 0;
    for (uint32_t i = 0, left = add_[r]; left > 0; ++i) {
      while (f < fixed.size() && fixed[f].task.index < i) ++f;
      if (f < fixed.size() && fixed[f].task.index == i) continue;
      new_.Add(i);
      --left;
    }
    new_.Close();
    if (add_[r] == 0) continue;
    active_.push_back(r);
    for (ScopeIndex s = ScopeOf(r); s != kNoScope; s = parent_[s]) {
      add_below_[s] += add_[r];
      ++active_below_[s];
    }
  }
}

uint32_t PlacementProblem::FindColumn(ShapeId shape) {
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].shape == shape) return static_cast<uint32_t>(c);
  }
  columns_.push_back({shape, 0});
  return static_cast<uint32_t>(columns_.size()) - 1;
}

void PlacementProblem::BuildColumns(std::span<const uint32_t> most) {
  columns_.clear();
  role_columns_.Clear();
  alternative_.assign(roles_, 0);
  for (uint32_t r = 0; r < roles_; ++r) {
    const std::vector<ShapeId>& shapes = request_->gang->shapes[r];
    const std::span<const Assignment> fixed = Fixed(r);
    const bool pinned =
        !fixed.empty() &&
        std::ranges::find(shapes, fixed[0].at.shape) != shapes.end();
    for (const ShapeId shape : shapes) {
      if (most[r] == 0) break;
      if (pinned && fixed[0].at.shape != shape) continue;
      const uint32_t c = FindColumn(shape);
      columns_[c].limit += most[r];
      role_columns_.Add(c);
    }
    role_columns_.Close();
  }
}

void PlacementProblem::SetShape(uint32_t role, ShapeId shape) {
  const std::span<const uint32_t> columns = ColumnsOf(role);
  for (uint32_t a = 0; a < columns.size(); ++a) {
    if (columns_[columns[a]].shape == shape) return SetAlternative(role, a);
  }
}

}  // namespace muster::solver
