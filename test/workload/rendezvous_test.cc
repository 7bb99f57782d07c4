// What tasks get to find each other, to the byte.
#include "muster/workload/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test/property/dice.h"
#include "test/workload/parsed_manifest.h"

namespace muster::workload {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// One variable a line.
std::string EnvText(const TaskLaunch& launch) {
  std::string text;
  for (const auto& [name, value] : launch.env)
    text += name + "=" + value + "\n";
  return text;
}

TaskLaunch LaunchOf(const Job& job, std::string_view role, uint32_t index,
                    RendezvousOptions options = {}) {
  const auto rendezvous =
      Rendezvous::Make(job, ClusterEndpoints(job), std::move(options));
  EXPECT_TRUE(rendezvous.ok()) << rendezvous.status();
  return rendezvous->ForTask({FindRole(job, role), index});
}

struct Row {
  const char* manifest = "";
  const char* role = "";
  uint32_t index = 0;
  const char* env = "";
};

const Row kRows[] = {
    {"tf-kubeflow", "worker", 1,
     R"(TF_CONFIG={"cluster":{"chief":["mnist-chief-0.ns.svc:2222"],"evaluator":["mnist-evaluator-0.ns.svc:2222"],"ps":["mnist-ps-0.ns.svc:2222","mnist-ps-1.ns.svc:2222"],"worker":["mnist-worker-0.ns.svc:2222","mnist-worker-1.ns.svc:2222"]},"task":{"type":"worker","index":1},"environment":"cloud"}
)"},
    {"tf-kubedl", "evaluator", 0,
     R"(TF_CONFIG={"cluster":{"chief":["mnist-chief-0.ns.svc:2222"],"ps":["mnist-ps-0.ns.svc:2222","mnist-ps-1.ns.svc:2222"],"worker":["mnist-worker-0.ns.svc:2222","mnist-worker-1.ns.svc:2222"]},"task":{"type":"evaluator","index":0},"environment":"cloud"}
)"},
    {"pytorch-kubeflow", "master", 0, R"(PYTHONUNBUFFERED=1
MASTER_PORT=23456
PET_MASTER_PORT=23456
MASTER_ADDR=ddp-master-0
PET_MASTER_ADDR=ddp-master-0
WORLD_SIZE=8
RANK=0
PET_NODE_RANK=0
PET_NPROC_PER_NODE=2
PET_NNODES=4
)"},
    {"pytorch-kubeflow", "worker", 2, R"(PYTHONUNBUFFERED=1
MASTER_PORT=23456
PET_MASTER_PORT=23456
MASTER_ADDR=ddp-master-0
PET_MASTER_ADDR=ddp-master-0
WORLD_SIZE=8
RANK=3
PET_NODE_RANK=3
PET_NPROC_PER_NODE=2
PET_NNODES=4
)"},
    {"pytorch-elastic", "worker", 2, R"(PYTHONUNBUFFERED=1
PET_NPROC_PER_NODE=auto
PET_RDZV_ENDPOINT=elastic-worker-0:23456
PET_RDZV_BACKEND=c10d
PET_NNODES=2:4
PET_MAX_RESTARTS=100
PET_RDZV_ID=7
PET_RDZV_CONF=timeout=900,a=b
)"},
    {"pytorch-kubedl", "master", 0, R"(MASTER_PORT=23456
MASTER_ADDR=localhost
RANK=0
WORLD_SIZE=4
PYTHONUNBUFFERED=0
)"},
    {"pytorch-kubedl", "worker", 1, R"(MASTER_PORT=23456
MASTER_ADDR=ddp-master-0
RANK=2
WORLD_SIZE=4
PYTHONUNBUFFERED=0
)"},
    {"mpi-kubeflow", "launcher", 0,
     R"(OMPI_MCA_plm_rsh_agent=/etc/mpi/kubexec.sh
OMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile
NVIDIA_VISIBLE_DEVICES=
)"},
    {"mpi-kubedl", "launcher", 0, R"(OMPI_MCA_plm_rsh_agent=/etc/mpi/kubexec.sh
OMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile
)"},
    {"mpi-v2", "launcher", 0, R"(I_MPI_HYDRA_HOST_FILE=/etc/mpi/hostfile
I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS=-o ConnectionAttempts=10
NVIDIA_VISIBLE_DEVICES=
NVIDIA_DRIVER_CAPABILITIES=
)"},
    {"mpi-kubeflow", "worker", 0, ""},
    // KubeDL gives master and worker 0 the same rank: defect 2.
    {"xgboost-kubedl", "worker", 0, R"(MASTER_PORT=9999
MASTER_ADDR=iris-master-0
WORLD_SIZE=3
RANK=1
PYTHONUNBUFFERED=0
)"},
    {"xgboost-kubeflow", "worker", 1, R"(MASTER_PORT=9999
MASTER_ADDR=iris-master-0
WORLD_SIZE=3
RANK=2
PYTHONUNBUFFERED=1
WORKER_PORT=9999
WORKER_ADDRS=iris-worker-0,iris-worker-1
)"},
    {"mars", "worker", 1,
     R"(MARS_CLUSTER_DETAIL={"cluster":{"scheduler":["tensor-scheduler-0.ns.svc:11111"],"webservice":["tensor-webservice-0.ns.svc:11111"]},"task":{"type":"worker","index":1,"resources":{"cpu_procs":2,"phy_mem":4294967296}}}
MARS_CPU_TOTAL=2
MARS_MEMORY_TOTAL=4294967296
MARS_CPU_USE_PROCESS_STAT=1
MARS_MEM_USE_CGROUP_STAT=1
MARS_BIND_PORT=11111
MARS_K8S_GROUP_LABELS=job-name
MARS_CONTAINER_IP=tensor-worker-1.ns.svc
MARS_K8S_POD_NAME=tensor-worker-1
MARS_K8S_POD_NAMESPACE=ns
)"},
    {"jax", "worker", 1, R"(PYTHONUNBUFFERED=1
COORDINATOR_PORT=6666
COORDINATOR_ADDRESS=spmd-worker-0
NUM_PROCESSES=2
PROCESS_ID=1
)"},
    {"train-torch", "node", 2, R"(PET_NNODES=3
PET_NPROC_PER_NODE=auto
PET_NODE_RANK=2
PET_MASTER_ADDR=llm-node-0-0.llm
PET_MASTER_PORT=29500
JOB_COMPLETION_INDEX=2
)"},
    {"train-runtime", "node", 1, R"(DMLC_TRACKER_URI=trees-node-0-0.trees
DMLC_TRACKER_PORT=29500
DMLC_TASK_ID=1
DMLC_NUM_WORKER=2
JOB_COMPLETION_INDEX=1
)"},
    {"batch", "task", 7, "JOB_COMPLETION_INDEX=7\n"},
    {"jobset", "workers", 4, "JOB_COMPLETION_INDEX=1\n"},
    {"ray-cluster", "small", 1,
     R"(FQ_RAY_IP=rc-head-svc.ns.svc.cluster.local
RAY_IP=rc-head-svc
RAY_PORT=6379
RAY_CLUSTER_NAME=rc
RAY_CLUSTER_NAMESPACE=ns
RAY_CLOUD_INSTANCE_ID=rc-small-1
RAY_NODE_TYPE_NAME=small
KUBERAY_GEN_RAY_START_CMD=ray start  --address=rc-head-svc.ns.svc.cluster.local:6379  --block  --dashboard-agent-listen-port=52365  --memory=1073741824  --metrics-export-port=8080  --num-cpus=1  --num-gpus=1 )"
     "\n"},
    {"sbatch", "batch", 0, R"(SLURM_JOB_NAME=bert
SLURM_NTASKS=8
SLURM_NPROCS=8
SLURM_CPUS_PER_TASK=8
SLURM_PROCID=0
SLURM_JOB_PARTITION=short
)"},
};

