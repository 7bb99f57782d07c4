#include "adapters/local/host/config.h"

#include <string>
#include <utility>

#include "adapters/local/host/task_cgroups.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_host/temporary_folder.h"

namespace muster::local {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ConfigTest : public testing::Test {
 protected:
  absl::StatusOr<Config> Load(const std::string& text) {
    WriteText(file_, text);
    return LoadConfig(file_);
  }
  Config Good(const std::string& text) {
    const auto config = Load(text);
    EXPECT_TRUE(config.ok()) << config.status();
    return config.ok() ? *config : Config();
  }
  // What is said behind the file's name.
  std::string Wrong(const std::string& text) {
    const auto config = Load(text);
    EXPECT_TRUE(absl::IsInvalidArgument(config.status())) << text;
    const std::string message(config.status().message());
    if (!message.starts_with(file_ + ":")) return "of no file: " + message;
    return message.substr(file_.size() + 1);
  }

  TemporaryFolder folder_;
  const std::string file_ = folder_ / "musterd.yaml";
};

TEST_F(ConfigTest, WithoutAFileOneQueueServesOnePerson) {
  const Config config;
  EXPECT_THAT(config.queues, ElementsAre(Queue{.key = "default"}));
  ASSERT_THAT(config.classes, SizeIs(3));
  EXPECT_EQ(config.default_class, "normal");
  EXPECT_TRUE(config.scheduler.host.suspend);
  // An empty mapping says no more than that.
  EXPECT_EQ(Good("{}\n").scheduler, config.scheduler);
  EXPECT_EQ(Good("{}\n").queues, config.queues);
  EXPECT_EQ(Good("{}\n").classes, config.classes);
}

TEST_F(ConfigTest, PlacesOfVolumesAreRead) {
  const Config config = Good(
      "claims: {data: /srv/data, team: /srv/team}\n"
      "config_maps: /etc/muster/config-maps\n"
      "secrets: /etc/muster/secrets\n");
  EXPECT_EQ(config.volumes.claims.at("team"), "/srv/team");
  EXPECT_EQ(config.volumes.config_maps, "/etc/muster/config-maps");
  EXPECT_EQ(config.volumes.secrets, "/etc/muster/secrets");
  EXPECT_EQ(Wrong("claims: {data: srv}\n"),
            "1:16: claims.data: 'srv' is no absolute path");
}

TEST_F(ConfigTest, HowImagesAreRunIsRead) {
  EXPECT_EQ(Good("{}\n").images.by, ImageProgram::kNone);
  Config config = Good(
      "images:\n"
      "  by: bubblewrap\n"
      "  program: /opt/bwrap\n"
      "  folder: /srv/images\n"
      "  names: {docker.io/lab/torch:2: /srv/torch}\n"
      "  binds: [/etc/hosts, /opt/lib:/usr/local/lib]\n"
      "  options: [--unshare-ipc]\n");
  EXPECT_EQ(config.images.by, ImageProgram::kBubblewrap);
  EXPECT_EQ(config.images.program, "/opt/bwrap");
  EXPECT_EQ(config.images.folder, "/srv/images");
  EXPECT_EQ(config.images.names.at("docker.io/lab/torch:2"), "/srv/torch");
  EXPECT_THAT(config.images.binds,
              ElementsAre("/etc/hosts", "/opt/lib:/usr/local/lib"));
  EXPECT_THAT(config.images.options, ElementsAre("--unshare-ipc"));
  config = Good(
      "images: {by: podman, pull: missing, allow: ['docker.io/library/*'],\n"
      "         names: {torch: quay.io/lab/torch}}\n");
  EXPECT_EQ(config.images.by, ImageProgram::kPodman);
  EXPECT_EQ(config.images.pull, ImagePull::kMissing);
  EXPECT_THAT(config.images.allow, ElementsAre("docker.io/library/*"));
  EXPECT_EQ(config.images.names.at("torch"), "quay.io/lab/torch");
}

TEST_F(ConfigTest, ImagesThatNobodyMayHaveAreAMistake) {
  EXPECT_THAT(Wrong("images: {by: docker}\n"),
              HasSubstr("images.by: 'docker' is none of: none, bubblewrap, "));
  EXPECT_THAT(Wrong("images: {by: podman}\n"),
              HasSubstr("images: expected allow or names"));
  EXPECT_THAT(Wrong("images: {by: apptainer}\n"),
              HasSubstr("images: expected folder or names"));
  EXPECT_THAT(Wrong("images: {by: podman, folder: /srv}\n"),
              HasSubstr("images: folder: podman has images of its own"));
  EXPECT_THAT(Wrong("images: {by: bubblewrap, folder: /i, allow: ['*']}\n"),
              HasSubstr("images: allow: bubblewrap runs those of folder"));
  EXPECT_THAT(Wrong("images: {by: bubblewrap, folder: images}\n"),
              HasSubstr("images.folder: 'images' is no absolute path"));
  EXPECT_THAT(Wrong("images: {by: bubblewrap, names: {../x: /srv/x}}\n"),
              HasSubstr("'../x' is no name of an image"));
  EXPECT_THAT(Wrong("images: {by: podman, names: {x: 'dir:/x'}}\n"),
              HasSubstr("'dir:/x' is no name of an image"));
  EXPECT_THAT(Wrong("images: {by: bubblewrap, folder: /i, binds: [lib]}\n"),
              HasSubstr("'lib': expected an absolute path, or PATH:PLACE"));
}

TEST_F(ConfigTest, TheNodeIsRead) {
  const Config config = Good(
      "node:\n"
      "  name: box\n"
      "  cpus: 1.5\n"
      "  memory: 64Gi\n"
      "  gpus: [{count: 2, model: A100, memory: 80Gi, island: 1, numa: 0},\n"
      "         {healthy: false, rail: 3}, 1]\n"
      "  cgroup: /sys/fs/cgroup/muster\n"
      "  forget_gpus: [GPU-1, GPU-2]\n");
  EXPECT_EQ(config.node, "box");
  EXPECT_EQ(config.cpu_milli, 1500);
  EXPECT_EQ(config.memory_bytes, int64_t{64} << 30);
  const Device a100{.model = "A100",
                    .memory_bytes = int64_t{80} << 30,
                    .island = 1,
                    .numa = 0};
  ASSERT_TRUE(config.devices.has_value());
  EXPECT_THAT(
      *config.devices,
      ElementsAre(a100, a100, Device{.healthy = false, .rail = 3}, Device{}));
  EXPECT_EQ(config.cgroup, "/sys/fs/cgroup/muster");
  EXPECT_EQ(Good("node: {cgroup: own}").cgroup, kOwnCgroup);
  EXPECT_THAT(config.forgotten_gpus, ElementsAre("GPU-1", "GPU-2"));
}

TEST_F(ConfigTest, WhatTasksAreBoundToIsRead) {
  EXPECT_EQ(Good("node: {cpus: 3}\n").cpu_bind, CpuBind::kNone);
  const Config none = Good("node: {cpus: {amount: 1.5, bind: none}}\n");
  EXPECT_EQ(none.cpu_milli, 1500);
  EXPECT_EQ(none.cpu_bind, CpuBind::kNone);
  const Config cores = Good("node: {cpus: {bind: cores}}\n");
  EXPECT_FALSE(cores.cpu_milli.has_value());
  EXPECT_EQ(cores.cpu_bind, CpuBind::kCores);
  EXPECT_EQ(cores.cpu_unit, CpuUnit::kCore);
  const Config threads =
      Good("node: {cpus: {unit: thread, bind: cores, amount: 12}}\n");
  EXPECT_EQ(threads.cpu_milli, 12'000);
  EXPECT_EQ(threads.cpu_unit, CpuUnit::kThread);
}

TEST_F(ConfigTest, WhatTheNodeLeavesOpenIsAsFound) {
  const Config config = Good("node: {name: box}\n");
  EXPECT_FALSE(config.cpu_milli.has_value());
  EXPECT_FALSE(config.memory_bytes.has_value());
  EXPECT_FALSE(config.devices.has_value());
  // None is not the same.
  const Config none = Good("node: {gpus: 0, cpus: 0, memory: 0}\n");
  ASSERT_TRUE(none.devices.has_value());
  EXPECT_THAT(*none.devices, IsEmpty());
  EXPECT_EQ(none.cpu_milli, 0);
  EXPECT_EQ(none.memory_bytes, 0);
}

TEST_F(ConfigTest, QueuesAndClassesReplaceThoseThatAreThere) {
  const Config config = Good(
      "queues:\n"
      "- {key: default}\n"
      "- {key: lab, weight: 2, ordering: strict-fifo, closed: true,\n"
      "   quotas: [{resource: gpu, guarantee: 1, limit: 2},\n"
      "            {resource: cpu, borrow_limit: 3, lend_limit: 1}]}\n"
      "priority_classes:\n"
      "- {key: batch, value: -5, may_preempt: false, min_runtime: 60s}\n"
      "- {key: short, value: 50, on_preempted: suspend, grace: 30s}\n"
      "default_queue: lab\n"
      "default_priority_class: batch\n");
  ASSERT_THAT(config.queues, SizeIs(2));
  EXPECT_EQ(config.queues[1].weight, 2);
  EXPECT_EQ(config.queues[1].ordering, QueueOrdering::kStrictFifo);
  EXPECT_TRUE(config.queues[1].closed);
  EXPECT_THAT(
      config.queues[1].quotas,
      ElementsAre(
          Quota{.resource = "gpu", .guarantee = 1000, .limit = 2000},
          Quota{.resource = "cpu", .borrow_limit = 3000, .lend_limit = 1000}));
  EXPECT_THAT(config.classes,
              ElementsAre(PriorityClass{.key = "batch",
                                        .value = -5,
                                        .may_preempt = false,
                                        .min_runtime = 60 * kSecond},
                          PriorityClass{.key = "short",
                                        .value = 50,
                                        .on_preempted = OnPreempted::kSuspend,
                                        .grace = 30 * kSecond}));
  EXPECT_EQ(config.default_queue, "lab");
  EXPECT_EQ(config.default_class, "batch");
}

TEST_F(ConfigTest, PortsHistoryAndSchemesAreRead) {
  const Config config = Good(
      "ports: {first: 30000, last: 30000}\n"
      "quarantine: {jobs: 5, window: 1h, soon: 5s, codes: [1, 139]}\n"
      "notify: {command: [/bin/tell, -x], on: [started]}\n"
      "history: {keep_for: 12h, keep_jobs: 0, keep_bytes: 2Gi}\n"
      "partition_schemes: [h100-80gb]\n");
  EXPECT_EQ(config.first_port, 30'000);
  EXPECT_EQ(config.last_port, 30'000);
  EXPECT_EQ(config.keep_for, int64_t{12} * 3600 * kSecond);
  EXPECT_EQ(config.keep_jobs, 0u);
  EXPECT_EQ(config.quarantine.jobs, 5u);
  EXPECT_EQ(config.quarantine.window, 3600 * kSecond);
  EXPECT_EQ(config.quarantine.soon, 5 * kSecond);
  EXPECT_THAT(config.quarantine.codes, ElementsAre(1, 139));
  EXPECT_THAT(config.notify.command, ElementsAre("/bin/tell", "-x"));
  EXPECT_THAT(config.notify.on, ElementsAre("started"));
  EXPECT_EQ(config.keep_bytes, int64_t{2} << 30);
  ASSERT_THAT(config.scheduler.partition_schemes, SizeIs(1));
  EXPECT_EQ(config.scheduler.partition_schemes[0].key, "h100-80gb");
}

struct Mistake {
  const char* text;
  const char* place;  // "line:column: field: "
  const char* allowed;
};

// One for each field, and for each way in which it can be wrong.
constexpr Mistake kMistakes[] = {
    {"nodes: {}\n", "1:1: ", "'nodes'"},
    {"- a\n", "1:1: ", "mapping"},
    {"node: 5\n", "1:7: node: ", "mapping"},
    {"node:\n  nam: box\n", "2:3: node", "'nam'"},
    {"node: {name: [a]}\n", "1:14: node.name: ", "single value"},
    {"node: {cpus: many}\n", "1:14: node.cpus: ", "'many'"},
    {"node: {cpus: -1}\n", "1:14: node.cpus: ", "'-1'"},
    {"node: {cpus: {amount: x}}\n", "1:23: node.cpus.amount: ", "'x'"},
    {"node: {cpus: {bind: sockets}}\n",
     "1:21: node.cpus.bind: ", "none of: none, cores"},
    {"node: {cpus: {bind: cores, unit: socket}}\n",
     "1:34: node.cpus.unit: ", "none of: core, thread"},
    {"node: {cpus: {unit: core}}\n",
     "1:21: node.cpus.unit: ", "of bind: cores alone"},
    {"node: {cpus: {pin: cores}}\n", "1:15: node.cpus", "'pin'"},
    {"notify: {on: [failed]}\n", "1:9: notify: ", "command: is missing"},
    {"notify: {command: [tell]}\n", "1:9: notify: ", "no absolute path"},
    {"notify: {command: [/a], on: [ended]}\n",
     "1:30: notify.on[0]: ", "none of: submitted, started"},
    {"node: {memory: 1e99}\n", "1:16: node.memory: ", "1e99"},
    {"node: {gpus: -1}\n", "1:14: node.gpus: ", "between 0 and 128"},
    {"node: {gpus: 129}\n", "1:14: node.gpus: ", "between 0 and 128"},
    {"node: {gpus: {count: x}}\n", "1:22: node.gpus.count: ", "an integer"},
    {"node: {gpus: [100, 100]}\n", "1:20: node.gpus[1]: ", "at most 128"},
    {"node: {gpus: {healthy: 1}}\n",
     "1:24: node.gpus.healthy: ", "neither true nor false"},
    {"node: {gpus: {rail: 64}}\n",
     "1:21: node.gpus.rail: ", "between -1 and 63"},
    {"node: {gpus: {colour: red}}\n", "1:15: node.gpus", "'colour'"},
    {"node: {forget_gpus: GPU-1}\n", "1:21: node.forget_gpus: ", "list"},
    {"queues: 1\n", "1:9: queues: ", "list"},
    {"queues:\n- {weight: 1}\n", "2:3: queues[0]", "'key'"},
    {"queues:\n- {key: default, weight: 0}\n",
     "2:26: queues[0].weight: ", "between 1 and 2147483647"},
    {"queues:\n- {key: default, ordering: x}\n",
     "2:28: queues[0].ordering: ", "none of: "},
    {"queues:\n- {key: default, quotas: [{resource: tpu, limit: 1}]}\n",
     "2:50: queues[0].quotas[0].limit: ", "known: cpu, memory, gpu"},
    {"priority_classes:\n- {key: normal, on_preempted: x}\n",
     "2:31: priority_classes[0].on_preempted: ", "none of: "},
    {"priority_classes:\n- {key: normal, value: 1.5}\n",
     "2:24: priority_classes[0].value: ", "an integer"},
    {"priority_classes:\n- {key: normal, grace: long}\n",
     "2:24: priority_classes[0].grace: ", "'long'"},
    {"default_queue: lab\n", "1:16: default_queue: ", "none of: default"},
    {"queues: [{key: lab}]\n",
     "1:1: default_queue: ", "'default' is none of: lab"},
    {"default_priority_class: urgent\n",
     "1:25: default_priority_class: ", "none of: low, normal, high"},
    {"partition_schemes: [tpu]\n", "1:21: partition_schemes[0]: ", "h100-80gb"},
    {"ports: {first: 80}\n", "1:16: ports.first: ", "between 1024 and 65535"},
    {"ports: {last: 65536}\n", "1:15: ports.last: ", "between 1024 and 65535"},
    {"ports: {first: 2000, last: 1999}\n",
     "1:8: ports: ", "first is behind last"},
    {"ports: {middle: 3000}\n", "1:9: ports", "'middle'"},
    {"history: {keep_bytes: few}\n", "1:23: history.keep_bytes: ", "'few'"},
    {"history: {keep_for: 3}\n", "1:21: history.keep_for: ", "'3'"},
    {"history: {keep_jobs: -1}\n",
     "1:22: history.keep_jobs: ", "between 0 and 1099511627776"},
    {"history: {keep_jobs: 1, keep_jobs: 2}\n", "1:", "keep_jobs"},
    {"\"no\\nde\": 1\n", "1:1: ", "'no\\x0ade'"},
    {"node: {name: 'box}\n", "", "end of"},
};

TEST_F(ConfigTest, AMistakeIsToldWithItsPlaceItsFieldAndWhatIsAllowed) {
  for (const Mistake& mistake : kMistakes) {
    SCOPED_TRACE(mistake.text);
    const std::string wrong = Wrong(mistake.text);
    EXPECT_THAT(wrong, testing::StartsWith(mistake.place));
    EXPECT_THAT(wrong, HasSubstr(mistake.allowed));
    EXPECT_THAT(wrong, testing::Not(HasSubstr("\n")));
  }
}

TEST_F(ConfigTest, OfSeveralMistakesTheFirstInTheFileIsTold) {
  EXPECT_THAT(Wrong("ports: {first: 80}\nnode: {gpus: x}\n"),
              testing::StartsWith("1:16: ports.first: "));
}

TEST_F(ConfigTest, AFileThatIsNoneIsNamed) {
  const auto none = LoadConfig(folder_ / "none.yaml");
  EXPECT_FALSE(none.ok());
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("none.yaml"));
  EXPECT_THAT(Wrong(""), HasSubstr("is empty"));
  EXPECT_THAT(Wrong("{}\n---\n{}\n"), HasSubstr("has several documents"));
}

}  // namespace
}  // namespace muster::local
