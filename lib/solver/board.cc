#include "lib/solver/board.h"

#include <algorithm>

namespace muster::solver {

void Board::Reset(Problem& problem, Cluster& cluster, SlotTable& table) {
  problem_ = &problem;
  cluster_ = &cluster;
  table_ = &table;
  placed_.clear();
  most_placed_ = 0;
  tree_first_.clear();
  level_first_.clear();
  size_t domains = 0;
  for (const Tree& tree : problem.trees()) {
    tree_first_.push_back(level_first_.size());
    for (int l = 0; l < tree.hosts; ++l) {
      level_first_.push_back(domains);
      domains += tree.index->levels[l].size();
    }
  }
  node_tasks_.assign(cluster.node_limit(), 0);
  domain_tasks_.assign(domains, 0);
  scopes_.assign(problem.group_count() + problem.role_count(), {});
  slices_.assign(problem.slice_count(), {});
  spreads_.Reset(problem);
  fixed_rails_ = 0;
  for (uint32_t r = 0; r < problem.role_count(); ++r) {
    for (const Assignment& a : problem.Fixed(r)) {
      Enter(a.task, a.at.node, true);
      fixed_rails_ |= cluster.Rails(a.at);
    }
  }
  ForgetRails();
  spreads_.Fix();
}

void Board::Finish() { placed_.clear(); }

size_t Board::TouchPosition(int tree, int level, uint32_t domain) const {
  return level_first_[tree_first_[tree] + static_cast<size_t>(level)] + domain;
}

void Board::EnterHold(Hold& hold, NodeIndex node, bool enter) {
  if (!enter) {
    --hold.tasks;
  } else if (hold.tasks++ == 0) {
    hold.node = node;
  }
}

void Board::Touch(NodeIndex node, bool enter) {
  const uint32_t change = enter ? 1 : 0xffffffff;
  node_tasks_[node] += change;
  const std::span<const Tree> trees = problem_->trees();
  for (size_t t = 0; t < trees.size(); ++t) {
    if (!trees[t].Contains(node)) continue;
    for (int l = 0; l < trees[t].hosts; ++l) {
      domain_tasks_[TouchPosition(static_cast<int>(t), l,
                                  trees[t].index->domain_of[l][node])] +=
          change;
    }
  }
}

void Board::Enter(TaskId task, NodeIndex node, bool enter) {
  Touch(node, enter);
  spreads_.Enter(task.role, node, enter);
  for (const ScopeIndex s : problem_->Chain(task.role)) {
    EnterHold(scopes_[s], node, enter);
  }
  for (const SliceRule& slice : problem_->Slices(task.role)) {
    EnterHold(slices_[slice.first_slice + task.index / slice.size], node,
              enter);
  }
}

uint64_t Board::Rails() {
  if (!cluster_->has_rails()) return 0;
  for (; railed_ < placed_.size(); ++railed_) {
    rails_ |= cluster_->Rails(placed_[railed_].at);
  }
  return rails_;
}

void Board::ForgetRails() {
  rails_ = fixed_rails_;
  railed_ = 0;
}

// Takes devices for one task as the policy chooses them.
bool Board::Take(NodeIndex node, ShapeId shape, Allocation* at) {
  const Ledger ledger = problem_->request().ledger;
  if (cluster_->Slots(node, shape, ledger, 1) == 0) return false;
  policy::Question question = problem_->QuestionOf(shape);
  question.rails = Rails();
  *at = problem_->policy().Choose(*cluster_, node, question);
  cluster_->Charge(*at, ledger);
  return true;
}

bool Board::Put(TaskId task, NodeIndex node) {
  Allocation at;
  if (!Take(node, problem_->shape(task.role), &at)) return false;
  placed_.push_back({task, at});
  most_placed_ = std::max(most_placed_, placed_.size());
  Enter(task, node, true);
  table_->Update(node);
  ++problem_->steps;
  return true;
}

bool Board::PutExactly(TaskId task, const Allocation& at) {
  const Ledger ledger = problem_->request().ledger;
  if (!cluster_->Fits(at, ledger)) return false;
  cluster_->Charge(at, ledger);
  placed_.push_back({task, at});
  most_placed_ = std::max(most_placed_, placed_.size());
  Enter(task, at.node, true);
  table_->Update(at.node);
  ++problem_->steps;
  return true;
}

bool Board::Allowed(TaskId task, NodeIndex node) const {
  for (const ScopeIndex s : problem_->Chain(task.role)) {
    const Rule& rule = problem_->rule(s);
    const Tree& tree = problem_->tree(rule.tree);
    if (!tree.Contains(node)) return false;
    if (rule.required == kEverywhere || scopes_[s].tasks == 0) continue;
    if (tree.DomainOf(rule.required, node) !=
        tree.DomainOf(rule.required, scopes_[s].node)) {
      return false;
    }
  }
  for (const SliceRule& slice : problem_->Slices(task.role)) {
    const Hold& hold = slices_[slice.first_slice + task.index / slice.size];
    if (hold.tasks == 0) continue;
    const Tree& tree = problem_->tree(slice.tree);
    if (tree.DomainOf(slice.level, node) !=
        tree.DomainOf(slice.level, hold.node)) {
      return false;
    }
  }
  return spreads_.Open(task.role, node);
}

bool Board::SpreadsHoldWith(TaskId task, NodeIndex node) {
  spreads_.Enter(task.role, node, true);
  const bool hold = spreads_.MayHold();
  spreads_.Enter(task.role, node, false);
  return hold;
}

void Board::Rollback(const Mark& mark) {
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

void Board::Lift(size_t placed) {
  ForgetRails();
  const Assignment& a = placed_[placed];
  cluster_->Credit(a.at, problem_->request().ledger);
  Enter(a.task, a.at.node, false);
  table_->Update(a.at.node);
}

bool Board::Replace(size_t placed, NodeIndex node) {
  Assignment& a = placed_[placed];
  if (!Take(node, a.at.shape, &a.at)) return false;
  Enter(a.task, node, true);
  table_->Update(node);
  ++problem_->steps;
  return true;
}

void Board::PutBack(size_t placed, const Allocation& at) {
  Assignment& a = placed_[placed];
  a.at = at;
  cluster_->Charge(at, problem_->request().ledger);
  Enter(a.task, at.node, true);
  table_->Update(at.node);
}

int Board::Nearness(const Spot& spot) const {
  const Tree& tree = problem_->tree(spot.tree);
  int level = spot.level;
  uint32_t domain = spot.domain;
  int up = 0;
  if (level == tree.hosts && level != kEverywhere) {
    if (node_tasks_[domain] > 0) return 0;
    if (!tree.Contains(domain)) return tree.hosts + 1;
    if (--level >= 0) domain = tree.DomainOf(level, domain);
    ++up;
  }
  for (; level >= 0; --level, ++up) {
    if (domain_tasks_[TouchPosition(spot.tree, level, domain)] > 0) return up;
    domain = tree.index->levels[level][domain].parent;
  }
  return tree.hosts + 1;
}

bool Board::Anchored(ScopeIndex s, NodeIndex* node) const {
  if (scopes_[s].tasks == 0) return false;
  *node = scopes_[s].node;
  return true;
}

}  // namespace muster::solver
