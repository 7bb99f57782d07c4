// What each kind and dialect says where a manifest is silent: a row each.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/workload/parsed_manifest.h"

namespace muster::workload {
namespace {

struct Row {
  const char* manifest = "";
  Kind kind = Kind::kJob;
  Dialect dialect = Dialect::kKubernetes;
  // Roles in their order: "name:replicas:restart[ after ...]".
  std::vector<std::string> roles{};
  uint32_t port = 0;
  CleanPolicy clean = CleanPolicy::kNone;
  RestartUnit unit = RestartUnit::kTask;
  RetryableCodes codes = RetryableCodes::kSignals;
  ResizeMode resize = ResizeMode::kFixed;
  // Rules: "all of master", "1 of worker".
  std::vector<std::string> success{};
};

std::string Describe(const Job& job, const Role& role) {
  std::string text = role.name + ":" + std::to_string(role.replicas) + ":" +
                     std::string(Name(role.restart));
  for (const StartAfter& a : role.start_after) {
    text += " after " + job.roles[a.role].name + " " +
            std::string(Name(a.condition));
  }
  if (role.passive) text += " passive";
  return text;
}

std::string Describe(const Job& job, const SuccessRule& rule) {
  std::string text = rule.count == 0 ? "all" : std::to_string(rule.count);
  if (rule.groups) text += " groups";
  for (const auto& [first, last] : rule.indexes) {
    text += " " + std::to_string(first) + "-" + std::to_string(last);
  }
  text += " of";
  for (const uint32_t r : rule.roles) text += " " + job.roles[r].name;
  return text;
}

const Row kRows[] = {
    {.manifest = "batch",
     .kind = Kind::kJob,
     .roles = {"task:3:Replace"},
     .clean = CleanPolicy::kRunning,
     .resize = ResizeMode::kInPlace,
     .success = {"2 0-0 2-3 of task", "all of task"}},
    {.manifest = "pytorch-kubeflow",
     .kind = Kind::kPyTorchJob,
     .dialect = Dialect::kKubeflow,
     .roles = {"master:1:OnFailure", "worker:3:OnFailure"},
     .port = 23456,
     .unit = RestartUnit::kGang,
     .success = {"all of master"}},
    {.manifest = "pytorch-elastic",
     .kind = Kind::kPyTorchJob,
     .dialect = Dialect::kKubeflow,
     .roles = {"worker:3:OnFailure"},
     .port = 23456,
     .unit = RestartUnit::kGang,
     .resize = ResizeMode::kInPlace,
     .success = {"1 of worker"}},
    {.manifest = "pytorch-kubedl",
     .kind = Kind::kPyTorchJob,
     .dialect = Dialect::kKubeDL,
     .roles = {"master:1:ExitCode", "worker:3:OnFailure after master Running"},
     .port = 23456,
     .unit = RestartUnit::kGang,
     .codes = RetryableCodes::kFourSignals,
     .resize = ResizeMode::kRestart,
     .success = {"all of master worker"}},
    {.manifest = "tf-kubeflow",
     .kind = Kind::kTFJob,
     .dialect = Dialect::kKubeflow,
     .roles = {"ps:2:Never", "chief:1:Never", "worker:2:OnFailure",
               "evaluator:1:Never"},
     .port = 2222,
     .success = {"all of chief"}},
    {.manifest = "tf-kubedl",
     .kind = Kind::kTFJob,
     .dialect = Dialect::kKubeDL,
     .roles = {"ps:2:ExitCode", "chief:1:ExitCode after ps Running",
               "worker:2:ExitCode after ps Running",
               "evaluator:1:ExitCode after ps Running"},
     .port = 2222,
     .clean = CleanPolicy::kRunning,
     .codes = RetryableCodes::kFourSignals,
     .success = {"all of chief"}},
    {.manifest = "mpi-kubeflow",
     .kind = Kind::kMPIJob,
     .dialect = Dialect::kKubeflow,
     .roles = {"worker:2:Never passive",
               "launcher:1:Never after worker Running"},
     .port = 9999,
     .unit = RestartUnit::kGang,
     .success = {"all of launcher"}},
    {.manifest = "mpi-kubedl",
     .kind = Kind::kMPIJob,
     .dialect = Dialect::kKubeDL,
     .roles = {"worker:2:Never passive",
               "launcher:1:Never after worker Running"},
     .port = 2222,
     .clean = CleanPolicy::kRunning,
     .unit = RestartUnit::kGang,
     .codes = RetryableCodes::kFourSignals,
     .success = {"all of launcher"}},
    {.manifest = "mpi-v2",
     .kind = Kind::kMPIJob,
     .dialect = Dialect::kMpiV2,
     .roles = {"worker:2:Never", "launcher:1:Never after worker Running"},
     .port = 22,
     .unit = RestartUnit::kGang,
     .success = {"all of launcher"}},
    {.manifest = "xgboost-kubeflow",
     .kind = Kind::kXGBoostJob,
     .dialect = Dialect::kKubeflow,
     .roles = {"master:1:Never", "worker:2:ExitCode"},
     .port = 9999,
     .unit = RestartUnit::kGang,
     .success = {"all of master"}},
    {.manifest = "xgboost-kubedl",
     .kind = Kind::kXGBoostJob,
     .dialect = Dialect::kKubeDL,
     .roles = {"master:1:Never", "worker:2:Never after master Running"},
     .port = 9999,
     .unit = RestartUnit::kGang,
     .codes = RetryableCodes::kFourSignals,
     .success = {"all of master"}},
    {.manifest = "mars",
     .kind = Kind::kMarsJob,
     .dialect = Dialect::kKubeDL,
     .roles = {"scheduler:1:Never",
               "webservice:1:Always after scheduler Running",
               "worker:2:ExitCode after scheduler Running"},
     .port = 11111,
     .codes = RetryableCodes::kFourSignals,
     .success = {"all of scheduler"}},
    {.manifest = "jax",
     .kind = Kind::kJAXJob,
     .dialect = Dialect::kKubeflow,
     .roles = {"worker:2:Never"},
     .port = 6666,
     .unit = RestartUnit::kGang,
     .success = {"all of worker"}},
    {.manifest = "train-torch",
     .kind = Kind::kTrainJob,
     .dialect = Dialect::kTrainer,
     .roles = {"node:3:Replace"},
     .port = 29500,
     .clean = CleanPolicy::kRunning,
     .unit = RestartUnit::kGang,
     .success = {"all of node"}},
    {.manifest = "train-runtime",
     .kind = Kind::kTrainJob,
     .dialect = Dialect::kTrainer,
     .roles = {"node:2:Replace"},
     .port = 29500,
     .clean = CleanPolicy::kRunning,
     .unit = RestartUnit::kGang,
     .success = {"all of node"}},
    {.manifest = "jobset",
     .kind = Kind::kJobSet,
     .dialect = Dialect::kJobSet,
     .roles = {"driver:1:Replace", "workers:6:Replace after driver Ready"},
     .clean = CleanPolicy::kRunning,
     .success = {"all of workers"}},
    {.manifest = "ray-cluster",
     .kind = Kind::kRayCluster,
     .dialect = Dialect::kKubeRay,
     .roles = {"head:1:OnFailure", "small:2:OnFailure after head Running"},
     .port = 6379,
     .clean = CleanPolicy::kRunning,
     .resize = ResizeMode::kInPlace,
     .success = {"all of head"}},
    {.manifest = "ray-job",
     .kind = Kind::kRayJob,
     .dialect = Dialect::kKubeRay,
     .roles = {"head:1:OnFailure", "small:1:OnFailure after head Running",
               "submitter:1:Replace after head Ready"},
     .port = 6379,
     .clean = CleanPolicy::kRunning,
     .resize = ResizeMode::kInPlace,
     .success = {"all of submitter"}},
    {.manifest = "sbatch",
     .kind = Kind::kBatchScript,
     .dialect = Dialect::kSlurm,
     .roles = {"batch:1:Never", "step:7:Never passive"},
     .clean = CleanPolicy::kRunning,
     .unit = RestartUnit::kGang,
     .success = {"all of batch"}},
};

TEST(KindsTest, EveryKindHasItsDefaults) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.manifest);
    const Job job = JobOf(row.manifest);
    EXPECT_EQ(job.kind, row.kind);
    EXPECT_EQ(job.dialect, row.dialect);
    std::vector<std::string> roles, success;
    for (const Role& r : job.roles) roles.push_back(Describe(job, r));
    for (const SuccessRule& s : job.success)
      success.push_back(Describe(job, s));
    EXPECT_EQ(roles, row.roles);
    EXPECT_EQ(job.port, row.port);
    EXPECT_EQ(job.clean, row.clean);
    EXPECT_EQ(job.failure.unit, row.unit);
    EXPECT_EQ(job.failure.codes, row.codes);
    EXPECT_EQ(job.resize, row.resize);
    EXPECT_EQ(success, row.success);
  }
}

