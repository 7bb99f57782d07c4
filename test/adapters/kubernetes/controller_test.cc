// Stories of pods and the nodes that they come to run on.
#include "adapters/kubernetes/controller/controller.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"
#include "test/adapters/kubernetes/seen_requests.h"

namespace muster::kubernetes {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

TEST(ControllerTest, APodRunsWhereItsGpuIs) {
  FakeApi api;
  api.AddNode("cpu-node", 0);
  api.AddNode("gpu-node", 1);
  api.AddPod({.name = "train", .gpus = 1});
  api.Settle();
  EXPECT_EQ(api.NodeOf("train"), "gpu-node");
  EXPECT_TRUE(api.Check().ok()) << api.Check();
}

TEST(ControllerTest, TheNextJobStartsTheMomentTheGpuIsFree) {
  FakeApi api;
  api.AddNode("n", 1);
  for (const char* name : {"test1", "test2", "test3"}) {
    api.AddPod({.name = name, .gpus = 1, .job = name});
    api.Pass(kSecond);
  }
  EXPECT_EQ(api.On("n"), "test1");
  api.Finish("test1");
  api.Settle();
  EXPECT_EQ(api.On("n"), "test2");
  api.Finish("test2");
  api.Settle();
  EXPECT_EQ(api.On("n"), "test3");
}

TEST(ControllerTest, TwoGangsOfFourOnFourGpusRunOneAfterTheOther) {
  FakeApi api;
  api.AddNode("a", 2);
  api.AddNode("b", 2);
  api.AddGroup("red", 4);
  api.AddGroup("blue", 4);
  for (int i = 0; i < 4; ++i) {  // In turns, as controllers make them.
    for (const char* group : {"red", "blue"}) {
      api.AddPod(
          {.name = absl::StrCat(group, "-", i), .gpus = 1, .group = group});
      api.Settle();
      EXPECT_TRUE(api.Check().ok()) << api.Check();
    }
  }
  EXPECT_EQ(api.On("a") + " " + api.On("b"), "red-0 red-1 red-2 red-3");
  for (int i = 0; i < 4; ++i) api.Finish(absl::StrCat("red-", i));
  api.Settle();
  EXPECT_EQ(api.On("a") + " " + api.On("b"), "blue-0 blue-1 blue-2 blue-3");
}

TEST(ControllerTest, AHighPriorityJobPreemptsAndTheVictimComesBack) {
  FakeApi api;
  api.AddNode("my-precious", 0);
  for (const char* name : {"test1", "test2", "test3"}) {
    api.AddPod({.name = name, .milli_cpu = 40'000, .job = name});
    api.Pass(kSecond);
  }
  EXPECT_EQ(api.On("my-precious"), "test1");
  api.Finish("test1");
  api.Settle();
  EXPECT_EQ(api.On("my-precious"), "test2");
  api.AddPod({.name = "test-p1",
              .milli_cpu = 40'000,
              .priority = 1'000'000,
              .job = "test-p1"});
  api.Settle();
  EXPECT_EQ(api.On("my-precious"), "test-p1");
  EXPECT_EQ(api.NodeOf("test2"), "");  // Made again, and it waits.
  api.Finish("test-p1");
  api.Settle();
  // It has its old place, before test3.
  EXPECT_EQ(api.On("my-precious"), "test2");
}

TEST(ControllerTest, PriorityDecidesAcrossNamespaces) {
  FakeApi api;
  api.AddNode("n", 1);
  api.AddPod({.name = "low", .namespace_name = "a", .gpus = 1, .job = "low"});
  api.Settle();
  api.AddPod({.name = "high",
              .namespace_name = "b",
              .gpus = 1,
              .priority = 10,
              .job = "high"});
  api.Settle();
  EXPECT_EQ(api.On("n"), "high");
}

TEST(ControllerTest, PodsOfOtherSchedulersUseTheirNodes) {
  FakeApi api;
  api.AddNode("n", 2);
  api.AddPod({.name = "other", .gpus = 2, .scheduler = "default-scheduler"});
  api.BindBehind("other", "n");
  api.AddPod({.name = "train", .gpus = 1});
  api.Settle();
  EXPECT_EQ(api.NodeOf("train"), "");
  api.DeletePod("other");
  api.Settle();
  EXPECT_EQ(api.NodeOf("train"), "n");
}

TEST(ControllerTest, AGangRunsInOneRack) {
  FakeApi api;
  for (int i = 0; i < 4; ++i) {
    api.AddNode(absl::StrCat("n", i), 2,
                {{"rack", i % 2 == 0 ? "even" : "odd"}});
  }
  api.AddPod({.name = "one", .gpus = 1});
  api.Settle();
  api.AddGroup("g", 4, "rack");
  for (int i = 0; i < 4; ++i) {
    api.AddPod({.name = absl::StrCat("w", i), .gpus = 1, .group = "g"});
  }
  api.Settle();
  const std::string odd = api.On("n1") + " " + api.On("n3");
  const std::string even = api.On("n0") + " " + api.On("n2");
  EXPECT_THAT("w0 w1 w2 w3", AnyOf(odd, even)) << odd << " | " << even;
}

TEST(ControllerTest, WhyAPodWaitsIsToldOnce) {
  FakeApi api;
  api.AddNode("n", 1);
  api.AddPod({.name = "first", .gpus = 1});
  api.Settle();
  api.AddPod({.name = "second", .gpus = 1});
  api.Settle();
  api.Pass(2 * kSecond);
  api.Pass(2 * kSecond);
  const auto told = Seen<UnscheduledRequest>(api);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].reason, "Unschedulable");
  EXPECT_EQ(told[0].pod.name, "second");
  EXPECT_THAT(told[0].message, HasSubstr("1 nvidia.com/gpu needed, 0 there"));
}

TEST(ControllerTest, AnUnknownPodGroupIsWaitedFor) {
  FakeApi api;
  api.AddNode("n", 4);
  api.AddPod({.name = "w0", .gpus = 1, .group = "late"});
  api.Settle();
  EXPECT_EQ(api.NodeOf("w0"), "");
  api.AddGroup("late", 1);
  api.Settle();
  EXPECT_EQ(api.NodeOf("w0"), "n");
}

// Pods and groups are told by different watches: the pods may be first.
TEST(ControllerTest, AGroupOfMustersOwnIsWaitedFor) {
  FakeApi api;
  api.AddNode("n", 4);
  for (int i = 0; i < 2; ++i) {
    api.AddPod({.name = absl::StrCat("w", i),
                .gpus = 1,
                .labels = {{kPodGroupLabel, "late"}}});
  }
  api.Settle();
  EXPECT_EQ(api.On("n"), "");
  api::MusterPodGroup group;
  group.meta = {.name = "late", .namespace_name = "default", .uid = "g"};
  group.min_member = 3;
  api.controller().observer().Observe(group);
  api.Settle();
  EXPECT_EQ(api.On("n"), "");
  api.AddPod({.name = "w2", .gpus = 1, .labels = {{kPodGroupLabel, "late"}}});
  api.Settle();
  EXPECT_EQ(api.On("n"), "w0 w1 w2");
}

TEST(ControllerTest, AGroupOfMustersOwnMayComeFirst) {
  FakeApi api;
  api.AddNode("n", 4);
  api::MusterPodGroup group;
  group.meta = {.name = "early", .namespace_name = "default", .uid = "g"};
  group.min_member = 2;
  api.controller().observer().Observe(group);
  api.Settle();
  for (int i = 0; i < 2; ++i) {
    api.AddPod({.name = absl::StrCat("w", i),
                .gpus = 1,
                .labels = {{kPodGroupLabel, "early"}}});
    api.Settle();
    EXPECT_EQ(api.On("n"), i == 0 ? "" : "w0 w1");
  }
}

TEST(ControllerTest, APodWithWhatIsNotUnderstoodIsNotBound) {
  FakeApi api;
  api.AddNode("n", 1);
  api.AddPod({.name = "p"});
  api::Pod pod = api.PodNamed("p");
  pod.not_understood = {"spec.resourceClaims"};
  api.controller().observer().Observe(pod);
  std::vector<ApiRequest> requests;
  api.controller().Step(2'000 * kSecond, &requests);
  EXPECT_EQ(api.CountBinds(), 0u);
}

TEST(ControllerTest, APodThatSomebodyElseBoundUsesThatNode) {
  FakeApi api;
  api.AddNode("a", 1);
  api.AddNode("b", 1);
  api.AddPod({.name = "p", .gpus = 1});
  std::vector<ApiRequest> requests;
  api.controller().Step(2'000 * kSecond, &requests);
  ASSERT_FALSE(requests.empty());
  const auto& bind = std::get<BindRequest>(requests[0].body);
  const std::string other = bind.node == "a" ? "b" : "a";
  api.BindBehind("p", other);
  api.controller().Answer({requests[0].id, ApiOutcome::kConflict, ""});
  api.AddPod({.name = "q", .gpus = 1});
  api.Pass(2'000 * kSecond);
  EXPECT_EQ(api.NodeOf("q"), bind.node);
  EXPECT_TRUE(api.Check().ok()) << api.Check();
}

TEST(ControllerTest, ABindingWhoseAnswerIsLostIsLookedUp) {
  for (const bool done : {true, false}) {
    FakeApi api;
    api.AddNode("n", 1);
    api.bind_faults = {{ApiOutcome::kUnknown, done}};
    api.AddPod({.name = "p", .gpus = 1});
    api.Settle();
    api.Pass(60 * kSecond);  // After its back-off, if it was not done.
    EXPECT_EQ(api.NodeOf("p"), "n") << done;
    EXPECT_EQ(api.CountBinds(), done ? 1u : 2u);
  }
}

TEST(ControllerTest, AVictimThatABudgetProtectsGoesOn) {
  FakeApi api;
  api.AddNode("n", 1);
  api.AddPod({.name = "low", .gpus = 1, .job = "low"});
  api.Settle();
  api.protected_pods = {"low"};
  api.AddPod({.name = "high", .gpus = 1, .priority = 9, .job = "high"});
  api.Settle();
  EXPECT_EQ(api.On("n"), "low");
  api.protected_pods.clear();
  api.Pass(400 * kSecond);
  EXPECT_EQ(api.On("n"), "high");
}

// It was to be stopped while it was bound; neither came to be.
TEST(ControllerTest, AVictimThatIsProtectedWhileItIsBoundIsBoundAgain) {
  for (const ApiOutcome bind : {ApiOutcome::kRefused, ApiOutcome::kUnknown}) {
    FakeApi api;
    api.AddNode("n", 1);
    api.AddPod({.name = "low", .gpus = 1, .job = "low"});
    api.AddPod({.name = "high", .gpus = 1, .job = "high"});
    api.DeletePod("high");
    std::vector<ApiRequest> first, second;
    api.controller().Step(api.now(), &first);
    ASSERT_TRUE(std::holds_alternative<BindRequest>(first.at(0).body));
    const std::string bound = std::get<BindRequest>(first[0].body).pod.name;
    api.AddPod({.name = "higher", .gpus = 1, .priority = 9, .job = "higher"});
    api.controller().Step(api.now(), &second);
    ASSERT_TRUE(std::holds_alternative<EvictRequest>(second.at(0).body));
    api.controller().Answer({first[0].id, bind, ""});
    api.controller().Answer({second[0].id, ApiOutcome::kTooManyRequests, ""});
    api.protected_pods = {bound};
    for (int i = 0; i < 5; ++i) api.Pass(400 * kSecond);
    EXPECT_NE(api.On("n"), "") << static_cast<int>(bind);
  }
}

TEST(ControllerTest, APodThatFailedIsWaitedForInItsPlace) {
  FakeApi api;
  api.AddNode("a", 1);
  api.AddNode("b", 1);
  api.AddGang("g", {"w0", "w1"});
  api.Settle();
  const std::string place = api.NodeOf("w1");
  api.DeletePod("w1");
  api.AddPod({.name = "greedy", .gpus = 1});
  api.Settle();
  EXPECT_EQ(api.NodeOf("greedy"), "");
  api.Pass(10 * kSecond);
  api.AddPod({.name = "w1", .gpus = 1, .group = "g"});
  api.Settle();
  EXPECT_EQ(api.NodeOf("w1"), place);
}

TEST(ControllerTest, AGangWhosePodsAreAllDeletedKeepsNoPlace) {
  FakeApi api;
  api.AddNode("n", 4);
  for (const char* group : {"red", "blue"}) {
    api.AddGroup(group, 4);
    for (int i = 0; i < 4; ++i) {
      api.AddPod({.name = absl::StrCat(group, i), .gpus = 1, .group = group});
    }
    api.Settle();
  }
  EXPECT_EQ(api.On("n"), "red0 red1 red2 red3");
  for (int i = 0; i < 4; ++i) api.DeletePod(absl::StrCat("red", i));
  api.Settle();
  EXPECT_EQ(api.On("n"), "blue0 blue1 blue2 blue3");
}

TEST(ControllerTest, APlaceIsNotKeptForever) {
  FakeApi api;
  api.AddNode("a", 1);
  api.AddNode("b", 1);
  api.AddGang("g", {"w0", "w1"});
  api.Settle();
  api.DeletePod("w1");
  api.AddPod({.name = "next", .gpus = 1});
  api.Settle();
  EXPECT_EQ(api.NodeOf("next"), "");
  api.Pass(61 * kSecond);
  EXPECT_NE(api.NodeOf("next"), "");
}

TEST(ControllerTest, ANodeThatGoesTakesItsPodsWithIt) {
  FakeApi api;
  api.AddNode("a", 1);
  api.AddPod({.name = "w", .gpus = 1, .job = "w"});
  api.Settle();
  EXPECT_EQ(api.NodeOf("w"), "a");
  api.RemoveNode("a");
  api.Settle();
  api.AddNode("b", 1);
  api.DeletePod("w");  // Its Job makes it again.
  api.Settle();
  EXPECT_EQ(api.NodeOf("w"), "b");
}

}  // namespace
}  // namespace muster::kubernetes
