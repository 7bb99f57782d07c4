// What tasks are started with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "test/adapters/local_controller/world.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(LaunchTest, APyTorchJobMeetsOnLoopback) {
  World world(OneBox(4));
  const uint64_t id = world.Submit(PyTorchManifest("ddp", 2));
  ASSERT_EQ(world.Running(id).size(), 3u);
  // As the operator sets them, but for the addresses.
  const std::string port = world.Env(id, "MASTER_PORT", 0, 0);
  EXPECT_EQ(world.Env(id, "MASTER_PORT", 1, 1), port);
  EXPECT_EQ(world.Env(id, "MASTER_ADDR", 1, 0), "127.0.0.1");
  EXPECT_EQ(world.Env(id, "WORLD_SIZE", 0, 0), "3");
  EXPECT_EQ(world.Env(id, "RANK", 0, 0), "0");
  EXPECT_EQ(world.Env(id, "RANK", 1, 0), "1");
  EXPECT_EQ(world.Env(id, "RANK", 1, 1), "2");
  int number = 0;
  ASSERT_TRUE(absl::SimpleAtoi(port, &number));
  EXPECT_GE(number, 20'000);
  EXPECT_LE(number, 29'999);
  EXPECT_EQ(world.controller->Count().ports, 3u);
}

TEST(LaunchTest, ATFJobNamesEveryTaskAtAPortOfItsOwn) {
  World world(OneBox(4));
  const std::string pod =
      R"({"replicas":2,"template":{"spec":{"containers":[{"name":)"
      R"("tensorflow","command":["train"]}]}}})";
  const uint64_t id = world.Submit(absl::StrCat(
      R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob","metadata":{"name":)"
      R"("tf"},"spec":{"tfReplicaSpecs":{"PS":)",
      pod, R"(,"Worker":)", pod, "}}}"));
  const std::string config = world.Env(id, "TF_CONFIG", 1, 1);
  EXPECT_THAT(config, HasSubstr("127.0.0.1:"));
  EXPECT_THAT(config, HasSubstr(R"("index":1)"));
  std::set<std::string> ports;
  for (size_t at = 0; (at = config.find("127.0.0.1:", at)) != std::string::npos;
       ++at) {
    ports.insert(config.substr(at, 15));
  }
  EXPECT_EQ(ports.size(), 4u);
}

// A job that is submitted by a task of another one.
TEST(LaunchTest, WhoATaskIsNobodyElseTells) {
  World world(OneBox(4));
  const auto ids = world.Submit(
      Submission{.manifest = Manifest({.name = "a"}),
                 .environment = {"MUSTER_ARRAY_ID=7", "MUSTER_ARRAY_INDEX=1",
                                 "MUSTER_JOB_ID=99", "MUSTER_SOCKET=/run/x"}});
  ASSERT_EQ(ids.size(), 1u);
  world.Settle();
  EXPECT_EQ(world.Env(ids[0], "MUSTER_ARRAY_ID"), "unset");
  EXPECT_EQ(world.Env(ids[0], "MUSTER_ARRAY_INDEX"), "unset");
  EXPECT_EQ(world.Env(ids[0], "MUSTER_JOB_ID"), absl::StrCat(ids[0]));
  EXPECT_EQ(world.Env(ids[0], "MUSTER_SOCKET"), "/run/x");
}

TEST(LaunchTest, ATaskIsToldWhoItIs) {
  World world(OneBox(4));
  const uint64_t id =
      world.Submit(Manifest({.name = "a", .gpus = "2", .tasks = 2}));
  EXPECT_EQ(world.Env(id, "MUSTER_JOB_ID"), absl::StrCat(id));
  EXPECT_EQ(world.Env(id, "MUSTER_TASK", 0, 1), "task-1");
  EXPECT_EQ(world.Env(id, "MUSTER_ATTEMPT"), "1");
  EXPECT_EQ(world.Env(id, "MUSTER_SIZE"), "2");
  EXPECT_EQ(world.Env(id, "MUSTER_CHECKPOINT"),
            absl::StrCat("/var/lib/muster/jobs/", id, "/0-0/1/checkpoint"));
  EXPECT_EQ(world.Env(id, "LANG"), "C");  // Of the submission.
  std::set<std::string> gpus = {world.Env(id, "MUSTER_GPUS", 0, 0),
                                world.Env(id, "MUSTER_GPUS", 0, 1)};
  EXPECT_THAT(gpus, ElementsAre("0,1", "2,3"));
  const TaskStart& start = world.Of(id)->start;
  EXPECT_EQ(start.uid, 1000u);
  EXPECT_EQ(start.directory, "/data/ann");
  EXPECT_EQ(start.cpu_milli, 1000);
  EXPECT_THAT(start.launch.argv, ElementsAre("train"));
  EXPECT_EQ(start.output, "");
}

constexpr const char* kWithVariables = R"yaml(
apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        command: [echo, $(A)]
        workingDir: sub
        env: [{name: A, value: "2"}]
)yaml";

