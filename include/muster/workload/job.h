// Jobs: what people submit, in one form for all kinds of manifests. Plain
// values; Parse (parse.h) makes them.
#ifndef MUSTER_WORKLOAD_JOB_H_
#define MUSTER_WORKLOAD_JOB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "muster/enum_names.h"
#include "muster/ids.h"
#include "muster/selector.h"
#include "muster/workload/failure_policy.h"
#include "muster/workload/task_template.h"

namespace muster::workload {

enum class Kind : uint8_t {
  kJob,
  kPyTorchJob,
  kTFJob,
  kMPIJob,
  kXGBoostJob,
  kMarsJob,
  kJAXJob,
  kTrainJob,
  kJobSet,
  kRayCluster,
  kRayJob,
  kBatchScript,
};
MUSTER_ENUM_NAMES(Kind, "Job", "PyTorchJob", "TFJob", "MPIJob", "XGBoostJob",
                  "MarsJob", "JAXJob", "TrainJob", "JobSet", "RayCluster",
                  "RayJob", "sbatch");

// Whose rules a manifest follows; its apiVersion tells.
enum class Dialect : uint8_t {
  kKubernetes,  // batch/v1
  kKubeflow,    // kubeflow.org/v1, as training operator 1.9
  kMpiV2,       // kubeflow.org/v2beta1
  kKubeDL,      // training.kubedl.io/v1alpha1
  kTrainer,     // trainer.kubeflow.org/v1alpha1
  kJobSet,      // jobset.x-k8s.io/v1alpha2
  kKubeRay,     // ray.io/v1
  kSlurm,       // a script with #SBATCH lines
};
MUSTER_ENUM_NAMES(Dialect, "kubernetes", "kubeflow", "mpi-v2", "kubedl",
                  "trainer", "jobset", "kuberay", "slurm");

// What an earlier role must have reached before a later one starts. A task that
// has failed for good never counts.
enum class StartCondition : uint8_t {
  kRunning,    // Its process runs, or has succeeded.
  kReady,      // It said that it is ready, or has succeeded.
  kSucceeded,  // It has succeeded.
};
MUSTER_ENUM_NAMES(StartCondition, "Running", "Ready", "Succeeded");

struct StartAfter {
  uint32_t role = 0;  // Position in Job::roles.
  StartCondition condition = StartCondition::kRunning;
  uint32_t count = 0;  // So many of its tasks; 0: all that have places.

  friend bool operator==(const StartAfter&, const StartAfter&) = default;
};

// Identical tasks: replicas of one type.
struct Role {
  std::string name{};  // "worker": lower case, as in the names of tasks.
  // Where in the manifest it stands, for messages.
  std::string path{};
  // Tasks that run at the same time: at least min, at first `replicas`, and at
  // most max. min <= replicas <= max.
  uint32_t replicas = 1;
  uint32_t min_replicas = 1;
  uint32_t max_replicas = 1;
  // How many tasks there are in all; 0: replicas. What is beyond `replicas`
  // waits for a place of its role that another task has left.
  uint32_t completions = 0;
  // Tasks of one replicated job of a JobSet: group g has tasks [g x group_size,
  // (g + 1) x group_size). 0: all tasks are one group.
  uint32_t group_size = 0;
  RestartPolicy restart = RestartPolicy::kNever;
  // A failure for good of one of its tasks fails the job. false: the job goes
  // on without it.
  bool decisive = true;
  // Its tasks have places, in which another task starts processes (mpirun,
  // srun); none is started by the job itself.
  bool passive = false;
  // Of the last so many tasks: nodes that may be lost do, too.
  uint32_t spot_replicas = 0;
  std::string spot_priority_class{};
  std::vector<StartAfter> start_after{};
  TaskTemplate task{};
  // Ray: the flags of `ray start`, sorted by name.
  std::vector<std::pair<std::string, std::string>> ray_start_params{};

  // All tasks that there can be: completions, or max_replicas.
  uint32_t tasks() const {
    return completions > 0 ? completions : max_replicas;
  }
  friend bool operator==(const Role&, const Role&) = default;
};

// A rule by which a job has succeeded: enough tasks of some roles have. The
// first rule that holds decides.
struct SuccessRule {
  std::vector<uint32_t> roles{};
  // So many of their tasks; 0: all of the roles' current size.
  uint32_t count = 0;
  // Only these tasks, by ranges of index [first, last]; empty: all.
  std::vector<std::pair<uint32_t, uint32_t>> indexes{};
  // `count` of whole groups (Role::group_size), not of tasks.
  bool groups = false;
  // And no task of the roles is alive any more. (A Job without completions.)
  bool and_drained = false;

  friend bool operator==(const SuccessRule&, const SuccessRule&) = default;
};

// What becomes of tasks that are alive when the job has ended.
enum class CleanPolicy : uint8_t {
  kNone,     // They run on until they end.
  kRunning,  // They are stopped.
  kAll,      // They are stopped, and what is kept of all tasks is removed.
};
MUSTER_ENUM_NAMES(CleanPolicy, "None", "Running", "All");

struct SchedulingPolicy {
  std::string queue{};
  std::string priority_class{};
  std::optional<int32_t> priority{};
  uint32_t min_available = 0;  // Tasks of all roles; 0: what the roles say.
  Duration timeout = 0;        // Told to the host; 0: none.
  // Narrowest-domain wishes, by annotation: the level's name.
  std::string topology_required{};
  std::string topology_preferred{};

