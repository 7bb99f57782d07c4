// Commands that are run beside a task, as its user. POSIX alone.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "adapters/local/shim/shim_spec.h"

namespace muster::local {

// Starts one of the spec's, if it is not empty, without input and output and
// for half a minute at most. Returns at once: it may outlive the caller. Its
// process; 0: there is none.
pid_t StartSideCommand(const ShimSpec& spec,
                       const std::vector<std::string>& command);

}  // namespace muster::local
