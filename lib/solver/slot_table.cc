#include "lib/solver/slot_table.h"

#include <algorithm>

#include "lib/topology/selector.h"

namespace muster::solver {
namespace {

// One reluctance outweighs all preferences: those add up to far less.
constexpr int64_t kReluctance = int64_t{1} << 32;

// What single devices have free: in the sum of all, one that the host
// overcommitted would hide another.
int64_t FreeOnDevices(const Cluster& cluster, NodeIndex node, Ledger ledger) {
  int64_t sum = 0;
  const size_t devices = cluster.node(node).devices.size();
  for (uint32_t d = 0; d < devices; ++d) {
    sum += std::max(0, cluster.free_milli(node, d, ledger));
  }
  return sum;
}

}  // namespace

void SlotTable::FindKinds() {
  kinds_.clear();
  if (problem_->columns().size() < 2) return;
  const Cluster& cluster = problem_->cluster();
  for (ResourceKind k = 0; k < cluster.resource_count(); ++k) {
    for (const Column& column : problem_->columns()) {
      if (cluster.demand(column.shape)[k] > 0) {
        kinds_.push_back(k);
        break;
      }
    }
  }
}

void SlotTable::FindOrders() {
  const Cluster& cluster = problem_->cluster();
  const std::span<const NodeIndex> within = problem_->request().within;
  const std::span<const Tree> trees = problem_->trees();
  if (order_.size() < trees.size()) order_.resize(trees.size());
  for (size_t t = 0; t < trees.size(); ++t) {
    const Tree& tree = trees[t];
    std::vector<NodeIndex>& order = order_[t];
    if (within.empty()) {
      order.clear();
      if (tree.index != nullptr) order = tree.index->nodes;
      if (order.size() == cluster.nodes().size()) continue;
      for (const NodeIndex n : cluster.nodes()) {
        if (tree.index == nullptr || !tree.Contains(n)) order.push_back(n);
      }
      continue;
    }
    order.assign(within.begin(), within.end());
    std::sort(order.begin(), order.end(), [&](NodeIndex a, NodeIndex b) {
      const uint32_t pa = tree.index ? tree.index->position[a] : kOutside;
      const uint32_t pb = tree.index ? tree.index->position[b] : kOutside;
      if (pa != pb) return pa < pb;
      return a != b && cluster.node(a).key < cluster.node(b).key;
    });
    order.erase(std::unique(order.begin(), order.end()), order.end());
  }
}

void SlotTable::Build(Problem& problem) {
  problem_ = &problem;
  stride_ = problem.cluster().node_limit();
  const size_t columns = problem.columns().size();
  tree_first_.clear();
  level_first_.clear();
  domains_ = 0;
  for (const Tree& tree : problem.trees()) {
    tree_first_.push_back(level_first_.size());
    for (int l = 0; l < tree.hosts; ++l) {
      level_first_.push_back(domains_);
      domains_ += tree.index->levels[l].size();
    }
  }
  FindKinds();
  FindOrders();
  slots_.assign(columns * stride_, 0);
  sums_.assign(columns * domains_, 0);
  totals_.assign(columns, 0);
  scored_.assign(columns, 0);
  if (scores_.size() < columns * stride_) scores_.resize(columns * stride_);
  useful_.assign(kinds_.size() * stride_, 0);
  useful_sums_.assign(kinds_.size() * domains_, 0);
  useful_totals_.assign(kinds_.size(), 0);
  for (const NodeIndex n : Everywhere(0)) Read(n);
  problem.steps += Everywhere(0).size() * columns;
}

void SlotTable::Read(NodeIndex node) {
  const Cluster& cluster = problem_->cluster();
  const std::span<const Column> columns = problem_->columns();
  bool any = false;
  for (uint32_t c = 0; c < columns.size(); ++c) {
    const uint32_t slots = cluster.Slots(
        node, columns[c].shape, problem_->request().ledger, columns[c].limit);
    if (slots == 0) continue;
    any = true;
    slots_[c * stride_ + node] = slots;
    AddSlots(c, node, slots);
    ReadScore(c, node);
  }
  if (!any) return;
  for (size_t k = 0; k < kinds_.size(); ++k) {
    const int64_t useful = UsefulOn(k, node);
    useful_[node * kinds_.size() + k] = useful;
    AddUseful(k, node, useful);
  }
}

void SlotTable::ReadScore(uint32_t column, NodeIndex node) {
  const Cluster& cluster = problem_->cluster();
  const Column& c = problem_->columns()[column];
  int64_t score = -kReluctance * cluster.Reluctance(node, c.shape);
  for (const Preference& p : *c.preferences) {
    if (Holds(p.term, cluster.node(node).labels)) score += p.weight;
  }
  if (score != 0 && scored_[column] == 0) {
    scored_[column] = 1;
    std::fill_n(scores_.begin() + static_cast<ptrdiff_t>(column * stride_),
                stride_, 0);
  }
  if (scored_[column] != 0) scores_[column * stride_ + node] = score;
}

int64_t SlotTable::UsefulOn(size_t kind, NodeIndex node) const {
  const Cluster& cluster = problem_->cluster();
  const ResourceKind k = kinds_[kind];
  const Ledger ledger = problem_->request().ledger;
  int64_t use = 0;
  const std::span<const Column> columns = problem_->columns();
  for (uint32_t c = 0; c < columns.size(); ++c) {
    use += int64_t{slots(c, node)} * cluster.demand(columns[c].shape)[k];
  }
  if (use == 0) return 0;
  // A share by memory counts more on a smaller device than its demand says:
  // this stays an upper bound.
  int64_t free = cluster.free(node, k, ledger);
  if (free < use && k == cluster.device_kind()) {
    free = FreeOnDevices(cluster, node, ledger);
  }
  return std::min(use, std::max<int64_t>(0, free));
}

void SlotTable::AddSlots(uint32_t column, NodeIndex node, int64_t change) {
  totals_[column] += static_cast<uint64_t>(change);
  const std::span<const Tree> trees = problem_->trees();
  for (size_t t = 0; t < trees.size(); ++t) {
    if (!trees[t].Contains(node)) continue;
    for (int l = 0; l < trees[t].hosts; ++l) {
      const size_t level = tree_first_[t] + static_cast<size_t>(l);
      sums_[column * domains_ + level_first_[level] +
            trees[t].index->domain_of[l][node]] += change;
    }
  }
}

void SlotTable::AddUseful(size_t kind, NodeIndex node, int64_t change) {
  useful_totals_[kind] += change;
  const std::span<const Tree> trees = problem_->trees();
  for (size_t t = 0; t < trees.size(); ++t) {
    if (!trees[t].Contains(node)) continue;
    for (int l = 0; l < trees[t].hosts; ++l) {
      const size_t level = tree_first_[t] + static_cast<size_t>(l);
      useful_sums_[kind * domains_ + level_first_[level] +
                   trees[t].index->domain_of[l][node]] += change;
    }
  }
}

void SlotTable::Update(NodeIndex node) {
  const Cluster& cluster = problem_->cluster();
  const std::span<const Column> columns = problem_->columns();
  for (uint32_t c = 0; c < columns.size(); ++c) {
    const uint32_t slots = cluster.Slots(
        node, columns[c].shape, problem_->request().ledger, columns[c].limit);
    uint32_t& known = slots_[c * stride_ + node];
    if (known == slots) continue;
    AddSlots(c, node, int64_t{slots} - known);
    known = slots;
  }
  for (size_t k = 0; k < kinds_.size(); ++k) {
    const int64_t useful = UsefulOn(k, node);
    int64_t& known = useful_[node * kinds_.size() + k];
    AddUseful(k, node, useful - known);
    known = useful;
  }
}

std::span<const NodeIndex> SlotTable::Nodes(const Spot& spot) const {
  if (spot.level == kEverywhere) return Everywhere(spot.tree);
  const Tree& tree = problem_->tree(spot.tree);
  if (spot.level == tree.hosts) return {&spot.domain, 1};
  const Domain& d = tree.index->levels[spot.level][spot.domain];
  return std::span(tree.index->nodes).subspan(d.first_node, d.node_count);
}

uint64_t SlotTable::Sum(uint32_t column, const Spot& spot) const {
  if (spot.level == kEverywhere) return totals_[column];
  if (spot.level == problem_->tree(spot.tree).hosts) {
    return slots(column, spot.domain);
  }
  return static_cast<uint64_t>(sums_[column * domains_ + Position(spot)]);
}

int64_t SlotTable::Useful(size_t kind, const Spot& spot) const {
  if (spot.level == kEverywhere) return useful_totals_[kind];
  if (spot.level == problem_->tree(spot.tree).hosts) {
    return useful_[spot.domain * kinds_.size() + kind];
  }
  return useful_sums_[kind * domains_ + Position(spot)];
}

}  // namespace muster::solver
