#include "lib/scheduler/room_asked.h"

#include <algorithm>

#include "lib/scheduler/scheduler_tables.h"

namespace muster {

RoomAsked AskedInAll(const SchedulerTables& tables, GangIndex g) {
  const GangSpec& spec = tables.SpecOf(g);
  return {.gang = g,
          .spec = &spec,
          .least = LeastOf(spec, tables.cluster),
          .least_is_exact = spec.least_is_exact};
}

RoomAsked AskedBesides(const SchedulerTables& tables, GangIndex g,
                       const Remaining& rest) {
  const GangRecord& r = tables.gangs.at(g);
  const GangSpec& spec = tables.specs.at(r.wanted);
  Resources least = LeastOf(spec, tables.cluster);
  for (const TaskRecord& task : r.tasks) {
    least.Subtract(tables.cluster.demand(task.at.shape));
  }
  for (ResourceKind k = 0; k < least.size(); ++k) {
    least.Set(k, std::max<int64_t>(least[k], 0));
  }
  return {.gang = g, .spec = &spec, .least = least, .rest = &rest};
}

}  // namespace muster
