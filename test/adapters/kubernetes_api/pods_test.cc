#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/adapters/kubernetes_api/reading.h"

namespace muster::kubernetes::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr std::string_view kTrainer = R"({
  "kind": "Pod", "apiVersion": "v1",
  "metadata": {
    "name": "bert-worker-3", "namespace": "vision",
    "uid": "0b6e1b5e-6d0e-4a39-8f52-7bd1f2a8c001",
    "resourceVersion": "918273", "generation": 2,
    "creationTimestamp": "2026-03-01T10:20:30Z",
    "deletionTimestamp": "2026-03-01T11:00:00Z",
    "labels": {"app": "bert", "training.kubeflow.org/replica-type": "worker"},
    "annotations": {
      "kubectl.kubernetes.io/last-applied-configuration": "{\"a\":1}",
      "muster.dev/note": "line\nbreak \u00e9 \ud83d\ude80"},
    "ownerReferences": [
      {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "bert",
       "uid": "77", "controller": true, "blockOwnerDeletion": true}],
    "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}]},
  "spec": {
    "schedulerName": "muster", "nodeName": "gpu-17",
    "priorityClassName": "high", "priority": 1000000,
    "preemptionPolicy": "Never", "terminationGracePeriodSeconds": 45,
    "schedulingGates": [{"name": "example.com/wait"}],
    "schedulingGroup": {"podGroupName": "bert-group"},
    "nodeSelector": {"zone": "a"},
    "affinity": {"nodeAffinity": {
      "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [
          {"key": "gpu.model", "operator": "In", "values": ["H100", "H200"]}]},
        {"matchFields": [
          {"key": "metadata.name", "operator": "In", "values": ["gpu-17"]}]}]},
      "preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 30, "preference": {"matchExpressions": [
          {"key": "rack", "operator": "Exists"}]}}]}},
    "tolerations": [
      {"key": "spot", "operator": "Exists", "effect": "NoExecute",
       "tolerationSeconds": 60},
      {"key": "team", "value": "vision"}],
    "topologySpreadConstraints": [
      {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
       "minDomains": 3, "labelSelector": {"matchLabels": {"app": "bert"}},
       "matchLabelKeys": ["pod-template-hash"], "nodeAffinityPolicy": "Honor",
       "nodeTaintsPolicy": "Ignore"}],
    "volumes": [
      {"name": "data", "persistentVolumeClaim": {"claimName": "images"}},
      {"name": "tmp", "emptyDir": {}},
      {"name": "token", "projected": {"sources": []}}],
    "containers": [
      {"name": "main", "image": "bert:1", "ports": [
         {"containerPort": 80},
         {"containerPort": 9000, "hostPort": 9000},
         {"containerPort": 53, "hostPort": 53, "protocol": "UDP",
          "hostIP": "10.0.0.1"}],
       "resources": {"limits": {"nvidia.com/gpu": "8", "cpu": "64"},
                     "requests": {"cpu": "3500m", "memory": "16Gi",
                                  "nvidia.com/gpu": "8"}}}]},
  "status": {
    "phase": "Running", "nominatedNodeName": "gpu-18",
    "startTime": "2026-03-01T10:21:00Z",
    "conditions": [
      {"type": "Ready", "status": "True"},
      {"type": "PodScheduled", "status": "True"},
      {"type": "DisruptionTarget", "status": "True",
       "reason": "PreemptionByScheduler", "message": "x"},
      {"type": "Initialized", "status": "True"}]}})";

