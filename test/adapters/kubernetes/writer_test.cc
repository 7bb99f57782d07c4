// Each request of the controller as HTTP, and each outcome as an answer.
#include "adapters/kubernetes/host/writer.h"

#include <string>

#include "adapters/kubernetes/controller/object_refs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace muster::kubernetes {
namespace {

using Json = nlohmann::json;
using client::OutcomeKind;
using client::Urgency;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

constexpr client::Millis kNoon = 1'769'860'800'000;  // 2026-01-31T12:00:00Z
const PodRef kPod{"ns", "p", "u1"};
const std::string kPath = "/api/v1/namespaces/ns/pods/p";

client::Write WriteOf(RequestBody body, uint64_t id = 7) {
  const ApiRequest request{id, std::move(body)};
  auto write = ToWrite(request, {.instance = "replica-1"}, kNoon);
  EXPECT_TRUE(write.ok()) << write.status();
  return write.ok() ? *std::move(write) : client::Write();
}

// The body of a change of one object, the one of this UID, at this path.
Json PatchOf(const client::Write& write, const std::string& path,
             const std::string& uid, const std::string& type = "merge") {
  EXPECT_EQ(write.http.method, "PATCH");
  EXPECT_EQ(write.http.path, path);
  EXPECT_EQ(write.http.content_type, "application/" + type + "-patch+json");
  EXPECT_TRUE(write.idempotent);
  Json body = Json::parse(write.http.body);
  EXPECT_EQ(body["metadata"]["uid"], uid);
  return body;
}

// The body of an object that is made at this path.
Json PostOf(const client::Write& write, const std::string& path) {
  EXPECT_EQ(write.http.method, "POST");
  EXPECT_EQ(write.http.path, path);
  return Json::parse(write.http.body);
}

TEST(WriterTest, ABinding) {
  const client::Write write =
      WriteOf(BindRequest{kPod, "n1", /*task=*/3, /*decision=*/42});
  const Json body = PostOf(write, kPath + "/binding");
  EXPECT_EQ(write.http.content_type, "application/json");
  EXPECT_EQ(write.urgency, Urgency::kDecision);
  EXPECT_EQ(write.key, "u1");
  EXPECT_FALSE(write.idempotent);
  EXPECT_FALSE(write.http.idempotent);
  EXPECT_TRUE(write.retry_429);
  EXPECT_EQ(body["metadata"]["uid"], "u1");
  EXPECT_EQ(body["metadata"]["annotations"][kTaskAnnotation], "3");
  EXPECT_EQ(body["metadata"]["annotations"][kDecisionAnnotation], "42");
  EXPECT_EQ(body["target"]["name"], "n1");
}

TEST(WriterTest, AQueuesStatusGoesBehindEverythingElse) {
  const client::Write write =
      WriteOf(QueueStatusRequest{.name = "q",
                                 .uid = "u7",
                                 .generation = 2,
                                 .counts = {.pending_groups = 1,
                                            .running_groups = 3,
                                            .pending_pods = 4,
                                            .running_pods = 5},
                                 .used = {{"cpu", 1'500}, {"gpu", 0}}});
  const Json body =
      PatchOf(write, "/apis/muster.dev/v1alpha1/queues/q/status", "u7");
  EXPECT_EQ(write.urgency, Urgency::kEvent);
  EXPECT_EQ(body["status"]["observedGeneration"], 2);
  EXPECT_EQ(body["status"]["runningGroups"], 3);
  EXPECT_EQ(body["status"]["pendingPods"], 4);
  EXPECT_EQ(body["status"]["used"], (Json{{"cpu", "1500m"}, {"gpu", "0"}}));
}

TEST(WriterTest, AGroupsStatusLikewiseWithABoundedMessage) {
  const client::Write write =
      WriteOf(GroupStatusRequest{.namespace_name = "ns",
                                 .name = "g",
                                 .uid = "u8",
                                 .pending_pods = 2,
                                 .message = std::string(5'000, '\xff')});
  const Json body = PatchOf(
      write, "/apis/muster.dev/v1alpha1/namespaces/ns/podgroups/g/status",
      "u8");
  EXPECT_EQ(write.urgency, Urgency::kEvent);
  EXPECT_EQ(body["status"]["phase"], "Pending");
  EXPECT_EQ(body["status"]["pendingPods"], 2);
  EXPECT_LE(body["status"]["message"].get<std::string>().size(), 1'024u);
}

TEST(WriterTest, AnEvictionIsAboutThatPodAndItsRefusalIsAnAnswer) {
  const client::Write write = WriteOf(EvictRequest{kPod});
  const Json body = PostOf(write, kPath + "/eviction");
  EXPECT_EQ(write.urgency, Urgency::kDecision);
  EXPECT_EQ(write.key, "u1");
  EXPECT_TRUE(write.idempotent);
  EXPECT_FALSE(write.retry_429);
  EXPECT_EQ(body["kind"], "Eviction");
  EXPECT_EQ(body["deleteOptions"]["preconditions"]["uid"], "u1");
}

TEST(WriterTest, ANodeIsSelectedForAClaimInTheVersionThatWasSeen) {
  const ObjectVersion claim{"ns", "c", "cu", "17"};
  const client::Write write = WriteOf(SelectNodeRequest{claim, "n1"});
  const Json body =
      PatchOf(write, "/api/v1/namespaces/ns/persistentvolumeclaims/c", "cu");
  EXPECT_EQ(write.urgency, Urgency::kDecision);
  EXPECT_EQ(write.key, "cu");
  EXPECT_EQ(body["metadata"]["resourceVersion"], "17");
  const auto node = [](const client::Write& w) {
    return Json::parse(w.http.body)["metadata"]["annotations"]
                                   ["volume.kubernetes.io/selected-node"];
  };
  EXPECT_EQ(node(write), "n1");
  EXPECT_TRUE(node(WriteOf(SelectNodeRequest{claim, ""})).is_null());
}

TEST(WriterTest, AVolumeIsGivenToAClaim) {
  const client::Write write =
      WriteOf(GiveVolumeRequest{{"", "v", "vu", "3"}, {"ns", "c", "cu", "17"}});
  const Json body = PatchOf(write, "/api/v1/persistentvolumes/v", "vu");
  EXPECT_EQ(write.key, "vu");
  EXPECT_EQ(body["metadata"]["resourceVersion"], "3");
  EXPECT_EQ(body["spec"]["claimRef"]["namespace"], "ns");
  EXPECT_EQ(body["spec"]["claimRef"]["name"], "c");
  EXPECT_EQ(body["spec"]["claimRef"]["uid"], "cu");
}

TEST(WriterTest, AConditionOfAPodThatWaits) {
  const client::Write write =
      WriteOf(UnscheduledRequest{kPod, "Unschedulable", "no room"});
  const Json body = PatchOf(write, kPath + "/status", "u1", "strategic-merge");
  EXPECT_EQ(write.urgency, Urgency::kStatus);
  EXPECT_EQ(write.key, "u1");
  const Json& condition = body["status"]["conditions"][0];
  EXPECT_EQ(condition["type"], "PodScheduled");
  EXPECT_EQ(condition["status"], "False");
  EXPECT_EQ(condition["reason"], "Unschedulable");
  EXPECT_EQ(condition["message"], "no room");
  EXPECT_THAT(condition["lastTransitionTime"].get<std::string>(),
              StartsWith("2026-01-31T12:00:00"));
}

TEST(WriterTest, ANominationAndItsEnd) {
  Json body = Json::parse(WriteOf(NominateRequest{kPod, "n1"}).http.body);
  EXPECT_EQ(body["status"]["nominatedNodeName"], "n1");
  body = Json::parse(WriteOf(NominateRequest{kPod, ""}).http.body);
  EXPECT_TRUE(body["status"]["nominatedNodeName"].is_null());
  EXPECT_FALSE(body["status"].contains("conditions"));
}

TEST(WriterTest, ARead) {
  const client::Write write = WriteOf(ReadRequest{kPod});
  EXPECT_EQ(write.http.method, "GET");
  EXPECT_EQ(write.http.path, kPath);
  EXPECT_EQ(write.http.body, "");
  EXPECT_EQ(write.key, "u1");
  EXPECT_TRUE(write.idempotent);
}

TEST(WriterTest, AnEvent) {
  const client::Write write = WriteOf(EventRequest{.object = PodObject(kPod),
                                                   .warning = true,
                                                   .reason = "Preempted",
                                                   .action = "Preempting",
                                                   .note = "for ns/high"});
  const Json body =
      PostOf(write, "/apis/events.k8s.io/v1/namespaces/ns/events");
  EXPECT_EQ(write.urgency, Urgency::kEvent);
  EXPECT_EQ(write.key, "");  // It may come after a decision about the pod.
  EXPECT_EQ(body["type"], "Warning");
  EXPECT_EQ(body["reason"], "Preempted");
  EXPECT_EQ(body["action"], "Preempting");
  EXPECT_EQ(body["note"], "for ns/high");
  EXPECT_EQ(body["regarding"]["uid"], "u1");
  EXPECT_EQ(body["reportingInstance"], "replica-1");
  EXPECT_THAT(body["metadata"]["name"].get<std::string>(), StartsWith("p."));
}

TEST(WriterTest, AnEventAboutAnotherObject) {
  const client::Write job = WriteOf(EventRequest{
      .object = {"batch/v1", "Job", "ns", "j", "u2"}, .reason = "Refused"});
  EXPECT_EQ(job.http.path, "/apis/events.k8s.io/v1/namespaces/ns/events");
  EXPECT_EQ(Json::parse(job.http.body)["regarding"],
            Json::parse(R"({"apiVersion": "batch/v1", "kind": "Job",
                            "namespace": "ns", "name": "j", "uid": "u2"})"));
  // One without a namespace has its Events in "default".
  const client::Write queue = WriteOf(
      EventRequest{.object = {"muster.dev/v1alpha1", "Queue", "", "q", "u3"}});
  EXPECT_EQ(queue.http.path,
            "/apis/events.k8s.io/v1/namespaces/default/events");
  EXPECT_EQ(queue.urgency, Urgency::kEvent);
  EXPECT_FALSE(Json::parse(queue.http.body)["regarding"].contains("namespace"));
}

TEST(WriterTest, NamesOfEventsAreNamesAndDiffer) {
  const auto name = [](const std::string& pod, uint64_t id) {
    const client::Write write =
        WriteOf(EventRequest{.object = PodObject({"ns", pod, "u"})}, id);
    return Json::parse(write.http.body)["metadata"]["name"].get<std::string>();
  };
  EXPECT_NE(name("p", 1), name("p", 2));
  // Names of pods may be longer, and have what may not end a part of a name.
  for (const char last : {'-', '.', 'x'}) {
    std::string pod(253, 'a');
    pod[199] = last;
    pod[198] = '-';
    const std::string made = name(pod, 1);
    EXPECT_LE(made.size(), 253u);
    EXPECT_THAT(made, MatchesRegex(
                          "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*"
                          "[a-z0-9])?)*"));
  }
}

TEST(WriterTest, NamesThatLeaveTheirPartOfAPathAreRefused) {
  for (const char* bad : {"", "..", "a/b", "a%2fb"}) {
    for (const RequestBody& body :
         {RequestBody(BindRequest{.pod = {"ns", bad, "u"}}),
          RequestBody(EvictRequest{.pod = {bad, "p", "u"}}),
          RequestBody(UnscheduledRequest{.pod = {"ns", bad, "u"}}),
          RequestBody(ReadRequest{.pod = {bad, "p", "u"}})}) {
      EXPECT_TRUE(
          absl::IsInvalidArgument(ToWrite({1, body}, {}, kNoon).status()))
          << bad;
    }
  }
}

// What tenants wrote may be in messages.
TEST(WriterTest, TextsOfOthersAreBoundedAndEscaped) {
  std::string text = "\"},{\"evil\":\"\n\x01";
  text += std::string(100'000, 'x') + "\xff";
  for (const RequestBody& body :
       {RequestBody(UnscheduledRequest{kPod, text, text}),
        RequestBody(EventRequest{.object = PodObject(kPod),
                                 .reason = text,
                                 .action = text,
                                 .note = text})}) {
    const client::Write write = WriteOf(body);
    EXPECT_LT(write.http.body.size(), 4'000u);
    const Json parsed = Json::parse(write.http.body, nullptr, false);
    ASSERT_FALSE(parsed.is_discarded());
    EXPECT_EQ(write.http.body.find("\"evil\":"), std::string::npos);
    EXPECT_EQ(write.http.body.find('\n'), std::string::npos);
  }
}

TEST(WriterTest, OutcomesAsAnswers) {
  struct Case {
    OutcomeKind kind{};
    int status = 0;
    ApiOutcome outcome{};
  };
  const Case cases[] = {
      {OutcomeKind::kDone, 201, ApiOutcome::kDone},
      {OutcomeKind::kRefused, 404, ApiOutcome::kNotFound},
      {OutcomeKind::kRefused, 409, ApiOutcome::kConflict},
      {OutcomeKind::kRefused, 429, ApiOutcome::kTooManyRequests},
      {OutcomeKind::kRefused, 403, ApiOutcome::kRefused},
      {OutcomeKind::kRefused, 422, ApiOutcome::kRefused},
      {OutcomeKind::kUnknown, 0, ApiOutcome::kUnknown},
      {OutcomeKind::kUnknown, 500, ApiOutcome::kUnknown},
      {OutcomeKind::kNotSent, 0, ApiOutcome::kRefused},
      {OutcomeKind::kDropped, 0, ApiOutcome::kRefused},
  };
  for (const Case& c : cases) {
    client::Outcome outcome{.kind = c.kind, .http_status = c.status};
    outcome.error.message = "said";
    outcome.transport = absl::UnavailableError("cut");
    const ApiAnswer answer = ToAnswer(9, outcome);
    EXPECT_EQ(answer.id, 9u);
    EXPECT_EQ(answer.outcome, c.outcome) << c.status;
    const std::string message = c.kind == OutcomeKind::kDone      ? ""
                                : c.kind == OutcomeKind::kRefused ? "said"
                                                                  : "cut";
    EXPECT_EQ(answer.message, message);
  }
}

}  // namespace
}  // namespace muster::kubernetes
