#include "lib/solver/count_plan.h"

#include <algorithm>
#include <functional>

namespace muster::solver {
namespace {

// Steps of the enumeration, times scopes, before it gives up.
constexpr uint64_t kMaxVisits = uint64_t{1} << 19;
constexpr size_t kMaxFailed = 64;

// Whether it is a role that may be left out.
bool IsOptional(const PlacementProblem& problem, ScopeIndex s) {
  return problem.IsRole(s) && problem.role(problem.RoleOf(s)).min_tasks == 0;
}

// Tasks with which a role counts.
uint32_t Minimum(const PlacementProblem& problem, uint32_t role) {
  return std::max(problem.role(role).min_tasks, 1u);
}

}  // namespace

void CountPlan::Start(PlacementProblem& problem, ScopeIndex top) {
  problem_ = &problem;
  top_ = top;
  cut_short_ = false;
  failed_.clear();
  extra_.clear();
  order_.clear();
  const uint32_t roles = problem.role_count();
  for (uint32_t r = 0; r < roles; ++r) {
    if (problem.IsBelow(r, top)) order_.push_back(r);
  }
  problem.SortByOrder(order_);
  add_.assign(roles, 0);
  decided_.assign(roles, 0);
  most_.assign(roles, 0);
  for (const uint32_t r : order_) most_[r] = problem.MayGet(r);
  Restart();
  satisfiable_ = total_ != kImpossible;
  unique_ = satisfiable_ && FindUnique(top);
  if (problem.entangled()) {
    // More tasks may lie better: only if no role can get more is it the one.
    unique_ = unique_ && std::ranges::all_of(order_, [&](uint32_t r) {
                return add_[r] == most_[r];
              });
  }
  if (!unique_) add_.assign(roles, 0);
}

// What the role needs to count, if it does not yet; else one more.
uint32_t CountPlan::Least(uint32_t role) const {
  const uint32_t minimum = Minimum(*problem_, role);
  const uint32_t fixed = problem_->FixedCount(role);
  return fixed < minimum ? minimum - fixed : 1;
}

bool CountPlan::Satisfied(ScopeIndex s, std::span<const uint32_t> counts) {
  for (uint32_t r = 0; r < counts.size(); ++r) {
    add_[r] = counts[r] - problem_->FixedCount(r);
  }
  return SatisfiedNow(s);
}

// With what is added so far: nothing more is needed.
bool CountPlan::SatisfiedNow(ScopeIndex s) {
  const Range range = RangeOf(s);
  return range.satisfied == range.low;
}

// Adds what the scope cannot do without. True if that satisfies it.
bool CountPlan::FindUnique(ScopeIndex s) {
  if (SatisfiedNow(s)) return true;
  if (problem_->IsRole(s)) {
    const uint32_t role = problem_->RoleOf(s);
    add_[role] = Least(role);
    return true;
  }
  const std::span<const ScopeIndex> children = problem_->Children(s);
  const uint32_t minimum = problem_->group(s).min_children;
  if (minimum > 0 && minimum < children.size()) return false;
  for (const ScopeIndex child : children) {
    if (minimum == 0 && IsOptional(*problem_, child)) continue;
    if (!FindUnique(child)) return false;
  }
  return SatisfiedNow(s);
}

CountPlan::Range CountPlan::RangeOfRole(uint32_t role) const {
  const uint32_t minimum = Minimum(*problem_, role);
  const uint32_t fixed = problem_->FixedCount(role);
  const uint32_t low = add_[role];  // Added so far.
  const uint32_t most = decided_[role] ? low : std::max(low, most_[role]);
  Range range{fixed, low, fixed + most, low};
  if (fixed + low < minimum) {
    range.satisfied = fixed + most < minimum ? kImpossible : minimum - fixed;
  }
  return range;
}

CountPlan::Range CountPlan::RangeOf(ScopeIndex s) {
  if (problem_->IsRole(s)) return RangeOfRole(problem_->RoleOf(s));
  const Group& group = problem_->group(s);
  const size_t base = extra_.size();
  Range range;
  size_t needed = group.min_children;
  for (const ScopeIndex child : problem_->Children(s)) {
    const Range r = RangeOf(child);
    range.fixed += r.fixed;
    range.low += r.low;
    range.high += r.high;
    if (group.min_children == 0) {
      if (IsOptional(*problem_, child)) continue;
      ++needed;
    }
    extra_.push_back(r.satisfied == kImpossible ? kImpossible
                                                : r.satisfied - r.low);
  }
  std::sort(extra_.begin() + base, extra_.end());
  range.satisfied = range.low;
  if (extra_.size() - base < needed) range.satisfied = kImpossible;
  for (size_t i = 0; i < needed && range.satisfied != kImpossible; ++i) {
    const uint32_t extra = extra_[base + i];
    range.satisfied =
        extra == kImpossible ? kImpossible : range.satisfied + extra;
  }
  extra_.resize(base);
  if (group.min_tasks > 0 && range.satisfied != kImpossible) {
    if (range.high < group.min_tasks) {
      range.satisfied = kImpossible;
    } else if (group.min_tasks > range.fixed) {
      range.satisfied =
          std::max(range.satisfied, group.min_tasks - range.fixed);
    }
  }
  return range;
}

void CountPlan::Bound(std::span<const uint32_t> most) {
  for (const uint32_t r : order_) most_[r] = std::min(most_[r], most[r]);
  Restart();
}

void CountPlan::Restart() {
  most_total_ = 0;
  for (const uint32_t r : order_) most_total_ += most_[r];
  total_ = RangeOf(top_).satisfied;
  depth_ = 0;
  sum_ = 0;
  visits_ = 0;
  forward_ = true;
}

bool CountPlan::ContainsFailed() const {
  const size_t roles = add_.size();
  if (problem_->entangled()) return false;
  for (size_t f = 0; f < failed_.size(); f += roles) {
    if (std::equal(add_.begin(), add_.end(), failed_.begin() + f,
                   std::greater_equal<>())) {
      return true;
    }
  }
  return false;
}

void CountPlan::Decide(uint32_t role, uint32_t add) {
  add_[role] = add;
  decided_[role] = 1;
  sum_ += add;
  ++depth_;
}

// The next choice of exactly total_ tasks: depth-first over the roles, each
// from the most it can get down to nothing.
bool CountPlan::Resume() {
  for (;;) {
    const uint64_t scopes = problem_->group_count() + problem_->role_count();
    problem_->Charge(scopes, kLookNs);
    if (++visits_ * scopes > kMaxVisits) {
      cut_short_ = true;
      return false;
    }
    if (forward_ && depth_ == order_.size()) {
      forward_ = false;
      if (sum_ == total_) return true;
      continue;
    }
    if (forward_) {
      const uint32_t role = order_[depth_];
      const uint32_t high = std::min(most_[role], total_ - sum_);
      Decide(role, high >= Least(role) ? high : 0);
    } else {
      if (depth_ == 0) return false;
      const uint32_t role = order_[--depth_];
      const uint32_t add = add_[role];
      sum_ -= add;
      decided_[role] = 0;
      add_[role] = 0;
      if (add == 0) continue;
      Decide(role, add > Least(role) ? add - 1 : 0);
    }
    const Range range = RangeOf(top_);
    forward_ = range.satisfied <= total_ && !ContainsFailed();
  }
}

bool CountPlan::Next() {
  if (total_ == kImpossible) return false;
  if (failed_.size() >= kMaxFailed * add_.size()) {
    cut_short_ = true;
    return false;
  }
  while (total_ <= most_total_) {
    if (Resume()) return true;
    if (cut_short_) return false;
    ++total_;
    depth_ = 0;
    forward_ = true;
  }
  return false;
}

}  // namespace muster::solver
