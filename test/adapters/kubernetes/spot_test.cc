// Nodes that clouds and autoscalers take away.
#include <optional>
#include <string>
#include <vector>

#include "adapters/kubernetes/model/spot_taints.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"

namespace muster::kubernetes {
namespace {

api::Node NodeWith(std::vector<api::Taint> taints) {
  api::Node node;
  node.meta.name = "n";
  node.taints = std::move(taints);
  return node;
}

TEST(SpotTaintsTest, EachKnownKeySaysThatTheNodeGoes) {
  for (const SpotTaint& taint : kSpotTaints) {
    const api::Node node =
        NodeWith({{.key = std::string(taint.key), .effect = "NoSchedule"}});
    EXPECT_EQ(SpotNoticeOf(node, {}), taint.notice) << taint.key;
  }
  EXPECT_EQ(SpotNoticeOf(NodeWith({{.key = "dedicated"}}), {}), kForever);
  EXPECT_EQ(SpotNoticeOf(NodeWith({}), {}), kForever);
  // It may yet be kept.
  EXPECT_EQ(
      SpotNoticeOf(NodeWith({{.key = "DeletionCandidateOfClusterAutoscaler"}}),
                   {}),
      kForever);
}

TEST(SpotTaintsTest, TheNoticeBeginsWithTheTaint) {
  const api::Taint itn{.key = "aws-node-termination-handler/spot-itn",
                       .effect = "NoSchedule",
                       .time_added = 1'000'000};
  EXPECT_EQ(SpotNoticeOf(NodeWith({itn}), {}), 1'120 * kSecond);
  const std::vector<std::string> more{"example.com/goes"};
  const api::Taint own{.key = more[0], .time_added = 900'000};
  EXPECT_EQ(SpotNoticeOf(NodeWith({itn, own}), more), 900 * kSecond);
  EXPECT_EQ(SpotNoticeOf(NodeWith({own}), {}), kForever);
  const api::Taint never{.key = itn.key, .time_added = INT64_MAX};
  EXPECT_EQ(SpotNoticeOf(NodeWith({never}), {}), kMaxTime);
}

class SpotStories : public testing::Test {
 protected:
  static ControllerOptions Options() {
    return {.spot_taints = {"example.com/goes"}};
  }
  void Taint(const std::string& node, const std::string& key) {
    api_->EditNode(node, [&](api::Node& n) {
      n.taints = {{.key = key, .effect = "NoSchedule"}};
    });
  }
  void Untaint(const std::string& node) {
    api_->EditNode(node, [](api::Node& n) { n.taints.clear(); });
  }

  std::optional<FakeApi> api_{std::in_place, Options()};
};

TEST_F(SpotStories, AGangMovesBeforeItsNodeIsGone) {
  for (const char* key : {"ToBeDeletedByClusterAutoscaler",
                          "karpenter.sh/disrupted", "example.com/goes"}) {
    api_.emplace(Options());
    api_->AddNode("a", 2);
    api_->AddPod({.name = "w0", .gpus = 1, .job = "j"});
    api_->AddPod({.name = "w1", .gpus = 1, .job = "j"});
    api_->Settle();
    ASSERT_EQ(api_->On("a"), "w0 w1");
    api_->AddNode("b", 2);
    Taint("a", key);
    api_->Pass(kSecond);
    EXPECT_EQ(api_->On("b"), "w0 w1") << key;
    EXPECT_EQ(api_->On("a"), "") << key;
    EXPECT_TRUE(api_->Check().ok()) << api_->Check();
  }
}

TEST_F(SpotStories, AnotherTaintMovesNobody) {
  api_->AddNode("a", 1);
  api_->AddPod({.name = "w", .gpus = 1, .job = "j"});
  api_->Settle();
  api_->AddNode("b", 1);
  Taint("a", "example.com/dedicated");
  api_->Pass(kSecond);
  EXPECT_EQ(api_->On("a"), "w");
}

TEST_F(SpotStories, ANodeThatIsKeptAfterAllTakesPodsAgain) {
  api_->AddNode("a", 1);
  Taint("a", "ToBeDeletedByClusterAutoscaler");
  api_->AddPod({.name = "w", .gpus = 1});
  // A toleration does not make the node stay.
  api_->EditPod("w",
                [](api::Pod& pod) { pod.tolerations = {{.op = "Exists"}}; });
  api_->Pass(10 * kSecond);
  EXPECT_EQ(api_->NodeOf("w"), "");
  Untaint("a");
  api_->Pass(10 * kSecond);
  EXPECT_EQ(api_->NodeOf("w"), "a");
}

TEST_F(SpotStories, ANewLeaderSeesTheNotice) {
  api_->AddNode("a", 1);
  api_->AddPod({.name = "w", .gpus = 1, .job = "j"});
  api_->Settle();
  ASSERT_EQ(api_->On("a"), "w");
  api_->AddNode("b", 1);
  // Told to nobody but the next one.
  api_->Delay(1);
  Taint("a", "cloud.google.com/impending-node-termination");
  api_->Restart();
  api_->Pass(kSecond);
  EXPECT_EQ(api_->On("b"), "w");
}

TEST_F(SpotStories, ANodeOfThatNameThatComesAnewIsNotGoing) {
  api_->AddNode("a", 1);
  Taint("a", "karpenter.sh/disrupted");
  api_->Settle();
  api_->RemoveNode("a");
  api_->AddNode("a", 1);
  api_->AddPod({.name = "w", .gpus = 1});
  api_->Pass(kSecond);
  EXPECT_EQ(api_->NodeOf("w"), "a");
}

}  // namespace
}  // namespace muster::kubernetes
