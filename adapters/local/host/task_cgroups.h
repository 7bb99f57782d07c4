// TaskCgroups: where tasks have a cgroup (version 2) each, which holds them to
// what they asked for and in which nothing of them gets lost.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "adapters/local/model/task_key.h"
#include "adapters/local/shim/cgroup_limits.h"
#include "adapters/local/shim/shim_spec.h"

namespace muster::local {

// Config::cgroup of the cgroup in which musterd runs.
inline constexpr char kOwnCgroup[] = "own";

// A value. Any thread.
class TaskCgroups {
 public:
  // Tasks have none.
  TaskCgroups() = default;
  // `asked`: as Config::cgroup. A folder is made where it is not there. Its
  // controllers, and those of its parent, are switched on as far as the kernel
  // lets this process. kOwnCgroup: this process moves into "daemon" in its own
  // cgroup first, since one that has controllers has no processes of its own.
  // FAILED_PRECONDITION: it is no cgroup of version 2, or its own is that of
  // the whole machine; PERMISSION_DENIED and other errors of the file system.
  static absl::StatusOr<TaskCgroups> Open(const std::string& asked);

  // "" where tasks have none.
  const std::string& folder() const { return folder_; }
  const CgroupLimits& limits() const { return limits_; }

  // Sets the fields of the spec that are about cgroups, once its cpus are set,
  // for the task that asked for so many thousandths of a core; 0: for none in
  // particular. Its memory limit is not enforced, and so none, where no
  // controller does it.
  void Hold(const TaskKey& task, int64_t cpu_milli, ShimSpec* spec) const;

 private:
  TaskCgroups(std::string folder, CgroupLimits limits)
      : folder_(std::move(folder)), limits_(limits) {}

  std::string folder_;
  CgroupLimits limits_{};
};

}  // namespace muster::local
