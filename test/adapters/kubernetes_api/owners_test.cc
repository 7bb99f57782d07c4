#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/adapters/kubernetes_api/reading.h"

namespace muster::kubernetes::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Owner Of(const std::string& api_version, const std::string& kind,
         const std::string& spec) {
  return Must<Owner>("{\"spec\": " + spec + ", \"kind\": \"" + kind +
                     "\", \"apiVersion\": \"" + api_version +
                     "\", \"metadata\": {\"name\": \"o\"}}");
}

TEST(OwnersTest, AJobHasAsManyPodsAsRunAtATime) {
  const Owner job = Of("batch/v1", "Job",
                       R"({"parallelism": 8, "completions": 20,
      "completionMode": "Indexed", "backoffLimit": 3, "suspend": true})");
  EXPECT_THAT(job.roles, ElementsAre(OwnerRole{"", 8, {}}));
  EXPECT_EQ(job.completions, 20);
  EXPECT_EQ(job.completion_mode, "Indexed");
  EXPECT_EQ(job.backoff_limit, 3);
  EXPECT_TRUE(job.suspended);
  EXPECT_FALSE(job.ignores_disruption);
  EXPECT_THAT(
      Of("batch/v1", "Job", R"({"parallelism": 8, "completions": 2})").roles,
      ElementsAre(OwnerRole{"", 2, {}}));
  EXPECT_THAT(Of("batch/v1", "Job", "{}").roles,
              ElementsAre(OwnerRole{"", 1, {}}));
}

TEST(OwnersTest, TheFirstRuleAboutDisruptionsDecides) {
  const std::string ignore =
      R"({"action": "Ignore", "onPodConditions": [{"type": "Other"},
          {"type": "DisruptionTarget", "status": "True"}]})";
  const std::string fail =
      R"({"onPodConditions": [{"type": "DisruptionTarget"}],
          "action": "FailJob"})";
  const std::string codes =
      R"({"action": "FailJob", "onExitCodes": {"operator": "In",
          "values": [42]}})";
  const auto ignores = [](const std::string& rules) {
    return Of("batch/v1", "Job",
              "{\"podFailurePolicy\": {\"rules\": [" + rules + "]}}")
        .ignores_disruption;
  };
  EXPECT_TRUE(ignores(ignore));
  EXPECT_TRUE(ignores(codes + "," + ignore));
  EXPECT_TRUE(ignores(ignore + "," + fail));
  EXPECT_FALSE(ignores(fail + "," + ignore));
  EXPECT_FALSE(ignores(codes));
  EXPECT_FALSE(ignores(
      R"({"action": "Ignore", "onPodConditions": [{"type":
          "DisruptionTarget", "status": "False"}]})"));
}

TEST(OwnersTest, AJobSetHasAllPodsOfItsJobs) {
  EXPECT_THAT(
      Of("jobset.x-k8s.io/v1alpha2", "JobSet", R"({"replicatedJobs": [
        {"name": "driver", "template": {"spec": {"parallelism": 1}}},
        {"name": "workers", "replicas": 4, "template": {"spec":
          {"parallelism": 8, "completions": 8, "template": {"spec": {}}}}}]})")
          .roles,
      ElementsAre(OwnerRole{"driver", 1, {}}, OwnerRole{"workers", 32, {}}));
}

TEST(OwnersTest, TrainingJobsHaveReplicaTypes) {
  const Owner tf = Of("kubeflow.org/v1", "TFJob", R"({
      "runPolicy": {"suspend": true,
                    "schedulingPolicy": {"minAvailable": 5,
                        "queue": "research", "priorityClass": "high",
                        "scheduleTimeoutSeconds": 30}},
      "tfReplicaSpecs": {"PS": {"replicas": 2, "template": {}},
                         "Worker": {"replicas": 4}, "Chief": {}}})");
  EXPECT_THAT(tf.roles,
              ElementsAre(OwnerRole{"PS", 2, {}}, OwnerRole{"Worker", 4, {}},
                          OwnerRole{"Chief", 1, {}}));
  EXPECT_EQ(tf.min_available, 5);
  EXPECT_EQ(tf.queue, "research");
  EXPECT_EQ(tf.priority_class_name, "high");
  EXPECT_TRUE(tf.suspended);
  EXPECT_THAT(Of("kubeflow.org/v1", "PyTorchJob", R"({
      "elasticPolicy": {"minReplicas": 2, "maxReplicas": 8},
      "pytorchReplicaSpecs": {"Worker": {"replicas": 4}}})")
                  .roles,
              ElementsAre(OwnerRole{"Worker", 4, 2}));
  for (const char* specs :
       {"mpiReplicaSpecs", "xgbReplicaSpecs", "jaxReplicaSpecs"}) {
    EXPECT_THAT(
        Of("kubeflow.org/v1", "AnyJob",
           std::string("{\"") + specs + "\": {\"Worker\": {\"replicas\": 3}}}")
            .roles,
        ElementsAre(OwnerRole{"Worker", 3, {}}));
  }
}