TEST(RendezvousTest, VariablesAreThoseOfTheOperators) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(std::string(row.manifest) + " " + row.role);
    EXPECT_EQ(EnvText(LaunchOf(JobOf(row.manifest), row.role, row.index)),
              row.env);
  }
}

TEST(RendezvousTest, DynamicWorkersKnowThemselvesAndTheServers) {
  Job job = JobOf("tf-kubeflow");
  job.dynamic_workers = true;
  EXPECT_EQ(
      EnvText(LaunchOf(job, "worker", 1)),
      R"(TF_CONFIG={"cluster":{"worker":{"1":"mnist-worker-1.ns.svc:2222"},"ps":["mnist-ps-0.ns.svc:2222","mnist-ps-1.ns.svc:2222"]},"task":{"type":"worker","index":1}}
)");
  EXPECT_EQ(
      EnvText(LaunchOf(job, "ps", 1)),
      R"(TF_CONFIG={"cluster":{"ps":["mnist-ps-1.ns.svc:2222"]},"task":{"type":"ps","index":1}}
)");
}

TEST(RendezvousTest, ASingleTFTaskIsNotDistributed) {
  const Job job = ParseOne(R"(apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: one}
spec: {tfReplicaSpecs: {Worker: {template: {spec: {containers: [{name: tensorflow}]}}}}}
)")
                      .job;
  EXPECT_THAT(LaunchOf(job, "worker", 0).env, IsEmpty());
}

