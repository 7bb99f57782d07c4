// Rendezvous: how the tasks of a job find each other. To the byte what the
// operators of each kind give their pods.
#ifndef MUSTER_WORKLOAD_RENDEZVOUS_H_
#define MUSTER_WORKLOAD_RENDEZVOUS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "muster/export.h"
#include "muster/ids.h"
#include "muster/workload/job.h"

namespace muster::workload {

// "JOB-ROLE-INDEX", as the kind's operator names its pods. O(1).
MUSTER_API std::string TaskName(const Job& job, TaskId task);

// Where a task listens.
struct Endpoint {
  std::string host{};
  uint32_t port = 0;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
// By role and index: as many of each role as take part, at least one of all.
using Endpoints = std::vector<std::vector<Endpoint>>;

// The names that the services of a cluster give, with the job's port; of
// `sizes` tasks by role (empty: Role::replicas). `domain`: the cluster's, if
// names are to have it.
MUSTER_API Endpoints ClusterEndpoints(const Job& job,
                                      const std::vector<uint32_t>& sizes = {},
                                      std::string_view domain = "");

struct RendezvousOptions {
  // MPI: the program that mpirun starts processes with, in place of the script
  // that runs kubectl. (`muster exec`.)
  std::string remote_shell{};
  // Where the files of an MPI job are.
  std::string config_dir = "/etc/mpi";
  // Variables besides that torchrun and torch.distributed know, where the
  // dialect sets fewer: RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE and
  // PET_* of PyTorchJobs.
  bool torch_extras = false;
  // MPI: the hosts that mpirun may use now (discover_hosts.sh), by index of the
  // worker; empty: all.
  std::vector<uint32_t> running_workers{};
};

struct TaskFile {
  std::string path{};
  std::shared_ptr<const std::string> content{};  // Shared by all tasks.
  bool executable = false;
};

// What a task is started with.
struct TaskLaunch {
  // In order; a name is there once. What the operators set, then what the
  // manifest says, with $(NAME) replaced.
  std::vector<std::pair<std::string, std::string>> env{};
  // Variables of secrets, config maps and fields that only the host knows.
  std::vector<EnvVar> from_host{};
  std::vector<TaskFile> files{};
  // Command and arguments, with $(NAME) replaced; empty: the image's own, or
  // the script.
  std::vector<std::string> argv{};
  // Variables of the rendezvous that the manifest sets itself, and so decides.
  std::vector<std::string> user_set{};
};

// What the tasks of one start of a job have in common, made once. A value that
// keeps a copy of what it needs of the job; any thread may call its functions.
class MUSTER_API Rendezvous {
 public:
  // InvalidArgument where a role lacks endpoints. O(job + tasks).
  static absl::StatusOr<Rendezvous> Make(Job job, Endpoints endpoints,
                                         RendezvousOptions options = {});

  // Of a task that has an endpoint, or of any index of a role with
  // Role::completions. O(its variables). TF_CONFIG names all tasks: a job of n
  // gets O(n^2) bytes in all.
  TaskLaunch ForTask(TaskId task) const;

 private:
  Rendezvous() = default;

  Job job_{};
  Endpoints endpoints_{};
  RendezvousOptions options_{};
  std::string cluster_{};  // The part of a JSON variable that all have.
  std::vector<TaskFile> files_{};
};

}  // namespace muster::workload

#endif  // MUSTER_WORKLOAD_RENDEZVOUS_H_
