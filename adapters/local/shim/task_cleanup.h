// What is run when a task was killed, to clean up behind it. POSIX alone.
#pragma once

#include "adapters/local/shim/shim_spec.h"

namespace muster::local {

// Starts ShimSpec::cleanup, if there is one, as the task's user, without input
// and output and for half a minute at most. Returns at once: it outlives the
// caller.
void StartCleanup(const ShimSpec& spec);

}  // namespace muster::local
