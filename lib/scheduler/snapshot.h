// The state as a value, and back.
#pragma once

#include "absl/status/status.h"
#include "lib/scheduler/scheduler_tables.h"
#include "muster/state.h"

namespace muster {

GangState StateOf(const SchedulerTables& tables, GangIndex g);
SchedulerState StateOf(const SchedulerTables& tables);

// Into an empty scheduler made with state.config. Everything is checked: an
// error (INVALID_ARGUMENT) names the field, and leaves the tables of no use.
absl::Status Load(SchedulerTables& tables, const SchedulerState& state);

// Whether the gang's tasks are as its phase says; an InternalError names what
// is not.
absl::Status CheckGang(const SchedulerTables& tables, GangIndex g);
// The design's invariants, against the whole state: everything that is kept
// incrementally is derived anew.
absl::Status CheckAll(const SchedulerTables& tables);

}  // namespace muster