TEST(OwnersTest, RolesWhosePodsComeLaterAreNamed) {
  EXPECT_THAT(Of("kubeflow.org/v2beta1", "MPIJob", R"({
      "launcherCreationPolicy": "WaitForWorkersReady",
      "mpiReplicaSpecs": {"Launcher": {}, "Worker": {"replicas": 2}}})")
                  .roles,
              ElementsAre(OwnerRole{"Launcher", 1, {}, true},
                          OwnerRole{"Worker", 2, {}}));
  const auto job_set = [](const std::string& more) {
    return Of("jobset.x-k8s.io/v1alpha2", "JobSet",
              "{" + more + R"("replicatedJobs": [{"name": "a"}, {"name": "b",
                  "dependsOn": [{"name": "a", "status": "Complete"}]},
                  {"name": "c", "dependsOn": []}]})")
        .roles;
  };
  EXPECT_THAT(job_set(""),
              ElementsAre(OwnerRole{"a", 1, {}}, OwnerRole{"b", 1, {}, true},
                          OwnerRole{"c", 1, {}}));
  EXPECT_THAT(
      job_set(R"("startupPolicy": {"startupPolicyOrder": "InOrder"}, )"),
      ElementsAre(OwnerRole{"a", 1, {}}, OwnerRole{"b", 1, {}, true},
                  OwnerRole{"c", 1, {}, true}));
}

// minReplicas is the autoscaler's.
TEST(OwnersTest, ARayClusterThatDoesNotScaleNeedsAllItsWorkers) {
  EXPECT_THAT(Of("ray.io/v1", "RayCluster", R"({"headGroupSpec": {},
      "workerGroupSpecs": [{"groupName": "w", "replicas": 4,
                            "minReplicas": 0}]})")
                  .roles,
              ElementsAre(OwnerRole{"head", 1, {}}, OwnerRole{"w", 4, {}}));
}

TEST(OwnersTest, ARayClusterHasAHeadAndItsWorkers) {
  const std::string spec = R"({"headGroupSpec": {"template": {}},
      "enableInTreeAutoscaling": true,
      "workerGroupSpecs": [
        {"groupName": "gpu", "replicas": 4, "minReplicas": 2,
         "maxReplicas": 8, "numOfHosts": 2},
        {"groupName": "cpu", "minReplicas": 1},
        {"groupName": "off", "replicas": 3, "suspend": true}]})";
  const auto roles =
      ElementsAre(OwnerRole{"head", 1, {}}, OwnerRole{"gpu", 8, 4},
                  OwnerRole{"cpu", 1, 1}, OwnerRole{"off", 0, {}});
  EXPECT_THAT(Of("ray.io/v1", "RayCluster", spec).roles, roles);
  EXPECT_THAT(
      Of("ray.io/v1", "RayJob", "{\"rayClusterSpec\": " + spec + "}").roles,
      roles);
}

TEST(OwnersTest, EachReplicaOfALeaderWorkerSetIsAGroup) {
  const Owner set =
      Of("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
         R"({"replicas": 3, "leaderWorkerTemplate": {"size": 4}})");
  EXPECT_EQ(set.copies, 3);
  EXPECT_THAT(set.roles, ElementsAre(OwnerRole{"leader", 1, {}},
                                     OwnerRole{"worker", 3, {}}));
  EXPECT_THAT(Of("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "{}").roles,
              ElementsAre(OwnerRole{"leader", 1, {}}));
}

TEST(OwnersTest, WorkersOfALeaderThatIsToBeReadyComeLater) {
  const auto workers = [](const char* policy) {
    return Of("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
              std::string(R"({"startupPolicy": ")") + policy +
                  R"(", "leaderWorkerTemplate": {"size": 3}})")
        .roles;
  };
  EXPECT_THAT(
      workers("LeaderCreated"),
      ElementsAre(OwnerRole{"leader", 1, {}}, OwnerRole{"worker", 2, {}}));
  EXPECT_THAT(workers("LeaderReady"),
              ElementsAre(OwnerRole{"leader", 1, {}},
                          OwnerRole{"worker", 2, {}, true}));
}

TEST(OwnersTest, ReplicasAreReplicas) {
  for (const char* kind : {"ReplicaSet", "StatefulSet", "Deployment"}) {
    EXPECT_THAT(Of("apps/v1", kind, R"({"replicas": 5})").roles,
                ElementsAre(OwnerRole{"", 5, {}}));
    EXPECT_THAT(Of("apps/v1", kind, R"({"replicas": null})").roles,
                ElementsAre(OwnerRole{"", 1, {}}));
  }
}

TEST(OwnersTest, AVolcanoJobHasTasks) {
  const Owner job = Of("batch.volcano.sh/v1alpha1", "Job",
                       R"({"minAvailable": 3, "tasks": [
        {"name": "ps", "replicas": 1}, {"name": "worker", "replicas": 4,
         "minAvailable": 2}]})");
  EXPECT_THAT(job.roles,
              ElementsAre(OwnerRole{"ps", 1, {}}, OwnerRole{"worker", 4, 2}));
  EXPECT_EQ(job.min_available, 3);
}

TEST(OwnersTest, OfAnUnknownKindNothingIsGuessed) {
  EXPECT_THAT(Of("example.com/v1", "Thing", R"({"replicas": 5,
      "parallelism": 3, "tasks": [{"name": "a"}]})")
                  .roles,
              IsEmpty());
}

TEST(OwnersTest, CountsThatAreNoneAreRefused) {
  const auto why = [](const std::string& spec) {
    return WhyNot<Owner>("{\"metadata\": {\"name\": \"o\"}, \"spec\": " + spec +
                         "}");
  };
  EXPECT_EQ(why(R"({"parallelism": -1})"), "spec.parallelism: is negative");
  EXPECT_EQ(why(R"({"tfReplicaSpecs": {"Worker": {"replicas": "4"}}})"),
            "spec.tfReplicaSpecs.Worker.replicas: must be a whole number of 32 "
            "bits");
  EXPECT_EQ(why(R"({"workerGroupSpecs": [{}, {"replicas": 3000000000}]})"),
            "spec.workerGroupSpecs[1].replicas: must be a whole number of 32 "
            "bits");
}

}  // namespace
}  // namespace muster::kubernetes::api
