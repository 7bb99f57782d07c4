// What a pod needs, case by case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/adapters/kubernetes_api/reading.h"

namespace muster::kubernetes::api {
namespace {

ResourceList RequestsOf(const std::string& spec,
                        const std::string& status = "{}") {
  return Must<Pod>("{\"metadata\": {\"name\": \"p\"}, \"spec\": " + spec +
                   ", \"status\": " + status + "}")
      .requests;
}

TEST(PodRequestsTest, ContainersAddUp) {
  EXPECT_EQ(RequestsOf(R"({"containers": [
      {"name": "a", "resources": {"requests": {"cpu": "1", "memory": "1k"}}},
      {"name": "b", "resources": {"requests": {"cpu": "500m"}}}]})"),
            (ResourceList{{"cpu", 1500}, {"memory", 1'000'000}}));
}

TEST(PodRequestsTest, LimitsAreNoRequests) {
  EXPECT_EQ(RequestsOf(R"({"containers": [
      {"name": "a", "resources": {"limits": {"cpu": "1"}}}]})"),
            ResourceList{});
}

TEST(PodRequestsTest, TheLargestInitContainerCountsIfItNeedsMore) {
  EXPECT_EQ(RequestsOf(R"({"containers": [
      {"name": "a", "resources": {"requests": {"cpu": "1", "memory": "5"}}}],
    "initContainers": [
      {"name": "i", "resources": {"requests": {"cpu": "3", "memory": "2"}}},
      {"name": "j", "resources": {"requests": {"cpu": "2", "disk": "1"}}}]})"),
            (ResourceList{{"cpu", 3000}, {"disk", 1000}, {"memory", 5000}}));
}

TEST(PodRequestsTest, SidecarsRunBesideTheContainersAndLaterInitContainers) {
  // Together at the end: 1 + 2 + 4 = 7; while i starts: 5; while k starts:
  // 2 + 6 = 8; the sidecar s2 starts behind it.
  EXPECT_EQ(RequestsOf(R"({"containers": [
      {"name": "a", "resources": {"requests": {"cpu": "1"}}}],
    "initContainers": [
      {"name": "i", "resources": {"requests": {"cpu": "5"}}},
      {"name": "s1", "restartPolicy": "Always",
       "resources": {"requests": {"cpu": "2"}}},
      {"name": "k", "resources": {"requests": {"cpu": "6"}}},
      {"name": "s2", "restartPolicy": "Always",
       "resources": {"requests": {"cpu": "4"}}}]})"),
            (ResourceList{{"cpu", 8000}}));
}

TEST(PodRequestsTest, OverheadComesOnTop) {
  EXPECT_EQ(RequestsOf(R"({"overhead": {"cpu": "250m", "memory": "1"},
    "containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}}}]})"),
            (ResourceList{{"cpu", 1250}, {"memory", 1000}}));
}

TEST(PodRequestsTest, ThePodsOwnRequestsReplaceTheSumOfWhatTheyName) {
  EXPECT_EQ(
      RequestsOf(R"({"resources": {"requests": {"cpu": "2", "hugepages-2Mi":
        "4Mi", "nvidia.com/gpu": "9"}}, "overhead": {"cpu": "1"},
    "containers": [{"name": "a", "resources": {"requests": {
        "cpu": "500m", "memory": "1", "nvidia.com/gpu": "1"}}}]})"),
      (ResourceList{{"cpu", 3000},
                    {"hugepages-2Mi", 4'194'304'000},
                    {"memory", 1000},
                    {"nvidia.com/gpu", 1000}}));
}

constexpr char kTwoCores[] = R"({"containers": [
    {"name": "a", "resources": {"requests": {"cpu": "2"}}}]})";

TEST(PodRequestsTest, WhileAPodGrowsTheSpecCounts) {
  EXPECT_EQ(RequestsOf(kTwoCores, R"({"containerStatuses": [{"name": "a",
      "allocatedResources": {"cpu": "1"},
      "resources": {"requests": {"cpu": "1"}}}]})"),
            (ResourceList{{"cpu", 2000}}));
}

TEST(PodRequestsTest, WhileAPodShrinksWhatItHasCounts) {
  EXPECT_EQ(RequestsOf(kTwoCores, R"({"containerStatuses": [{"name": "a",
      "allocatedResources": {"cpu": "2"},
      "resources": {"requests": {"cpu": "3"}}}]})"),
            (ResourceList{{"cpu", 3000}}));
}

TEST(PodRequestsTest, AnInfeasibleGrowthDoesNotCount) {
  EXPECT_EQ(RequestsOf(kTwoCores, R"({"containerStatuses": [{"name": "a",
      "allocatedResources": {"cpu": "1"},
      "resources": {"requests": {"cpu": "1500m"}}}],
      "conditions": [{"type": "PodResizePending", "status": "True",
                      "reason": "Infeasible"}]})"),
            (ResourceList{{"cpu", 1500}}));
}

TEST(PodRequestsTest, ADeferredGrowthCounts) {
  EXPECT_EQ(RequestsOf(kTwoCores, R"({"containerStatuses": [{"name": "a",
      "allocatedResources": {"cpu": "1"}}],
      "conditions": [{"type": "PodResizePending", "status": "True",
                      "reason": "Deferred"}]})"),
            (ResourceList{{"cpu", 2000}}));
}

TEST(PodRequestsTest, SumsEndAtTheLargestNumber) {
  EXPECT_EQ(RequestsOf(R"({"containers": [
      {"name": "a", "resources": {"requests": {"x": "9Ei"}}},
      {"name": "b", "resources": {"requests": {"x": "9Ei"}}}]})"),
            (ResourceList{{"x", std::numeric_limits<int64_t>::max()}}));
}

}  // namespace
}  // namespace muster::kubernetes::api
