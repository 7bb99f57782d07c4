// What tasks hold: capacity of their node, quota of their queue, a place in the
// node's book.
#ifndef MUSTER_LIB_SCHEDULER_HOLDINGS_H_
#define MUSTER_LIB_SCHEDULER_HOLDINGS_H_

#include <cstdint>
#include <span>

#include "lib/scheduler/gang_table.h"
#include "muster/cluster.h"
#include "muster/placement_solver.h"
#include "muster/resources.h"

namespace muster {

struct Core;
class GangEdit;

// Invariant: cluster, queues and nodes are charged with what the records' tasks
// hold by their phases (see TaskPhase), and with nothing else. Every change
// goes through here, and opens the questions that it concerns. Not
// synchronised. O(1) a task, and O(depth x kinds) for its queue.
class Holdings {
 public:
  explicit Holdings(Core& core) : core_(core) {}

  void Hold(GangIndex g, const TaskRecord& task);
  // The cluster has been charged by whoever placed the task.
  void HoldCharged(GangIndex g, const TaskRecord& task);
  void Unhold(GangIndex g, const TaskRecord& task);

  // Changes of a record that is being edited.
  void SetPhase(GangIndex g, TaskRecord& task, TaskPhase phase);
  void Move(GangIndex g, TaskRecord& task, const Allocation& to);
  // The gang goes to another leaf with all that its tasks use.
  void MoveTo(GangEdit& gang, QueueIndex leaf);

  // What an allocation, or all of them, use of each kind, where they are. The
  // reference holds until the next call.
  const Resources& UsageOf(const Allocation& a);
  const Resources& UsageOf(std::span<const Assignment> tasks);

 private:
  void Charge(GangIndex g, const TaskRecord& task);
  void BeginRelease(GangIndex g, TaskRecord& task);

  Core& core_;
  Resources usage_{};
  Resources sum_{};
};

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_HOLDINGS_H_