void ExpectTrainersSpec(const Pod& pod) {
  EXPECT_EQ(pod.scheduler_name, "muster");
  EXPECT_EQ(pod.node_name, "gpu-17");
  EXPECT_EQ(pod.priority_class_name, "high");
  EXPECT_EQ(pod.priority, 1000000);
  EXPECT_EQ(pod.preemption_policy, "Never");
  EXPECT_EQ(pod.termination_grace_seconds, 45);
  EXPECT_THAT(pod.scheduling_gates, ElementsAre("example.com/wait"));
  EXPECT_EQ(pod.pod_group_name, "bert-group");
  EXPECT_THAT(pod.node_selector, ElementsAre(Pair("zone", "a")));
  EXPECT_THAT(pod.requests,
              ElementsAre(Pair("cpu", 3500), Pair("memory", 17179869184000),
                          Pair("nvidia.com/gpu", 8000)));
  EXPECT_THAT(pod.host_ports,
              ElementsAre("TCP/0.0.0.0/9000", "UDP/10.0.0.1/53"));
  EXPECT_THAT(pod.volumes,
              ElementsAre(PodVolume{"data", "persistentVolumeClaim", "images"},
                          PodVolume{"tmp", "emptyDir", ""},
                          PodVolume{"token", "projected", ""}));
  EXPECT_THAT(pod.tolerations,
              ElementsAre(Toleration{"spot", "Exists", "", "NoExecute", 60},
                          Toleration{"team", "", "vision", "", {}}));
  EXPECT_THAT(pod.not_understood, IsEmpty());
}

void ExpectTrainersPlaces(const Pod& pod) {
  EXPECT_TRUE(pod.has_required_node_affinity);
  const SelectorRequirement model{"gpu.model", "In", {"H100", "H200"}};
  const SelectorRequirement name{"metadata.name", "In", {"gpu-17"}};
  const SelectorRequirement rack{"rack", "Exists", {}};
  EXPECT_THAT(
      pod.required_node_affinity,
      ElementsAre(NodeSelectorTerm{{model}, {}}, NodeSelectorTerm{{}, {name}}));
  EXPECT_THAT(pod.preferred_node_affinity,
              ElementsAre(PreferredTerm{30, {{rack}, {}}}));
  const SpreadConstraint spread{
      .max_skew = 2,
      .topology_key = "zone",
      .when_unsatisfiable = "DoNotSchedule",
      .min_domains = 3,
      .selector = LabelSelector{{{"app", "bert"}}, {}},
      .match_label_keys = {"pod-template-hash"},
      .node_affinity_policy = "Honor",
      .node_taints_policy = "Ignore"};
  EXPECT_THAT(pod.spread, ElementsAre(spread));
}

TEST(PodsTest, EveryFieldIsRead) {
  const Pod pod = Must<Pod>(kTrainer);
  EXPECT_EQ(pod.meta.name, "bert-worker-3");
  EXPECT_EQ(pod.meta.namespace_name, "vision");
  EXPECT_EQ(pod.meta.uid, "0b6e1b5e-6d0e-4a39-8f52-7bd1f2a8c001");
  EXPECT_EQ(pod.meta.resource_version, "918273");
  EXPECT_EQ(pod.meta.generation, 2);
  EXPECT_EQ(pod.meta.creation, 1772360430000);
  EXPECT_EQ(pod.meta.deletion, 1772362800000);
  EXPECT_EQ(pod.meta.labels.at("training.kubeflow.org/replica-type"), "worker");
  EXPECT_THAT(pod.meta.annotations,
              ElementsAre(Pair("muster.dev/note", "line\nbreak é 🚀")));
  EXPECT_THAT(pod.meta.owners,
              ElementsAre(OwnerReference{"kubeflow.org/v1", "PyTorchJob",
                                         "bert", "77", true}));
  ExpectTrainersSpec(pod);
  ExpectTrainersPlaces(pod);
  EXPECT_EQ(pod.phase, "Running");
  EXPECT_EQ(pod.nominated_node_name, "gpu-18");
  EXPECT_EQ(pod.start_time, 1772360460000);
  EXPECT_TRUE(pod.ready);
  EXPECT_THAT(pod.conditions, ElementsAre(Pair("DisruptionTarget",
                                               "True/PreemptionByScheduler"),
                                          Pair("PodScheduled", "True/")));
}

TEST(PodsTest, TheOrderOfFieldsDoesNotMatter) {
  const Pod pod = Must<Pod>(kTrainer);
  const auto json = nlohmann::json::parse(kTrainer);
  std::mt19937 random(7);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(Must<Pod>(Shuffled(json, &random)), pod);
  }
}

