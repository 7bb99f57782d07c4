// Places the tasks of a gang group by group: greedily, from the narrowest
// domain outwards, and where that fails by packing its parts, or by exhaustive
// search.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "lib/solver/exact_search.h"
#include "lib/solver/forest.h"
#include "lib/solver/gang_solver.h"
#include "lib/solver/mix_search.h"
#include "lib/solver/pack_search.h"
#include "lib/solver/partial_placement.h"
#include "lib/solver/placement_problem.h"
#include "lib/solver/refiner.h"
#include "lib/solver/traffic.h"

namespace muster::solver {

class GroupSearch {
 public:
  // Steps at most, for each part of the search.
  struct Budget {
    uint64_t greedy = 0;
    uint64_t pack = 0;  // For bounds, and as many for packings.
    uint64_t exact = 0;
    Refiner::Budget refine{};
  };

  // Places what problem.add() asks for. The smallest enclosing domain goes
  // first: at each level from the host outwards, domains by tightness, each
  // tried greedily and then, if that fails, by packing the parts that require
  // narrower domains; the whole gang by a program over counts and exhaustively,
  // too. What is found is refined inside the domains of its level.
  // False, with nothing placed, if there is no room or the budget ended: see
  // cut_short.
  //
  // `alone` says where one role of the gang would lie by itself, or has no
  // tasks: PlaceLargeRole. They stay there and the others go beside them, if
  // there is room, and unless a narrower domain has room for all.
  bool Place(PartialPlacement& placement, const Budget& budget,
             const PlacementResult& alone);

  // Places these tasks, all that problem.add() asks for, as they say or better:
  // refined inside the narrowest domain around them and the fixed tasks.
  void Improve(PartialPlacement& placement, std::span<const Assignment> tasks,
               const Refiner::Budget& budget);

  // Whether a "no" is not proven.
  bool cut_short() const { return cut_short_; }
  // After a "no": of which level domains cannot hold the parts that require
  // them, if that is why; in the domain where the most have room.
  const std::optional<Reason>& shortage() const { return shortage_; }
  // After a "yes": how good it is.
  const Certificate& certificate() const { return certificate_; }

 private:
  struct CandidateDomain {
    int nearness = 0;
    int64_t tightness = 0;  // Slots there: see MainColumn.
    size_t order = 0;       // In the tree: keys decide among equals.
    uint32_t domain = 0;

    friend auto operator<=>(const CandidateDomain&,
                            const CandidateDomain&) = default;
  };
  struct Child {
    uint64_t slots = 0;  // Of the scarcest role below, for `need` tasks.
    uint64_t need = 0;
    ScopeIndex scope = 0;
  };
  // Tasks by column, then amounts by kind, in needs_.
  struct ScopeNeed {
    size_t first = 0;
    size_t columns = 0;
  };

  static constexpr int kAny = kEverywhere - 1;  // Level: no bound.

  void Start(PartialPlacement& placement, const Budget& budget);
  bool PlaceRoot(const PlacementResult& alone);
  bool PlaceBeside(const PlacementResult& alone);
  bool PlaceScope(ScopeIndex s, bool root);
  bool PlaceGroup(ScopeIndex s, const ScopeNeed& need, bool root);
  bool PlaceInside(ScopeIndex s, const DomainRef& domain, bool root, bool last);
  bool PlaceChildren(ScopeIndex s);
  bool PlaceRole(uint32_t role, const ScopeConstraint& rule);
  bool PlaceChunk(uint32_t role, std::span<const uint32_t> indices, int tree,
                  int required, std::span<const SliceRule> layers);
  void BuildForest(TaskId task, int tree, std::span<const SliceRule> layers);
  bool PutShares(uint32_t role, std::span<const uint32_t> indices);
  bool IsArithmetic(uint32_t role, const ScopeConstraint& rule) const;
  bool PlaceSpread(uint32_t role, const ScopeConstraint& rule);
  bool PlaceOneByOne(uint32_t role);
  bool MergedRole(ScopeIndex s, uint32_t* role, ScopeConstraint* rule) const;
  bool AreLayers(std::span<const SliceRule> slices, int tree) const;
  bool WholeSlices(uint32_t role) const;
  ScopeNeed PushNeeds(ScopeIndex s);
  std::span<int64_t> Tasks(const ScopeNeed& need) {
    return std::span(needs_).subspan(need.first, need.columns);
  }
  std::span<int64_t> Amounts(const ScopeNeed& need) {
    return std::span(needs_).subspan(need.first + need.columns,
                                     placement_->table().kinds().size());
  }
  bool HasSlots(const ScopeNeed& need, const DomainRef& domain);
  bool MayFit(const ScopeNeed& need, const DomainRef& domain);
  uint32_t MainColumn(const ScopeNeed& need) const;
  void Consider(const ScopeNeed& need, uint32_t main, const DomainRef& domain);
  void FindHosts(const ScopeNeed& need, const DomainRef& around, bool named);
  void FindCandidates(ScopeIndex s, const ScopeNeed& need,
                      const DomainRef& around, int level);
  Child Scarcity(ScopeIndex s, const DomainRef& domain) const;
  int NarrowestLevel(ScopeIndex s, int tree) const;
  int TreeOf(ScopeIndex s) const;
  DomainRef Innermost(int tree) const;
  DomainRef Enclosure(std::span<const Assignment> tasks) const;
  bool Exhaust(ScopeIndex s, const DomainRef& domain, bool root, bool last);
  bool PutPacked(PackSearch& pack, bool last, bool* none);
  bool PutExact(const DomainRef& domain, bool last, bool* none);
  void NoteShortage(const PackSearch& pack);
  bool PutBest(const DomainRef& domain, bool last, bool* none);
  bool KeepsChoice() const;
  void Refine(PartialPlacement::Mark* mark, const Certificate& alone,
              const Refiner::Budget& budget);
  bool PlaceMerged(ScopeIndex s, uint32_t role, const ScopeConstraint& rule);

  PartialPlacement* placement_ = nullptr;
  PlacementProblem* problem_ = nullptr;
  uint64_t deadline_ = 0;
  uint64_t exact_left_ = 0;
  uint64_t prices_left_ = 0;
  uint64_t pack_left_ = 0;
  uint64_t counts_left_ = 0;
  bool cut_short_ = false;
  bool decided_ = false;   // The greedy answer for one role is exact.
  int root_below_ = kAny;  // The root goes into narrower domains than this.
  std::vector<DomainRef> pins_;              // Chosen domains, outermost first.
  std::vector<CandidateDomain> candidates_;  // A stack.
  std::vector<Child> children_;              // A stack.
  std::vector<int64_t> needs_;               // A stack.
  std::vector<DomainRef> also_;
  std::vector<Forest::NodeTasks> shares_;
  std::vector<Assignment> beside_;
  Forest forest_;
  ExactSearch exact_;
  Traffic traffic_;
  MixSearch mix_;
  std::deque<PackSearch> packs_;  // One for each that is under way, and more.
  size_t packing_ = 0;            // Under way: one inside the other.
  std::optional<Reason> shortage_;
  Refiner refiner_;
  Certificate certificate_;
};

}  // namespace muster::solver
