// What a process is started with, of what a task is to be started with.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "adapters/local/controller/turn.h"
#include "adapters/local/shim/shim_spec.h"

namespace muster::local {

// `visible_devices`: CUDA_VISIBLE_DEVICES. Variables of fields are what they
// are on this machine: its name, the loopback address, the task's name.
// No variable of a field is called CUDA_VISIBLE_DEVICES or MUSTER_*. Those of
// secrets and config maps are AddVariables' (volume_places.h).
// INVALID_ARGUMENT: a variable's name is none. O(bytes), and a question about
// the user's groups.
absl::StatusOr<ShimSpec> MakeShimSpec(const TaskStart& start,
                                      const std::string& visible_devices,
                                      Duration grace);

}  // namespace muster::local
