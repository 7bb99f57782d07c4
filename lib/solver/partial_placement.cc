#include "lib/solver/partial_placement.h"

#include <algorithm>

namespace muster::solver {

// Entries are 0 wherever no task has been since the last question.
void PartialPlacement::ForgetTouched() {
  for (const DomainRef& s : touched_) {
    tasks_[numbers_[s]] = 0;
    is_touched_[numbers_[s]] = 0;
  }
  touched_.clear();
}

void PartialPlacement::Reset(PlacementProblem& problem, Cluster& cluster,
                             SlotTable& table) {
  ForgetTouched();
  problem_ = &problem;
  cluster_ = &cluster;
  table_ = &table;
  placed_.clear();
  most_placed_ = 0;
  const size_t domains = numbers_.Reset(problem.trees(), cluster.node_limit());
  tasks_.resize(std::max(tasks_.size(), domains), 0);
  is_touched_.resize(tasks_.size(), 0);
  scopes_.assign(problem.group_count() + problem.role_count(), {});
  slices_.assign(problem.slice_count(), {});
  spreads_.Reset(problem);
  fixed_rails_ = 0;
  for (const Assignment& a : problem.Fixed()) {
    Enter(a.task, a.at.node, true);
    fixed_rails_ |= cluster.Rails(a.at);
  }
  ForgetRails();
  spreads_.Fix();
}

void PartialPlacement::Enter(TaskId task, NodeIndex node, bool enter) {
  numbers_.ForEachAround(node, [&](const DomainRef& domain) {
    const size_t at = numbers_[domain];
    if (is_touched_[at] == 0) {
      is_touched_[at] = 1;
      touched_.push_back(domain);
    }
    tasks_[at] += enter ? 1 : 0xffffffff;
  });
  spreads_.Enter(task.role, node, enter);
  for (const ScopeIndex s : problem_->Chain(task.role)) {
    scopes_[s].Enter(node, enter);
  }
  for (const SliceRule& slice : problem_->Slices(task.role)) {
    slices_[slice.first_slice + task.index / slice.size].Enter(node, enter);
  }
}

uint64_t PartialPlacement::Rails() {
  if (!cluster_->has_rails()) return 0;
  for (; railed_ < placed_.size(); ++railed_) {
    rails_ |= cluster_->Rails(placed_[railed_].at);
  }
  return rails_;
}

void PartialPlacement::ForgetRails() {
  rails_ = fixed_rails_;
  railed_ = 0;
}

// Takes devices for one task as the policy chooses them.
bool PartialPlacement::Take(NodeIndex node, ShapeId shape, Allocation* at) {
  const Ledger ledger = problem_->ledger();
  if (cluster_->Slots(node, shape, ledger, 1) == 0) return false;
  scoring::NodeQuestion question = problem_->QuestionOf(shape);
  question.rails = Rails();
  *at = problem_->policy().Choose(problem_->ViewOf(node), question);
  cluster_->Charge(*at, ledger);
  return true;
}

// A placed task has a new node: what follows, and what that is charged.
void PartialPlacement::Settle(TaskId task, NodeIndex node) {
  most_placed_ = std::max(most_placed_, placed_.size());
  Enter(task, node, true);
  table_->Update(node);
  problem_->Spend(1, kPutNs);
  problem_->Charge(problem_->columns().size() * problem_->trees().size(),
                   kPutNs);
}

bool PartialPlacement::Put(TaskId task, NodeIndex node) {
  Allocation at;
  if (!Take(node, problem_->shape(task.role), &at)) return false;
  placed_.push_back({task, at});
  Settle(task, node);
  return true;
}

bool PartialPlacement::PutExactly(TaskId task, const Allocation& at) {
  if (!cluster_->Fits(at, problem_->ledger())) return false;
  cluster_->Charge(at, problem_->ledger());
  placed_.push_back({task, at});
  Settle(task, at.node);
  return true;
}

// Whether f(tree, level, hold) holds for all domains that tasks like this one
// share; the level is kEverywhere where it need only be in the tree.
template <class F>
bool PartialPlacement::AllBonds(TaskId task, const F& f) const {
  for (const ScopeIndex s : problem_->Chain(task.role)) {
    const ScopeConstraint& rule = problem_->rule(s);
    if (!f(rule.tree, rule.required, scopes_[s])) return false;
  }
  for (const SliceRule& slice : problem_->Slices(task.role)) {
    const uint32_t s = slice.first_slice + task.index / slice.size;
    if (!f(slice.tree, slice.level, slices_[s])) return false;
  }
  return true;
}

bool PartialPlacement::Allowed(TaskId task, NodeIndex node) const {
  const auto allows = [&](int t, int level, const Binding& binding) {
    const Tree& tree = problem_->tree(t);
    if (!tree.Contains(node)) return false;
    return level == kEverywhere || binding.tasks == 0 ||
           tree.DomainOf(level, node) == tree.DomainOf(level, binding.node);
  };
  return AllBonds(task, allows) && spreads_.Open(task.role, node);
}

bool PartialPlacement::NarrowTo(const Tree& tree, int level, NodeIndex node,
                                DomainRef* domain) {
  const uint32_t index = tree.DomainOf(level, node);
  if (domain->level >= level) {
    return tree.Around(domain->level, domain->index, level) == index;
  }
  if (!tree.Contains(*domain, node)) return false;
  *domain = {domain->tree, level, index};
  return true;
}

bool PartialPlacement::Narrow(TaskId task, DomainRef* domain,
                              bool* nowhere) const {
  *nowhere = false;
  if (!problem_->Spreads(task.role).empty()) return false;
  return AllBonds(task, [&](int t, int level, const Binding& binding) {
    if (t != domain->tree) return false;
    if (level != kEverywhere && binding.tasks > 0 &&
        !NarrowTo(problem_->tree(t), level, binding.node, domain)) {
      *nowhere = true;
    }
    return true;
  });
}

bool PartialPlacement::SpreadsMetWith(TaskId task, NodeIndex node) {
  spreads_.Enter(task.role, node, true);
  const bool met = spreads_.MayBeMet();
  spreads_.Enter(task.role, node, false);
  return met;
}

void PartialPlacement::Rollback(const Mark& mark) {
  cluster_->Rollback(mark.cluster);
  for (size_t i = placed_.size(); i > mark.placed; --i) {
    const Assignment& a = placed_[i - 1];
    Enter(a.task, a.at.node, false);
    const bool last =
        i == mark.placed + 1 || placed_[i - 2].at.node != a.at.node;
    if (last) table_->Update(a.at.node);
  }
  placed_.resize(mark.placed);
  ForgetRails();
}

void PartialPlacement::Lift(size_t placed) {
  ForgetRails();
  const Assignment& a = placed_[placed];
  cluster_->Credit(a.at, problem_->ledger());
  Enter(a.task, a.at.node, false);
  table_->Update(a.at.node);
}

bool PartialPlacement::Replace(size_t placed, NodeIndex node) {
  Assignment& a = placed_[placed];
  if (!Take(node, a.at.shape, &a.at)) return false;
  Settle(a.task, node);
  return true;
}

void PartialPlacement::PutBack(size_t placed, const Allocation& at) {
  Assignment& a = placed_[placed];
  a.at = at;
  cluster_->Charge(at, problem_->ledger());
  Enter(a.task, at.node, true);
  table_->Update(at.node);
}

bool PartialPlacement::HasTasksAround(const DomainRef& domain,
                                      int level) const {
  const uint32_t around =
      problem_->tree(domain.tree).Around(domain.level, domain.index, level);
  return around != kOutside ? HasTasks({domain.tree, level, around})
                            : HasTasks(domain);
}

int PartialPlacement::Nearness(const DomainRef& domain) const {
  const Tree& tree = problem_->tree(domain.tree);
  if (domain.level != kEverywhere && HasTasks(domain)) return 0;
  for (int level = domain.level - 1; level >= 0; --level) {
    const uint32_t around = tree.Around(domain.level, domain.index, level);
    if (around == kOutside) break;
    if (HasTasks({domain.tree, level, around})) return domain.level - level;
  }
  return tree.hosts + 1;
}

}  // namespace muster::solver
