#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/adapters/kubernetes_api/reading.h"

namespace muster::kubernetes::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Object(const std::string& spec) {
  return "{\"apiVersion\": \"muster.dev/v1alpha1\", \"kind\": \"K\", "
         "\"metadata\": {\"name\": \"o\"}, \"status\": {}, \"spec\": " +
         spec + "}";
}

TEST(QueuesTest, EveryFieldIsRead) {
  const auto queue = Must<Queue>(Object(R"({
    "parent": "root", "weight": 3, "band": -2, "ordering": "StrictFIFO", "closed": true,
    "held": true,
    "quotas": [{"resource": "cpu", "guarantee": "1500m", "limit": 4},
               {"resource": "nvidia.com/gpu", "limit": "8",
                "borrowLimit": 2}],
    "preemption": {"within": "LowerOrNewerEqualPriority",
                   "across": "LowerPriority", "borrowing": "LowerPriority",
                   "borrowingThreshold": -5},
    "namespaces": {"names": ["a", "b"],
                   "selector": {"matchLabels": {"team": "vision"}}}})"));
  Queue expected;
  expected.meta.name = "o";
  expected.parent = "root";
  expected.weight = 3;
  expected.band = -2;
  expected.ordering = QueueOrdering::kStrictFifo;
  expected.closed = expected.held = true;
  expected.quotas = {{"cpu", 1500, 4000, {}},
                     {"nvidia.com/gpu", {}, 8000, 2000}};
  expected.preemption = {.within = PreemptWithin::kLowerOrNewerEqual,
                         .across = PreemptAcross::kLower,
                         .borrowing = PreemptBorrowing::kLower,
                         .borrowing_threshold = -5};
  expected.has_namespaces = true;
  expected.namespace_names = {"a", "b"};
  expected.namespace_selector = LabelSelector{{{"team", "vision"}}, {}};
  EXPECT_EQ(queue, expected);
}

TEST(QueuesTest, WithoutASpecAreOpenToAll) {
  const auto queue = Must<Queue>(R"({"metadata": {"name": "o"}})");
  Queue expected;
  expected.meta.name = "o";
  EXPECT_EQ(queue, expected);
  EXPECT_EQ(queue.weight, 1u);
  EXPECT_EQ(queue.ordering, QueueOrdering::kBestEffortFifo);
}

TEST(QueuesTest, FieldsThatNobodyKnowsAreNamed) {
  const auto queue = Must<Queue>(
      R"({"metadata": {"name": "o"}, "data": 1, "spec": {"borrow": {},
          "quotas": [{"resource": "cpu", "lendLimit": "1"}],
          "preemption": {"inside": "Never"}, "namespaces": {"except": []}}})");
  EXPECT_THAT(queue.not_understood,
              ElementsAre("data", "spec.borrow", "spec.quotas[0].lendLimit",
                          "spec.preemption.inside", "spec.namespaces.except"));
}

TEST(QueuesTest, WhatCannotBeMeantIsRefused) {
  const struct {
    const char* spec;
    const char* why;
  } cases[] = {
      {R"({"weight": 0})", "spec.weight: must be 1 to 1000000"},
      {R"({"weight": 1000001})", "spec.weight: must be 1 to 1000000"},
      {R"({"weight": 1.5})", "spec.weight: must be a whole number of 64 bits"},
      {R"({"ordering": "LIFO"})",
       "spec.ordering: must be BestEffortFIFO or StrictFIFO"},
      {R"({"quotas": [{"limit": "1"}]})",
       "spec.quotas[0].resource: is missing"},
      {R"({"quotas": [{"resource": "a"}, {"resource": "a"}]})",
       "spec.quotas[1].resource: has another quota"},
      {R"({"quotas": [{"resource": "a", "guarantee": "2", "limit": "1"}]})",
       "spec.quotas[0].guarantee: is above the limit"},
      {R"({"quotas": [{"resource": "a", "limit": "-1"}]})",
       "spec.quotas[0].limit: is negative"},
      {R"({"quotas": [{"resource": "a", "limit": true}]})",
       "spec.quotas[0].limit: must be a string or a number"},
      {R"({"closed": "yes"})", "spec.closed: must be true or false"},
      {R"({"quotas": [{"resource": "a", "borrowLimit": "-1"}]})",
       "spec.quotas[0].borrowLimit: is negative"},
      {R"({"preemption": {"within": "Any"}})",
       "spec.preemption.within: must be one of Never, LowerPriority, "
       "LowerOrNewerEqualPriority"},
      {R"({"preemption": {"across": "lower"}})",
       "spec.preemption.across: must be one of Never, LowerPriority, Any"},
      {R"({"preemption": {"borrowing": "Any"}})",
       "spec.preemption.borrowing: must be one of Never, LowerPriority"},
      {R"({"preemption": {"borrowingThreshold": 3000000000}})",
       "spec.preemption.borrowingThreshold: must be a whole number of 32 "
       "bits"},
  };
  for (const auto& [spec, why] : cases) {
    EXPECT_EQ(WhyNot<Queue>(Object(spec)), why);
  }
}

TEST(MusterPodGroupsTest, EveryFieldIsRead) {
  const auto group = Must<MusterPodGroup>(Object(R"({
    "queue": "research", "priorityClassName": "high", "minMember": 9,
    "topology": {"required": "block", "preferred": "rack"},
    "groups": [
      {"name": "ps", "minMember": 1},
      {"name": "worker", "minMember": 8, "topology": {"required": "rack",
        "slices": [{"required": "host", "size": 4}]}}]})"));
  MusterPodGroup expected;
  expected.meta.name = "o";
  expected.queue = "research";
  expected.priority_class_name = "high";
  expected.min_member = 9;
  expected.topology = {"block", "rack", {}};
  expected.groups = {{"ps", 1, {}}, {"worker", 8, {"rack", "", {{"host", 4}}}}};
  EXPECT_EQ(group, expected);
}

TEST(MusterPodGroupsTest, FieldsThatNobodyKnowsAreNamed) {
  const auto group = Must<MusterPodGroup>(Object(R"({"maxMember": 3,
    "topology": {"zone": "a", "slices": [{"required": "h", "size": 1,
                                          "of": 2}]},
    "groups": [{"name": "a", "order": 1}]})"));
  EXPECT_THAT(
      group.not_understood,
      ElementsAre("spec.maxMember", "spec.topology.zone",
                  "spec.topology.slices[0].of", "spec.groups[0].order"));
}

TEST(MusterPodGroupsTest, WhatCannotBeMeantIsRefused) {
  const struct {
    const char* spec;
    const char* why;
  } cases[] = {
      {R"({"minMember": 0})", "spec.minMember: must be 1 or more"},
      {R"({"groups": [{}]})", "spec.groups[0].name: is missing"},
      {R"({"groups": [{"name": "a"}, {"name": "a"}]})",
       "spec.groups[1].name: is another group's, too"},
      {R"({"groups": [{"name": "a", "minMember": -1}]})",
       "spec.groups[0].minMember: must be 1 or more"},
      {R"({"topology": {"slices": [{"size": 2}]}})",
       "spec.topology.slices[0].required: is missing"},
      {R"({"topology": {"slices": [{"required": "h"}]}})",
       "spec.topology.slices[0].size: must be 1 or more"},
  };
  for (const auto& [spec, why] : cases) {
    EXPECT_EQ(WhyNot<MusterPodGroup>(Object(spec)), why);
  }
}

}  // namespace
}  // namespace muster::kubernetes::api
