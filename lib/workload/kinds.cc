#include "lib/workload/kinds.h"

namespace muster::workload {
namespace {

constexpr auto kNever = RestartPolicy::kNever;
constexpr auto kOnFailure = RestartPolicy::kOnFailure;
constexpr auto kAlways = RestartPolicy::kAlways;
constexpr auto kExitCode = RestartPolicy::kExitCode;

constexpr RoleRow kTFKubeDL[] = {
    {.type = "AIMaster", .restart = kExitCode, .most = 1},
    {.type = "PS", .restart = kExitCode, .after = "AIMaster"},
    {.type = "Master", .restart = kExitCode, .after = "AIMaster,PS", .most = 1},
    {.type = "Chief", .restart = kExitCode, .after = "AIMaster,PS", .most = 1},
    {.type = "Worker", .restart = kExitCode, .after = "AIMaster,PS"},
    {.type = "Evaluator",
     .restart = kExitCode,
     .after = "AIMaster,PS",
     .most = 1},
};
constexpr RoleRow kTFKubeflow[] = {
    {.type = "PS"},
    {.type = "Master", .most = 1},
    {.type = "Chief", .most = 1},
    {.type = "Worker"},
    {.type = "Evaluator", .most = 1},
};
constexpr RoleRow kPyTorchKubeDL[] = {
    {.type = "AIMaster", .restart = kExitCode, .most = 1},
    {.type = "Master",
     .restart = kExitCode,
     .after = "AIMaster",
     .most = 1,
     .required = true},
    {.type = "Worker", .restart = kOnFailure, .after = "AIMaster,Master"},
};
constexpr RoleRow kPyTorchKubeflow[] = {
    {.type = "Master", .restart = kOnFailure, .most = 1},
    {.type = "Worker", .restart = kOnFailure},
};
constexpr RoleRow kMpi[] = {
    {.type = "Worker", .decisive = false},
    {.type = "Launcher", .after = "Worker", .most = 1, .required = true},
};
constexpr RoleRow kXGBoostKubeDL[] = {
    {.type = "Master", .most = 1, .required = true},
    {.type = "Worker", .after = "Master"},
};
constexpr RoleRow kXGBoostKubeflow[] = {
    {.type = "Master", .most = 1, .required = true},
    {.type = "Worker"},
};
constexpr RoleRow kMars[] = {
    {.type = "Scheduler", .required = true},
    {.type = "WebService",
     .restart = kAlways,
     .decisive = false,
     .after = "Scheduler"},
    {.type = "Worker",
     .restart = kExitCode,
     .decisive = false,
     .after = "Scheduler"},
};
constexpr RoleRow kJax[] = {{.type = "Worker", .required = true}};

constexpr KindRow kRows[] = {
    {.kind = Kind::kTFJob,
     .dialect = Dialect::kKubeDL,
     .replica_specs = "tfReplicaSpecs",
     .container = "tensorflow",
     .port_name = "tfjob-port",
     .port = 2222,
     .clean = CleanPolicy::kRunning,
     .run_policy_inline = true,
     .success = SuccessForm::kChiefOrWorkerZero,
     .roles = kTFKubeDL},
    {.kind = Kind::kTFJob,
     .dialect = Dialect::kKubeflow,
     .replica_specs = "tfReplicaSpecs",
     .container = "tensorflow",
     .port_name = "tfjob-port",
     .port = 2222,
     .success = SuccessForm::kChiefOrWorkerZero,
     .roles = kTFKubeflow},
    {.kind = Kind::kPyTorchJob,
     .dialect = Dialect::kKubeDL,
     .replica_specs = "pytorchReplicaSpecs",
     .container = "pytorch",
     .port_name = "pytorchjob-port",
     .port = 23456,
     .unit = RestartUnit::kGang,
     .run_policy_inline = true,
     .success = SuccessForm::kMasterAndWorkers,
     .roles = kPyTorchKubeDL},
    {.kind = Kind::kPyTorchJob,
     .dialect = Dialect::kKubeflow,
     .replica_specs = "pytorchReplicaSpecs",
     .container = "pytorch",
     .port_name = "pytorchjob-port",
     .port = 23456,
     .unit = RestartUnit::kGang,
     .success = SuccessForm::kMaster,
     .roles = kPyTorchKubeflow},
    {.kind = Kind::kMPIJob,
     .dialect = Dialect::kKubeDL,
     .replica_specs = "mpiReplicaSpecs",
     .container = "mpi",
     .port_name = "mpi-port",
     .port = 2222,
     .clean = CleanPolicy::kRunning,
     .unit = RestartUnit::kGang,
     .success = SuccessForm::kLauncher,
     .roles = kMpi},
    {.kind = Kind::kMPIJob,
     .dialect = Dialect::kKubeflow,
     .replica_specs = "mpiReplicaSpecs",
     .container = "mpi",
     .port_name = "mpi-port",
     .port = 9999,
     .unit = RestartUnit::kGang,
     .success = SuccessForm::kLauncher,
     .roles = kMpi},
    {.kind = Kind::kMPIJob,
     .dialect = Dialect::kMpiV2,
     .replica_specs = "mpiReplicaSpecs",
     .container = "mpi",
     .port_name = "mpi-port",
     .port = 22,
     .unit = RestartUnit::kGang,
     .success = SuccessForm::kLauncher,
     .roles = kMpi},
    {.kind = Kind::kXGBoostJob,
     .dialect = Dialect::kKubeDL,
     .replica_specs = "xgbReplicaSpecs",
     .container = "xgboostjob",
     .port_name = "xgboostjob-port",
     .port = 9999,
     .ttl = 100,
     .unit = RestartUnit::kGang,
     .roles = kXGBoostKubeDL},
    {.kind = Kind::kXGBoostJob,
     .dialect = Dialect::kKubeflow,
     .replica_specs = "xgbReplicaSpecs",
     .container = "xgboost",
     .port_name = "xgboostjob-port",
     .port = 9999,
     .unit = RestartUnit::kGang,
     .roles = kXGBoostKubeflow},
    {.kind = Kind::kMarsJob,
     .dialect = Dialect::kKubeDL,
     .replica_specs = "marsReplicaSpecs",
     .container = "mars",
     .port_name = "mars-port",
     .port = 11111,
     .run_policy_inline = true,
     .success = SuccessForm::kFirstRole,
     .roles = kMars},
    {.kind = Kind::kJAXJob,
     .dialect = Dialect::kKubeflow,
     .replica_specs = "jaxReplicaSpecs",
     .container = "jax",
     .port_name = "jaxjob-port",
     .port = 6666,
     .unit = RestartUnit::kGang,
     .success = SuccessForm::kMasterAndWorkers,
     .roles = kJax},
};

constexpr std::string_view kKubeflowGroup = "kubeflow.org";
constexpr std::string_view kKubeDLGroup = "training.kubedl.io";
constexpr KindName kNames[] = {
    {"batch", "v1", "Job", Kind::kJob, Dialect::kKubernetes},
    {"batch", "v1", kCronJob, Kind::kJob, Dialect::kKubernetes},
    {kKubeflowGroup, "v1", "PyTorchJob", Kind::kPyTorchJob, Dialect::kKubeflow},
    {kKubeflowGroup, "v1", "TFJob", Kind::kTFJob, Dialect::kKubeflow},
    {kKubeflowGroup, "v1", "MPIJob", Kind::kMPIJob, Dialect::kKubeflow},
    {kKubeflowGroup, "v2beta1", "MPIJob", Kind::kMPIJob, Dialect::kMpiV2},
    {kKubeflowGroup, "v1", "XGBoostJob", Kind::kXGBoostJob, Dialect::kKubeflow},
    {kKubeflowGroup, "v1", "JAXJob", Kind::kJAXJob, Dialect::kKubeflow},
    {kKubeDLGroup, "v1alpha1", "PyTorchJob", Kind::kPyTorchJob,
     Dialect::kKubeDL},
    {kKubeDLGroup, "v1alpha1", "TFJob", Kind::kTFJob, Dialect::kKubeDL},
    {kKubeDLGroup, "v1alpha1", "MPIJob", Kind::kMPIJob, Dialect::kKubeDL},
    {kKubeDLGroup, "v1alpha1", "XGBoostJob", Kind::kXGBoostJob,
     Dialect::kKubeDL},
    {kKubeDLGroup, "v1alpha1", "MarsJob", Kind::kMarsJob, Dialect::kKubeDL},
    {"trainer.kubeflow.org", "v1alpha1", "TrainJob", Kind::kTrainJob,
     Dialect::kTrainer},
    {"jobset.x-k8s.io", "v1alpha2", "JobSet", Kind::kJobSet, Dialect::kJobSet},
    {"ray.io", "v1", "RayCluster", Kind::kRayCluster, Dialect::kKubeRay},
    {"ray.io", "v1", "RayJob", Kind::kRayJob, Dialect::kKubeRay},
};

}  // namespace

const KindRow* FindRow(Kind kind, Dialect dialect) {
  for (const KindRow& row : kRows) {
    if (row.kind == kind && row.dialect == dialect) return &row;
  }
  return nullptr;
}

std::span<const KindName> KindNames() { return kNames; }

}  // namespace muster::workload
