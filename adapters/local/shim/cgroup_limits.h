// CgroupLimits: to what the kernel can hold the tasks of this machine.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace muster::local {

// Of cgroups (version 2) that are made in a folder: which fields of ShimSpec
// have an effect there.
struct CgroupLimits {
  bool memory = false;  // memory_limit.
  bool cpu = false;     // cpu_max, cpu_weight.
  bool cpuset = false;  // cpuset.

  friend bool operator==(const CgroupLimits&, const CgroupLimits&) = default;
};

// By the controllers that `folder` gives to the cgroups in it
// (cgroup.subtree_control), which is for the administrator to say. NOT_FOUND:
// it is not there. FAILED_PRECONDITION: it is no folder of cgroup v2.
// PERMISSION_DENIED: this process may make none in it. Any thread; some system
// calls.
absl::StatusOr<CgroupLimits> CgroupLimitsIn(const std::string& folder);

}  // namespace muster::local
