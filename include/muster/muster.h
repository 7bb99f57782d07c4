// What a host needs to run a scheduler. Apart, for those who want it:
//   muster/fields.h             the members of values, by number and name
//   muster/fabric/fabric.h      networks that are no tree, asked directly
//   muster/fabric/rank_order.h  the order in which the tasks of a gang talk
//   muster/fabric/graphml.h     networks as GraphML (muster::graphml)
//   muster/heap/                a priority heap for threads (muster::heap)
//   muster/wire/                snapshots and journals (muster::wire)
//   muster/workload/            manifests, the life of a job (muster::workload)
#ifndef MUSTER_MUSTER_H_
#define MUSTER_MUSTER_H_

#include "muster/certificate.h"        // IWYU pragma: export
#include "muster/cluster_view.h"       // IWYU pragma: export
#include "muster/config.h"             // IWYU pragma: export
#include "muster/decision.h"           // IWYU pragma: export
#include "muster/device.h"             // IWYU pragma: export
#include "muster/device_set.h"         // IWYU pragma: export
#include "muster/disruption_budget.h"  // IWYU pragma: export
#include "muster/event.h"              // IWYU pragma: export
#include "muster/eviction_backoff.h"   // IWYU pragma: export
#include "muster/gang.h"               // IWYU pragma: export
#include "muster/gang_class_state.h"   // IWYU pragma: export
#include "muster/ids.h"                // IWYU pragma: export
#include "muster/node.h"               // IWYU pragma: export
#include "muster/partition.h"          // IWYU pragma: export
#include "muster/placement.h"          // IWYU pragma: export
#include "muster/placement_policy.h"   // IWYU pragma: export
#include "muster/placement_solver.h"   // IWYU pragma: export
#include "muster/plan.h"               // IWYU pragma: export
#include "muster/preemption_costs.h"   // IWYU pragma: export
#include "muster/preemption_policy.h"  // IWYU pragma: export
#include "muster/preemptor.h"          // IWYU pragma: export
#include "muster/priority_class.h"     // IWYU pragma: export
#include "muster/quantity.h"           // IWYU pragma: export
#include "muster/queue.h"              // IWYU pragma: export
#include "muster/queue_standing.h"     // IWYU pragma: export
#include "muster/reason.h"             // IWYU pragma: export
#include "muster/resources.h"          // IWYU pragma: export
#include "muster/runner_up.h"          // IWYU pragma: export
#include "muster/scheduler.h"          // IWYU pragma: export
#include "muster/selector.h"           // IWYU pragma: export
#include "muster/state.h"              // IWYU pragma: export
#include "muster/topology.h"           // IWYU pragma: export
#include "muster/victim_policy.h"      // IWYU pragma: export
#include "muster/waiting_mirror.h"     // IWYU pragma: export

#endif  // MUSTER_MUSTER_H_