TEST(LaunchTest, TheManifestsVariablesWinOverTheSubmissions) {
  World world(OneBox(0));
  const auto ids = world.Submit(
      Submission{.manifest = kWithVariables,
                 .directory = "/data",
                 .environment = {"A=1", "MUSTER_JOB_ID=999", "B=x=y"}});
  world.Settle();
  EXPECT_EQ(world.Env(ids[0], "A"), "2");
  EXPECT_EQ(world.Env(ids[0], "B"), "x=y");
  EXPECT_EQ(world.Env(ids[0], "MUSTER_JOB_ID"), absl::StrCat(ids[0]));
  EXPECT_THAT(world.Of(ids[0])->start.launch.argv, ElementsAre("echo", "2"));
  EXPECT_EQ(world.Of(ids[0])->start.directory, "/data/sub");
}

TEST(LaunchTest, WhatIsOfTheSubmissionAloneIsCountedForSecrets) {
  World world(OneBox(1));
  const auto ids = world.Submit(Submission{
      .manifest = R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":
"a"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":
"main","command":["train"],"env":[{"name":"LEVEL","value":"2"}],"envFrom":[{
"secretRef":{"name":"keys"}}]}]}}}})",
      .environment = {"MUSTER_JOB_ID=99", "EDITOR=ed", "LEVEL=1", "LANG=C"}});
  ASSERT_EQ(ids.size(), 1u);
  world.Settle();
  const TaskStart& start = world.Of(ids[0])->start;
  ASSERT_EQ(start.launch.from_host.size(), 1u);
  ASSERT_EQ(start.inherited, 2u);
  EXPECT_EQ(start.launch.env[0].first, "EDITOR");
  EXPECT_EQ(start.launch.env[1].first, "LANG");
  EXPECT_EQ(world.Env(ids[0], "LEVEL"), "2");
  EXPECT_EQ(world.Env(ids[0], "MUSTER_JOB_ID"), absl::StrCat(ids[0]));
}

TEST(LaunchTest, AScriptIsAFileOfTheTask) {
  World world(OneBox(0));
  const auto ids = world.Submit(Submission{
      .manifest = "#!/bin/sh\n#SBATCH -J s -o %x-%j-%%-%q.log\nrun\n",
      .directory = "/w"});
  world.Settle();
  const TaskStart& start = world.Of(ids[0])->start;
  const std::string path =
      absl::StrCat("/var/lib/muster/jobs/", ids[0], "/0-0/1/script");
  EXPECT_THAT(start.launch.argv, ElementsAre(path));
  ASSERT_EQ(start.launch.files.size(), 1u);
  EXPECT_EQ(start.launch.files[0].path, path);
  EXPECT_TRUE(start.launch.files[0].executable);
  EXPECT_THAT(*start.launch.files[0].content, HasSubstr("run\n"));
  EXPECT_EQ(start.output, absl::StrCat("/w/s-", ids[0], "-%-%q.log"));
  EXPECT_EQ(start.error, start.output);
  EXPECT_EQ(world.Env(ids[0], "SLURM_JOB_ID"), absl::StrCat(ids[0]));
}

