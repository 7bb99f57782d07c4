// What a running gang can do without, in the order in which it would go.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/scheduler/gang_spec.h"
#include "lib/solver/gang_solver.h"

namespace muster {

// Takes a gang apart as growth puts it together, backwards. First goes what is
// of no use: the rest of a group or role that lost what it needs. Then roles of
// low `order` before those of higher order; of equal ones, always the last task
// of the role that is the nearest to what it desires (of equally near ones, of
// the last). Where no single task can be spared, the smallest group or role
// that can, which goes whole. Tasks of roles that are not preemptible stay.
class Surplus {
 public:
  // `counts`: tasks by role that count for the gang; `tasks`: those of them
  // that could go. O(tasks x roles x depth of groups).
  Surplus(const GangSpec& spec, std::span<const uint32_t> counts,
          std::span<const Assignment> tasks);

  // What goes, the first to go first.
  const std::vector<TaskId>& tasks() const { return gone_; }
  // The numbers of them that may go, ascending: of less than such a number,
  // something would be left that is of no use.
  const std::vector<uint32_t>& shrink_sizes() const { return shrink_sizes_; }

 private:
  // Groups first, by position, then roles.
  using Scope = uint32_t;
  Scope ScopeOf(uint32_t role) const { return groups_ + role; }
  bool IsRole(Scope s) const { return s >= groups_; }
  Scope ParentOf(Scope s) const;
  bool Below(uint32_t role, Scope s) const;

  bool Optional(Scope s) const;
  bool AncestorsAllow(Scope s, uint64_t tasks) const;
  bool CanSpareOne(uint32_t role) const;
  bool CanSpare(Scope s, int32_t order) const;
  void Take(uint32_t role);
  void TakeAll(Scope s);
  void TakeUseless();
  bool TakeSingle(int32_t order);
  bool TakeScope(int32_t order);

  const Gang& gang_;
  const uint32_t groups_;
  std::vector<uint32_t> counts_;               // By role.
  std::vector<std::vector<uint32_t>> can_go_;  // By role: indices, ascending.
  Satisfaction now_;                           // Of what is left.
  std::vector<TaskId> gone_;
  std::vector<uint32_t> shrink_sizes_;
};

// How many tasks at the back of `tasks`, all that the gang has, it can do
// without. Orders them so that these are at the back, the first to go last;
// `shrink_sizes` as VictimCandidate::shrink_sizes. One task stays: a gang of
// which nothing runs any more is over.
uint32_t PutSurplusLast(const GangSpec& spec, std::span<const uint32_t> counts,
                        std::vector<Assignment>* tasks,
                        std::vector<uint32_t>* shrink_sizes);

}  // namespace muster
