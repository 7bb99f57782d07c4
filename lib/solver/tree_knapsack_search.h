// Whether a root can take all tasks with given counts: a dynamic program.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/solver/tree_knapsack_bound.h"
#include "lib/solver/tree_knapsack_pruned.h"

namespace muster::solver::knapsack {

// Walks the domains above the narrowest level once, in the order of the tree.
// A label is one way of using the domains so far: the counts used at each level
// and the most tasks that can be taken with them (an entry of the knapsack's
// table; only those are kept that can still lead to enough tasks). At each
// group, a domain of the level above the narrowest, a label goes on without it,
// or with its k largest children for some k.
//
// What a label can still lead to is bounded at two sets of prices. At the best
// ones for the question as a whole, a bad mixture of counts shows. With the
// narrowest domains for free, at the best prices of the level before, it shows
// when too much room is left unused, which is what keeps the choice of wider
// domains small where these hardly suffice.
class LabelSearch {
 public:
  enum class Result : uint8_t { kYes, kNo, kUnknown };

  // Two bounds on the same root and level.
  static constexpr int kBounds = 2;
  using Bounds = std::array<const Bound*, kBounds>;

  // The k largest children of a domain of the level above the narrowest.
  struct SiblingGroup {
    uint32_t position = 0;
    uint32_t children = 0;
  };

  // The root that the bounds were last evaluated for. `counts` are the allowed
  // domains by level to `level`.
  Result Decide(const PrunedTree& pruned, int level, const Bounds& bounds,
                std::span<const uint32_t> counts, uint64_t tasks, Meter* meter);
  // After kYes: the groups that take all tasks.
  std::span<const SiblingGroup> groups() const { return groups_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  using Values = std::array<int64_t, kBounds>;  // By bound.

  struct Label {
    uint64_t key = 0;    // Counts used, packed.
    uint64_t tasks = 0;  // Taken.
    Values value{};      // Their value, all prices paid.
    uint32_t step = kNone;
  };
  // How a label came to be, for the way back.
  struct Step {
    uint32_t before = kNone;
    SiblingGroup group;
  };
  struct Field {
    int shift = 0;
    uint64_t mask = 0;
    uint32_t limit = 0;
  };

  bool Pack(std::span<const uint32_t> counts);
  uint32_t Count(uint64_t key, int level) const {
    return static_cast<uint32_t>(key >> fields_[level].shift &
                                 fields_[level].mask);
  }
  uint64_t One(int level) const { return uint64_t{1} << fields_[level].shift; }
  // What a domain adds to the bounds if it may be left out.
  Values Worth(int level, uint32_t p) const;
  // Whether enough tasks are within both bounds.
  bool Promising(const Values& label, const Values& more) const;
  // Go through domain p (the children of domain p) of the level with the
  // labels of that level; `after`: what all that comes later is worth.
  void Visit(int level, uint32_t p, const Values& after);
  void VisitInside(int level, uint32_t p, Values after);
  void VisitSiblings(uint32_t p, const Values& after);
  bool TryLast(const Label& label, SiblingGroup group);
  void Widen(const Label& label, SiblingGroup most, const Values& after);

  void StartLabels();
  void AddLabel(const Label& label);
  void Grow();
  bool done() const { return found_ || meter_->out(); }

  const PrunedTree* pruned_ = nullptr;
  Bounds bounds_{};
  Meter* meter_ = nullptr;
  int top_ = 0;    // The level under the root.
  int level_ = 0;  // The narrowest.
  uint64_t tasks_ = 0;
  Values needed_{};  // Values that a label must be able to reach.
  bool found_ = false;
  std::vector<Field> fields_;               // By level.
  std::vector<std::vector<Label>> labels_;  // By level: outside its domains.
  std::vector<Label> next_;                 // Being made.
  std::vector<uint32_t> table_;             // Hash table into next_.
  std::vector<Step> steps_;
  std::vector<SiblingGroup> groups_;
};

}  // namespace muster::solver::knapsack