TEST(RendezvousTest, DomainsAndPortsAreTheHosts) {
  const Job job = JobOf("tf-kubeflow");
  EXPECT_EQ(ClusterEndpoints(job, {}, "example.org")[0][1].host,
            "mnist-ps-1.ns.svc.example.org");
  Endpoints local = ClusterEndpoints(job);
  uint32_t port = 40000;
  for (auto& role : local) {
    for (Endpoint& e : role) e = {"127.0.0.1", port++};
  }
  const auto rendezvous = Rendezvous::Make(job, local);
  ASSERT_TRUE(rendezvous.ok());
  EXPECT_THAT(rendezvous->ForTask({0, 0}).env,
              Contains(Pair("TF_CONFIG",
                            testing::HasSubstr("\"ps\":[\"127.0.0.1:40000\","
                                               "\"127.0.0.1:40001\"]"))));
  EXPECT_FALSE(Rendezvous::Make(job, {}).ok());
}

std::string FileOf(const TaskLaunch& launch, std::string_view path) {
  for (const TaskFile& f : launch.files) {
    if (f.path == path) return *f.content;
  }
  return "no " + std::string(path);
}

TEST(RendezvousTest, MpirunGetsItsHosts) {
  EXPECT_EQ(FileOf(LaunchOf(JobOf("mpi-kubeflow"), "launcher", 0),
                   "/etc/mpi/hostfile"),
            "hpl-worker-0 slots=2\nhpl-worker-1 slots=2\n");
  EXPECT_EQ(
      FileOf(LaunchOf(JobOf("mpi-v2"), "launcher", 0), "/etc/mpi/hostfile"),
      "hpl-worker-0.hpl.ns.svc:2\nhpl-worker-1.hpl.ns.svc:2\n");
  Job job = JobOf("mpi-kubedl");
  // The launcher is no host of its own accord: defect 14.
  EXPECT_EQ(FileOf(LaunchOf(job, "launcher", 0), "/etc/mpi/hostfile"),
            "hpl-worker-0 slots=2\nhpl-worker-1 slots=2\n");
  job.mpi = MpiImplementation::kMpich;
  job.roles[1].task.requests = {{"nvidia.com/gpu", 1}};
  EXPECT_EQ(FileOf(LaunchOf(job, "launcher", 0), "/etc/mpi/hostfile"),
            "hpl-launcher-0:2\nhpl-worker-0:2\nhpl-worker-1:2\n");
  EXPECT_EQ(EnvText(LaunchOf(job, "launcher", 0)),
            "HYDRA_LAUNCHER_EXEC=/etc/mpi/kubexec.sh\n"
            "HYDRA_HOST_FILE=/etc/mpi/hostfile\n");
  job.main_container = "mpi";
  EXPECT_EQ(FileOf(LaunchOf(job, "launcher", 0), "/etc/mpi/kubexec.sh"),
            "#!/bin/sh\nset -x\nPOD_NAME=$1\nshift\n/opt/kube/kubectl exec "
            "${POD_NAME} --container mpi -- /bin/sh -c \"$*\"");
}

