#include "lib/solver/slot_table.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "lib/index/free_on.h"
#include "lib/index/slots_cost.h"

namespace muster::solver {

// A share by memory counts more on a smaller device than its demand says, so
// this is an upper bound only.
int64_t FreeUpTo(const Cluster& cluster, NodeIndex node, ResourceKind kind,
                 Ledger ledger, int64_t need) {
  int64_t free = cluster.free(node, kind, ledger);
  if (free < need && kind == cluster.device_kind()) {
    free = index::FreeOnDevices(cluster, node, ledger);
  }
  return std::max<int64_t>(0, free);
}

void SlotTable::FindKinds() {
  kinds_.clear();
  if (count_ < 2) return;
  const Cluster& cluster = problem_->cluster();
  for (ResourceKind k = 0; k < cluster.resource_count(); ++k) {
    const auto asks = [&](const ShapeColumn& column) {
      return cluster.demand(column.shape)[k] > 0;
    };
    if (std::ranges::any_of(problem_->columns(), asks)) kinds_.push_back(k);
  }
}

// Of the listed nodes.
void SlotTable::FindOrders() {
  const Cluster& cluster = problem_->cluster();
  const std::span<const NodeIndex> within = problem_->request().within;
  const std::span<const Tree> trees = problem_->trees();
  if (order_.size() < trees.size()) order_.resize(trees.size());
  for (size_t t = 0; t < trees.size(); ++t) {
    const Tree& tree = trees[t];
    std::vector<NodeIndex>& order = order_[t];
    std::span<const NodeIndex> nodes =
        within.empty() ? cluster.nodes() : within;
    const bool holds_all = tree.index == nullptr ||
                           tree.index->nodes.size() == cluster.node_count();
    const bool in_order = within.empty() && holds_all;
    if (in_order && tree.index != nullptr) nodes = tree.index->nodes;
    order.assign(nodes.begin(), nodes.end());
    if (in_order) continue;
    std::ranges::sort(order, {}, [&](NodeIndex n) {
      return std::pair(tree.PositionOf(n),
                       std::string_view(cluster.node(n).key));
    });
    order.erase(std::unique(order.begin(), order.end()), order.end());
  }
}

// False if the index cannot say all that the question needs.
bool SlotTable::FindColumns() {
  const std::span<const Tree> trees = problem_->trees();
  shape_slots_.clear();
  layouts_.clear();
  if (!problem_->request().within.empty()) return false;
  if (count_ == 0 || count_ * trees.size() > kMaxIndexed) return false;
  for (const Tree& tree : trees) {
    for (const ShapeColumn& c : problem_->columns()) {
      index::ShapeSlots& slots = index_.Get(problem_->cluster(), tree.topology,
                                            c.shape, problem_->ledger());
      if (slots.totals().saturated > 0 &&
          c.limit >= index::ShapeSlots::kMaxSlots) {
        return false;
      }
      shape_slots_.push_back(&slots);
    }
    layouts_.push_back(&index_.layout());
  }
  return true;
}

void SlotTable::Build(PlacementProblem& problem) {
  problem_ = &problem;
  count_ = problem.columns().size();
  watch_of_.resize(
      std::max<size_t>(watch_of_.size(), problem.cluster().node_limit()),
      watch_);
  ++watch_;
  FindKinds();
  listed_ = !FindColumns();
  if (listed_) {
    FindOrders();
    own_.Build(problem, order_[0]);
  }
  for (size_t c = 0; c < count_; ++c) {
    if (listed_) {
      const uint64_t nodes = order_[0].size();
      problem.Spend(nodes, 0);
      problem.nanos += index::NanosOfSlots(problem.cluster(),
                                           problem.columns()[c].shape, nodes);
    } else {
      problem.Spend(1, 0);
      problem.Charge(problem.trees().size(), shape_slots_[c]->nanos());
    }
  }
  FindScored();
}

// Whether the column's nodes with slots have the same score.
bool SlotTable::Alike(uint32_t column) const {
  if (!listed_) return shape_slots_[column]->alike();
  const ShapeId shape = problem_->columns()[column].shape;
  std::optional<int64_t> first;
  return std::ranges::all_of(order_[0], [&](NodeIndex n) {
    if (slots(column, n) == 0) return true;
    const int64_t score = problem_->cluster().Score(n, shape);
    if (!first) first = score;
    return score == *first;
  });
}

// Which columns order nodes by scores.
void SlotTable::FindScored() {
  ++question_;
  scored_.assign(count_, 0);
  for (uint32_t c = 0; c < count_; ++c) scored_[c] = !Alike(c);
  if (std::ranges::count(scored_, 1) == 0) return;
  const size_t size = problem_->cluster().node_limit() * count_;
  scores_.resize(std::max(scores_.size(), size));
}

std::span<const NodeIndex> SlotTable::Outside() const {
  const std::span<const NodeIndex> all = Everywhere(0);
  size_t inside = all.size();
  while (inside > 0 && !problem_->tree(0).Contains(all[inside - 1])) --inside;
  return all.subspan(inside);
}

void SlotTable::Update(NodeIndex node) {
  if (listed_) {
    own_.Update(node);
  } else {
    for (index::ShapeSlots* slots : shape_slots_)
      slots->Refresh(problem_->cluster());
  }
  if (watch_of_[node] != watch_) return;
  const int64_t* known = watched_.data() + node * kinds_.size();
  for (size_t k = 0; k < kinds_.size(); ++k) watched_sums_[k] -= known[k];
  WatchNode(node);
}

void SlotTable::WatchNode(NodeIndex node) {
  int64_t* known = watched_.data() + node * kinds_.size();
  std::fill_n(known, kinds_.size(), 0);
  AddUseful(node, known);
  for (size_t k = 0; k < kinds_.size(); ++k) watched_sums_[k] += known[k];
}

std::span<const NodeIndex> SlotTable::ListedNodes(
    const DomainRef& domain) const {
  if (domain.level == kEverywhere) return order_[domain.tree];
  const Tree& tree = problem_->tree(domain.tree);
  const Domain& d = tree.index->levels[domain.level][domain.index];
  return std::span(tree.index->nodes).subspan(d.first_node, d.node_count);
}

uint64_t SlotTable::Sum(uint32_t column, const DomainRef& domain) const {
  if (listed_) return own_.Sum(column, domain);
  if (domain.level == kEverywhere) return Total(column);
  return domain.level == problem_->tree(domain.tree).hosts
             ? slots(column, domain.index)
             : shape_slots(domain.tree, column)
                   .sums(domain.level)[domain.index];
}

void SlotTable::AddNeed(uint32_t role, int64_t count, std::span<int64_t> tasks,
                        std::span<int64_t> amounts) const {
  const uint32_t column = problem_->column(role);
  const Resources& demand = problem_->Demand(column);
  tasks[column] += count;
  for (size_t k = 0; k < kinds_.size(); ++k) {
    amounts[k] += count * demand[kinds_[k]];
  }
}

void SlotTable::AddNeeds(ScopeIndex scope, std::span<int64_t> tasks,
                         std::span<int64_t> amounts) const {
  if (problem_->AddBelow(scope) == 0) return;
  if (problem_->IsRole(scope)) {
    AddNeed(problem_->RoleOf(scope), problem_->AddBelow(scope), tasks, amounts);
    return;
  }
  for (const ScopeIndex child : problem_->Children(scope)) {
    AddNeeds(child, tasks, amounts);
  }
}

void SlotTable::FindNeeds(std::vector<int64_t>* tasks,
                          std::vector<int64_t>* amounts) const {
  tasks->assign(count_, 0);
  amounts->assign(kinds_.size(), 0);
  for (const uint32_t r : problem_->Active()) {
    AddNeed(r, problem_->add(r), *tasks, *amounts);
  }
}

bool SlotTable::HasSlots(std::span<const int64_t> tasks,
                         const DomainRef& domain) const {
  for (uint32_t c = 0; c < tasks.size(); ++c) {
    if (tasks[c] > 0 && Sum(c, domain) < static_cast<uint64_t>(tasks[c])) {
      return false;
    }
  }
  return true;
}

uint32_t SlotTable::Most(uint32_t column, const DomainRef& domain) const {
  uint32_t most = 0;
  const bool node = domain.level == problem_->tree(domain.tree).hosts;
  if (node) return slots(column, domain.index);
  if (listed_) {
    for (const NodeIndex n : ListedNodes(domain)) {
      most = std::max(most, slots(column, n));
    }
    return most;
  }
  const index::ShapeSlots& of = shape_slots(domain.tree, column);
  if (domain.level == kEverywhere) return of.most();
  const auto [first, last] = ChunksOf(domain);
  for (uint32_t c = first; c < last; ++c) most = std::max(most, of.most(c));
  return most;
}

std::pair<uint32_t, uint32_t> SlotTable::ChunksOf(
    const DomainRef& domain) const {
  const index::Layout& layout = *layouts_[domain.tree];
  if (domain.level == kEverywhere) {
    return {0, static_cast<uint32_t>(layout.chunks().size())};
  }
  const auto [from, to] = layout.range(domain.level, domain.index);
  if (from == to) return {0, 0};
  return {layout.chunk_of(from), layout.chunk_of(to - 1) + 1};
}

bool SlotTable::Best(uint32_t column, const DomainRef& domain, bool inside,
                     NodeIndex* best) {
  const index::Layout& layout = *layouts_[domain.tree];
  index::ShapeSlots& of = *shape_slots_[domain.tree * count_ + column];
  of.RefreshCosts(problem_->cluster());
  auto [first, last] = ChunksOf(domain);
  if (inside) last = std::min(last, layout.inside_chunks());
  index::Position p = 0;
  if (!of.BestIn(first, last, &p)) return false;
  *best = layout.node(p);
  return true;
}

uint32_t SlotTable::WithSlots(uint32_t column, const DomainRef& domain) const {
  const index::ShapeSlots& of = shape_slots(domain.tree, column);
  if (domain.level == kEverywhere) return of.totals().with_slots;
  const auto [first, last] = ChunksOf(domain);
  return of.WithSlots(first, last);
}

int64_t SlotTable::Score(uint32_t column, NodeIndex node) const {
  if (scored_[column] == 0) return 0;
  KnownScore& known = scores_[node * count_ + column];
  if (known.question != question_) {
    problem_->Charge(1, kScoreNs);
    const ShapeId shape = problem_->columns()[column].shape;
    known = {problem_->cluster().Score(node, shape), question_};
  }
  return known.score;
}

int64_t SlotTable::UsefulAtMost(size_t kind, const DomainRef& domain) const {
  int64_t use = 0;
  for (uint32_t c = 0; c < count_; ++c) {
    // As much as is free at most, and so within kMaxTotal.
    const int64_t more = static_cast<int64_t>(Sum(c, domain)) *
                         problem_->Demand(c)[kinds_[kind]];
    use = std::min(use, Resources::kMaxTotal - 1) + std::max<int64_t>(0, more);
  }
  return use;
}

// Adds what is useful on the node.
void SlotTable::AddUseful(NodeIndex node, int64_t* amounts) const {
  const Cluster& cluster = problem_->cluster();
  const Ledger ledger = problem_->ledger();
  for (size_t i = 0; i < kinds_.size(); ++i) {
    const ResourceKind k = kinds_[i];
    int64_t use = 0;
    for (uint32_t c = 0; c < count_; ++c) {
      use = std::min(use, Resources::kMaxTotal) +
            int64_t{slots(c, node)} * problem_->Demand(c)[k];
    }
    if (use == 0) continue;
    amounts[i] += std::min(use, FreeUpTo(cluster, node, k, ledger, use));
  }
}

std::span<const int64_t> SlotTable::Useful(const DomainRef& domain) {
  useful_.assign(kinds_.size(), 0);
  if (kinds_.empty()) return useful_;
  ForEachNodeOfAny(domain, [&](NodeIndex n) {
    AddUseful(n, useful_.data());
    problem_->Spend(1, kLookNs);
  });
  return useful_;
}

void SlotTable::Watch(const DomainRef& domain) {
  const size_t kinds = kinds_.size();
  ++watch_;
  watched_sums_.assign(kinds, 0);
  if (kinds == 0) return;
  const size_t size = size_t{problem_->cluster().node_limit()} * kinds;
  if (watched_.size() < size) watched_.resize(size);
  ForEachNodeOfAny(domain, [&](NodeIndex n) {
    problem_->Charge(1, kLookNs);
    watch_of_[n] = watch_;
    WatchNode(n);
  });
}

}  // namespace muster::solver