TEST(LaunchTest, NoTwoLiveTasksHaveOnePort) {
  ControllerConfig config = OneBox(4);
  config.first_port = 25'000;
  config.last_port = 25'003;
  config.port_is_free = [](uint16_t port) { return port != 25'001; };
  World world(config);
  const uint64_t a = world.Submit(PyTorchManifest("a", 1));
  EXPECT_EQ(world.controller->Count().ports, 2u);
  // There is one port left, and it needs two.
  const uint64_t b = world.Submit(PyTorchManifest("b", 1));
  for (int i = 0; i < 10 && world.Phase(b) != "failed"; ++i) {
    world.Pass(400 * kSecond);
  }
  EXPECT_EQ(world.Phase(b), "failed");
  EXPECT_EQ(world.Row(b).exit_code, 127);
  EXPECT_EQ(world.Running(a).size(), 2u);
  EXPECT_EQ(world.controller->Count().ports, 2u);
  world.Exit(a, 0, 0, 0);
  world.Settle();
  EXPECT_EQ(world.Phase(a), "succeeded");
  EXPECT_EQ(world.Row(a).finished, kForever);  // Its worker runs on.
  world.Exit(a, 0, 1, 0);
  world.Settle();
  EXPECT_NE(world.Row(a).finished, kForever);
  EXPECT_EQ(world.controller->Count().ports, 0u);
}

TEST(LaunchTest, WhoGrowsWithoutPortsLeavesTheOthersTheirs) {
  ControllerConfig config = OneBox(4);
  config.first_port = 25'000;
  config.last_port = 25'002;
  World world(config);
  const uint64_t high =
      world.Submit(Manifest({.name = "b", .gpus = "3"}), "high");
  const uint64_t id = world.Submit(PyTorchManifest("e", 2, 1, 4));
  ASSERT_THAT(world.Running(id), ElementsAre("0-0/1"));
  EXPECT_EQ(world.Env(id, "MUSTER_SIZE"), "1");
  world.Exit(high, 0);
  world.Settle();
  bool told = false;
  for (const auto& [key, row] : world.tasks) {
    if (key.job != id || row.state != "ended") continue;
    told = true;
    EXPECT_EQ(row.reason, "no port of 25000 to 25002 is free");
  }
  EXPECT_TRUE(told);
  EXPECT_THAT(world.Running(id), testing::Contains("0-0/1"));
  EXPECT_GE(world.controller->Count().ports, 1u);
}

TEST(LaunchTest, APreemptedJobGivesItsPortsBack) {
  World world(OneBox(2));
  const uint64_t a = world.Submit(PyTorchManifest("a", 1));
  world.Submit(Manifest({.name = "b", .gpus = "2"}), "high");
  EXPECT_EQ(world.Phase(a), "queued");
  EXPECT_EQ(world.controller->Count().ports, 0u);
  EXPECT_EQ(world.Row(a).endpoints, "");
}

TEST(LaunchTest, MpirunFindsItsHosts) {
  ControllerConfig config = OneBox(0);
  config.remote_shell = "/usr/bin/muster-exec";
  World world(config);
  const std::string pod =
      R"("template":{"spec":{"containers":[{"name":"mpi","command":["mpirun"]}]}}})";
  const uint64_t id = world.Submit(absl::StrCat(
      R"({"apiVersion":"kubeflow.org/v2beta1","kind":"MPIJob","metadata":)"
      R"({"name":"pi"},"spec":{"mpiReplicaSpecs":{"Launcher":{"replicas":1,)",
      pod, R"(,"Worker":{"replicas":2,)", pod, "}}}"));
  const JobDetails details = *world.controller->Details(id);
  ASSERT_FALSE(details.tasks.empty());
  bool found = false;
  for (const auto& [key, process] : world.processes) {
    for (const workload::TaskFile& file : process.start.launch.files) {
      if (!file.path.ends_with("/hostfile")) continue;
      found = true;
      EXPECT_EQ(file.path,
                absl::StrCat("/var/lib/muster/jobs/", id, "/mpi/hostfile"));
      EXPECT_THAT(*file.content, HasSubstr("pi-worker-0"));
      EXPECT_THAT(*file.content, HasSubstr("pi-worker-1"));
      EXPECT_EQ(world.Env(id, "OMPI_MCA_plm_rsh_agent", key.role, key.index),
                "/usr/bin/muster-exec");
    }
  }
  EXPECT_TRUE(found);
}

TEST(LaunchTest, RanksFollowTheTopology) {
  ControllerConfig config = OneBox(4);
  config.scheduler.topologies = {{.key = "box", .levels = {"node"}}};
  config.node.labels = {{"node", "local"}};
  // Devices 0 and 3 are near each other, and so are 1 and 2.
  for (const uint32_t d : {0u, 3u}) config.node.devices[d].island = 0;
  for (const uint32_t d : {1u, 2u}) config.node.devices[d].island = 1;
  World world(config);
  const uint64_t id = world.Submit(PyTorchManifest("ring", 3));
  std::map<int, std::string> gpu_of_rank;
  for (const auto& [key, process] : world.processes) {
    int rank = 0;
    ASSERT_TRUE(
        absl::SimpleAtoi(world.Env(id, "RANK", key.role, key.index), &rank));
    gpu_of_rank[rank] = world.Env(id, "MUSTER_GPUS", key.role, key.index);
  }
  ASSERT_EQ(gpu_of_rank.size(), 4u);
  const auto near = [](const std::string& gpu) {
    return gpu == "0" || gpu == "3";
  };
  // The ring of workers leaves an island once.
  int crossings = 0;
  for (int r = 1; r + 1 < 4; ++r) {
    crossings += near(gpu_of_rank[r]) != near(gpu_of_rank[r + 1]);
  }
  EXPECT_LE(crossings, 1);
}

}  // namespace
}  // namespace muster::local