TEST(RendezvousTest, AHostOfSeveralWorkersHasTheirSlots) {
  Job job = JobOf("mpi-kubedl");
  Endpoints endpoints = ClusterEndpoints(job, {3, 1});
  for (auto& role : endpoints) {
    for (Endpoint& at : role) at.host = "127.0.0.1";
  }
  endpoints[0][2].host = "other";
  const auto made = Rendezvous::Make(job, endpoints);
  EXPECT_EQ(FileOf(made->ForTask({1, 0}), "/etc/mpi/hostfile"),
            "127.0.0.1 slots=4\nother slots=2\n");
}

// A hostfile is written once by KubeDL, whatever the size then: defect 14.
TEST(RendezvousTest, HostfilesFollowTheSize) {
  const Job job = JobOf("mpi-kubedl");
  const auto grown = Rendezvous::Make(job, ClusterEndpoints(job, {3, 1}));
  EXPECT_EQ(FileOf(grown->ForTask({1, 0}), "/etc/mpi/hostfile"),
            "hpl-worker-0 slots=2\nhpl-worker-1 slots=2\nhpl-worker-2 "
            "slots=2\n");
}

TEST(RendezvousTest, AHostsOwnRemoteShellReplacesKubectl) {
  const TaskLaunch launch = LaunchOf(JobOf("mpi-kubeflow"), "launcher", 0,
                                     {.remote_shell = "/usr/bin/muster-exec",
                                      .config_dir = "/tmp/x",
                                      .running_workers = {1}});
  EXPECT_THAT(launch.env,
              Contains(Pair("OMPI_MCA_plm_rsh_agent", "/usr/bin/muster-exec")));
  EXPECT_THAT(launch.env, Contains(Pair("OMPI_MCA_plm", "rsh")));
  EXPECT_THAT(launch.env, Contains(Pair("OMPI_MCA_orte_default_hostfile",
                                        "/tmp/x/hostfile")));
  ASSERT_EQ(launch.files.size(), 2u);
  EXPECT_EQ(FileOf(launch, "/tmp/x/discover_hosts.sh"),
            "#!/bin/sh\necho hpl-worker-1:2\n");
}

TEST(RendezvousTest, RayIsStartedByItsFlags) {
  EXPECT_THAT(
      LaunchOf(JobOf("ray-cluster"), "head", 0).argv,
      ElementsAre("/bin/bash", "-lc", "--",
                  "ulimit -n ${RAY_START_ULIMIT_OPEN_FILES:-65536}; ray start "
                  "--head  --block  --dashboard-agent-listen-port=52365  "
                  "--dashboard-host=0.0.0.0  --memory=4294967296  "
                  "--metrics-export-port=8080  --num-cpus=2 "));
  EXPECT_THAT(LaunchOf(JobOf("ray-job"), "submitter", 0).argv,
              ElementsAre("/bin/sh", "-c",
                          "ray job submit --address \"http://$RAY_DASHBOARD\" "
                          "-- python job.py"));
}

