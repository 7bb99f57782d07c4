// The role of a gang beside which all others are few.
#pragma once

#include "lib/solver/gang_solver.h"
#include "lib/solver/partial_placement.h"
#include "lib/solver/placement_problem.h"
#include "lib/solver/traffic.h"
#include "lib/solver/uniform_placer.h"

namespace muster::solver {

// A launcher beside its workers, parameter servers: what the large role needs
// by itself, which UniformPlacer tells exactly, is nearly all that the gang
// needs, and the small ones fit in beside it.
//
// Places the tasks to add of the role that takes most devices, if the others
// have a quarter of them at the most (or one in all), as if it were the whole
// gang. Charges nothing. Replaces `alone`, whose certificate is a bound for the
// gang. It has no tasks if there is no such role, or no room for it inside the
// first topology, or if rules are in the way: spreads, preferred levels, slices
// of the role, constraints of it in other topologies.
void PlaceLargeRole(PlacementProblem& problem, Cluster& cluster,
                    UniformPlacer& uniform, PlacementResult* alone);

// Puts these tasks, all of one role, where they are, and the others to add as
// near to them as there is room, or where their traffic is least. False,
// with some tasks put, if not all find room.
bool PutBeside(PartialPlacement& placement, const Traffic& traffic,
               const PlacementResult& alone);

// Whether all tasks put lie in no more domains than some of them need by
// themselves.
bool NeedsNoMore(const PartialPlacement& placement, const Certificate& alone);

}  // namespace muster::solver
