#include "test/workload/manifests.h"

#include <stdexcept>
#include <string>

namespace muster::workload {
namespace {

constexpr Manifest kManifests[] = {
    {"batch", R"(apiVersion: batch/v1
kind: Job
metadata: {name: count, namespace: lab}
spec:
  completions: 8
  parallelism: 3
  completionMode: Indexed
  backoffLimitPerIndex: 1
  maxFailedIndexes: 2
  podFailurePolicy:
    rules:
    - action: FailIndex
      onExitCodes: {operator: In, values: [42]}
    - action: Ignore
      onPodConditions: [{type: DisruptionTarget}]
  successPolicy: {rules: [{succeededIndexes: "0,2-3", succeededCount: 2}]}
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: busybox
        command: [sh, -c, "echo $JOB_COMPLETION_INDEX"]
        resources: {requests: {cpu: 500m, memory: 1Gi}}
)"},
    {"pytorch-kubeflow", R"(apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: ddp}
spec:
  nprocPerNode: "2"
  runPolicy: {backoffLimit: 3, schedulingPolicy: {queue: team-a}}
  pytorchReplicaSpecs:
    Worker:
      replicas: 3
      template:
        spec:
          containers:
          - {name: pytorch, image: i, command: [python, train.py],
             resources: {limits: {nvidia.com/gpu: 2}}}
    Master:
      replicas: 1
      template:
        spec: {containers: [{name: pytorch, image: i, command: [python, train.py]}]}
)"},
    {"pytorch-elastic", R"(apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: elastic}
spec:
  elasticPolicy: {minReplicas: 2, maxReplicas: 4, maxRestarts: 100, rdzvBackend: c10d,
                  rdzvId: "7", rdzvConf: [{key: timeout, value: "900"}, {key: a, value: b}]}
  pytorchReplicaSpecs:
    Worker:
      replicas: 3
      restartPolicy: OnFailure
      template: {spec: {containers: [{name: pytorch, command: [torchrun, t.py]}]}}
)"},
    {"pytorch-kubedl", R"(apiVersion: training.kubedl.io/v1alpha1
kind: PyTorchJob
metadata: {name: ddp, annotations: {kubedl.io/enable-elastic-training: "true"}}
spec:
  ttlSecondsAfterFinished: 3600
  activeDeadlineSeconds: 86400
  backoffLimit: 3
  schedulingPolicy: {minAvailable: 4, priority: 10, priorityClassName: high, queue: team-a}
  cronPolicy: {schedule: "0 3 * * *", concurrencyPolicy: Forbid, historyLimit: 5}
  pytorchReplicaSpecs:
    Master: {replicas: 1, template: {spec: {containers: [{name: pytorch, image: i}]}}}
    Worker:
      replicas: 3
      spotReplicaSpec: {spotReplicaNumber: 2, priorityClassName: spot}
      template: {spec: {containers: [{name: pytorch, image: i}]}}
)"},
    {"tf-kubeflow", R"(apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: mnist, namespace: ns}
spec:
  tfReplicaSpecs:
    Worker: {replicas: 2, restartPolicy: OnFailure, template: &t {spec: {containers: [{name: tensorflow}]}}}
    PS: {replicas: 2, template: *t}
    Chief: {replicas: 1, template: *t}
    Evaluator: {replicas: 1, template: *t}
)"},
    {"tf-kubedl", R"(apiVersion: training.kubedl.io/v1alpha1
kind: TFJob
metadata: {name: mnist, namespace: ns}
spec:
  tfReplicaSpecs:
    Worker: {replicas: 2, template: &t {spec: {containers: [{name: tensorflow}]}}}
    PS: {replicas: 2, template: *t}
    Chief: {replicas: 1, template: *t}
    Evaluator: {replicas: 1, template: *t}
)"},
    {"mpi-kubeflow", R"(apiVersion: kubeflow.org/v1
kind: MPIJob
metadata: {name: hpl}
spec:
  slotsPerWorker: 2
  mpiReplicaSpecs:
    Launcher: {replicas: 1, template: {spec: {containers: [{name: mpi, command: [mpirun, hpl]}]}}}
    Worker: {replicas: 2, template: {spec: {containers: [{name: mpi}]}}}
)"},
    {"mpi-kubedl", R"(apiVersion: training.kubedl.io/v1alpha1
kind: MPIJob
metadata: {name: hpl}
spec:
  slotsPerWorker: 2
  runPolicy: {backoffLimit: 1}
  mpiReplicaSpecs:
    Launcher: {replicas: 1, template: {spec: {containers: [{name: mpi, command: [mpirun, hpl]}]}}}
    Worker: {replicas: 2, template: {spec: {containers: [{name: mpi}]}}}
)"},
    {"mpi-v2", R"(apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: hpl, namespace: ns}
spec:
  slotsPerWorker: 2
  mpiImplementation: Intel
  mpiReplicaSpecs:
    Launcher: {replicas: 1, template: {spec: {containers: [{name: mpi, command: [mpirun, hpl]}]}}}
    Worker: {replicas: 2, template: {spec: {containers: [{name: mpi, command: [sshd]}]}}}
)"},
    {"xgboost-kubeflow", R"(apiVersion: kubeflow.org/v1
kind: XGBoostJob
metadata: {name: iris}
spec:
  xgbReplicaSpecs:
    Master: {replicas: 1, template: &t {spec: {containers: [{name: xgboost}]}}}
    Worker: {replicas: 2, restartPolicy: ExitCode, template: *t}
)"},
    {"xgboost-kubedl", R"(apiVersion: training.kubedl.io/v1alpha1
kind: XGBoostJob
metadata: {name: iris}
spec:
  xgbReplicaSpecs:
    Master: {replicas: 1, template: &t {spec: {containers: [{name: xgboostjob}]}}}
    Worker: {replicas: 2, template: *t}
)"},
    {"mars", R"(apiVersion: training.kubedl.io/v1alpha1
kind: MarsJob
metadata: {name: tensor, namespace: ns}
spec:
  marsReplicaSpecs:
    Scheduler: {replicas: 1, template: &t {spec: {containers: [{name: mars}]}}}
    WebService: {replicas: 1, template: *t}
    Worker:
      replicas: 2
      template: {spec: {containers: [{name: mars, resources: {limits: {cpu: 2, memory: 4Gi}}}]}}
)"},
    {"jax", R"(apiVersion: kubeflow.org/v1
kind: JAXJob
metadata: {name: spmd}
spec:
  jaxReplicaSpecs:
    Worker: {replicas: 2, template: {spec: {containers: [{name: jax, image: jax}]}}}
)"},
    {"train-torch", R"(apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: llm}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    image: pytorch
    command: [torchrun, train.py]
    numNodes: 3
    resourcesPerNode: {requests: {cpu: 4, nvidia.com/gpu: 2}}
)"},
    {"train-runtime", R"(apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {name: mine}
spec:
  mlPolicy: {numNodes: 2, xgboost: {}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          spec:
            template:
              spec: {containers: [{name: node, image: xgb, command: [python, x.py]}]}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: trees}
spec:
  runtimeRef: {name: mine, kind: TrainingRuntime}
)"},
    {"jobset", R"(apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: js}
spec:
  failurePolicy:
    maxRestarts: 2
    rules:
    - {action: FailJobSet, onJobFailureReasons: [PodFailurePolicy]}
    - {action: RestartJob, targetReplicatedJobs: [workers]}
  successPolicy: {operator: All, targetReplicatedJobs: [workers]}
  replicatedJobs:
  - name: driver
    template: {spec: {template: {spec: {containers: [{name: c, image: d}]}}}}
  - name: workers
    replicas: 2
    dependsOn: [{name: driver, status: Ready}]
    template:
      spec:
        parallelism: 3
        completions: 3
        backoffLimit: 0
        template: {spec: {containers: [{name: c, image: w}]}}
)"},
    {"ray-cluster", R"(apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: rc, namespace: ns}
spec:
  rayVersion: "2.9.0"
  enableInTreeAutoscaling: true
  headGroupSpec:
    rayStartParams: {dashboard-host: "0.0.0.0"}
    template: {spec: {containers: [{name: ray-head, image: ray, resources: {limits: {cpu: 2, memory: 4Gi}}}]}}
  workerGroupSpecs:
  - groupName: small
    replicas: 2
    minReplicas: 1
    maxReplicas: 5
    rayStartParams: {block: "true"}
    template: {spec: {containers: [{name: ray-worker, image: ray, resources: {limits: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}}}]}}
)"},
    {"ray-job", R"(apiVersion: ray.io/v1
kind: RayJob
metadata: {name: rj}
spec:
  entrypoint: python job.py
  shutdownAfterJobFinishes: true
  ttlSecondsAfterFinished: 60
  rayClusterSpec:
    headGroupSpec:
      template: {spec: {containers: [{name: ray-head, image: ray}]}}
    workerGroupSpecs:
    - groupName: small
      replicas: 1
      template: {spec: {containers: [{name: ray-worker, image: ray}]}}
)"},
    {"sbatch", R"(#!/bin/bash
#SBATCH --job-name=bert
#SBATCH -N 2 --ntasks-per-node=4
#SBATCH --gres=gpu:a100:4
#SBATCH --cpus-per-task=8 --mem=64G
#SBATCH -t 1-12:30:00
#SBATCH -p short
srun python train.py
)"},
};

}  // namespace

std::span<const Manifest> AllManifests() { return kManifests; }

std::string_view ManifestOf(std::string_view name) {
  for (const Manifest& m : kManifests) {
    if (m.name == name) return m.text;
  }
  // The fuzzers link this file without GoogleTest.
  throw std::out_of_range("no manifest " + std::string(name));
}

}  // namespace muster::workload
