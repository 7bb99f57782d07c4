// Depth-first search over all ways to place a gang's tasks inside a domain.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/solver/partial_placement.h"
#include "lib/solver/placement_problem.h"
#include "lib/solver/traffic.h"

namespace muster::solver {

// Task by task, the scarcest role first; required levels and slices bind as
// tasks are placed. Branches end where slots or useful resources of the domain
// no longer cover what is still to come, or a spread cannot hold any more (once
// all tasks lie placed, that is exact); identical tasks, nodes that look
// alike and devices in the same state are tried once. Preferences of levels
// inside the domain are not looked at.
class ExactSearch {
 public:
  // The first placement found is left on the placement, inside a transaction of
  // its own that is then committed.
  SearchOutcome Find(PartialPlacement& placement, const DomainRef& domain,
                     uint64_t deadline);

  // Replaces the placement made since `mark` by one that costs less, if one is
  // found, in a transaction of its own that `mark` then tells. Whether it is
  // proven to cost the least.
  bool Improve(PartialPlacement& placement, PartialPlacement::Mark* mark,
               const DomainRef& domain, const Traffic& traffic,
               uint64_t deadline);

 private:
  // Sets of devices are enumerated up to this many a node; a search that needed
  // more proves nothing.
  static constexpr size_t kMaxSets = 64;

  struct Move {
    int64_t cost = 0;
    uint32_t node = 0;  // Position in nodes_.
    friend auto operator<=>(const Move&, const Move&) = default;
  };

  void Start(PartialPlacement& placement, const DomainRef& domain,
             uint64_t deadline);
  void OrderTasks();
  void FindNodes();
  void FindTwins();
  bool Alike(NodeIndex a, NodeIndex b) const;
  bool NeedsDeviceChoice() const;
  bool Search(size_t depth, int64_t cost);
  bool TryNode(size_t depth, uint32_t node, int64_t cost);
  bool TryHere(size_t depth, const Allocation* at, NodeIndex node,
               int64_t cost);
  bool AlikeOn(NodeIndex node, uint32_t a, uint32_t b) const;
  bool TooMany(size_t base) const { return sets_.size() - base > kMaxSets; }
  void SkipSome(size_t base);
  void FindSets(NodeIndex node, ShapeId shape);
  void FindPlaces(NodeIndex node, ShapeId shape);
  bool MayStillFit() const;
  bool SameAsBefore(size_t depth) const;
  bool Leaf(int64_t cost);

  PartialPlacement* placement_ = nullptr;
  PlacementProblem* problem_ = nullptr;
  DomainRef domain_{};
  uint64_t deadline_ = 0;
  bool out_of_steps_ = false;
  bool skipped_some_ = false;  // Device sets left out: "no" is no proof.
  bool device_choice_ = false;
  std::vector<TaskId> tasks_;
  std::vector<uint32_t> used_;  // By depth: position in nodes_.
  std::vector<NodeIndex> nodes_;
  std::vector<uint32_t> twin_;   // Position of the first node alike.
  std::vector<uint64_t> tried_;  // By twin: the visit that tried it.
  uint64_t visit_ = 0;
  std::vector<int64_t> need_;         // By column.
  std::vector<int64_t> kind_need_;    // By position in SlotTable::kinds.
  std::vector<Allocation> sets_;      // Ways to take devices: a stack.
  std::vector<Move> moves_;           // A stack.
  const Traffic* traffic_ = nullptr;  // Null: any placement will do.
  int64_t best_cost_ = 0;
  std::vector<Assignment> best_;
};

}  // namespace muster::solver
