// Why a gang of identical tasks has no place: as fast as a place is found.
#ifndef MUSTER_LIB_SOLVER_UNIFORM_REASON_H_
#define MUSTER_LIB_SOLVER_UNIFORM_REASON_H_

#include <cstdint>

#include "lib/index/capacity_table.h"
#include "lib/index/placement_index.h"
#include "muster/placement_solver.h"

namespace muster::solver {

// What all topology constraints of such a gang come to.
struct UniformRule {
  int topology = -1;
  bool named = false;  // Nodes outside are out of the question.
  int required = -1;   // The level one domain of which must hold all.
};

// The same reasons, in the same order, as Explain gives for any gang.
class UniformReason {
 public:
  // For a question that has been answered with "no room". False if the reason
  // is of a kind that only the general search tells.
  bool Explain(const Cluster& cluster, const PlacementRequest& request,
               const UniformRule& rule, index::PlacementIndex* index,
               PlacementResult* result);

 private:
  bool Never(const Cluster& cluster, const PlacementRequest& request,
             const UniformRule& rule, Reason* reason);
  bool OverHeadroom(const Cluster& cluster, const PlacementRequest& request,
                    const UniformRule& rule, index::PlacementIndex* index,
                    Reason* reason);
  Reason NoDomain(const index::Layout& layout, const index::Column& column,
                  const UniformRule& rule, uint32_t needed);
  Reason Shortage(const Cluster& cluster, const PlacementRequest& request,
                  ShapeId shape, int64_t slots);

  index::CapacityTable capacity_;
  index::FreeTable free_;
};

}  // namespace muster::solver

#endif  // MUSTER_LIB_SOLVER_UNIFORM_REASON_H_
