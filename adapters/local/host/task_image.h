// From a task with an image to what its shim runs. Pure, but for FindImage.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "adapters/local/controller/turn.h"
#include "adapters/local/host/images.h"
#include "adapters/local/model/task_key.h"
#include "adapters/local/shim/shim_spec.h"

namespace muster::local {

// Gives the process the task's image, if it has one; `spec` has its command,
// variables, volumes and mounts already. In the image are, of the machine: the
// job's folder, that of musterd's socket, the directory of the submission, the
// volumes and Images::binds. `folder`: of the attempt, in `job_folder`;
// `mounts`: tasks can have mounts (volume_places.h).
// Errors of FindImage; INVALID_ARGUMENT: a task has no command, and none is
// known of its image. O(variables + mounts), and a look at the files.
absl::Status AddImage(const TaskKey& task, const TaskStart& start,
                      const Images& images, const std::string& job_folder,
                      const std::string& folder, bool mounts, ShimSpec* spec);

}  // namespace muster::local
