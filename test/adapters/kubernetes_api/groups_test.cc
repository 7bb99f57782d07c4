#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/adapters/kubernetes_api/reading.h"

namespace muster::kubernetes::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <typename T>
T Of(const std::string& spec) {
  return Must<T>("{\"metadata\": {\"name\": \"g\"}, \"spec\": " + spec +
                 ", \"status\": {\"conditions\": []}}");
}

TEST(PodGroupsTest, AreReadAsServedByKubernetes137) {
  const auto group = Of<PodGroup>(R"({
    "workloadRef": {"workloadName": "w", "templateName": "t"},
    "parentCompositePodGroupName": "outer",
    "schedulingPolicy": {"gang": {"minCount": 8}},
    "schedulingConstraints": {"topology": [{"key": "rack"}]},
    "disruptionMode": {"all": {}}, "priorityClassName": "high",
    "priority": 1000, "preemptionPolicy": "Never"})");
  PodGroup expected;
  expected.meta.name = "g";
  expected.min_count = 8;
  expected.topology_keys = {"rack"};
  expected.disruption_mode = "all";
  expected.priority_class_name = "high";
  expected.priority = 1000;
  expected.preemption_policy = "Never";
  expected.parent = "outer";
  EXPECT_EQ(group, expected);
}

TEST(PodGroupsTest, AreReadAsServedByKubernetes136) {
  const auto group = Of<PodGroup>(R"({
    "podGroupTemplateRef": {"workload": {"workloadName": "w"}},
    "schedulingPolicy": {"gang": {"minCount": 2}},
    "disruptionMode": "PodGroup"})");
  EXPECT_EQ(group.min_count, 2);
  EXPECT_EQ(group.disruption_mode, "all");
  EXPECT_THAT(group.not_understood, IsEmpty());
  EXPECT_EQ(Of<PodGroup>(R"({"disruptionMode": "Pod"})").disruption_mode,
            "single");
}

TEST(PodGroupsTest, TheBasicPolicyHasNoMinimum) {
  const auto group = Of<PodGroup>(R"({"schedulingPolicy": {"basic": {}},
      "disruptionMode": {"single": {}}})");
  EXPECT_EQ(group.min_count, std::nullopt);
  EXPECT_EQ(group.disruption_mode, "single");
  EXPECT_THAT(group.not_understood, IsEmpty());
}

TEST(PodGroupsTest, WhatIsNewIsNamed) {
  const auto group = Of<PodGroup>(R"({"resourceClaims": [{"name": "c"}],
    "schedulingPolicy": {"gang": {"minCount": 1, "max": 2}, "other": {}},
    "schedulingConstraints": {"topology": [{"key": "a", "soft": true}],
                              "placement": null, "node": {}},
    "disruptionMode": {"some": {}}})");
  EXPECT_THAT(
      group.not_understood,
      ElementsAre("spec.resourceClaims", "spec.schedulingPolicy.gang.max",
                  "spec.schedulingPolicy.other",
                  "spec.schedulingConstraints.topology[0].soft",
                  "spec.schedulingConstraints.node",
                  "spec.disruptionMode.some"));
}

TEST(PodGroupsTest, InAListPathsBeginAtTheGroup) {
  Reader reader;
  std::vector<std::string> paths;
  const auto meta = reader.ReadList<PodGroup>(
      R"({"items": [{"metadata": {"name": "g"}, "spec": {"new": 1}}]})",
      [&](const PodGroup& group) { paths = group.not_understood; },
      [](const BadObject& bad) { ADD_FAILURE() << bad.why; });
  ASSERT_TRUE(meta.ok());
  EXPECT_THAT(paths, ElementsAre("spec.new"));
}

TEST(PodGroupsTest, GroupsOfGroupsAreRead) {
  const auto group = Of<CompositePodGroup>(R"({
    "workloadRef": {"workloadName": "w"},
    "schedulingPolicy": {"gang": {"minGroupCount": 3}},
    "schedulingConstraints": {"topology": [{"key": "block"}]}})");
  EXPECT_EQ(group.min_group_count, 3);
  EXPECT_THAT(group.topology_keys, ElementsAre("block"));
  EXPECT_THAT(group.not_understood, IsEmpty());
}

TEST(PodGroupsTest, OfTheSchedulerPluginsAreRead) {
  const auto group = Of<CoschedulingPodGroup>(
      R"({"minMember": 4, "scheduleTimeoutSeconds": 90,
          "minResources": {"cpu": "8"}})");
  EXPECT_EQ(group.min_member, 4);
  EXPECT_EQ(group.schedule_timeout_seconds, 90);
  EXPECT_EQ(group.min_resources, (ResourceList{{"cpu", 8000}}));
}

TEST(PodGroupsTest, OfVolcanoAreRead) {
  const auto group = Of<VolcanoPodGroup>(
      R"({"minMember": 5, "minTaskMember": {"ps": 1, "worker": 4},
          "queue": "research", "priorityClassName": "high",
          "networkTopology": {"mode": "hard"}})");
  EXPECT_EQ(group.min_member, 5);
  EXPECT_EQ(group.min_task_member,
            (std::map<std::string, int32_t>{{"ps", 1}, {"worker", 4}}));
  EXPECT_EQ(group.queue, "research");
  EXPECT_EQ(group.priority_class_name, "high");
  EXPECT_THAT(group.not_understood, ElementsAre("spec.networkTopology"));
}

}  // namespace
}  // namespace muster::kubernetes::api
