// The tasks placed so far, with all that follows from them: charges in the
// cluster, slots, and the domains that constraints are now bound to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/solver/domain_numbers.h"
#include "lib/solver/placement_problem.h"
#include "lib/solver/slot_table.h"
#include "lib/solver/spread_counts.h"

namespace muster::solver {

// Required levels and slices bind lazily: the first task of a scope or slice
// (a fixed one, if there is any) anchors it, later ones must join its domain.
class PartialPlacement {
 public:
  // Starts a question; the table has been built.
  void Reset(PlacementProblem& problem, Cluster& cluster, SlotTable& table);

  // Places one task; false, and no change, if the node has no room.
  // Constraints are not looked at: see Allowed.
  bool Put(TaskId task, NodeIndex node);
  // The same, with these devices.
  bool PutExactly(TaskId task, const Allocation& at);

  // Whether the constraints let the task onto the node, capacity aside; of
  // spreads, the bounds by domain alone: see spreads().
  bool Allowed(TaskId task, NodeIndex node) const;
  // Whether the spreads would be met with one task there that now is nowhere.
  bool SpreadsMetWith(TaskId task, NodeIndex node);
  SpreadCounts& spreads() { return spreads_; }
  const SpreadCounts& spreads() const { return spreads_; }
  // Whether a task of the role can be on the node, given that it is allowed.
  uint32_t Slots(uint32_t role, NodeIndex node) const {
    return table_->slots(problem_->column(role), node);
  }

  // Undo, nesting: innermost first.
  struct Mark {
    Cluster::Mark cluster = 0;
    size_t placed = 0;
  };
  Mark Begin() { return {cluster_->Begin(), placed_.size()}; }
  void Commit(const Mark& mark) { cluster_->Commit(mark.cluster); }
  void Rollback(const Mark& mark);
  // What place() puts stays if it returns true, which it hands on.
  template <class F>
  bool Try(const F& place) {
    const Mark mark = Begin();
    const bool placed = place();
    placed ? Commit(mark) : Rollback(mark);
    return placed;
  }

  std::span<const Assignment> placed() const { return placed_; }
  // The most tasks that ever lay placed at once.
  size_t most_placed() const { return most_placed_; }
  // Exchanges the devices or node of a placed task: credits it, so that
  // Replace can put it elsewhere.
  void Lift(size_t placed);
  bool Replace(size_t placed, NodeIndex node);
  void PutBack(size_t placed, const Allocation& at);

  // Levels up from the domain to the narrowest domain around it that holds a
  // task of the gang; more than any level if there is none.
  int Nearness(const DomainRef& domain) const;
  // Whether tasks of the gang lie in the domain.
  bool HasTasks(const DomainRef& domain) const {
    return tasks_[numbers_[domain]] > 0;
  }
  // The same of the domain of `level`, no narrower, around `domain`; of a node
  // outside the topology itself.
  bool HasTasksAround(const DomainRef& domain, int level) const;
  bool Touched(NodeIndex node) const {
    return tasks_[DomainNumbers::OfNode(node)] > 0;
  }
  // Calls f(domain) once for each domain of the level of tree 0 that holds
  // tasks of the gang, in an order of no meaning. O(domains ever touched).
  template <class F>
  void ForEachDomainWithTasks(int level, const F& f) const {
    for (const DomainRef& s : touched_) {
      if (s.tree == 0 && s.level == level && HasTasks(s)) f(s.index);
    }
  }
  // Narrows the domain to where required levels and slices in the same tree let
  // the task be. False if Allowed is stricter, because of other trees or
  // spreads; `nowhere` is set if no place is left.
  bool Narrow(TaskId task, DomainRef* domain, bool* nowhere) const;

  PlacementProblem& problem() const { return *problem_; }
  Cluster& cluster() const { return *cluster_; }
  SlotTable& table() const { return *table_; }

 private:
  struct Binding {
    uint32_t tasks = 0;
    NodeIndex node = 0;  // Of the first task.

    void Enter(NodeIndex at, bool enter) {
      if (!enter) {
        --tasks;
      } else if (tasks++ == 0) {
        node = at;
      }
    }
  };
  bool Take(NodeIndex node, ShapeId shape, Allocation* at);
  void Enter(TaskId task, NodeIndex node, bool enter);
  void Settle(TaskId task, NodeIndex node);
  void ForgetTouched();
  template <class F>
  bool AllBonds(TaskId task, const F& f) const;
  static bool NarrowTo(const Tree& tree, int level, NodeIndex node,
                       DomainRef* domain);

  PlacementProblem* problem_ = nullptr;
  Cluster* cluster_ = nullptr;
  SlotTable* table_ = nullptr;
  // The rails that the gang's tasks use.
  uint64_t Rails();
  void ForgetRails();

  std::vector<Assignment> placed_;
  uint64_t fixed_rails_ = 0;  // Of the fixed tasks,
  uint64_t rails_ = 0;        // and of the first `railed_` placed ones, too.
  size_t railed_ = 0;
  size_t most_placed_ = 0;
  std::vector<Binding> scopes_;
  std::vector<Binding> slices_;
  SpreadCounts spreads_;
  DomainNumbers numbers_;
  std::vector<uint32_t> tasks_;  // Of the gang, by domain.
  // Domains that have had tasks in this question, each once.
  std::vector<DomainRef> touched_;
  std::vector<uint8_t> is_touched_;  // By domain.
};

}  // namespace muster::solver
