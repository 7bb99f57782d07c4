// A request for room, as the search for victims takes it.
#pragma once

#include "lib/scheduler/gang_spec.h"
#include "lib/scheduler/remaining.h"
#include "muster/ids.h"
#include "muster/resources.h"

namespace muster {

struct SchedulerTables;

// By a gang that waits, or by one that runs and lacks what its raised minimum
// asks.
struct RoomAsked {
  GangIndex gang = kNoGang;
  const GangSpec* spec = nullptr;  // What it is to be.
  Resources least{};               // What it will use more, at the least.
  bool least_is_exact = false;     // And at the most, wherever it is placed.
  // What it lacks beside the tasks that it has; null: it has none.
  const Remaining* rest = nullptr;
};

// All that the gang needs.
RoomAsked AskedInAll(const SchedulerTables& tables, GangIndex g);
// `rest` of its GangRecord::wanted, which outlives the request. What holds for
// a whole gang alone, that its demand is exact, is not said. O(tasks).
RoomAsked AskedBesides(const SchedulerTables& tables, GangIndex g,
                       const Remaining& rest);

}  // namespace muster
