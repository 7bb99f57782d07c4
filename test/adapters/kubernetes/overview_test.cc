// What the controller tells those who ask, and what it writes of queues.
#include "adapters/kubernetes/controller/overview.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"

namespace muster::kubernetes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

api::Queue QueueOf(const std::string& name, const std::string& parent = "") {
  api::Queue queue;
  queue.meta.name = name;
  queue.meta.uid = "uid-" + name;
  queue.meta.generation = 3;
  queue.parent = parent;
  return queue;
}

PodSpec PodIn(const std::string& queue, const std::string& name,
              int64_t gpus = 1) {
  return {.name = name, .gpus = gpus, .labels = {{kQueueLabel, queue}}};
}

// The statuses that a queue was given, oldest first.
std::vector<QueueStatusRequest> StatusesOf(const FakeApi& api,
                                           const std::string& queue) {
  std::vector<QueueStatusRequest> statuses;
  for (const ApiRequest& request : api.seen()) {
    const auto* status = std::get_if<QueueStatusRequest>(&request.body);
    if (status != nullptr && status->name == queue) statuses.push_back(*status);
  }
  return statuses;
}

// "NAME: PHASE, MESSAGE" each.
std::vector<std::string> Lines(const std::vector<GangOverview>& gangs) {
  std::vector<std::string> lines;
  for (const GangOverview& gang : gangs) {
    lines.push_back(
        absl::StrCat(gang.name, ": ", gang.phase, ", ", gang.message));
  }
  return lines;
}

