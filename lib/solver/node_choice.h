// Which node for one task.
#pragma once

#include <optional>
#include <span>

#include "lib/solver/partial_placement.h"
#include "lib/solver/placement_problem.h"

namespace muster::solver {

// Nodes are compared by soft taints and preferences, then by the problem's
// policy, then by key.

// One scan for a gang that is a single task: the best node with room, if any.
std::optional<NodeIndex> FindLoneNode(PlacementProblem& problem, uint32_t role);

// The best node for one more task of a gang, nearest to its other tasks first:
// among the nodes inside all of `domains` (of any trees) that the placement
// allows and on which the task keeps the spreads. Where the task starts a
// slice, a domain with room for the `after` tasks behind it goes first.
std::optional<NodeIndex> FindNode(const PartialPlacement& placement,
                                  TaskId task,
                                  std::span<const DomainRef> domains,
                                  uint32_t after);

}  // namespace muster::solver
