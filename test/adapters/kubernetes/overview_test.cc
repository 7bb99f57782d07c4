// What the controller tells those who ask.
#include "adapters/kubernetes/controller/overview.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"
#include "test/adapters/kubernetes/objects.h"

namespace muster::kubernetes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// "NAME: PHASE, MESSAGE" each.
std::vector<std::string> Lines(const std::vector<GangOverview>& gangs) {
  std::vector<std::string> lines;
  for (const GangOverview& gang : gangs) {
    lines.push_back(
        absl::StrCat(gang.name, ": ", gang.phase, ", ", gang.message));
  }
  return lines;
}

TEST(OverviewTest, GangsOfANamespaceWithWhyTheyWait) {
  FakeApi api;
  api.AddNode("n", 1);
  api.Put(QueueNamed("q"));
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
  api::Queue queue = QueueNamed("q");
  queue.quotas = {{.resource = "nvidia.com/gpu", .limit = 4'000}};
  api.Put(queue);
  api.Put(QueueNamed("orphan", "nowhere"));
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
