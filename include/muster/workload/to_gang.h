// ToGang: a job as the scheduler sees it, and the numbers of its tasks once
// they have places.
#ifndef MUSTER_WORKLOAD_TO_GANG_H_
#define MUSTER_WORKLOAD_TO_GANG_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "muster/config.h"
#include "muster/device_set.h"
#include "muster/export.h"
#include "muster/gang.h"
#include "muster/node.h"
#include "muster/priority_class.h"
#include "muster/topology.h"
#include "muster/workload/job.h"

namespace muster::workload {

// What a host says of all its jobs.
struct GangOptions {
  std::string key{};    // Empty: NAMESPACE/NAME.
  std::string queue{};  // Of jobs that name none.
  std::string user{};
  Time submitted = 0;
  // Names of resources that are whole devices; beside "gpu" itself.
  std::vector<std::string> device_resources{"nvidia.com/gpu", "amd.com/gpu"};
  // Of spot replicas: what they tolerate, and which nodes they prefer.
  std::vector<Toleration> spot_tolerations{};
  SelectorTerm spot_nodes{};
};

// Which tasks of a job a role of its gang has: those of `role` from `first` on.
struct RoleRange {
  uint32_t role = 0;
  uint32_t first = 0;

  friend bool operator==(const RoleRange&, const RoleRange&) = default;
};

struct GangForm {
  Gang gang{};
  std::vector<RoleRange> ranges{};  // By role of the gang.
  // To be told to the scheduler before the gang: a job that gives its priority
  // as a number.
  std::optional<PriorityClass> priority_class{};
};

// The gang of a job: all its roles are placed together. Elastic roles have
// their bounds; a job of a fixed size starts with all of its tasks, whatever
// its minAvailable, which otherwise raises the least number of tasks. The order
// of starting is not the scheduler's (Life keeps it): every task has its place
// before the first starts. Spot replicas are a role of their own, behind that
// which they are of. A role that has no task at present is left out.
//
// Resources: "cpu", "memory" and others by the names of config.resources;
// devices as GangOptions says, "muster.dev/gpu-milli" (thousandths of one
// device), "muster.dev/gpu-memory" (bytes of one; beside gpu-milli: of the
// same), "nvidia.com/mig-PROFILE".
// InvalidArgument with the role's path for a resource that the configuration
// does not have; "ephemeral-storage" and "pods" are left out if it has none.
// A pure function. O(job).
MUSTER_API absl::StatusOr<GangForm> ToGang(const Job& job,
                                           const SchedulerConfig& config,
                                           const GangOptions& options);

// From the gang's task to the job's, and back. The task is in range. O(1) and
// O(roles).
MUSTER_API TaskId ToJobTask(const GangForm& form, TaskId gang_task);
MUSTER_API TaskId ToGangTask(const GangForm& form, TaskId job_task);

// One task of a job and its place.
struct TaskPlace {
  TaskId task{};               // The job's.
  const Node* node = nullptr;  // Not null.
  DeviceSet devices{};
  uint32_t first_slice = 0;
};

// Which number each task has among its role's for the job itself: by role and
// index. Tasks of a role are alike, so a host may give the k-th of them in the
// order of the topology the number k: neighbours in rank are then near each
// other. The ring of all tasks begins at the first task of the first role of
// one task, such as the master, if there is one. Only tasks with places are
// given other numbers, and only among themselves. Roles that have more tasks
// than places (Role::completions) keep theirs.
//
// A host asks when all tasks start anew; what joins later keeps its index.
// O(tasks x log tasks).
MUSTER_API std::vector<std::vector<uint32_t>> TopologyNumbers(
    const Job& job, const Topology& topology,
    std::span<const TaskPlace> places);

}  // namespace muster::workload

#endif  // MUSTER_WORKLOAD_TO_GANG_H_
