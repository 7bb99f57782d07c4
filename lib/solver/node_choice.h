// Which node for one task.
#ifndef MUSTER_LIB_SOLVER_NODE_CHOICE_H_
#define MUSTER_LIB_SOLVER_NODE_CHOICE_H_

#include <span>

#include "lib/solver/board.h"
#include "lib/solver/problem.h"

namespace muster::solver {

// How much a node is left for others, in the order of what counts: reluctance
// and preferences, then tightness: a share of a device that is in use already,
// the least free devices, the least free of the other kinds. Less is better.
struct NodeRank {
  int64_t score = 0;  // Negated.
  bool opens_device = false;
  int64_t free_devices = 0;

  friend auto operator<=>(const NodeRank&, const NodeRank&) = default;
};

// The rank; `score` is given, for it is known already or costly.
NodeRank RankNode(const Cluster& cluster, NodeIndex node, ShapeId shape,
                  Ledger ledger, int64_t score);

// Whether a has less free than b: the first kind that differs decides.
bool LessFree(const Cluster& cluster, NodeIndex a, NodeIndex b, Ledger ledger);

// One scan for a gang that is a single task: the best node with room, or false.
bool FindLoneNode(Problem& problem, uint32_t role, ShapeId shape,
                  NodeIndex* best);

// The best node for one more task of a gang, nearest to its other tasks first:
// among the nodes inside all of `spots` (of any trees) that the board allows.
// Where the task starts a slice, a domain with room for the `after` tasks
// behind it goes first.
bool FindNode(const Board& board, TaskId task, std::span<const Spot> spots,
              uint32_t after, NodeIndex* best);

}  // namespace muster::solver

#endif  // MUSTER_LIB_SOLVER_NODE_CHOICE_H_
