// What tasks hold: capacity of their node, quota of their queue, a place in the
// node's book.
#pragma once

#include <cstdint>
#include <span>

#include "lib/cluster/cluster.h"
#include "lib/scheduler/gang_table.h"
#include "lib/solver/gang_solver.h"
#include "muster/resources.h"

namespace muster {

struct SchedulerTables;
class GangEdit;
struct NodeTask;

// Invariant: cluster, queues and nodes are charged with what the records' tasks
// hold by their phases, and with nothing else:
//
//                 now            later
//   nominated     -              all
//   starting      all            all
//   running       all            all
//   releasing     all            what it keeps, if its gang is to resume; all
//                                while its gang needs another in its place
//   suspended     what it keeps  what it keeps, if its gang is to resume
//   succeeded     -              -
//
// Every change goes through here, and activates the questions that it concerns.
// Not synchronised. O(1) a task, and O(depth x kinds) for its queue.
class Holdings {
 public:
  explicit Holdings(SchedulerTables& tables) : tables_(tables) {}

  void Hold(GangIndex g, const TaskRecord& task);
  // The caller that placed the task has charged the cluster.
  void HoldCharged(GangIndex g, const TaskRecord& task);
  void Unhold(GangIndex g, const TaskRecord& task);

  // Changes of a record that is being edited.
  void SetPhase(GangIndex g, TaskRecord& task, TaskPhase phase);
  void SetKeeps(GangIndex g, TaskRecord& task, bool keeps, bool place);
  void Move(GangIndex g, TaskRecord& task, const Allocation& to);
  // The task's shape is another one that asks for the same.
  void SetShape(GangIndex g, TaskRecord& task, ShapeId shape);
  // The gang goes to another leaf with all that its tasks use.
  void MoveTo(GangEdit& gang, QueueIndex leaf);

  // What an allocation, or all of them, use of each kind, where they are. The
  // reference holds until the next call.
  const Resources& UsageOf(const Allocation& a);
  const Resources& UsageOf(const NodeTask& ref);
  const Resources& UsageOf(std::span<const Assignment> tasks);

 private:
  // How much of its allocation a task holds in a ledger.
  enum class Part : uint8_t { kNothing, kKept, kAll };
  struct Charges {
    Part now = Part::kNothing;
    Part later = Part::kNothing;
    bool has_place = false;  // On a node, or wants it back.

    bool releases() const { return now > later; }
  };

  Charges ChargesOf(GangIndex g, const TaskRecord& task) const;
  Allocation AllocationOf(GangIndex g, const TaskRecord& task, Part part) const;
  void Change(GangIndex g, TaskRecord& task, const TaskRecord& next);
  void Book(GangIndex g, const TaskRecord& task, const Charges& charges,
            int sign);
  void PostQueue(QueueIndex queue, GangIndex g, const TaskRecord& task,
                 const Charges& charges, int sign);
  void PostCluster(GangIndex g, const TaskRecord& task, const Charges& charges,
                   int sign);
  void Freed(GangIndex g, NodeIndex n, const Charges& before,
             const Charges& after);

  SchedulerTables& tables_;
  Resources usage_{};
  Resources sum_{};
};

}  // namespace muster
