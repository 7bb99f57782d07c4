// All of it: the fields of every value of the public API.
#ifndef MUSTER_FIELDS_H_
#define MUSTER_FIELDS_H_

#include "muster/fields/config.h"             // IWYU pragma: export
#include "muster/fields/decision.h"           // IWYU pragma: export
#include "muster/fields/device.h"             // IWYU pragma: export
#include "muster/fields/disruption_budget.h"  // IWYU pragma: export
#include "muster/fields/event.h"              // IWYU pragma: export
#include "muster/fields/eviction_backoff.h"   // IWYU pragma: export
#include "muster/fields/gang.h"               // IWYU pragma: export
#include "muster/fields/gang_class_state.h"   // IWYU pragma: export
#include "muster/fields/ids.h"                // IWYU pragma: export
#include "muster/fields/node.h"               // IWYU pragma: export
#include "muster/fields/partition.h"          // IWYU pragma: export
#include "muster/fields/placement_policy.h"   // IWYU pragma: export
#include "muster/fields/plan.h"               // IWYU pragma: export
#include "muster/fields/preemption_costs.h"   // IWYU pragma: export
#include "muster/fields/preemption_policy.h"  // IWYU pragma: export
#include "muster/fields/priority_class.h"     // IWYU pragma: export
#include "muster/fields/protocol.h"           // IWYU pragma: export
#include "muster/fields/queue.h"              // IWYU pragma: export
#include "muster/fields/reason.h"             // IWYU pragma: export
#include "muster/fields/resources.h"          // IWYU pragma: export
#include "muster/fields/selector.h"           // IWYU pragma: export
#include "muster/fields/state.h"              // IWYU pragma: export
#include "muster/fields/topology.h"           // IWYU pragma: export

#endif  // MUSTER_FIELDS_H_
