// PlacementSolver: finds nodes and devices for gangs, without a scheduler.
#ifndef MUSTER_PLACEMENT_SOLVER_H_
#define MUSTER_PLACEMENT_SOLVER_H_

#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "muster/cluster_view.h"
#include "muster/config.h"
#include "muster/export.h"
#include "muster/gang.h"
#include "muster/ids.h"
#include "muster/node.h"
#include "muster/placement.h"

namespace muster {

// For a scheduler that has its own queues and asks where a gang could run: the
// placement search of Scheduler, over nodes that the caller names. It knows
// topologies, fabrics, devices and partitions, groups and alternatives; no
// queue, quota, priority or time. Of a gang it looks at key, groups, roles and
// traffic (see Gang).
//
//   auto solver = muster::PlacementSolver::Create({.topologies = {{"dc",
//   {"rack"}}}}); solver->SetNode(node); absl::StatusOr<muster::Placement>
//   placement = solver->Place(gang); if (placement.ok() && placement->fit ==
//   muster::Fit::kFits) ... solver->Release("job-1");
//
// The same calls give the same answers on every machine; ties are broken by
// keys. Not synchronised: one thread at a time. Errors (INVALID_ARGUMENT names
// the field) change nothing. How it searches: docs/placement.md.
class MUSTER_API PlacementSolver {
 public:
  // Of the configuration count: resources, device_kind, node_kind,
  // topologies, fabrics, placement, partition_schemes and
  // search.placement_steps.
  static absl::StatusOr<PlacementSolver> Create(SchedulerConfig config);

  PlacementSolver(PlacementSolver&&) noexcept;
  PlacementSolver& operator=(PlacementSolver&&) noexcept;
  ~PlacementSolver();

  // A new node, or new values for a known one; what gangs hold there they go on
  // holding. FAILED_PRECONDITION: tasks hold devices that the node no longer
  // has; they are released first. O(capacity kinds + devices), of a known node
  // + tasks of all gangs.
  absl::Status SetNode(const Node& node);
  // NOT_FOUND, or FAILED_PRECONDITION while a gang has a task there. O(tasks of
  // all gangs).
  absl::Status RemoveNode(std::string_view key);
  // Defines or replaces a named set of nodes, for Role::node_sets.
  absl::Status SetNodeSet(const NodeSet& set);

  // Where the gang could run now, with the fewest tasks that satisfy it (see
  // Group): all of them, or none. Changes nothing. Not an OK status only for a
  // gang that is invalid. ALREADY_EXISTS: a gang of that key has its places.
  absl::StatusOr<Placement> Find(const Gang& gang) const;
  // The same, and if it fits, the gang holds these places under its key.
  absl::StatusOr<Placement> Place(const Gang& gang);
  // Further tasks of a gang that has places, as many as fit towards
  // desired_tasks (kFits, perhaps with no task); it holds them, too. NOT_FOUND.
  absl::StatusOr<Placement> Grow(std::string_view gang);
  // The gang holds exactly these places, wherever it was decided: of gangs that
  // run when the caller starts, of an answer of Find or of Preemptor. What they
  // hold may exceed what is free, as reality may. NOT_FOUND: no such node.
  // ALREADY_EXISTS. O(tasks).
  absl::Status Hold(const Gang& gang, std::span<const PlacedTask> tasks);
  // The gang holds nothing any more, and is forgotten. NOT_FOUND. O(tasks).
  absl::Status Release(std::string_view gang);
  // Those tasks of it hold nothing any more; a gang without tasks is forgotten.
  // NOT_FOUND: it has no such gang or task. O(tasks of the gang).
  absl::Status Release(std::string_view gang, std::span<const TaskId> tasks);

  // What the gang holds, in the order in which it got it; empty where it is not
  // known. O(tasks).
  std::vector<PlacedTask> TasksOf(std::string_view gang) const;
  // Nodes and what is free. Both ledgers are the same here: nothing is
  // nominated.
  ClusterView cluster() const;

 private:
  friend class Preemptor;
  class Rep;
  explicit PlacementSolver(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace muster

#endif  // MUSTER_PLACEMENT_SOLVER_H_
