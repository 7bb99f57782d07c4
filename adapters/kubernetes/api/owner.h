// What owns pods: Jobs, JobSets, the jobs of training and serving operators.
// Read for the size of a gang, without a schema. Plain values, as in objects.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapters/kubernetes/api/objects.h"

namespace muster::kubernetes::api {

// Pods of one kind in an owner.
struct OwnerRole {
  // A replica type ("Worker"), a replicated job, a worker group ("head" is
  // Ray's head), "leader" and "worker" of a LeaderWorkerSet, a task of a
  // Volcano job; "" where there is one kind only.
  std::string name{};
  int64_t pods = 0;
  // Fewer need not run, where the owner says so.
  std::optional<int64_t> min_pods{};
  // Its pods are made when others run or are through: no pod waits for them.
  bool later = false;

  friend bool operator==(const OwnerRole&, const OwnerRole&) = default;
};

struct Owner {
  ObjectMeta meta{};
  std::string api_version{};
  std::string kind{};
  // In the order of the spec, of one copy. Empty: how many pods there are
  // cannot be told.
  std::vector<OwnerRole> roles{};
  // Groups of pods like this one, each of which starts alone: the replicas of a
  // LeaderWorkerSet.
  int64_t copies = 1;
  // How many pods start together, over all roles, where the owner says so
  // (minAvailable).
  std::optional<int64_t> min_available{};
  // Of runPolicy.schedulingPolicy.
  std::string queue{};
  std::string priority_class_name{};
  bool suspended = false;

  // Of a batch/v1 Job.
  std::optional<int32_t> completions{};
  std::string completion_mode{};  // "NonIndexed", "Indexed" or "".
  std::optional<int32_t> backoff_limit{};
  // A rule of its podFailurePolicy ignores pods with DisruptionTarget, so that
  // preemption does not count against backoffLimit.
  bool ignores_disruption = false;

  friend bool operator==(const Owner&, const Owner&) = default;
};

}  // namespace muster::kubernetes::api
