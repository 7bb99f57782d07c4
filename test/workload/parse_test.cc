#include "muster/workload/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/workload/parsed_manifest.h"

namespace muster::workload {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A Job whose container, or pod, is the given text.
std::string JobWith(std::string_view container, std::string_view pod = "") {
  return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n"
         "  template:\n    spec:\n" +
         std::string(pod) + "      containers:\n      - name: c\n" +
         std::string(container);
}

TEST(ParseTest, AnnotationsSayWhereTasksWrite) {
  const std::string manifest = JobWith("        command: [x]\n");
  const auto with = [&](const std::string& annotations) {
    std::string text = manifest;
    const std::string name = "{name: j}";
    return text.replace(text.find(name), name.size(),
                        "{name: j, annotations: {" + annotations + "}}");
  };
  const auto parsed =
      Parse(with("muster.dev/output: out-%j, muster.dev/error: /tmp/err"));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ((*parsed)[0].job.roles[0].task.output, "out-%j");
  EXPECT_EQ((*parsed)[0].job.roles[0].task.error, "/tmp/err");
  EXPECT_TRUE((*parsed)[0].ignored.empty());
  EXPECT_THAT(
      std::string(
          Parse(with("muster.dev/output: \"a\\0b\"")).status().message()),
      HasSubstr("muster.dev/output: has a byte 0"));
}

TEST(ParseTest, TakesWhatATaskRuns) {
  const TaskTemplate task = ParseOne(JobWith(R"(        image: img
        command: [python, -u]
        args: ["train.py", "--lr=0.1"]
        workingDir: /src
        ports: [{name: http, containerPort: 80}]
        envFrom: [{prefix: P_, configMapRef: {name: cm}}]
        env:
        - {name: A, value: "1"}
        - {name: TOKEN, valueFrom: {secretKeyRef: {name: s, key: k}}}
        - {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        resources: {requests: {cpu: 1500m}, limits: {cpu: 2, memory: 1Gi, nvidia.com/gpu: 2}}
        volumeMounts: [{name: data, mountPath: /data, readOnly: true}]
)",
                                             R"(      nodeSelector: {zone: a}
      terminationGracePeriodSeconds: 5
      tolerations: [{key: spot, operator: Exists, effect: NoSchedule}]
      volumes: [{name: data, hostPath: {path: /mnt/data}}, {name: shm, emptyDir: {medium: Memory, sizeLimit: 1Gi}}]
)"))
                                .job.roles[0]
                                .task;
  EXPECT_EQ(task.image, "img");
  EXPECT_THAT(task.command, ElementsAre("python", "-u"));
  EXPECT_THAT(task.args, ElementsAre("train.py", "--lr=0.1"));
  EXPECT_EQ(task.working_dir, "/src");
  EXPECT_EQ(task.ports[0], (Port{"http", 80}));
  ASSERT_EQ(task.env.size(), 4u);
  EXPECT_EQ(
      task.env[0],
      (EnvVar{.name = "P_", .from = EnvSource::kConfigMap, .source = "cm"}));
  EXPECT_EQ(task.env[1], (EnvVar{.name = "A", .value = "1"}));
  EXPECT_EQ(task.env[2], (EnvVar{.name = "TOKEN",
                                 .from = EnvSource::kSecret,
                                 .source = "s",
                                 .key = "k"}));
  EXPECT_EQ(task.env[3], (EnvVar{.name = "POD",
                                 .from = EnvSource::kField,
                                 .source = "metadata.name"}));
  EXPECT_EQ(task.Requested("cpu"), 1500);
  EXPECT_EQ(task.Requested("memory"), int64_t{1} << 30);
  EXPECT_EQ(task.Requested("nvidia.com/gpu"), 2);
  EXPECT_EQ(task.mounts[0], (Mount{"data", "/data", "", true}));
  EXPECT_EQ(task.volumes[0], (Volume{.name = "data",
                                     .kind = VolumeKind::kHostPath,
                                     .source = "/mnt/data"}));
  EXPECT_TRUE(task.volumes[1].in_memory);
  EXPECT_EQ(task.volumes[1].size_limit, int64_t{1} << 30);
  EXPECT_EQ(task.grace, 5 * kSecond);
  EXPECT_EQ(task.node_labels, (Labels{{"zone", "a"}}));
  EXPECT_EQ(task.tolerations.size(), 1u);
}

TEST(ParseTest, ReadsTheRunPolicyInBothPlaces) {
  const Job kubedl = JobOf("pytorch-kubedl");
  EXPECT_EQ(kubedl.ttl, 3600 * kSecond);
  EXPECT_EQ(kubedl.active_deadline, 86400 * kSecond);
  EXPECT_EQ(kubedl.failure.backoff_limit, 3u);
  EXPECT_EQ(kubedl.scheduling.queue, "team-a");
  EXPECT_EQ(kubedl.scheduling.priority, 10);
  EXPECT_EQ(kubedl.scheduling.priority_class, "high");
  EXPECT_EQ(kubedl.scheduling.min_available, 4u);
  EXPECT_EQ(kubedl.cron.schedule, "0 3 * * *");
  EXPECT_EQ(kubedl.cron.concurrency, "Forbid");
  EXPECT_EQ(kubedl.cron.succeeded_limit, 5u);
  EXPECT_EQ(kubedl.roles[1].spot_replicas, 2u);
  EXPECT_TRUE(kubedl.checkpoint.enabled);
  const Job kubeflow = JobOf("pytorch-kubeflow");
  EXPECT_EQ(kubeflow.failure.backoff_limit, 3u);
  EXPECT_EQ(kubeflow.scheduling.queue, "team-a");
  EXPECT_EQ(kubeflow.nproc_per_node, "2");
}

TEST(ParseTest, ReadsElasticSizes) {
  const Job job = JobOf("pytorch-elastic");
  EXPECT_EQ(job.roles[0].min_replicas, 2u);
  EXPECT_EQ(job.roles[0].replicas, 3u);
  EXPECT_EQ(job.roles[0].max_replicas, 4u);
  EXPECT_EQ(job.elastic.max_restarts, 100u);
  EXPECT_EQ(job.elastic.id, "7");
  EXPECT_EQ(job.elastic.conf.size(), 2u);
}

TEST(ParseTest, ReadsABatchJobsPolicies) {
  const Job job = JobOf("batch");
  EXPECT_EQ(job.space, "lab");
  EXPECT_EQ(job.roles[0].completions, 8u);
  EXPECT_EQ(job.roles[0].replicas, 3u);
  EXPECT_EQ(job.roles[0].min_replicas, 1u);
  EXPECT_EQ(job.failure.backoff_limit, FailurePolicy::kUnlimited);
  EXPECT_EQ(job.failure.backoff_limit_per_index, 1u);
  EXPECT_EQ(job.failure.max_failed_indexes, 2u);
  ASSERT_EQ(job.failure.exit_rules.size(), 2u);
  EXPECT_EQ(job.failure.exit_rules[0],
            (ExitRule{.action = ExitAction::kFailIndex, .codes = {42}}));
  EXPECT_EQ(job.failure.exit_rules[1],
            (ExitRule{.action = ExitAction::kIgnore}));
}

TEST(ParseTest, AJobWithoutCompletionsEndsWithItsFirstSuccess) {
  const std::string text = With(JobWith("        image: i\n"), "spec:\n",
                                "spec:\n  parallelism: 4\n");
  const Job job = ParseOne(text).job;
  EXPECT_EQ(job.roles[0].replicas, 4u);
  EXPECT_EQ(job.success[0].count, 1u);
  EXPECT_TRUE(job.success[0].and_drained);
}

TEST(ParseTest, JobSetsHaveGroups) {
  const Job job = JobOf("jobset");
  EXPECT_EQ(job.roles[1].group_size, 3u);
  EXPECT_EQ(job.failure.max_restarts, 2u);
  EXPECT_THAT(job.failure.group_backoff_limits, ElementsAre(6u, 0u));
  ASSERT_EQ(job.failure.group_rules.size(), 2u);
  EXPECT_EQ(job.failure.group_rules[1].action, GroupAction::kRestartGroup);
  EXPECT_THAT(job.failure.group_rules[1].roles, ElementsAre(1u));
}

TEST(ParseTest, RuntimesStandBesideTrainJobs) {
  const Job job = JobOf("train-runtime");
  EXPECT_EQ(job.framework, "xgboost");
  EXPECT_EQ(job.roles[0].task.image, "xgb");
  EXPECT_THAT(Refusal(With(ManifestOf("train-torch"), "torch-distributed",
                           "deepspeed-distributed")),
              HasSubstr("runtime 'deepspeed-distributed' is neither in this "
                        "file nor built in"));
}

TEST(ParseTest, RayWorkersAreElasticByTheirGroups) {
  const Job job = JobOf("ray-cluster");
  EXPECT_EQ(job.roles[1].min_replicas, 1u);
  EXPECT_EQ(job.roles[1].max_replicas, 5u);
  EXPECT_EQ(job.roles[1].ray_start_params[0].first, "block");
}

TEST(ParseTest, AFileMayHaveSeveralJobs) {
  const auto jobs = Parse(std::string(ManifestOf("jax")) + "---\n" +
                          std::string(ManifestOf("batch")) + "---\n");
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  ASSERT_EQ(jobs->size(), 2u);
  EXPECT_EQ((*jobs)[0].job.name, "spmd");
  EXPECT_EQ((*jobs)[1].job.name, "count");
}

// Defect 3: 24 units on nodes of 8 were refused, and 20 taken for 16.
TEST(ParseTest, LegacyMpiUnitsDivide) {
  const auto units = [](const char* total) {
    return With(ManifestOf("mpi-kubedl"), "spec:\n",
                std::string("spec:\n  legacySpec: {gpus: ") + total +
                    ", gpusPerNode: 8}\n");
  };
  for (const auto& [total, workers] :
       {std::pair{"8", 1u}, {"16", 2u}, {"24", 3u}, {"32", 4u}}) {
    const Job job = ParseOne(units(total)).job;
    EXPECT_EQ(job.roles[0].replicas, workers) << total;
    EXPECT_EQ(job.slots_per_worker, 8u);
  }
  EXPECT_THAT(Refusal(units("20")), HasSubstr("20 is no multiple of 8"));
}

struct BadRow {
  const char* manifest = "";
  const char* what = "";
  const char* by = "";
  const char* message = "";
};

TEST(ParseTest, RefusesWithLineAndField) {
  const BadRow kRows[] = {
      {"batch", "completions: 8", "completions: eight",
       "line 5: spec.completions: 'eight' is not an integer"},
      {"batch", "cpu: 500m", "cpu: much",
       "spec.template.spec.containers[0].resources.requests.cpu: 'much' is "
       "not a number"},
      {"batch", "operator: In", "operator: Is",
       "spec.podFailurePolicy.rules[0].onExitCodes: 'Is' is none of: In, "
       "NotIn"},
      {"batch", "\"0,2-3\"", "\"0,2-9\"", "no ascending list of indexes"},
      {"batch", "name: count", "name: ../etc", "metadata.name: '../etc'"},
      {"batch", "namespace: lab", "namespace: a/b", "metadata.namespace"},
      {"batch", "kind: Job", "kind: Deployment",
       "'batch/v1' 'Deployment' is none of: batch/v1 Job"},
      {"batch", "name: main", "name: main\n        name: main",
       "containers[0].name: is there twice"},
      {"batch", "image: busybox", "env: [{name: \"A=B\", value: c}]",
       "'A=B' is no name of a variable"},
      {"batch", "image: busybox", "env: [{name: A, value: \"a\\0b\"}]",
       "env[0].value: has a byte 0"},
      {"batch", "restartPolicy: Never\n      containers:\n      - name: main",
       "volumes: [{name: v, emptyDir: {}}]\n      containers:\n      - "
       "volumeMounts: [{name: v, mountPath: /v, subPath: ../x}]",
       "subPath: '../x' leads out of the volume"},
      {"batch", "image: busybox", "volumeMounts: [{name: v, mountPath: /v}]",
       "no volume 'v' to mount"},
      {"jax", "Worker:", "Slave:", "'Slave' is none of: Worker"},
      {"jax", "replicas: 2", "replicas: 1000000", "is not between 1 and"},
      {"jax", "replicas: 2", "replicas: 0", "'0' is not between 1 and"},
      {"pytorch-kubedl", "0 3 * * *", "0 3 *", "does not have five fields"},
      {"pytorch-kubedl", "kubedl.io/enable-elastic-training: \"true\"",
       "muster.dev/checkpoint: 100000d",
       "metadata.annotations.muster.dev/checkpoint: '100000d' is none of: "
       "true, false, a time like 90s, at most 2305843009s"},
      {"pytorch-kubedl", "Forbid", "Never", "none of: Allow, Forbid, Replace"},
      {"pytorch-elastic", "minReplicas: 2", "minReplicas: 9",
       "spec.elasticPolicy.minReplicas: is more than maxReplicas"},
      {"pytorch-kubeflow", "nprocPerNode: \"2\"", "nprocPerNode: few",
       "spec.nprocPerNode: 'few' is none of: auto, cpu, gpu"},
      {"pytorch-kubedl", "minAvailable: 4", "minAvailable: 9",
       "minAvailable: 9 of 4 tasks"},
      {"jobset", "name: driver, status", "name: workers, status",
       "'workers' is no replicated job before this one"},
      {"jobset", "action: FailJobSet", "action: Explode",
       "'Explode' is none of: FailJobSet"},
      {"ray-job", "entrypoint: python job.py", "rayVersion: x",
       "lacks 'entrypoint'"},
  };
  for (const BadRow& row : kRows) {
    SCOPED_TRACE(row.by);
    EXPECT_THAT(Refusal(With(ManifestOf(row.manifest), row.what, row.by)),
                HasSubstr(row.message));
  }
}

TEST(ParseTest, SaysWhatItCannotDo) {
  const auto status = Parse(With(ManifestOf("jobset"), "maxRestarts: 2",
                                 "restartStrategy: InPlaceRestart"))
                          .status();
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
  const auto volume = Parse(JobWith("        image: i\n",
                                    "      volumes: [{name: v, nfs: {}}]\n"))
                          .status();
  EXPECT_TRUE(absl::IsUnimplemented(volume)) << volume;
}

TEST(ParseTest, ReadsWhatVolumesSayOfTheirFiles) {
  const auto parsed = Parse(JobWith("        image: i\n", R"(
      volumes:
      - {name: host, hostPath: {path: /data, type: DirectoryOrCreate}}
      - {name: claim, persistentVolumeClaim: {claimName: c, readOnly: true}}
      - name: config
        configMap:
          name: m
          defaultMode: 0440
          optional: true
          items: [{key: a, path: sub/a, mode: 256}, {key: b, path: b}]
      - {name: keys, secret: {secretName: s}}
)"));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_THAT((*parsed)[0].ignored, testing::IsEmpty());
  const auto& volumes = (*parsed)[0].job.roles[0].task.volumes;
  ASSERT_EQ(volumes.size(), 4u);
  EXPECT_EQ(volumes[0].host_type, "DirectoryOrCreate");
  EXPECT_TRUE(volumes[1].read_only);
  EXPECT_EQ(volumes[2].default_mode, 0440u);
  EXPECT_TRUE(volumes[2].optional);
  EXPECT_THAT(volumes[2].items, ElementsAre(VolumeItem{"a", "sub/a", 0400},
                                            VolumeItem{"b", "b", 0}));
  EXPECT_EQ(volumes[3].default_mode, 0644u);
  EXPECT_FALSE(volumes[3].optional);
}

TEST(ParseTest, VolumesThatLeadElsewhereAreRefused) {
  for (const auto& [volume, message] :
       std::vector<std::pair<const char*, const char*>>{
           {"{name: a/b, emptyDir: {}}", "'a/b' is no name"},
           {"{name: v, hostPath: {path: data}}", "'data' is no absolute path"},
           {"{name: v, persistentVolumeClaim: {claimName: ..}}",
            "'..' is no name"},
           {"{name: v, secret: {secretName: a/b}}", "'a/b' is no name"},
           {"{name: v, configMap: {name: m, items: [{key: k, path: ../k}]}}",
            "items[0].path: '../k' leads out of the volume"},
           {"{name: v, configMap: {name: m, items: [{key: a/k, path: k}]}}",
            "items[0].key: 'a/k' is no name"},
           {"{name: v, configMap: {name: m, defaultMode: 0999}}",
            "'0999' is no mode of a file"},
           {"{name: v, configMap: {name: m, defaultMode: 512}}",
            "'512' is not between 0 and 0777"}}) {
    const auto status =
        Parse(JobWith("        image: i\n",
                      std::string("      volumes: [") + volume + "]\n"))
            .status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << volume;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
}

TEST(ParseTest, RefusesWhatIsNoManifest) {
  for (const char* text :
       {"", "---\n---\n", "[]", "hello", "{a: b}", "a: [", "&a [*a]", "\t{"}) {
    EXPECT_FALSE(Parse(text).ok()) << text;
  }
}

}  // namespace
}  // namespace muster::workload
