// What the roles of a gang say to each other, and how far.
#ifndef MUSTER_LIB_SOLVER_TRAFFIC_H_
#define MUSTER_LIB_SOLVER_TRAFFIC_H_

#include <cstdint>
#include <span>
#include <vector>

#include "lib/solver/board.h"
#include "lib/solver/problem.h"

namespace muster::solver {

// The cost of a placement: weight x levels up to the common domain, in the
// gang's first tree, over all pairs of tasks whose roles talk.
class Traffic {
 public:
  void Init(const Problem& problem);
  bool empty() const { return lines_.empty(); }

  // What a task of the role on the node would add to the cost of all placed
  // and fixed tasks.
  int64_t CostOf(const Board& board, uint32_t role, NodeIndex node) const;
  int64_t Total(const Board& board) const;

  // Moves single tasks and swaps pairs inside the spot as long as that makes
  // the cost less and the step count is below `deadline`. Needs an open
  // transaction.
  void Improve(Board& board, const Spot& spot, uint64_t deadline);

 private:
  struct Line {
    uint32_t from = 0;
    uint32_t to = 0;
    int64_t weight = 0;
  };
  int64_t Between(const Problem& problem, uint32_t role, NodeIndex node,
                  const Assignment& other) const;
  bool Move(Board& board, size_t task, const Spot& spot);
  bool Swap(Board& board, size_t a, size_t b);

  std::vector<Line> lines_;
};

}  // namespace muster::solver

#endif  // MUSTER_LIB_SOLVER_TRAFFIC_H_
