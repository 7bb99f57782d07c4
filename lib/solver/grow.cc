// Growth: one task at a time, whole groups and roles where they do not run.
// Roles of one order grow together, in proportion to what each may have beyond
// its minimum.
#include <algorithm>
#include <utility>

#include "lib/solver/node_choice.h"
#include "lib/solver/solver.h"

namespace muster::solver {

void Solver::CountPlaced() {
  counts_.assign(problem_.role_count(), 0);
  for (const Assignment& a : placed_) ++counts_[a.task.role];
}

// The widest scope around the role that does not run yet, or kNoScope.
ScopeIndex Solver::NotRunning(uint32_t role) {
  CountPlaced();
  ScopeIndex widest = kNoScope;
  for (ScopeIndex s = problem_.ScopeOf(role); s != kNoScope;
       s = problem_.Parent(s)) {
    if (!plan_.Satisfied(s, counts_)) widest = s;
  }
  return widest;
}

void Solver::Keep(const std::vector<Assignment>& tasks,
                  PlacementResult* result) {
  for (const Assignment& a : tasks) {
    placed_.push_back(a);
    asks_placed_ = false;
    result->tasks.push_back(a);
  }
  growing_.fixed = placed_;
}

// Takes what was placed from the headroom that is left. False where it is more;
// of the first of those the tasks are remembered.
bool Solver::TakeHeadroom(std::span<const Assignment> tasks) {
  if (growing_.headroom == nullptr) return true;
  const Resources used = UsageOf(*cluster_, tasks);
  if (!used.FitsIn(headroom_left_)) {
    if (refused_.empty()) refused_.assign(tasks.begin(), tasks.end());
    return false;
  }
  headroom_left_.Subtract(used);
  return true;
}

// Whether the role runs, or could be made to: the widest scope around it that
// does not run first, whole at its minimum, which may leave the role out.
bool Solver::BringUp(uint32_t role, PlacementResult* result) {
  for (;;) {
    const ScopeIndex top = NotRunning(role);
    if (top == kNoScope) return true;
    part_.Clear();
    asks_placed_ = false;
    const Cluster::Mark mark = cluster_->Begin();
    PlaceScope(growing_, top, &part_);
    result->steps += part_.steps;
    const bool found = part_.fit == Fit::kFits && !part_.tasks.empty() &&
                       TakeHeadroom(part_.tasks);
    found ? cluster_->Commit(mark) : cluster_->Rollback(mark);
    if (!found) return false;
    Keep(part_.tasks, result);
  }
}

// The position in growing_roles_ of the role with the least part of what it
// may have beyond its minimum.
size_t Solver::LeastFilled() {
  CountPlaced();
  const auto part = [&](uint32_t r) {
    const Role& role = problem_.role(r);
    const uint32_t most = std::max(role.desired_tasks - role.min_tasks, 1u);
    return std::pair<uint64_t, uint64_t>(
        counts_[r] - std::min(counts_[r], role.min_tasks), most);
  };
  const auto less = [&](uint32_t a, uint32_t b) {
    const auto [x, of_x] = part(a);
    const auto [y, of_y] = part(b);
    return x * of_y < y * of_x;
  };
  return static_cast<size_t>(std::ranges::min_element(growing_roles_, less) -
                             growing_roles_.begin());
}

// Roles of one order, up to what the request bounds.
void Solver::GrowTogether(std::span<const uint32_t> roles,
                          PlacementResult* result) {
  growing_roles_.assign(roles.begin(), roles.end());
  while (!growing_roles_.empty() && result->tasks.size() < growing_.most) {
    const size_t next = growing_roles_.size() == 1 ? 0 : LeastFilled();
    const uint32_t role = growing_roles_[next];
    const size_t before = placed_.size();
    const bool runs = BringUp(role, result);
    if (placed_.size() > before) continue;
    const bool alone = growing_roles_.size() == 1;
    const auto left =
        growing_.most - static_cast<uint32_t>(result->tasks.size());
    if (runs) GrowRole(role, alone ? left : 1, result);
    if (alone || placed_.size() == before) {
      growing_roles_.erase(growing_roles_.begin() + next);
    }
  }
}

// Adds up to `most` tasks, and those that end the slice of the last.
void Solver::GrowRole(uint32_t role, uint32_t most, PlacementResult* result) {
  if (!std::exchange(asks_placed_, false) &&
      !problem_.Init(*cluster_, growing_)) {
    return;
  }
  const uint32_t more = problem_.MayGet(role);
  if (more == 0) return;
  most_.assign(problem_.role_count(), 0);
  most_[role] = more;
  problem_.SetAdd(most_);
  problem_.BuildColumns(most_);
  const Resources& demand = cluster_->demand(problem_.shape(role));
  const auto has_headroom = [&] {
    return growing_.headroom == nullptr || demand.FitsIn(headroom_left_);
  };
  if (!has_headroom()) return;
  table_.Build(problem_);
  placement_.Reset(problem_, *cluster_, table_);
  std::span<const uint32_t> indices = problem_.NewIndices(role);
  uint32_t slice = 1;
  for (const SliceRule& s : problem_.Slices(role)) {
    slice = std::max(slice, s.size);
  }
  size_t count = most;
  while (count < indices.size() && indices[count] % slice != 0) ++count;
  indices = indices.first(std::min(count, indices.size()));
  for (size_t i = 0; i < indices.size() && has_headroom(); ++i) {
    const TaskId task{role, indices[i]};
    // A node that was best for the last task stays so while it has room.
    const bool stay =
        i > 0 && problem_.Slices(role).empty() &&
        problem_.Spreads(role).empty() &&
        placement_.Slots(role, placement_.placed().back().at.node) > 0;
    const uint32_t after = static_cast<uint32_t>(indices.size() - i);
    const auto node = stay ? placement_.placed().back().at.node
                           : FindNode(placement_, task, {}, after);
    const PartialPlacement::Mark mark = placement_.Begin();
    const bool put = node && placement_.Put(task, *node) &&
                     TakeHeadroom(placement_.placed().last(1));
    put ? placement_.Commit(mark) : placement_.Rollback(mark);
    if (!put) break;
  }
  result->steps += problem_.nanos;
  part_.tasks.assign(placement_.placed().begin(), placement_.placed().end());
  Keep(part_.tasks, result);
}

// The added tasks among all places for as many beside the fixed ones, as if
// they had been asked for at once: each went where it was best by itself.
void Solver::ImproveGrowth(const PlacementRequest& request,
                           PlacementResult* result) {
  // Other devices may be beyond the headroom.
  if (request.placement_steps == 0 || result->tasks.empty() || !uses_alike_ ||
      !problem_.Init(*cluster_, request) || !ChooseShapes(result->tasks)) {
    return;
  }
  for (const Assignment& a : result->tasks) {
    cluster_->Credit(a.at, request.ledger);
  }
  const uint64_t before = problem_.nanos;
  table_.Build(problem_);
  problem_.nanos = before;  // The tables that found the places.
  placement_.Reset(problem_, *cluster_, table_);
  search_.Improve(placement_, result->tasks,
                  {request.placement_steps, kTrafficSteps});
  result->tasks.assign(placement_.placed().begin(), placement_.placed().end());
  result->certificate = search_.certificate();
  result->steps += problem_.nanos;
}

// The problem asks for as many of each role, of the same alternatives; false if
// a role's are not all of one.
bool Solver::ChooseShapes(std::span<const Assignment> tasks) {
  most_.assign(problem_.role_count(), 0);
  for (const Assignment& a : tasks) ++most_[a.task.role];
  problem_.SetAdd(most_);
  problem_.BuildColumns(most_);
  for (const Assignment& a : tasks) problem_.SetShape(a.task.role, a.at.shape);
  return std::ranges::all_of(tasks, [&](const Assignment& a) {
    return problem_.shape(a.task.role) == a.at.shape;
  });
}

void Solver::Grow(Cluster& cluster, const PlacementRequest& request,
                  PlacementResult* result) {
  cluster_ = &cluster;
  result->Clear();
  uses_alike_ = !DeviceBound::Concerns(cluster, request);
  if (uses_alike_) {
    FindGrowth(request, result);
  } else {
    bound_.Ask(cluster, request, result, [&](const PlacementRequest& asked) {
      refused_.clear();
      FindGrowth(asked, result);
      if (result->tasks.empty()) result->tasks = refused_;
    });
    result->fit = Fit::kFits;
  }
  result->steps = StepsOf(result->steps);
}

// Counts nanoseconds in result->steps.
void Solver::FindGrowth(const PlacementRequest& request,
                        PlacementResult* result) {
  Cluster& cluster = *cluster_;
  result->fit = Fit::kFits;
  result->reason = {.code = ReasonCode::kFits};
  if (fabric_.IsMine(request)) return fabric_.Grow(cluster, request, result);
  growing_ = request;
  placed_.assign(request.fixed.begin(), request.fixed.end());
  growing_.fixed = placed_;
  if (request.headroom != nullptr) {
    headroom_left_ = *request.headroom;
    growing_.headroom = &headroom_left_;
  }
  if (!problem_.Init(cluster, growing_)) return;
  asks_placed_ = true;
  plan_.Start(problem_, 0);
  order_.clear();
  for (uint32_t r = 0; r < problem_.role_count(); ++r) {
    if (problem_.MayGet(r) > 0) order_.push_back(r);
  }
  problem_.SortByOrder(order_);
  // Where a spread compares roles, one may grow after another has.
  size_t before = 0;
  do {
    before = placed_.size();
    for (size_t i = 0, end = 0; i < order_.size(); i = end) {
      const int32_t order = problem_.role(order_[i]).order;
      while (end < order_.size() && problem_.role(order_[end]).order == order) {
        ++end;
      }
      GrowTogether(std::span(order_).subspan(i, end - i), result);
    }
  } while (problem_.entangled() && placed_.size() > before &&
           result->tasks.size() < growing_.most);
  ImproveGrowth(request, result);
  std::ranges::sort(result->tasks, {}, &Assignment::task);
}

}  // namespace muster::solver
