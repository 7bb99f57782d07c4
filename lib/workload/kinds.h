// The kinds that have replica types, as rows of a table: what differs between
// them and between dialects is data.
#ifndef MUSTER_LIB_WORKLOAD_KINDS_H_
#define MUSTER_LIB_WORKLOAD_KINDS_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "muster/workload/job.h"

namespace muster::workload {

// A whole device, as manifests and options of sbatch ask for it.
inline constexpr std::string_view kGpu = "nvidia.com/gpu";
// A calendar around a Job.
inline constexpr std::string_view kCronJob = "CronJob";
// Where the head of a Ray cluster listens if nothing else is said.
inline constexpr uint32_t kGcsPort = 6379;

// A replica type of a kind.
struct RoleRow {
  std::string_view type{};  // "Worker"
  RestartPolicy restart = RestartPolicy::kNever;
  bool decisive = true;  // Role::decisive
  // Types that must run first, with commas. Those that a job lacks are left
  // out.
  std::string_view after{};
  uint32_t most = Job::kMaxTasks;  // Replicas.
  bool required = false;
};

// How a job of the kind has succeeded.
enum class SuccessForm : uint8_t {
  kChiefOrWorkerZero,  // TFJob.
  kMaster,             // The first role's tasks; without it, all workers.
  kMasterAndWorkers,   // All tasks of all roles.
  kFirstRole,          // MarsJob: all schedulers.
  kLauncher,           // MPIJob.
};

struct KindRow {
  Kind kind = Kind::kJob;
  Dialect dialect = Dialect::kKubeflow;
  std::string_view replica_specs{};  // The field with the replica types.
  std::string_view container{};      // The one that is run.
  std::string_view port_name{};
  uint32_t port = 0;
  CleanPolicy clean = CleanPolicy::kNone;
  int32_t ttl = -1;  // Seconds; -1: never.
  RestartUnit unit = RestartUnit::kTask;
  bool run_policy_inline = false;  // Its fields stand in spec itself.
  SuccessForm success = SuccessForm::kMaster;
  std::span<const RoleRow> roles{};  // In the order of starting.
};

// The row, or null: the kind has no replica types, or not in this dialect.
const KindRow* FindRow(Kind kind, Dialect dialect);

// What apiVersion and kind say, or nothing.
struct KindName {
  std::string_view group{};  // apiVersion without its version
  std::string_view version{};
  std::string_view name{};
  Kind kind = Kind::kJob;
  Dialect dialect = Dialect::kKubernetes;
};
std::span<const KindName> KindNames();

}  // namespace muster::workload

#endif  // MUSTER_LIB_WORKLOAD_KINDS_H_
