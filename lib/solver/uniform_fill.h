// Identical tasks on a tree: which domains, then which nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/index/layout.h"
#include "lib/index/shape_slots.h"
#include "lib/solver/gang_solver.h"
#include "lib/solver/tree_knapsack.h"
#include "lib/solver/two_levels.h"

namespace muster::solver {

// Where a gang may lie: one domain of a stored level, or (level -1) all nodes
// inside the topology; without stored levels, all nodes.
struct FillArea {
  int level = -1;
  uint32_t domain = 0;
  // At least so many children of one domain of the level are needed, whichever
  // is taken; 0: not known.
  uint32_t least_children = 0;
};

// Fills a region, from its widest level inwards: at each level the fewest
// domains among the children of those chosen, the largest first, the last as
// tight as can be; at the end the fewest nodes. Where that is not known to be
// the least at the narrower levels, TreeKnapsack looks for less, or the proof;
// how far off the answer can be, the certificate says.
class UniformFill {
 public:
  using PositionTasks = TreeAnswer::PositionTasks;

  // Of the domains of a stored level that have room for all tasks, the one
  // that needs the fewest of its children (nodes, at the narrowest level);
  // then the tightest, then the one inside the tightest domain of the next
  // wider level, then the first. False if none has room.
  bool FindDomain(const index::Layout& layout, index::ShapeSlots& slots,
                  int level, uint32_t tasks, FillArea* region);

  // The region, found by FindDomain or everything, must have room for `tasks`;
  // the certificate holds for all domains of its level. Shares come in the
  // order of positions. O(domains and nodes looked at), which the result
  // counts, and at most `placement_steps` of the search.
  uint64_t Fill(const index::Layout& layout, index::ShapeSlots& slots,
                FillArea region, uint32_t tasks, uint64_t placement_steps,
                std::vector<PositionTasks>* shares, Certificate* certificate);

 private:
  // A domain or node with room, and how much of it is taken.
  struct PickedDomain {
    uint32_t id = 0;
    uint32_t slots = 0;
    uint32_t taken = 0;
  };

  void AddDomains(int level, uint32_t first, uint32_t last);
  template <class F>
  void ForEachNode(uint32_t first_chunk, uint32_t last_chunk, const F& f) const;
  void AddNodes(uint32_t first_chunk, uint32_t last_chunk);
  void AddChildren(int level);
  void ShareNodes(std::vector<PositionTasks>* shares) const;
  uint32_t MostOfNodes(uint32_t domain) const;
  uint32_t RoomAround(int level, uint32_t domain) const;
  uint32_t InTightestParent(int level, uint32_t domain) const;
  void Choose();
  uint32_t ChildrenNeeded(int level, uint32_t domain, uint32_t enough);
  uint32_t LeastDomains(int level, uint32_t used);
  void ChooseAt(int level);
  void FillFrom(int level);
  void Certify();
  void FindRoots(int level, uint32_t count);
  template <class T>
  bool SearchTwoLevels(int level, std::span<const T> slots);
  void ImproveTwoLevels(FillArea region);
  void Search(uint64_t steps, std::vector<PositionTasks>* shares);

  const index::Layout* layout_ = nullptr;
  index::ShapeSlots* shape_slots_ = nullptr;
  uint32_t tasks_ = 0;
  Certificate* certificate_ = nullptr;
  uint64_t looked_at_ = 0;
  bool single_ = false;  // Nodes take one task each: they are not chosen.
  std::vector<PickedDomain> picks_;
  std::vector<PickedDomain> parents_;
  std::vector<uint32_t> slots_;   // Of picks_.
  std::vector<uint32_t> proven_;  // By level; 0: nothing is.
  std::vector<uint64_t>
      chosen_slots_;             // By level: slots of what is chosen there,
  std::vector<uint32_t> least_;  // and those of the smallest.
  TwoLevels two_levels_;
  std::vector<TwoLevels::Root> roots_;
  TreeKnapsack knapsack_;
  TreeAnswer answer_;
  std::vector<TreeQuestion::LevelSlots> question_levels_;
};

}  // namespace muster::solver
