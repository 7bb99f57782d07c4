// Reasons with the names of what a gang and the configuration have.
#pragma once

#include "muster/config.h"
#include "muster/gang.h"
#include "muster/reason.h"

namespace muster {

// The reason with its resource, role, group or level named; objects that have
// keys (nodes, queues, gangs) are left to who knows them. `gang` is the one
// that the reason is about, or null.
NamedReason NamedOf(const SchedulerConfig& config, const Gang* gang,
                    const Reason& reason);

}  // namespace muster