TEST(QueueStatusTest, TellsWhatWaitsAndRunsAndWhatIsUsed) {
  FakeApi api;
  api.AddNode("n", 1);
  api.Put(QueueOf("root"));
  api.Put(QueueOf("q", "root"));
  api.AddPod(PodIn("q", "runs"));
  api.AddPod(PodIn("q", "waits"));
  api.Settle();
  api.Pass(10 * kSecond);
  api.Settle();
  const auto own = StatusesOf(api, "q");
  ASSERT_FALSE(own.empty());
  EXPECT_EQ(own.back().counts, (QueueCounts{.pending_groups = 1,
                                            .running_groups = 1,
                                            .pending_pods = 1,
                                            .running_pods = 1}));
  EXPECT_EQ(own.back().uid, "uid-q");
  EXPECT_EQ(own.back().generation, 3);
  EXPECT_EQ(own.back().used.at("nvidia.com/gpu"), 1'000);
  EXPECT_EQ(own.back().used.at("cpu"), 100);
  // What is below is used there too, and is counted where it is.
  const auto above = StatusesOf(api, "root");
  ASSERT_FALSE(above.empty());
  EXPECT_EQ(above.back().counts, QueueCounts{});
  EXPECT_EQ(above.back().used.at("nvidia.com/gpu"), 1'000);
}

TEST(QueueStatusTest, IsWrittenOnceInFiveSecondsAndOnlyWhereItIsNew) {
  FakeApi api;
  api.AddNode("n", 100);
  api.Put(QueueOf("q"));
  api.Settle();
  const size_t before = StatusesOf(api, "q").size();
  for (int i = 0; i < 40; ++i) {  // Ten seconds.
    api.AddPod(PodIn("q", absl::StrCat("p", i)));
    api.Settle();
    api.Pass(kSecond / 4);
    api.Settle();
  }
  const size_t busy = StatusesOf(api, "q").size() - before;
  EXPECT_GE(busy, 2u);
  EXPECT_LE(busy, 3u);
  api.Pass(10 * kSecond);
  api.Settle();
  EXPECT_EQ(StatusesOf(api, "q").back().counts.running_pods, 40);
  const size_t all = StatusesOf(api, "q").size();
  for (int i = 0; i < 10; ++i) {
    api.Pass(60 * kSecond);
    api.Settle();
  }
  EXPECT_EQ(StatusesOf(api, "q").size(), all);
}

TEST(QueueStatusTest, AResourceThatIsUsedNoMoreIsWrittenAsNothing) {
  FakeApi api;
  api.AddNode("n", 1);
  api.Put(QueueOf("q"));
  api.AddPod(PodIn("q", "p"));
  api.Settle();
  api.DeletePod("p");
  api.Pass(10 * kSecond);
  api.Settle();
  const auto statuses = StatusesOf(api, "q");
  ASSERT_FALSE(statuses.empty());
  EXPECT_EQ(statuses.back().used.at("nvidia.com/gpu"), 0);
  EXPECT_EQ(statuses.back().counts, QueueCounts{});
}

TEST(QueueStatusTest, OneThatDidNotArriveIsWrittenAgain) {
  FakeApi api;
  api.Settle();
  api.Put(QueueOf("q"));
  // How many are written then; what becomes of them.
  const auto statuses = [&](Duration after, ApiOutcome outcome) {
    std::vector<ApiRequest> requests;
    api.controller().Step(api.now() + after, &requests);
    for (const ApiRequest& request : requests) {
      EXPECT_TRUE(std::holds_alternative<QueueStatusRequest>(request.body));
      api.controller().Answer({request.id, outcome, ""});
    }
    return requests.size();
  };
  EXPECT_EQ(statuses(0, ApiOutcome::kUnknown), 1u);
  EXPECT_EQ(statuses(4 * kSecond, ApiOutcome::kDone), 0u);
  EXPECT_EQ(statuses(5 * kSecond, ApiOutcome::kDone), 1u);
  EXPECT_EQ(statuses(60 * kSecond, ApiOutcome::kDone), 0u);
}

TEST(QueueStatusTest, AQueueWithoutAnObjectHasNone) {
  FakeApi api;
  api.AddNode("n", 1);
  api.AddPod({.name = "p", .gpus = 1});
  api.Settle();
  EXPECT_THAT(StatusesOf(api, "default"), IsEmpty());
  EXPECT_EQ(api.controller().tally().Of("default").running_pods, 1);
}

// The statuses of PodGroup "g", "PHASE PENDING RUNNING: MESSAGE" each.
std::vector<std::string> GroupStatuses(const FakeApi& api) {
  std::vector<std::string> statuses;
  for (const ApiRequest& request : api.seen()) {
    const auto* status = std::get_if<GroupStatusRequest>(&request.body);
    if (status == nullptr || status->name != "g") continue;
    statuses.push_back(absl::StrCat(
        status->running ? "Running " : "Pending ", status->pending_pods, " ",
        status->running_pods, ": ", status->message));
  }
  return statuses;
}

api::MusterPodGroup GroupOfTwo() {
  api::MusterPodGroup group;
  group.meta.namespace_name = "default";
  group.meta.name = "g";
  group.min_member = 2;
  return group;
}

TEST(GroupStatusTest, TellsWhyAPodGroupWaitsAndThatItRuns) {
  FakeApi api;
  api.AddNode("n", 2);
  api.AddPod({.name = "other", .gpus = 1});
  api.Settle();
  api.Put(GroupOfTwo());
  for (const char* name : {"a", "b"}) {
    api.AddPod({.name = name, .gpus = 1, .labels = {{kPodGroupLabel, "g"}}});
  }
  api.Settle();
  for (int i = 0; i < 20; ++i) api.Pass(kSecond);
  ASSERT_FALSE(GroupStatuses(api).empty());
  EXPECT_EQ(GroupStatuses(api).back(),
            "Pending 2 0: insufficient: 2 nvidia.com/gpu needed, 1 there");
  EXPECT_LE(GroupStatuses(api).size(), 3u);
  api.AddNode("m", 1);
  api.Settle();
  for (int i = 0; i < 20; ++i) api.Pass(kSecond);
  EXPECT_EQ(GroupStatuses(api).back(), "Running 0 2: ");
  EXPECT_LE(GroupStatuses(api).size(), 5u);
}

TEST(GroupStatusTest, OneWhoseObjectIsGoneHasNone) {
  FakeApi api;
  api.AddNode("n", 1);
  api.AddPod({.name = "a",
              .gpus = 1,
              .labels = {{kPodGroupLabel, "g"}},
              .annotations = {{kMinPodsAnnotation, "1"}}});
  api.Settle();
  EXPECT_EQ(api.NodeOf("a"), "n");
  EXPECT_THAT(GroupStatuses(api), IsEmpty());
}

TEST(GroupStatusTest, OneThatDidNotArriveIsWrittenAgain) {
  FakeApi api;
  api.AddNode("n", 2);
  api.Put(GroupOfTwo());
  api.AddPod({.name = "a", .gpus = 1, .labels = {{kPodGroupLabel, "g"}}});
  const auto statuses = [&](Duration after, ApiOutcome outcome) {
    std::vector<ApiRequest> requests;
    api.controller().Step(api.now() + after, &requests);
    size_t count = 0;
    for (const ApiRequest& request : requests) {
      if (!std::holds_alternative<GroupStatusRequest>(request.body)) continue;
      ++count;
      api.controller().Answer({request.id, outcome, ""});
    }
    return count;
  };
  EXPECT_EQ(statuses(0, ApiOutcome::kUnknown), 1u);
  EXPECT_EQ(statuses(4 * kSecond, ApiOutcome::kDone), 0u);
  EXPECT_EQ(statuses(5 * kSecond, ApiOutcome::kDone), 1u);
  EXPECT_EQ(statuses(60 * kSecond, ApiOutcome::kDone), 0u);
}

TEST(QueueTallyTest, PodsThatNameQueuesThatAreNotThereMakeNoNewOnes) {
  FakeApi api;
  api.AddNode("n", 1);
  for (int i = 0; i < 50; ++i) {
    const std::string name = absl::StrCat("p", i);
    api.AddPod(PodIn("invented-" + name, name));
  }
  api.Settle();
  const auto& queues = api.controller().tally().queues();
  ASSERT_EQ(queues.size(), 1u);
  EXPECT_EQ(queues.begin()->first, "");
  EXPECT_EQ(queues.begin()->second.pending_pods, 50);
}

TEST(QueueTallyTest, CountsNothingWhenAllIsGone) {
  FakeApi api;
  api.AddNode("n", 2);
  api.AddGang("g", {"a", "b"});
  api.AddPod({.name = "c", .gpus = 1});
  api.Settle();
  EXPECT_EQ(api.controller().tally().Of("default"),
            (QueueCounts{.pending_groups = 1,
                         .running_groups = 1,
                         .pending_pods = 1,
                         .running_pods = 2}));
  for (const char* pod : {"a", "b", "c"}) api.DeletePod(pod);
  api.RemoveGroup("g");
  api.Settle();
  EXPECT_EQ(api.controller().tally().Of("default"), QueueCounts{});
}

TEST(OverviewTest, GangsOfANamespaceWithWhyTheyWait) {
  FakeApi api;
  api.AddNode("n", 1);
  api.Put(QueueOf("q"));
  api.AddPod(PodIn("q", "runs"));
  api.Settle();
  api.AddPod(PodIn("q", "waits"));
  api.AddPod(PodIn("missing", "lost"));
  api.AddPod({.name = "theirs", .namespace_name = "other", .gpus = 1});
  api.AddPod({.name = "alone", .gpus = 1, .group = "g"});
  api.Pass(kSecond);  // It is told then what it lacks.
  size_t all = 0;
  const auto gangs = api.controller().overview().Gangs("default", &all);
  EXPECT_EQ(all, 4u);
  EXPECT_THAT(
      Lines(gangs),
      testing::UnorderedElementsAre(
          "runs: running, ",
          "waits: waiting, insufficient: 1 nvidia.com/gpu needed, 0 there",
          "lost: unknown, queue 'missing' is not there",
          HasSubstr("g: unknown, PodGroup")));
  EXPECT_EQ(gangs.back().name, "runs");  // Those that wait come first.
  EXPECT_EQ(api.controller().overview().Gangs("", nullptr).size(), 5u);
}

TEST(OverviewTest, AGroupIsExplainedByItsNameOrAPodOfIt) {
  FakeApi api;
  api.AddNode("n", 2);
  api.AddGang("first", {"a", "b"});
  api.Settle();
  api.AddGang("second", {"c", "d"});
  api.Settle();
  api.AddGang("third", {"e", "f"});
  api.Settle();
  const Overview overview = api.controller().overview();
  const auto first = overview.Explain("default", "first", "");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->gang.phase, "running");
  ASSERT_EQ(first->pods.size(), 2u);
  EXPECT_EQ(first->pods[0].name, "a");
  EXPECT_EQ(first->pods[0].node, "n");
  EXPECT_EQ(first->pods[0].phase, "running");
  const auto third = overview.Explain("default", "", "e");
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_EQ(third->gang.name, "third");
  EXPECT_EQ(third->gang.min_pods, 2);
  EXPECT_EQ(third->gang.reason, "insufficient");
  EXPECT_EQ(third->gang.message,
            "insufficient: 2 nvidia.com/gpu needed, 0 there");
  EXPECT_EQ(third->ahead, 1u);
  EXPECT_EQ(third->pods[0].phase, "pending");
}

TEST(OverviewTest, AnotherNamespacesGroupIsNotFound) {
  FakeApi api;
  api.AddNode("n", 1);
  api.AddPod({.name = "p", .namespace_name = "theirs", .gpus = 1});
  api.Settle();
  const Overview overview = api.controller().overview();
  EXPECT_TRUE(overview.Explain("theirs", "p", "").ok());
  for (const char* ns : {"mine", ""}) {
    EXPECT_TRUE(absl::IsNotFound(overview.Explain(ns, "p", "").status()));
    EXPECT_TRUE(absl::IsNotFound(overview.Explain(ns, "", "p").status()));
  }
}

TEST(OverviewTest, QueuesWithTheirQuotasAndUse) {
  FakeApi api;
  api.AddNode("n", 2);
  api::Queue queue = QueueOf("q");
  queue.quotas = {{.resource = "nvidia.com/gpu", .limit = 4'000}};
  api.Put(queue);
  api.Put(QueueOf("orphan", "nowhere"));
  api.AddPod(PodIn("q", "p", 2));
  api.Settle();
  const auto queues = api.controller().overview().Queues();
  ASSERT_EQ(queues.size(), 3u);  // And the default one.
  EXPECT_EQ(queues[1].name, "orphan");
  EXPECT_THAT(queues[1].refused, HasSubstr("nowhere"));
  EXPECT_EQ(queues[2].name, "q");
  EXPECT_EQ(queues[2].used.at("nvidia.com/gpu"), 2'000);
  EXPECT_EQ(queues[2].quotas[0].limit, 4'000);
  EXPECT_EQ(queues[2].counts.running_pods, 1);
}

// "KIND GROUP on NODES" each.
std::vector<std::string> Lines(const WhatIfAnswer& answer) {
  std::vector<std::string> lines;
  for (const WhatIfDecision& decision : answer.decisions) {
    std::string line = absl::StrCat(decision.kind, " ", decision.namespace_name,
                                    "/", decision.group, " on");
    for (const std::string& node : decision.nodes) {
      absl::StrAppend(&line, " ", node);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

class WhatIfTest : public testing::Test {
 protected:
  // "first" runs, and "second" waits.
  WhatIfTest() {
    api_.AddNode("n", 2);
    api_.AddGang("first", {"a", "b"});
    api_.Settle();
    api_.AddGang("second", {"c", "d"});
    api_.Settle();
  }
  std::vector<std::string> Ask(const WhatIfQuestion& question) {
    const auto answer = api_.controller().WhatIf(question);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? Lines(*answer) : std::vector<std::string>();
  }
  absl::StatusCode CodeOf(const WhatIfQuestion& question) {
    return api_.controller().WhatIf(question).status().code();
  }

  FakeApi api_;
};

TEST_F(WhatIfTest, NothingHappensIfNothingIsOtherwise) {
  EXPECT_THAT(Ask({}), IsEmpty());
}

TEST_F(WhatIfTest, AGroupEndsAndTheNextOneStarts) {
  EXPECT_THAT(Ask({.finish = {{"default", "first"}}}),
              ElementsAre("start default/second on n"));
  // It was only asked.
  api_.Settle();
  EXPECT_EQ(api_.On("n"), "a b");
  EXPECT_TRUE(api_.Check().ok());
}

TEST_F(WhatIfTest, ANodeMoreIsUsedAndIsNotThere) {
  EXPECT_THAT(Ask({.node_like = "n", .add_nodes = 1}),
              ElementsAre("start default/second on what-if-1"));
  api_.Settle();
  EXPECT_EQ(api_.NodeOf("c"), "");
  EXPECT_THAT(Ask({.node_like = "n", .add_nodes = 1}),
              ElementsAre("start default/second on what-if-1"));
}

TEST_F(WhatIfTest, WithoutTheNodeNothingRunsThereAndNoDecisionIsMadeOfIt) {
  EXPECT_THAT(Ask({.remove_nodes = {"n"}, .node_like = "n", .add_nodes = 1}),
              ElementsAre("start default/first on what-if-1"));
}

TEST_F(WhatIfTest, WhatIsNotThereCannotBeOtherwise) {
  EXPECT_EQ(CodeOf({.finish = {{"theirs", "first"}}}),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(CodeOf({.remove_nodes = {"m"}}), absl::StatusCode::kNotFound);
  EXPECT_EQ(CodeOf({.node_like = "m", .add_nodes = 1}),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(CodeOf({.node_like = "n", .add_nodes = 1'000'000}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf({.finish = {{"default", "first"}, {"default", "first"}}}),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace muster::kubernetes