TEST(KindsTest, EveryManifestHasARow) {
  for (const Manifest& m : AllManifests()) {
    EXPECT_TRUE(std::ranges::any_of(kRows, [&](const Row& r) {
      return r.manifest == m.name;
    })) << m.name;
  }
}

// KubeDL has no role for it: defect 1.
TEST(KindsTest, AnEvaluatorIsARole) {
  const Job job = JobOf("tf-kubedl");
  EXPECT_LT(FindRole(job, "evaluator"), job.roles.size());
}

TEST(KindsTest, TFJobsWithoutChiefEndWithWorkerZero) {
  std::string text(ManifestOf("tf-kubeflow"));
  text = With(text, "    Chief: {replicas: 1, template: *t}\n", "");
  const Job job = ParseOne(text).job;
  ASSERT_EQ(job.success.size(), 2u);
  EXPECT_EQ(Describe(job, job.success[0]), "all 0-0 of worker");
  EXPECT_EQ(Describe(job, job.success[1]), "all of worker");
  const Job all =
      ParseOne(With(text, "spec:\n", "spec:\n  successPolicy: AllWorkers\n"))
          .job;
  ASSERT_EQ(all.success.size(), 1u);
  EXPECT_EQ(Describe(all, all.success[0]), "all of worker");
}

}  // namespace
}  // namespace muster::workload
