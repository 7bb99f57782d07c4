#include "lib/solver/solver.h"

#include <algorithm>
#include <bit>
#include <ranges>

#include "lib/cluster/needs.h"
#include "lib/solver/node_choice.h"
#include "lib/solver/reasons.h"

namespace muster::solver {
namespace {

// Bounds in logical steps. Whatever is decided by exhaustive search on a few
// nodes and tasks stays far below them.
constexpr uint64_t kGreedySteps = uint64_t{1} << 18;
constexpr uint64_t kGreedyStepsPerNode = 64;
constexpr uint64_t kPackSteps = uint64_t{1} << 16;
constexpr uint64_t kExactSteps = uint64_t{1} << 16;
// Choices of alternatives tried, for roles that have several.
constexpr uint64_t kMaxAlternatives = 256;

}  // namespace

void Solver::Place(Cluster& cluster, const PlacementRequest& request,
                   PlacementResult* result) {
  cluster_ = &cluster;
  result->Clear();
  if (!DeviceBound::Concerns(cluster, request)) {
    Find(request, result);
  } else if (!bound_.Ask(
                 cluster, request, result,
                 [&](const PlacementRequest& asked) { Find(asked, result); })) {
    if (result->cut_short) result->reason.code = ReasonCode::kNotFound;
  }
  result->steps = StepsOf(result->steps);
}

// Counts nanoseconds in result->steps.
void Solver::Find(const PlacementRequest& request, PlacementResult* result) {
  if (fabric_.IsMine(request)) return fabric_.Place(*cluster_, request, result);
  if (uniform_.Place(*cluster_, request, result)) return;
  result->Clear();
  const Cluster::Mark mark = request.dry_run ? cluster_->Begin() : 0;
  PlaceScope(request, 0, result);
  if (request.dry_run) cluster_->Rollback(mark);
}

// One role of whole devices or none, and no rule but one required level.
bool Solver::SlotsDecide(const Cluster& cluster,
                         const PlacementRequest& request) const {
  const Gang& gang = request.gang->gang;
  UniformRule rule;
  if (!IsUniform(cluster, gang, &rule) || request.gang->shapes[0].size() != 1 ||
      !request.fixed.empty() || request.headroom != nullptr ||
      !SharesNoDevice(gang.roles[0].shape.devices)) {
    return false;
  }
  if (!rule.named) return true;
  // A gang that names a topology stays inside it, as all nodes of a domain are.
  const TopologyIndex& index = cluster.index(rule.topology);
  const bool domain = rule.required >= 0 &&
                      rule.required < static_cast<int>(index.levels.size());
  return (domain || index.nodes.size() == cluster.node_count()) &&
         (gang.groups[0].topology.required.empty() ||
          gang.roles[0].topology.required.empty());
}

// Outside all topologies nodes lie by key.
void Solver::NodesWithRoom(const Cluster& cluster,
                           const PlacementRequest& request,
                           std::vector<NodeIndex>* nodes) {
  index::PlacementIndex& index = uniform_.index();
  any_.clear();
  for (const std::vector<ShapeId>& shapes : request.gang->shapes) {
    for (const ShapeId shape : shapes) {
      const index::ShapeSlots& slots =
          index.Get(cluster, -1, shape, request.ledger);
      any_.resize(slots.layout().chunks().size(), 0);
      for (uint32_t c = 0; c < any_.size(); ++c) any_[c] |= slots.any(c);
    }
  }
  const index::Layout& layout = index.layout();
  for (uint32_t c = 0; c < any_.size(); ++c) {
    for (uint64_t any = any_[c]; any != 0; any &= any - 1) {
      const auto i = static_cast<uint32_t>(std::countr_zero(any));
      nodes->push_back(layout.node(layout.chunks()[c].first + i));
    }
  }
}

void Solver::PlaceScope(const PlacementRequest& request, ScopeIndex top,
                        PlacementResult* result) {
  cut_short_ = false;
  headroom_reason_ = {};
  shortage_.reset();
  result->fit = request.fixed.empty() ? Fit::kNever : Fit::kNotNow;
  if (!problem_.Init(*cluster_, request)) {
    result->reason = problem_.refusal();
    return;
  }
  plan_.Start(problem_, top);
  if (!plan_.satisfiable()) {
    result->reason = {.code = ReasonCode::kConstraint,
                      .object_kind = ReasonObject::kGroup,
                      .object = top < problem_.group_count() ? top : 0};
    return;
  }
  const bool placed = IsLone(top) ? PlaceLone(result) : TryChoices(result);
  if (placed) {
    result->fit = Fit::kFits;
    result->reason = {.code = ReasonCode::kFits};
  } else if (request.explain) {
    ExplainNo(top, result);
  } else {
    result->fit = Fit::kNotNow;
  }
  result->cut_short = result->fit == Fit::kNotNow && cut_short_;
  result->steps += problem_.nanos;
}

// One task and nothing beside it: no table is needed.
bool Solver::IsLone(ScopeIndex top) const {
  return top == 0 && plan_.unique() && problem_.request().fixed.empty() &&
         plan_.tasks() == 1;
}

bool Solver::PlaceLone(PlacementResult* result) {
  problem_.SetAdd(plan_.add());
  problem_.BuildColumns(plan_.add());
  const uint32_t role = problem_.Active()[0];
  const std::span<const uint32_t> columns = problem_.ColumnsOf(role);
  for (uint32_t a = 0; a < columns.size(); ++a) {
    problem_.SetAlternative(role, a);
    if (!WithinHeadroom()) continue;
    const std::optional<NodeIndex> node = FindLoneNode(problem_, role);
    if (!node) continue;
    const Allocation at = policy_->Choose(
        problem_.ViewOf(*node), problem_.QuestionOf(problem_.shape(role)));
    cluster_->Charge(at, problem_.ledger());
    problem_.Charge(1, kPutNs);
    result->tasks.push_back({{role, 0}, at});
    result->certificate.levels.assign(problem_.tree(0).hosts + 1, {1, 1});
    result->certificate.optimal = true;
    return true;
  }
  return false;
}

// The role's first alternative from this one on that has slots; the first of
// all, and false, if none has.
bool Solver::ChooseFrom(uint32_t role, uint32_t alternative) {
  const std::span<const uint32_t> columns = problem_.ColumnsOf(role);
  for (uint32_t a = alternative; a < columns.size(); ++a) {
    if (table_.Total(columns[a]) < problem_.add(role)) continue;
    problem_.SetAlternative(role, a);
    return true;
  }
  problem_.SetAlternative(role, 0);
  return false;
}

bool Solver::WithinHeadroom() {
  if (problem_.request().headroom == nullptr) return true;
  sum_.Clear();
  for (const uint32_t r : problem_.Active()) {
    sum_.AddTimes(problem_.Demand(problem_.column(r)), problem_.add(r));
  }
  const std::optional<Reason> over =
      OverHeadroom(problem_.request().headroom, sum_, 1);
  if (over && headroom_reason_.code == ReasonCode::kNone) {
    headroom_reason_ = *over;
  }
  return !over;
}

// The next choice of alternatives, the last role's changing fastest.
bool Solver::NextAlternatives() {
  for (const uint32_t r : problem_.Active() | std::views::reverse) {
    if (ChooseFrom(r, problem_.alternative(r) + 1)) return true;
    ChooseFrom(r, 0);
  }
  return false;
}

bool Solver::TryCounts() {
  if (!WithinHeadroom()) return false;
  const uint64_t nodes = table_.Everywhere(0).size();
  const uint64_t times = uint64_t{1} + problem_.request().effort;
  const GroupSearch::Budget budget{
      times * (kGreedySteps + kGreedyStepsPerNode * nodes),
      times * kPackSteps,
      times * kExactSteps,
      {times * problem_.request().placement_steps, kTrafficSteps}};
  PlaceLargeRole(problem_, *cluster_, uniform_, &alone_);
  const bool placed = search_.Place(placement_, budget, alone_);
  cut_short_ = cut_short_ || search_.cut_short();
  shortage_ = search_.shortage();
  return placed;
}

// Places problem_.add() tasks with the first alternatives that have room.
bool Solver::TryAlternatives(PlacementResult* result) {
  for (const uint32_t r : problem_.Active()) {
    if (!ChooseFrom(r, 0)) return false;
  }
  const uint64_t times = uint64_t{1} + problem_.request().effort;
  for (uint64_t tries = 0; tries < times * kMaxAlternatives; ++tries) {
    if (TryCounts()) {
      result->certificate = search_.certificate();
      result->tasks.assign(placement_.placed().begin(),
                           placement_.placed().end());
      std::ranges::sort(result->tasks, {}, &Assignment::task);
      rank_order_.Apply(problem_, &result->tasks);
      problem_.Charge(result->tasks.size(), kTaskNs);
      return true;
    }
    if (!NextAlternatives()) return false;
  }
  cut_short_ = true;
  return false;
}

// For up to so many tasks of each role.
void Solver::BuildTables(std::span<const uint32_t> most) {
  problem_.BuildColumns(most);
  table_.Build(problem_);
  placement_.Reset(problem_, *cluster_, table_);
}

bool Solver::TryChoices(PlacementResult* result) {
  const uint32_t roles = problem_.role_count();
  if (plan_.unique()) {
    problem_.SetAdd(plan_.add());
    if (plan_.tasks() == 0) return true;
    BuildTables(plan_.add());
    return TryAlternatives(result);
  }
  most_.resize(roles);
  for (uint32_t r = 0; r < roles; ++r) most_[r] = problem_.MayGet(r);
  BuildTables(most_);
  for (uint32_t r = 0; r < roles; ++r) {
    uint64_t slots = 0;
    for (const uint32_t c : problem_.ColumnsOf(r)) {
      slots = std::max(slots, table_.Total(c));
    }
    most_[r] = static_cast<uint32_t>(std::min<uint64_t>(most_[r], slots));
  }
  plan_.Bound(most_);
  while (plan_.Next()) {
    problem_.SetAdd(plan_.add());
    if (TryAlternatives(result)) return true;
    plan_.Failed();
    if (cut_short_) break;
  }
  cut_short_ = cut_short_ || plan_.cut_short();
  return false;
}

void Solver::ExplainNo(ScopeIndex top, PlacementResult* result) {
  result->fit = Fit::kNotNow;
  const bool lone = IsLone(top);
  if (problem_.request().within.empty() &&
      explain_.Never(problem_, top, plan_, &result->reason)) {
    result->fit = Fit::kNever;
    return;
  }
  if (headroom_reason_.code != ReasonCode::kNone) {
    result->reason = headroom_reason_;
    return;
  }
  if (lone) {
    table_.Build(problem_);
    placement_.Reset(problem_, *cluster_, table_);
  }
  if (!plan_.unique()) {
    // The choice that asks least, had every role room.
    plan_.Start(problem_, top);
    if (!plan_.Next()) {
      result->reason = {.code = ReasonCode::kConstraint,
                        .object_kind = ReasonObject::kGroup};
      return;
    }
    problem_.SetAdd(plan_.add());
    for (uint32_t r = 0; r < problem_.role_count(); ++r) {
      problem_.SetAlternative(r, 0);
    }
  }
  Reason& reason = result->reason;
  reason = explain_.NotNow(placement_);
  if (shortage_ && reason.code == ReasonCode::kConstraint &&
      reason.object_kind == ReasonObject::kGroup) {
    reason = *shortage_;
  }
  if (cut_short_) reason.code = ReasonCode::kNotFound;
}

}  // namespace muster::solver

namespace muster {

std::unique_ptr<GangSolver> NewGangSolver(
    const PlacementOptions& options, std::span<const FabricTopology> fabrics) {
  return std::make_unique<solver::Solver>(options, fabrics);
}

}  // namespace muster
