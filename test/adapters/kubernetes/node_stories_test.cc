// Nodes that come, go, come back, and are not what they should be.
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"

namespace muster::kubernetes {
namespace {

TEST(NodeStoriesTest, ANodeThatComesBackStillHoldsItsPods) {
  for (const bool seen_between : {true, false}) {
    FakeApi api;
    api.AddNode("n", 1);
    api.AddPod({.name = "w", .gpus = 1, .job = "w"});
    api.Settle();
    api.RemoveNode("n");
    if (seen_between) api.Settle();
    api.AddNode("n", 1);
    api.AddPod({.name = "next", .gpus = 1});
    api.Pass(400 * kSecond);
    EXPECT_EQ(api.On("n"), "w") << seen_between;
    EXPECT_TRUE(api.Check().ok()) << api.Check();
    api.DeletePod("w");
    api.Pass(400 * kSecond);
    EXPECT_NE(api.On("n"), "") << seen_between;
    EXPECT_TRUE(api.Check().ok()) << api.Check();
  }
}

TEST(NodeStoriesTest, PartOfAGangLosesItsNode) {
  FakeApi api;
  api.AddNode("a", 2);
  api.AddNode("b", 2);
  api.AddGang("g", {"w0", "w1", "w2", "w3"});
  api.Settle();
  api.RemoveNode("b");
  api.Pass(10 * kSecond);
  api.AddNode("b", 2);
  api.AddPod({.name = "next", .gpus = 1});
  api.Pass(400 * kSecond);
  EXPECT_TRUE(api.Check().ok()) << api.Check();
}

TEST(NodeStoriesTest, ANodeThatIsNotValidIsLeftOut) {
  FakeApi api;
  api.AddNode("good", 1);
  api.AddPod({.name = "foreign", .gpus = 1, .scheduler = "other"});
  api.BindBehind("foreign", "bad");
  api.AddNode("bad", 4, {{std::string(kMaxKeyLength + 1, 'k'), "v"}});
  api.Settle();
  api.Pass(kSecond);
  api.AddPod({.name = "w", .gpus = 1});
  api.Pass(kSecond);
  EXPECT_EQ(api.NodeOf("w"), "good");
  api.RemoveNode("bad");
  api.Pass(kSecond);
  api.AddNode("bad", 4);  // It has come to its senses.
  api.AddPod({.name = "more", .gpus = 3});
  api.Pass(kSecond);
  EXPECT_EQ(api.NodeOf("more"), "bad");
}

TEST(NodeStoriesTest, AValidNodeThatTurnsInvalidTakesNothingMore) {
  FakeApi api;
  api.AddNode("n", 2);
  api.AddPod({.name = "w", .gpus = 1});
  api.Settle();
  api.EditNode("n", [](api::Node& node) {
    node.taints.push_back({"key", "value", "NoSuchEffect", std::nullopt});
  });
  api.AddPod({.name = "next", .gpus = 1});
  api.Pass(kSecond);
  EXPECT_EQ(api.NodeOf("next"), "");
  api.EditNode("n", [](api::Node& node) { node.taints.clear(); });
  api.Pass(400 * kSecond);
  EXPECT_EQ(api.On("n"), "next w");
}

TEST(NodeStoriesTest, ALabelNamedAsTheNameFieldIsALabel) {
  FakeApi api;
  api.AddNode("n", 1, {{"metadata.name", "other"}});
  api.AddPod({.name = "w", .gpus = 1});
  api.Settle();
  EXPECT_EQ(api.NodeOf("w"), "n");
}

TEST(NodeStoriesTest, ACordonedNodeTakesNoPod) {
  FakeApi api;
  api.AddNode("n", 1);
  api.EditNode("n", [](api::Node& node) { node.unschedulable = true; });
  api.AddPod({.name = "w", .gpus = 1});
  api.Settle();
  EXPECT_EQ(api.NodeOf("w"), "");
  api.EditNode("n", [](api::Node& node) { node.unschedulable = false; });
  api.Settle();
  EXPECT_EQ(api.NodeOf("w"), "n");
}

TEST(NodeStoriesTest, APodMayBeBoundToANodeThatIsNotKnownYet) {
  FakeApi api;
  api.AddNode("a", 1);
  api.AddPod({.name = "p", .gpus = 1});
  std::vector<ApiRequest> requests;
  api.controller().Step(2'000 * kSecond, &requests);
  ASSERT_FALSE(requests.empty());
  api.BindBehind("p", "late");
  api.controller().Answer({requests[0].id, ApiOutcome::kConflict, ""});
  api.Pass(2'000 * kSecond);
  api.AddNode("late", 1);
  api.AddPod({.name = "q", .gpus = 1});
  api.AddPod({.name = "r", .gpus = 1});
  api.Pass(kSecond);
  EXPECT_EQ(api.On("late"), "p");
  EXPECT_NE(api.On("a"), "");
  EXPECT_TRUE(api.Check().ok()) << api.Check();
}

// A gang that has to go is asked to again and again, but not at once.
TEST(NodeStoriesTest, AProtectedGangOnANodeThatGoesIsAskedToGoInTurns) {
  FakeApi api;
  api.AddNode("n", 1);
  api.AddPod({.name = "w", .gpus = 1, .job = "w"});
  api.Settle();
  api.protected_pods = {"w"};
  api.EditNode("n", [](api::Node& node) {
    node.taints = {{.key = "karpenter.sh/disrupted", .effect = "NoSchedule"}};
  });
  const size_t before = api.seen().size();
  for (int i = 0; i < 20; ++i) api.Pass(kSecond);
  EXPECT_GE(api.seen().size() - before, 2u);
  EXPECT_LT(api.seen().size() - before, 10u);
  api.protected_pods.clear();
  api.Pass(10 * kSecond);
  EXPECT_EQ(api.On("n"), "");
}

// Nobody can say whether the pod is bound: its room is not given away.
TEST(NodeStoriesTest, RoomIsKeptUntilALostBindingIsFound) {
  FakeApi api;
  api.AddNode("n", 1);
  api.bind_faults = {{ApiOutcome::kUnknown, true}};
  api.read_faults = 2;
  api.Delay(1);  // The watch says nothing before the second pod comes.
  api.AddPod({.name = "p", .gpus = 1});
  std::vector<ApiRequest> requests;
  api.Settle();
  api.AddPod({.name = "q", .gpus = 1});
  api.Pass(60 * kSecond);
  EXPECT_EQ(api.On("n"), "p");
  EXPECT_TRUE(api.Check().ok()) << api.Check();
}

// The same without a watch that helps out.
TEST(NodeStoriesTest, AReadThatFailsIsAskedAgain) {
  FakeApi api;
  api.AddNode("n", 1);
  api.AddPod({.name = "p", .gpus = 1});
  std::vector<ApiRequest> requests;
  Controller& controller = api.controller();
  Time now = 2'000 * kSecond;
  controller.Step(now, &requests);
  const uint64_t bind = requests.at(0).id;
  controller.Answer({bind, ApiOutcome::kUnknown, "lost"});
  size_t reads = 0;
  for (int i = 0; i < 20; ++i) {
    std::vector<ApiRequest> next;
    controller.Step(now, &next);
    for (const ApiRequest& request : next) {
      EXPECT_FALSE(std::holds_alternative<BindRequest>(request.body));
      if (!std::holds_alternative<ReadRequest>(request.body)) continue;
      ++reads;
      controller.Answer({request.id, ApiOutcome::kUnknown, "lost"});
    }
    now += kSecond;
  }
  EXPECT_GE(reads, 3u);
  EXPECT_LE(reads, 21u);  // Not as fast as it can.
}

}  // namespace
}  // namespace muster::kubernetes
