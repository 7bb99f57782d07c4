// The state as a value, and back.
#pragma once

#include "absl/status/status.h"
#include "lib/scheduler/core.h"
#include "muster/state.h"

namespace muster {

GangState StateOf(const Core& core, GangIndex g);
SchedulerState StateOf(const Core& core);

// Into an empty scheduler made with state.config. Everything is checked: an
// error (INVALID_ARGUMENT) names the field, and leaves a core of no use.
absl::Status Load(Core& core, const SchedulerState& state);

// Whether the gang's tasks are as its phase says; an InternalError names what
// is not.
absl::Status CheckGang(const Core& core, GangIndex g);
// The design's invariants, against the whole state: everything that is kept
// incrementally is derived anew.
absl::Status CheckAll(const Core& core);

}  // namespace muster
