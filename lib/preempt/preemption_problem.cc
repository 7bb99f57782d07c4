#include "lib/preempt/preemption_problem.h"

#include <algorithm>
#include <utility>

#include "lib/cluster/needs.h"

namespace muster::preempt {
namespace {

// An answer of the solver counts a step of the search, and one more for so much
// of its work.
constexpr uint64_t kAnswerSteps = 10;

// Whether every child of the role's groups, up to the root, must be satisfied.
bool AlwaysRequired(const Gang& gang, const Role& role) {
  for (uint32_t g = role.group;; g = gang.groups[g].parent) {
    if (gang.groups[g].min_children != 0) return false;
    if (g == 0) return true;
  }
}

uint32_t FixedTasks(const PlacementRequest& request, uint32_t role) {
  return static_cast<uint32_t>(std::ranges::count(
      request.fixed, role, [](const Assignment& a) { return a.task.role; }));
}

}  // namespace

PreemptionProblem::PreemptionProblem(Cluster& cluster, GangSolver& solver,
                                     const PreemptionRequest& request)
    : cluster_(cluster),
      solver_(solver),
      request_(request),
      most_cost_(Resources::kMaxTotal /
                 std::max<int64_t>(1, std::ssize(request.candidates))),
      slots_decide_(solver.SlotsDecide(cluster, request.placement)) {
  FindNeeds();
  FindScarce();
  for (RoleNeed& need : needs_) {
    const ShapeId shape = gang().shapes[need.role][0];
    need.weight = std::max<int64_t>(1, cluster_.demand(shape)[scarce_]);
  }
}

void PreemptionProblem::FindNeeds() {
  const Gang& g = gang().gang;
  uint32_t in_all = 0;
  for (const Group& group : g.groups) {
    in_all = std::max(in_all, group.min_tasks);
  }
  for (uint32_t r = 0; r < g.roles.size(); ++r) {
    uint32_t least = g.roles[r].min_tasks;
    if (g.roles.size() == 1) least = std::max(least, in_all);
    const uint32_t fixed = FixedTasks(request_.placement, r);
    const uint32_t want = least > fixed ? least - fixed : 0;
    const uint32_t count = AlwaysRequired(g, g.roles[r]) ? want : 0;
    needs_.push_back({.role = r, .count = count, .want = want});
  }
  RaiseWantTo(in_all);
}

// Where a group asks for more tasks than its roles do, aims at more of them.
void PreemptionProblem::RaiseWantTo(uint32_t tasks) {
  uint64_t sum = request_.placement.fixed.size();
  for (const RoleNeed& need : needs_) sum += need.want;
  for (RoleNeed& need : needs_) {
    if (sum >= tasks) return;
    const uint32_t desired = gang().gang.roles[need.role].desired_tasks;
    if (desired <= need.want) continue;
    const uint64_t more = std::min<uint64_t>(desired - need.want, tasks - sum);
    need.want += static_cast<uint32_t>(more);
    sum += more;
  }
}

void PreemptionProblem::FindScarce() {
  Resources asked(cluster_.resource_count());
  for (const RoleNeed& need : needs_) {
    const ShapeId shape = gang().shapes[need.role][0];
    asked.AddTimes(cluster_.demand(shape), need.want);
  }
  const ResourceKind device = cluster_.device_kind();
  if (device < cluster_.resource_count() && asked[device] > 0) {
    scarce_ = device;
    return;
  }
  const Resources& capacity = cluster_.total_capacity();
  for (ResourceKind k = 1; k < cluster_.resource_count(); ++k) {
    const Wide left = Wide{asked[k]} * std::max<int64_t>(1, capacity[scarce_]);
    const Wide right = Wide{asked[scarce_]} * std::max<int64_t>(1, capacity[k]);
    if (left > right) scarce_ = k;
  }
}

uint32_t PreemptionProblem::Surplus(uint32_t c) const {
  return candidate(c).stoppable ? ShrinkSize(c, ShrinkSizeCount(c)) : Size(c);
}

uint32_t PreemptionProblem::ShrinkSizeCount(uint32_t c) const {
  if (Size(c) == 0) return 0;
  const std::span<const uint32_t> shrink_sizes = candidate(c).shrink_sizes;
  if (shrink_sizes.empty()) return std::min(candidate(c).surplus, Size(c) - 1);
  return static_cast<uint32_t>(
      std::lower_bound(shrink_sizes.begin(), shrink_sizes.end(), Size(c)) -
      shrink_sizes.begin());
}

uint32_t PreemptionProblem::AtLeast(uint32_t c, uint32_t tasks) const {
  const std::span<const uint32_t> shrink_sizes = candidate(c).shrink_sizes;
  if (shrink_sizes.empty())
    return tasks <= ShrinkSizeCount(c) ? tasks : Size(c);
  const auto size =
      std::lower_bound(shrink_sizes.begin(), shrink_sizes.end(), tasks);
  return size == shrink_sizes.end() ? Size(c) : *size;
}

VictimCost PreemptionProblem::CostOf(uint32_t c, uint32_t tasks) const {
  if (tasks == 0) return {};
  const VictimCandidate& victim = candidate(c);
  const bool stops = tasks == Size(c) && victim.stoppable;
  const std::span<const int64_t> costs = victim.surplus_costs;
  const int64_t surplus_cost =
      costs.empty() ? 0 : costs[std::min<size_t>(tasks, costs.size()) - 1];
  const int64_t cost = stops ? victim.cost : surplus_cost;
  return {std::clamp<int64_t>(cost, 0, most_cost_), stops, tasks};
}

VictimCost PreemptionProblem::CostBeyond(uint32_t c, uint32_t fewer,
                                         uint32_t tasks) const {
  const VictimCost less = CostOf(c, fewer);
  const VictimCost more = CostOf(c, tasks);
  return {std::max<int64_t>(0, more.cost - less.cost),
          more.broken - less.broken, more.tasks - less.tasks};
}

int64_t PreemptionProblem::Amount(const Allocation& a) const {
  const bool varies = scarce_ == cluster_.device_kind() &&
                      !UsesAlike(cluster_.device_request(a.shape));
  return varies ? cluster_.Usage(a)[scarce_]
                : cluster_.demand(a.shape)[scarce_];
}

void PreemptionProblem::SortSmallestFirst(std::vector<Victim>* victims) {
  sized_.clear();
  for (const Victim& victim : *victims) {
    int64_t amount = 0;
    for (uint32_t back = 0; back < victim.tasks; ++back) {
      amount += Amount(Task(victim.candidate, back));
    }
    sized_.push_back({amount, sized_.size(), victim});
  }
  std::ranges::sort(sized_, {}, [](const Sized& sized) {
    return std::pair(sized.amount, sized.position);
  });
  for (size_t v = 0; v < sized_.size(); ++v) (*victims)[v] = sized_[v].victim;
}

Fit PreemptionProblem::Ask(std::span<const NodeIndex> within) {
  ++searched_;
  PlacementRequest question = request_.placement;
  question.explain = within.empty();
  if (!within.empty()) question.within = within;
  const Cluster::Mark mark = cluster_.Begin();
  answer_.Clear();
  solver_.Place(cluster_, question, &answer_);
  cluster_.Rollback(mark);
  answered_ += answer_.steps;
  searched_ += answer_.steps / kAnswerSteps;
  cut_short_ = cut_short_ || answer_.cut_short;
  return answer_.fit;
}

bool PreemptionProblem::Spend() {
  if (Exhausted()) return false;
  ++searched_;
  return true;
}

}  // namespace muster::preempt
