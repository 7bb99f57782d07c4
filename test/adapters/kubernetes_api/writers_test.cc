#include "adapters/kubernetes/api/writers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "adapters/text/utf8.h"
#include "test/adapters/kubernetes_api/reading.h"

namespace muster::kubernetes::api {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

PodBinding BindingTo(std::string_view node) {
  return {.namespace_name = "ns", .name = "p-0", .uid = "u-1", .node = node};
}

const ObjectReference kPod{.api_version = "v1",
                           .kind = "Pod",
                           .namespace_name = "ns",
                           .name = "p-0",
                           .uid = "u-1"};

TEST(WritersTest, ABindingNamesTheNodeAndThePodsUid) {
  EXPECT_EQ(Json::parse(BindingBody(BindingTo("gpu-17"), {{"a/b", "x\"y\n"}})),
            Json::parse(R"({"apiVersion": "v1", "kind": "Binding",
              "metadata": {"name": "p-0", "namespace": "ns", "uid": "u-1",
                           "annotations": {"a/b": "x\"y\n"}},
              "target": {"apiVersion": "v1", "kind": "Node",
                         "name": "gpu-17"}})"));
  EXPECT_FALSE(
      Json::parse(BindingBody(BindingTo("n"), {}))["metadata"].contains(
          "annotations"));
}

TEST(WritersTest, AnEvictionHasThePreconditionAndTheGrace) {
  EXPECT_EQ(Json::parse(EvictionBody(kPod, {.uid = "u-1", .grace_seconds = 0})),
            Json::parse(R"({"apiVersion": "policy/v1", "kind": "Eviction",
              "metadata": {"name": "p-0", "namespace": "ns"},
              "deleteOptions": {"apiVersion": "v1", "kind": "DeleteOptions",
                "preconditions": {"uid": "u-1"}, "gracePeriodSeconds": 0}})"));
}

TEST(WritersTest, DeleteOptionsSayNoMoreThanTheyAreTold) {
  EXPECT_EQ(Json::parse(DeleteOptionsBody({})),
            Json::parse(R"({"apiVersion": "v1", "kind": "DeleteOptions"})"));
  EXPECT_EQ(Json::parse(DeleteOptionsBody({.uid = "u",
                                           .resource_version = "7",
                                           .grace_seconds = 30,
                                           .propagation = "Background"})),
            Json::parse(R"({"apiVersion": "v1", "kind": "DeleteOptions",
              "preconditions": {"uid": "u", "resourceVersion": "7"},
              "gracePeriodSeconds": 30, "propagationPolicy": "Background"})"));
}

TEST(WritersTest, APodsConditionIsPatchedByItsType) {
  const PodStatusPatch patch{.uid = "u-1",
                             .conditions = {{.type = "PodScheduled",
                                             .status = "False",
                                             .reason = "Unschedulable",
                                             .message = "0/3 nodes fit",
                                             .last_transition = 1772360430000,
                                             .observed_generation = 4}}};
  EXPECT_EQ(Json::parse(PodStatusPatchBody(patch)),
            Json::parse(R"({"metadata": {"uid": "u-1"}, "status": {
              "conditions": [{"type": "PodScheduled", "status": "False",
                "reason": "Unschedulable", "message": "0/3 nodes fit",
                "lastTransitionTime": "2026-03-01T10:20:30Z",
                "observedGeneration": 4}]}})"));
}

TEST(WritersTest, ANominatedNodeIsSetAndCleared) {
  EXPECT_EQ(Json::parse(PodStatusPatchBody({.nominated_node_name = "n"})),
            Json::parse(R"({"status": {"nominatedNodeName": "n"}})"));
  EXPECT_EQ(Json::parse(PodStatusPatchBody({.nominated_node_name = ""})),
            Json::parse(R"({"status": {"nominatedNodeName": null}})"));
}

TEST(WritersTest, AnnotationsAreSetAndRemoved) {
  EXPECT_EQ(
      Json::parse(AnnotationsPatchBody("u", {{"a", "1"}, {"b", std::nullopt}})),
      Json::parse(R"({"metadata": {"uid": "u",
              "annotations": {"a": "1", "b": null}}})"));
  EXPECT_EQ(Json::parse(AnnotationsPatchBody("u", {{"a", "1"}}, "17")),
            Json::parse(R"({"metadata": {"uid": "u", "resourceVersion": "17",
              "annotations": {"a": "1"}}})"));
}

TEST(WritersTest, AVolumeIsGivenToAClaimInTheVersionThatWasSeen) {
  EXPECT_EQ(
      Json::parse(VolumeClaimPatchBody({.uid = "u", .resource_version = "17"},
                                       {.api_version = "v1",
                                        .kind = "PersistentVolumeClaim",
                                        .namespace_name = "ns",
                                        .name = "c",
                                        .uid = "cu"})),
      Json::parse(R"({"metadata": {"uid": "u", "resourceVersion": "17",
          "annotations": {"pv.kubernetes.io/bound-by-controller": "yes"}},
        "spec": {"claimRef": {"apiVersion": "v1", "namespace": "ns",
          "kind": "PersistentVolumeClaim", "name": "c", "uid": "cu"}}})"));
}