TEST(PodsTest, NullIsTheSameAsAbsent) {
  const Pod pod = Must<Pod>(R"({"metadata": {"name": "p",
    "creationTimestamp": null, "labels": null, "ownerReferences": null},
    "spec": {"nodeName": null, "priority": null, "containers": null,
             "affinity": {"nodeAffinity": {
               "requiredDuringSchedulingIgnoredDuringExecution": null}},
             "schedulingGroup": null, "resourceClaims": null,
             "volumes": [{"name": "v", "hostPath": null, "emptyDir": {}}],
             "topologySpreadConstraints": [{"labelSelector": null}]},
    "status": {"startTime": null, "conditions": null}})");
  Pod expected;
  expected.meta.name = "p";
  expected.volumes = {{"v", "emptyDir", ""}};
  expected.spread.resize(1);
  EXPECT_EQ(pod, expected);
}

TEST(PodsTest, WhatASchedulerWouldHaveToUnderstandIsNamed) {
  const Pod pod = Must<Pod>(R"({"metadata": {"name": "p"}, "spec": {
    "resourceClaims": [{"name": "gpu"}],
    "workloadRef": {"name": "w"},
    "schedulingGroup": {"podGroupName": "g", "next": {"a": 1}},
    "affinity": {
      "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "z"}],
        "preferredDuringSchedulingIgnoredDuringExecution": []},
      "podAntiAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}}}})");
  EXPECT_THAT(pod.not_understood,
              ElementsAre("spec.resourceClaims", "spec.workloadRef",
                          "spec.schedulingGroup.next",
                          "spec.affinity.podAffinity."
                          "requiredDuringSchedulingIgnoredDuringExecution",
                          "spec.affinity.podAntiAffinity."
                          "preferredDuringSchedulingIgnoredDuringExecution"));
  EXPECT_EQ(pod.pod_group_name, "g");
}

TEST(PodsTest, EmptyAffinityAsksForNothing) {
  const Pod pod = Must<Pod>(R"({"metadata": {"name": "p"}, "spec": {
    "resourceClaims": [], "affinity": {
      "nodeAffinity": {}, "podAffinity": {}, "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": []}}}})");
  EXPECT_THAT(pod.not_understood, IsEmpty());
  EXPECT_FALSE(pod.has_required_node_affinity);
}

TEST(PodsTest, OnlyContainersThatGoOnRunningHoldHostPorts) {
  const Pod pod = Must<Pod>(R"({"metadata": {"name": "p"}, "spec": {
    "initContainers": [
      {"name": "a", "ports": [{"hostPort": 1}]},
      {"name": "b", "ports": [{"hostPort": 2}], "restartPolicy": "Always"}],
    "containers": [{"name": "c", "ports": [{"hostPort": 3, "hostIP": ""}]}]}})");
  EXPECT_THAT(pod.host_ports, ElementsAre("TCP/0.0.0.0/2", "TCP/0.0.0.0/3"));
}

TEST(NodesTest, EveryFieldIsRead) {
  const Node node = Must<Node>(R"({"metadata": {"name": "gpu-17",
      "labels": {"topology.kubernetes.io/zone": "a"}},
    "spec": {"podCIDR": "10.0.0.0/24", "unschedulable": true, "taints": [
      {"key": "spot", "value": "soon", "effect": "NoExecute",
       "timeAdded": "2026-03-01T10:20:30Z"},
      {"key": "team", "effect": "NoSchedule"}]},
    "status": {
      "capacity": {"cpu": "96"},
      "allocatable": {"cpu": "95500m", "memory": "1056Gi", "pods": "110",
                      "nvidia.com/gpu": 8},
      "images": [{"names": ["a", "b"], "sizeBytes": 123}],
      "conditions": [{"type": "MemoryPressure", "status": "False"},
                     {"type": "Ready", "status": "Unknown"}]}})");
  Node expected;
  expected.meta.name = "gpu-17";
  expected.meta.labels = {{"topology.kubernetes.io/zone", "a"}};
  expected.unschedulable = true;
  expected.taints = {{"spot", "soon", "NoExecute", 1772360430000},
                     {"team", "", "NoSchedule", {}}};
  expected.allocatable = {{"cpu", 95500},
                          {"memory", (int64_t{1056} << 30) * 1000},
                          {"nvidia.com/gpu", 8000},
                          {"pods", 110000}};
  expected.ready = "Unknown";
  EXPECT_EQ(node, expected);
}

}  // namespace
}  // namespace muster::kubernetes::api