  friend bool operator==(const SchedulingPolicy&,
                         const SchedulingPolicy&) = default;
};

// How a job takes another size.
enum class ResizeMode : uint8_t {
  kFixed,    // It has one size.
  kInPlace,  // Its processes bear it when tasks come and go.
  kRestart,  // All tasks are stopped at a checkpoint and start anew.
};
MUSTER_ENUM_NAMES(ResizeMode, "fixed", "in-place", "restart");

// torchrun's and Horovod's elasticity.
struct ElasticPolicy {
  std::optional<uint32_t> max_restarts{};
  std::string backend{};  // "c10d" if nothing is said.
  std::string host{};     // Of the rendezvous; empty: worker 0.
  uint32_t port = 0;      // 0: the kind's.
  std::string id{};
  std::vector<std::pair<std::string, std::string>> conf{};
  bool standalone = false;
  std::string nproc_per_node{};

  friend bool operator==(const ElasticPolicy&, const ElasticPolicy&) = default;
};

// The job can save its work when it is asked to.
struct CheckpointPolicy {
  bool enabled = false;
  // A request with less time than this left is not made; the work since the
  // last checkpoint is lost, and the job says so.
  Duration least_notice = 0;
  // How long a checkpoint may take where nobody else sets a time.
  Duration timeout = 60 * kSecond;

  friend bool operator==(const CheckpointPolicy&,
                         const CheckpointPolicy&) = default;
};

// A job that is submitted anew again and again: the host keeps the calendar.
struct CronPolicy {
  std::string schedule{};   // As CronSchedule (cron.h) has it; empty: none.
  std::string time_zone{};  // Likewise; empty: that of the machine.
  std::string concurrency = "Allow";  // Allow, Forbid or Replace.
  bool suspend = false;
  std::string deadline{};  // RFC 3339; empty: none.
  Time until = kForever;   // The same: nothing is submitted after it.
  // A time that is missed by more is left out; negative: the last one that was
  // missed counts, however late it is.
  Duration starting_deadline = -1;
  // Of finished jobs so many are kept, of each outcome; none: it is not said.
  std::optional<uint32_t> succeeded_limit{};
  std::optional<uint32_t> failed_limit{};

  friend bool operator==(const CronPolicy&, const CronPolicy&) = default;
};

enum class MpiImplementation : uint8_t { kOpenMpi, kIntel, kMpich };
MUSTER_ENUM_NAMES(MpiImplementation, "OpenMPI", "Intel", "MPICH");

// Indices of a Slurm array, each a job of its own: ArrayElement (parse.h).
struct JobArray {
  std::vector<uint32_t> indexes{};  // Ascending; empty: no array.
  uint32_t step = 1;
  // So many of them may have places at a time; 0: all.
  uint32_t at_once = 0;

  friend bool operator==(const JobArray&, const JobArray&) = default;
};

// One job. A value.
struct Job {
  static constexpr uint32_t kMaxTasks = 100'000;
  static constexpr size_t kMaxRoles = 64;

  Kind kind = Kind::kJob;
  Dialect dialect = Dialect::kKubernetes;
  std::string name{};
  std::string space = "default";  // metadata.namespace
  Labels labels{};
  Labels annotations{};
  // In the order in which the kind starts them; 1..kMaxRoles, kMaxTasks tasks.
  std::vector<Role> roles{};
  std::vector<SuccessRule> success{};
  FailurePolicy failure{};
  CleanPolicy clean = CleanPolicy::kRunning;
  // All tasks know their index (JOB_COMPLETION_INDEX).
  bool indexed = false;
  // Time with places, in all; 0: no end.
  Duration active_deadline = 0;
  // Forgotten so long after its end; negative: never.
  Duration ttl = -1;
  bool suspend = false;
  // After a preemption or the loss of a node it starts anew; false: it has
  // failed then.
  bool requeue = true;
  SchedulingPolicy scheduling{};
  ResizeMode resize = ResizeMode::kFixed;
  ElasticPolicy elastic{};
  CheckpointPolicy checkpoint{};
  CronPolicy cron{};
  JobArray array{};
  // --- What the rendezvous needs ---
  uint32_t port = 0;             // The kind's, or that of the manifest.
  std::string nproc_per_node{};  // "auto", "gpu", "cpu" or a number.
  uint32_t slots_per_worker = 1;
  MpiImplementation mpi = MpiImplementation::kOpenMpi;
  bool launcher_runs_workloads = false;  // MPI: its launcher is a host, too.
  bool dynamic_workers = false;          // TFJob's enableDynamicWorker.
  std::string main_container{};          // MPIJob: where it says so.
  std::string subdomain{};               // JobSet: of its tasks' names.
  std::string framework{};  // TrainJob: "torch", "jax", "xgboost" or "".

  friend bool operator==(const Job&, const Job&) = default;
};

// The position of a role, or roles.size(). O(roles).
inline uint32_t FindRole(const Job& job, std::string_view name) {
  uint32_t r = 0;
  while (r < job.roles.size() && job.roles[r].name != name) ++r;
  return r;
}

}  // namespace muster::workload

#endif  // MUSTER_WORKLOAD_JOB_H_
