// MountProbe: whether tasks of this process can have mounts.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace muster::local {

// Lets `shim`, the program muster-shim, try to have some. Any other status says
// why tasks can have none. Any thread; as long as a process takes.
absl::Status ProbeMounts(const std::string& shim);

}  // namespace muster::local
