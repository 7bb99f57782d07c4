// Why a gang cannot be placed, with the nearest shortfall.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "lib/index/capacity_table.h"
#include "lib/solver/count_plan.h"
#include "lib/solver/forest.h"
#include "lib/solver/gang_solver.h"
#include "lib/solver/partial_placement.h"
#include "lib/solver/placement_problem.h"
#include "lib/solver/spread_fill.h"

namespace muster::solver {

class Explain {
 public:
  // Whether the gang cannot be satisfied even if no gang ran: by the capacity
  // of the nodes that admit its roles, inside one domain where one is
  // required, and by each spread alone. Stops counting where enough is found.
  // Fills in the reason.
  bool Never(PlacementProblem& problem, ScopeIndex top, CountPlan& plan,
             Reason* reason);

  // Why problem.add() tasks have no room now; the placement is empty.
  Reason NotNow(PartialPlacement& placement);

 private:
  uint32_t MostEver(PlacementProblem& problem, uint32_t role, uint32_t enough,
                    Reason* reason);
  uint32_t ShapeEver(PlacementProblem& problem, uint32_t role, ShapeId shape,
                     uint32_t enough, Reason* reason);
  uint32_t SpreadEver(PlacementProblem& problem, uint32_t role, uint32_t spread,
                      ShapeId shape, uint32_t enough);
  std::optional<Reason> SpreadShort(PartialPlacement& placement, uint32_t role);
  std::optional<Reason> RoleShort(PartialPlacement& placement, uint32_t role);
  std::optional<Reason> SumShort(PartialPlacement& placement);
  std::optional<Reason> DomainShort(PartialPlacement& placement, uint32_t role);

  std::vector<uint32_t> most_;
  index::CapacityTable capacity_;
  std::vector<SliceRule> layers_;
  Forest forest_;
  SpreadFill fill_;
  std::vector<std::pair<uint32_t, SpreadDomain>> ever_;  // By region.
  std::vector<SpreadDomain> domains_;
};

}  // namespace muster::solver
