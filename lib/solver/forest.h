// The domains and nodes that can take tasks of one role, and how many tasks
// each should get: few domains at every level, tightly filled.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lib/solver/partial_placement.h"
#include "lib/solver/placement_problem.h"
#include "lib/solver/spread_fill.h"

namespace muster::solver {

// Built for one role inside one domain, then asked once. What a domain can take
// is the sum over its children, rounded down to whole slices at the level of
// a layer: so a count that fits is a count that can be placed.
//
// Where the table's sums tell what domains can take, nodes are looked at only
// in those that are chosen, or whose slices lie on single nodes.
class Forest {
 public:
  struct NodeTasks {
    NodeIndex node = 0;
    uint32_t tasks = 0;
  };

  // `layers`: counts at each one's level are multiples of its size; widest
  // level first, levels and sizes falling, each size dividing the one before.
  // Only nodes that the placement allows for `task` come in, and, if any, only
  // those inside all of `also`.
  void Build(const PartialPlacement& placement, TaskId task,
             const DomainRef& domain, std::span<const DomainRef> also,
             std::span<const SliceRule> layers);

  // What everything together can take, in whole slices.
  uint64_t capacity() const { return capacity_; }
  // The most that one domain of the level, which lies inside the domain, takes.
  uint64_t Best(int level);
  // Shares `tasks` (a multiple of the widest layer's size) out, all in one
  // domain of level `required` or narrower unless that is kEverywhere. Nodes
  // in the order of the tree, so that tasks numbered along them fall into
  // whole slices. False if there is no room.
  bool Distribute(uint32_t tasks, int required, std::vector<NodeTasks>* shares);
  // The same, without slices, under the problem's spread of that position,
  // which is of the domain's tree and for these tasks alone.
  bool DistributeSpread(uint32_t tasks, int required, uint32_t spread,
                        std::vector<NodeTasks>* shares);
  // The most tasks, up to `enough`, that the spread allows on these nodes, with
  // all in one domain of its region.
  uint32_t MostSpread(uint32_t enough, uint32_t spread);

 private:
  struct DomainEntry {
    uint32_t domain = 0;  // kOutside: a node outside the topology.
    uint32_t parent = 0;  // In the next wider level.
    uint32_t first = 0;   // Children in the next narrower level.
    uint32_t count = 0;
    uint64_t slots = 0;   // In whole slices.
    uint64_t room = 0;    // Slots, slices aside: how tight it is.
    uint32_t chosen = 0;  // Tasks given to it.
    bool closed = false;  // Its children, nodes, are not entered yet.
  };
  using EntryIndex = uint32_t;  // Position of an entry in its level.

  std::vector<DomainEntry>& at(int level) { return levels_[level - base_]; }
  const std::vector<DomainEntry>& at(int level) const {
    return levels_[level - base_];
  }
  bool FromSums(TaskId task, std::span<const DomainRef> also, DomainRef domain);
  void AddDomains(const DomainRef& domain);
  void AddNodes(TaskId task, std::span<const DomainRef> also);
  void Add(NodeIndex node, uint32_t slots);
  void Append(int level, uint32_t domain);
  void ExpandChildren(EntryIndex parent);
  uint32_t SizeAt(int level) const;
  void Round();
  // Of a domain for some tasks; smaller is better. Tightness: free devices,
  // then the other kinds, of a node; slots of a domain.
  struct DomainCost {
    int nearness = 0;
    int64_t score = 0;  // Negated.
    int64_t tightness = 0;
    EntryIndex pick = 0;

    friend auto operator<=>(const DomainCost&, const DomainCost&) = default;
  };
  int NearnessOf(int level, const DomainEntry& e) const;
  DomainCost CostOf(int level, EntryIndex pick, uint32_t tasks);
  int64_t ScoreOf(int level, EntryIndex pick, uint32_t tasks);
  void Consider(int level, EntryIndex pick, uint32_t tasks,
                std::optional<DomainCost>* best);
  void ConsiderHosts(EntryIndex first, EntryIndex last, uint32_t tasks,
                     std::optional<DomainCost>* best);
  bool Tighter(EntryIndex a, EntryIndex b) const;
  int Enclose(int from, EntryIndex first, EntryIndex last, int widest,
              uint32_t tasks);
  void ChooseFewest(int level, uint32_t tasks);
  void ChooseFewestByScore(int level, uint32_t tasks, size_t domains);
  void Descend(int level, uint32_t tasks);
  void DescendSeparately(int level);
  std::pair<EntryIndex, EntryIndex> Below(int level, EntryIndex first,
                                          EntryIndex last, int down) const;
  void Collect(std::vector<NodeTasks>* shares) const;
  void DescribeSpread(int level, EntryIndex first, EntryIndex last,
                      uint32_t spread);
  bool TrySpread(int level, EntryIndex first, EntryIndex last, uint32_t tasks,
                 uint32_t spread);
  void GiveSpread(int level, EntryIndex first, EntryIndex last, uint32_t tasks,
                  int spread_level);

  const PartialPlacement* placement_ = nullptr;
  const Tree* tree_ = nullptr;
  DomainRef domain_{};
  uint32_t column_ = 0;
  int base_ = 0;       // Widest level stored.
  bool lazy_ = false;  // Entries of nodes are made as needed, in any order.
  std::vector<std::vector<DomainEntry>> levels_;
  std::vector<SliceRule> layers_;
  uint64_t capacity_ = 0;
  std::vector<EntryIndex>
      picks_;  // Candidates, then chosen ones, of one level.
  std::vector<EntryIndex>
      separate_;  // Stack of domains with slices of their own.
  std::vector<std::pair<int64_t, uint32_t>> by_score_;
  SpreadFill fill_;
  std::vector<SpreadDomain> spread_domains_;
  std::vector<DomainCost> costs_;
};

}  // namespace muster::solver
