// How many tasks of each column every node and every domain can take: built by
// one scan, kept true as tasks come and go.
#ifndef MUSTER_LIB_SOLVER_SLOT_TABLE_H_
#define MUSTER_LIB_SOLVER_SLOT_TABLE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "lib/solver/problem.h"

namespace muster::solver {

// A node's slots are counted up to the column's limit, so a sum is exact
// below that limit and at least it otherwise. With several columns there is
// also the useful free amount of each kind: on a node, what is free or what
// the tasks that fit could use, whichever is less. Demand beyond the useful
// sum of a domain is a proof that it has no room.
class SlotTable {
 public:
  // Reads all nodes the request allows. O(nodes x columns).
  void Build(Problem& problem);
  // Reads one node again. O(columns x levels).
  void Update(NodeIndex node);

  uint32_t slots(uint32_t column, NodeIndex node) const {
    return slots_[column * stride_ + node];
  }
  // Slots in a domain.
  uint64_t Sum(uint32_t column, const Spot& spot) const;
  uint64_t Total(uint32_t column) const { return totals_[column]; }

  // The nodes the request allows, in the order of tree t: those of the
  // topology first, by domain path and key, then the others by key.
  std::span<const NodeIndex> Everywhere(int t) const { return order_[t]; }

  // The nodes of a spot, in the same order; a domain's may be some that the
  // request does not allow, which have no slots. Valid as long as `spot`.
  std::span<const NodeIndex> Nodes(const Spot& spot) const;

  // Preference weights less reluctance: preferred nodes first, nodes with
  // taints of the kind kPreferNoSchedule last.
  int64_t Score(uint32_t column, NodeIndex node) const {
    return scored_[column] ? scores_[column * stride_ + node] : 0;
  }
  bool HasScores(uint32_t column) const { return scored_[column] != 0; }

  // Kinds the columns ask for; `Useful` takes a position in it. Empty with
  // one column, whose slots say all.
  std::span<const ResourceKind> kinds() const { return kinds_; }
  int64_t Useful(size_t kind, const Spot& spot) const;

 private:
  void FindKinds();
  void FindOrders();
  void Read(NodeIndex node);
  void ReadScore(uint32_t column, NodeIndex node);
  int64_t UsefulOn(size_t kind, NodeIndex node) const;
  void AddSlots(uint32_t column, NodeIndex node, int64_t change);
  void AddUseful(size_t kind, NodeIndex node, int64_t change);
  // Position of a domain among all domains of all trees.
  size_t Position(const Spot& s) const {
    return level_first_[tree_first_[s.tree] + static_cast<size_t>(s.level)] +
           s.domain;
  }

  Problem* problem_ = nullptr;
  size_t stride_ = 0;
  size_t domains_ = 0;
  std::vector<size_t> tree_first_;   // Tree -> its first entry below.
  std::vector<size_t> level_first_;  // Tree and level -> first domain.
  std::vector<uint32_t> slots_;      // [column][node]
  std::vector<int64_t> sums_;        // [column][domain]
  std::vector<uint64_t> totals_;     // [column]
  std::vector<int64_t> scores_;      // [column][node]
  std::vector<uint8_t> scored_;      // [column]
  std::vector<ResourceKind> kinds_;
  std::vector<int64_t> useful_;         // [node][kind]
  std::vector<int64_t> useful_sums_;    // [kind][domain]
  std::vector<int64_t> useful_totals_;  // [kind]
  std::vector<std::vector<NodeIndex>> order_;
};

}  // namespace muster::solver

#endif  // MUSTER_LIB_SOLVER_SLOT_TABLE_H_
