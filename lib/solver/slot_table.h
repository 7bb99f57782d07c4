// How many tasks of each column every node and every domain can take, true
// while a question's tasks come and go.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lib/index/placement_index.h"
#include "lib/solver/listed_slots.h"
#include "lib/solver/placement_problem.h"

namespace muster::solver {

// What the node has free of a kind, none if that is negative; where that is
// less than `need`, no less than what tasks could get.
int64_t FreeUpTo(const Cluster& cluster, NodeIndex node, ResourceKind kind,
                 Ledger ledger, int64_t need);

// Read from the placement index, which outlives the question: a
// question costs what has changed since the last one. Where the request names
// nodes, or is more than the index counts, its nodes are counted for it alone.
// Sums are exact, or at least the columns' limits.
//
// With several columns there are also useful amounts of each kind: on a node,
// what is free or what the tasks that fit could use, whichever is less. Demand
// beyond the useful sum of a domain is a proof that it has no room.
class SlotTable {
 public:
  // The index must stay.
  explicit SlotTable(index::PlacementIndex& index) : index_(index) {}

  void Build(PlacementProblem& problem);
  // Reads one node again, after charges. O(columns x levels).
  void Update(NodeIndex node);

  uint32_t slots(uint32_t column, NodeIndex node) const {
    return listed_ ? own_.slots(column, node)
                   : shape_slots_[column]->slots(layouts_[0]->position(node));
  }
  // Slots in a domain.
  uint64_t Sum(uint32_t column, const DomainRef& domain) const;
  uint64_t Total(uint32_t column) const {
    return listed_ ? own_.Sum(column, {})
                   : shape_slots_[column]->totals().all();
  }

  // The nodes the request allows, in the order of tree t: those of the
  // topology first, by domain path and key, then the others by key.
  std::span<const NodeIndex> Everywhere(int t) const {
    return listed_ ? order_[t] : layouts_[t]->nodes();
  }
  // Those of Everywhere(0) that are outside its topology: the last ones.
  std::span<const NodeIndex> Outside() const;
  // Calls f(node) for the nodes of the domain with slots for the column, or for
  // any, in the order of the tree. O(nodes / 64 + those).
  template <class F>
  void ForEachNode(uint32_t column, const DomainRef& domain, const F& f) const {
    Visit(domain, column, column + 1, f);
  }
  template <class F>
  void ForEachNodeOfAny(const DomainRef& domain, const F& f) const {
    Visit(domain, 0, static_cast<uint32_t>(count_), f);
  }
  // If indexed: the node of least cost in the domain, which is no single node,
  // and of these the first in the order of the tree; false if none has slots.
  // With `inside`, of the topology alone.
  bool Best(uint32_t column, const DomainRef& domain, bool inside,
            NodeIndex* best);
  // If indexed: nodes of the domain, which is no single node, with slots.
  // O(nodes / 64), everywhere O(1).
  uint32_t WithSlots(uint32_t column, const DomainRef& domain) const;
  // Adds so many tasks of the role: `tasks` by column, `amounts` by kind.
  void AddNeed(uint32_t role, int64_t count, std::span<int64_t> tasks,
               std::span<int64_t> amounts) const;
  // The same of all tasks to add below the scope.
  void AddNeeds(ScopeIndex scope, std::span<int64_t> tasks,
                std::span<int64_t> amounts) const;
  // What all tasks to add need.
  void FindNeeds(std::vector<int64_t>* tasks,
                 std::vector<int64_t>* amounts) const;
  // Whether the domain has slots for so many tasks by column.
  bool HasSlots(std::span<const int64_t> tasks, const DomainRef& domain) const;
  // Whether no node of the domain has `tasks` slots of the column.
  bool NoneWith(uint32_t column, uint32_t tasks,
                const DomainRef& domain) const {
    return Most(column, domain) < std::min(tasks, index::ShapeSlots::kMaxSlots);
  }
  // The most slots of one node of the domain, or more. O(nodes / 64) if
  // indexed.
  uint32_t Most(uint32_t column, const DomainRef& domain) const;
  // Whether slots are read from the index, and then those of a column in the
  // order of a tree.
  bool indexed() const { return !listed_; }
  const index::ShapeSlots& shape_slots(int tree, uint32_t c) const {
    return *shape_slots_[tree * count_ + c];
  }
  const index::Layout& layout(int tree) const { return *layouts_[tree]; }