TEST(RendezvousTest, TheManifestsOwnVariablesWinAndAreTold) {
  Job job = JobOf("pytorch-kubedl");
  job.roles[1].task.env = {
      {.name = "MASTER_ADDR", .value = "other"},
      {.name = "WHERE", .value = "$(MASTER_ADDR):$$(X)$(Y)"},
      {.name = "POD", .from = EnvSource::kField, .source = "metadata.name"},
      {.name = "IP", .from = EnvSource::kField, .source = "status.podIP"},
      {.name = "KEY", .from = EnvSource::kSecret, .source = "s", .key = "k"}};
  job.roles[1].task.command = {"echo", "$(RANK)", "$(POD)"};
  const TaskLaunch launch = LaunchOf(job, "worker", 0);
  EXPECT_THAT(launch.user_set, ElementsAre("MASTER_ADDR"));
  EXPECT_THAT(launch.env, Contains(Pair("MASTER_ADDR", "other")));
  EXPECT_THAT(launch.env, Contains(Pair("WHERE", "other:$(X)$(Y)")));
  EXPECT_THAT(launch.argv, ElementsAre("echo", "1", "ddp-worker-0"));
  ASSERT_EQ(launch.from_host.size(), 2u);
  EXPECT_EQ(launch.from_host[0].name, "IP");
}

TEST(RendezvousTest, TorchrunFindsWhatKubeDLDoesNotSay) {
  const TaskLaunch launch =
      LaunchOf(JobOf("pytorch-kubedl"), "worker", 0, {.torch_extras = true});
  for (const auto& [name, value] : {std::pair{"PET_NNODES", "4"},
                                    {"PET_NODE_RANK", "1"},
                                    {"PET_MASTER_ADDR", "ddp-master-0"},
                                    {"PET_MASTER_PORT", "23456"},
                                    {"LOCAL_RANK", "0"},
                                    {"LOCAL_WORLD_SIZE", "1"}}) {
    EXPECT_THAT(launch.env, Contains(Pair(name, value)));
  }
}

TEST(RendezvousTest, JobSetTasksKnowTheirLabels) {
  Job job = JobOf("jobset");
  job.roles[1].task.env = {
      {.name = "J",
       .from = EnvSource::kField,
       .source = "metadata.labels['jobset.sigs.k8s.io/job-index']"}};
  EXPECT_THAT(LaunchOf(job, "workers", 4).env, Contains(Pair("J", "1")));
  EXPECT_EQ(TaskName(job, {1, 4}), "js-workers-1-1");
  EXPECT_EQ(ClusterEndpoints(job)[1][4].host, "js-workers-1-1.js");
}

// Whatever the sizes, the configuration is JSON, and ranks are each there once.
TEST(RendezvousTest, RandomSizesGiveReadableConfigurations) {
  Dice dice(7);
  for (int i = 0; i < 1000; ++i) {
    Job job = JobOf(i % 2 == 0 ? "tf-kubeflow" : "pytorch-kubeflow");
    std::vector<uint32_t> sizes;
    uint32_t all = 0;
    for (const Role& role : job.roles) {
      sizes.push_back(role.name == "worker" ? 1 + dice.Below(20) : 1);
      all += sizes.back();
    }
    const auto rendezvous = Rendezvous::Make(job, ClusterEndpoints(job, sizes));
    ASSERT_TRUE(rendezvous.ok());
    std::vector<bool> ranks(all, false);
    for (uint32_t r = 0; r < sizes.size(); ++r) {
      for (uint32_t k = 0; k < sizes[r]; ++k) {
        const TaskLaunch launch = rendezvous->ForTask({r, k});
        for (const auto& [name, value] : launch.env) {
          if (name == "RANK") {
            ASSERT_LT(std::stoul(value), all);
            EXPECT_FALSE(ranks[std::stoul(value)]) << value;
            ranks[std::stoul(value)] = true;
          } else if (name == "TF_CONFIG") {
            const auto json = nlohmann::json::parse(value);
            EXPECT_EQ(json["cluster"]["worker"].size(),
                      sizes[FindRole(job, "worker")]);
            EXPECT_EQ(json["task"]["type"], job.roles[r].name);
            EXPECT_EQ(json["task"]["index"], k);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace muster::workload