TEST(WritersTest, AnEventIsCompleteAndStandsInItsObjectsNamespace) {
  const Event event{.name = "p-0.17",
                    .regarding = kPod,
                    .related = ObjectReference{.kind = "Node", .name = "n"},
                    .reason = "Scheduled",
                    .action = "Binding",
                    .note = "bound to n",
                    .time = 1772360430123,
                    .controller = "muster.dev/scheduler",
                    .instance = "muster-0"};
  EXPECT_EQ(Json::parse(EventBody(event)),
            Json::parse(R"({"apiVersion": "events.k8s.io/v1", "kind": "Event",
              "metadata": {"name": "p-0.17", "namespace": "ns"},
              "eventTime": "2026-03-01T10:20:30.123000Z", "type": "Normal",
              "reason": "Scheduled", "action": "Binding",
              "note": "bound to n",
              "regarding": {"apiVersion": "v1", "kind": "Pod",
                "namespace": "ns", "name": "p-0", "uid": "u-1"},
              "related": {"kind": "Node", "name": "n"},
              "reportingController": "muster.dev/scheduler",
              "reportingInstance": "muster-0"})"));
}

TEST(WritersTest, AnEventOfAClusterWideObjectStandsInDefault) {
  const Event event{.regarding = {.kind = "Queue", .name = "q"},
                    .warning = true,
                    .count = 3,
                    .last_time = 1772360430000};
  const Json json = Json::parse(EventBody(event));
  EXPECT_EQ(json["metadata"]["namespace"], "default");
  EXPECT_EQ(json["type"], "Warning");
  EXPECT_EQ(json["series"], Json::parse(R"({"count": 3,
              "lastObservedTime": "2026-03-01T10:20:30.000000Z"})"));
}

TEST(WritersTest, ASeriesIsPatchedAlone) {
  EXPECT_EQ(Json::parse(EventSeriesPatchBody(2, 1772360430000)),
            Json::parse(R"({"series": {"count": 2,
              "lastObservedTime": "2026-03-01T10:20:30.000000Z"}})"));
}

TEST(WritersTest, AGroupsConditionsAreAList) {
  const Json json = Json::parse(GroupStatusPatchBody(
      "u", {{.type = "PodGroupInitiallyScheduled", .status = "True"}}));
  EXPECT_EQ(json["metadata"]["uid"], "u");
  ASSERT_EQ(json["status"]["conditions"].size(), 1u);
  EXPECT_EQ(json["status"]["conditions"][0]["lastTransitionTime"],
            "1970-01-01T00:00:00Z");
}

TEST(WritersTest, AQueuesStatusHasItsCounts) {
  EXPECT_EQ(
      Json::parse(QueueStatusPatchBody(
          "", {.observed_generation = 2,
               .pending_groups = 3,
               .running_groups = 4,
               .pending_pods = 30,
               .running_pods = 40,
               .used = {{"cpu", 1500}, {"nvidia.com/gpu", 8000}}})),
      Json::parse(R"({"status": {"observedGeneration": 2, "pendingGroups": 3,
        "runningGroups": 4, "pendingPods": 30, "runningPods": 40,
        "used": {"cpu": "1500m", "nvidia.com/gpu": "8"}, "conditions": []}})"));
}

TEST(WritersTest, LongTextsEndWhereTheServersBoundIs) {
  std::string note;
  while (note.size() <= 2 * kMaxMessage) note += "né";
  const Json json = Json::parse(EventBody(
      {.reason = std::string(500, 'r'), .action = note, .note = note}));
  const auto sent = json["note"].get<std::string>();
  EXPECT_EQ(sent, text::Truncated(note, kMaxMessage));
  EXPECT_GE(sent.size(), kMaxMessage - 1);
  EXPECT_EQ(json["reason"].get<std::string>().size(), kMaxReason);
  EXPECT_LE(json["action"].get<std::string>().size(), kMaxReason);
}

TEST(WritersTest, BytesThatAreNoUtf8AreReplacedAndStayInTheBound) {
  const std::string note(3000, '\xff');
  const std::string body = EventBody({.note = note + "\x01<script>"});
  EXPECT_THAT(body, Not(HasSubstr("\xff")));
  const auto sent = Json::parse(body)["note"].get<std::string>();
  EXPECT_LE(sent.size(), kMaxMessage);
  EXPECT_EQ(sent.substr(0, 3), "\xEF\xBF\xBD");
  EXPECT_THAT(EventBody({.note = "a\x01"}), HasSubstr("a\\u0001"));
}

// What is written is what an independent parser reads, whatever it is.
TEST(WritersTest, AnyTextComesBack) {
  std::mt19937 random(11);
  const std::vector<std::string> pieces = {
      "a",      "\"", "\\", "/",  "\n", "\t",  std::string(1, '\0'),
      "\x1f",   "é",  "漢", "🚀", "{}", "\"}", "%s",
      "\u2028", " "};
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (int n = static_cast<int>(random() % 20); n > 0; --n) {
      text += pieces[random() % pieces.size()];
    }
    const Json event = Json::parse(
        EventBody({.name = text, .regarding = {.name = text}, .note = text}));
    EXPECT_EQ(event["note"], text);
    EXPECT_EQ(event["metadata"]["name"], text);
    const Json binding = Json::parse(
        BindingBody({.name = text, .uid = text, .node = text}, {{text, text}}));
    EXPECT_EQ(binding["target"]["name"], text);
    EXPECT_EQ(binding["metadata"]["annotations"][text], text);
    const Json patch = Json::parse(PodStatusPatchBody(
        {.uid = text, .conditions = {{.type = text, .message = text}}}));
    EXPECT_EQ(patch["status"]["conditions"][0]["message"], text);
  }
}

TEST(QuantitiesTest, ThousandthsAreWrittenWithoutAFraction) {
  EXPECT_EQ(FormatQuantity(0), "0");
  EXPECT_EQ(FormatQuantity(8000), "8");
  EXPECT_EQ(FormatQuantity(1500), "1500m");
  EXPECT_EQ(FormatQuantity(-1), "-1m");
}

}  // namespace
}  // namespace muster::kubernetes::api