  // See Cluster::Score; 0 where nodes with slots do not differ in it.
  int64_t Score(uint32_t column, NodeIndex node) const;
  bool HasScores(uint32_t column) const { return scored_[column] != 0; }

  // Kinds the columns ask for; amounts are by position in it. Empty with one
  // column, whose slots say all.
  std::span<const ResourceKind> kinds() const { return kinds_; }
  // No less than what is useful in the domain: by slots alone. O(columns).
  int64_t UsefulAtMost(size_t kind, const DomainRef& domain) const;
  // Adds what is useful on the node, by kind.
  void AddUseful(NodeIndex node, int64_t* amounts) const;
  // What is useful in the domain, by kind; valid until the next call. O(nodes).
  std::span<const int64_t> Useful(const DomainRef& domain);
  // The same, kept up to date from now on for one domain, as tasks are put
  // there and taken away again; until the next Watch.
  void Watch(const DomainRef& domain);
  std::span<const int64_t> watched() const { return watched_sums_; }

 private:
  static constexpr size_t kMaxIndexed = index::PlacementIndex::kMinEntries / 2;

  bool FindColumns();
  bool Alike(uint32_t column) const;
  void FindScored();
  void FindKinds();
  void FindOrders();
  // If indexed: the chunks of the domain, first and one past.
  std::pair<uint32_t, uint32_t> ChunksOf(const DomainRef& domain) const;
  // If listed: the nodes of the domain, not of one node, others among them.
  std::span<const NodeIndex> ListedNodes(const DomainRef& domain) const;
  template <class F>
  void Visit(const DomainRef& domain, uint32_t first, uint32_t last,
             const F& f) const;
  void WatchNode(NodeIndex node);

  index::PlacementIndex& index_;
  PlacementProblem* problem_ = nullptr;
  size_t count_ = 0;  // Columns.
  bool listed_ = false;
  std::vector<index::ShapeSlots*> shape_slots_;  // [tree * count_ + column]
  std::vector<const index::Layout*> layouts_;    // [tree]
  ListedSlots own_;
  std::vector<std::vector<NodeIndex>> order_;  // [tree], if listed.
  std::vector<uint8_t> scored_;                // [column]
  struct KnownScore {
    int64_t score = 0;
    uint64_t question = 0;  // For which it was read.
  };
  mutable std::vector<KnownScore> scores_;  // [node * count_ + column]
  uint64_t question_ = 0;
  std::vector<ResourceKind> kinds_;
  std::vector<int64_t> useful_;     // [kind]
  std::vector<int64_t> watched_;    // [node][kind]
  std::vector<uint64_t> watch_of_;  // [node]
  uint64_t watch_ = 0;
  std::vector<int64_t> watched_sums_;  // [kind]
};

template <class F>
void SlotTable::Visit(const DomainRef& domain, uint32_t first, uint32_t last,
                      const F& f) const {
  const auto visit = [&](NodeIndex node) {
    bool any = false;
    for (uint32_t c = first; c < last && !any; ++c) any = slots(c, node) > 0;
    if (any) f(node);
  };
  if (domain.level == problem_->tree(domain.tree).hosts)
    return visit(domain.index);
  if (listed_) {
    for (const NodeIndex n : ListedNodes(domain)) visit(n);
    return;
  }
  const index::Layout& layout = *layouts_[domain.tree];
  const auto [from, to] = ChunksOf(domain);
  for (uint32_t chunk = from; chunk < to; ++chunk) {
    const index::Position base = layout.chunks()[chunk].first;
    uint64_t bits = 0;
    for (uint32_t c = first; c < last; ++c) {
      bits |= shape_slots(domain.tree, c).any(chunk);
    }
    for (; bits != 0; bits &= bits - 1) {
      f(layout.node(base + static_cast<uint32_t>(std::countr_zero(bits))));
    }
  }
}

}  // namespace muster::solver
