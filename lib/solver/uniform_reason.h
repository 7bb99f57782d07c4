// Why a gang of identical tasks has no place: as fast as a place is found.
#pragma once

#include <cstdint>

#include "lib/index/capacity_table.h"
#include "lib/index/free_table.h"
#include "lib/index/placement_index.h"
#include "lib/solver/gang_solver.h"

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
  // The index must stay.
  explicit UniformReason(index::PlacementIndex& index) : index_(index) {}

  // For a question that has been answered with "no room". False if the reason
  // is of a kind that only the general search tells.
  bool Explain(const Cluster& cluster, const PlacementRequest& request,
               const UniformRule& rule, PlacementResult* result);

 private:
  bool Never(const Cluster& cluster, const PlacementRequest& request,
             const UniformRule& rule, Reason* reason);
  Reason ShortageOf(const Cluster& cluster, ShapeId shape, Ledger ledger,
                    uint32_t needed, uint64_t slots);

  index::PlacementIndex& index_;
  index::CapacityTable capacity_;
  index::FreeTable free_;
};

}  // namespace muster::solver
