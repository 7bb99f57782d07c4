// status.nominatedNodeName of pods that others make room for.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"
#include "test/adapters/kubernetes/seen_requests.h"

namespace muster::kubernetes {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NominationTest : public testing::Test {
 protected:
  // A pod runs that takes ten seconds to stop, and one comes that needs its
  // room.
  void Preempt() {
    api_.grace = 10 * kSecond;
    api_.AddNode("n", 1);
    api_.AddPod({.name = "low", .gpus = 1, .job = "low"});
    api_.Settle();
    api_.AddPod({.name = "high", .gpus = 1, .priority = 10});
    api_.Settle();
  }
  std::string Shown(const std::string& pod) const {
    return api_.PodNamed(pod).nominated_node_name;
  }
  // What was asked for a pod, one after another.
  std::vector<std::string> Asked(const std::string& pod) const {
    std::vector<std::string> nodes;
    for (const auto& nominate : SeenOfPod<NominateRequest>(api_, pod)) {
      nodes.push_back(nominate.node);
    }
    return nodes;
  }

  FakeApi api_;
};

TEST_F(NominationTest, APodThatOthersMakeRoomForShowsItsNode) {
  Preempt();
  EXPECT_EQ(Shown("high"), "n");
  EXPECT_EQ(api_.NodeOf("high"), "");
  api_.Pass(10 * kSecond);
  EXPECT_EQ(api_.NodeOf("high"), "n");
  EXPECT_THAT(Asked("high"), ElementsAre("n"));  // Binding ends it.
  EXPECT_THAT(Asked("low"), IsEmpty());
}

TEST_F(NominationTest, EachPodOfAGangShowsItsNode) {
  api_.grace = 10 * kSecond;
  for (const char* node : {"a", "b"}) {
    api_.AddNode(node, 1);
    api_.AddPod({.name = std::string("low-") + node,
                 .gpus = 1,
                 .job = std::string("low-") + node});
    api_.Settle();
  }
  api_.AddGroup("g", 2);
  for (const char* pod : {"g0", "g1"}) {
    api_.AddPod({.name = pod, .gpus = 1, .priority = 10, .group = "g"});
  }
  api_.Settle();
  EXPECT_THAT((std::vector{Shown("g0"), Shown("g1")}),
              testing::UnorderedElementsAre("a", "b"));
}

// A group that runs and is to be larger: what it has goes on.
TEST_F(NominationTest, ANewPodOfAGroupThatRunsShowsItsNode) {
  api_.grace = 10 * kSecond;
  const auto add = [&](const char* pod) {
    api_.AddPod({.name = pod, .gpus = 1, .priority = 10, .group = "g"});
    api_.Settle();
  };
  api_.AddNode("a", 1);
  api_.AddGroup("g", 1);
  add("g0");
  ASSERT_EQ(api_.NodeOf("g0"), "a");
  api_.AddNode("b", 1);
  api_.AddPod({.name = "low", .gpus = 1, .job = "low"});
  api_.Settle();
  ASSERT_EQ(api_.NodeOf("low"), "b");
  api_.AddGroup("g", 2);
  add("g1");
  EXPECT_EQ(Shown("g1"), "b");
  EXPECT_EQ(api_.NodeOf("g1"), "");
  EXPECT_EQ(api_.NodeOf("g0"), "a");
  api_.Pass(10 * kSecond);
  EXPECT_EQ(api_.NodeOf("g1"), "b");
  EXPECT_EQ(api_.NodeOf("g0"), "a");
  EXPECT_THAT(Asked("g1"), ElementsAre("b"));
  EXPECT_THAT(Asked("g0"), IsEmpty());
}

TEST_F(NominationTest, ARefusedEvictionTakesItBack) {
  api_.protected_pods = {"low"};
  Preempt();
  EXPECT_EQ(Shown("high"), "");
  EXPECT_EQ(api_.NodeOf("low"), "n");
  EXPECT_THAT(Asked("high"), ElementsAre("n", ""));
}

TEST_F(NominationTest, APodThatIsImportantNoMoreLosesIt) {
  Preempt();
  ASSERT_EQ(Shown("high"), "n");
  api_.EditPod("high",
               [](api::Pod& pod) { pod.node_selector = {{"nowhere", "x"}}; });
  api_.Settle();
  EXPECT_EQ(Shown("high"), "");
}

TEST_F(NominationTest, ADeletedPodIsAskedNothing) {
  Preempt();
  ASSERT_EQ(Shown("high"), "n");
  api_.DeletePod("high");
  api_.Pass(20 * kSecond);
  EXPECT_THAT(Asked("high"), ElementsAre("n"));
}

TEST_F(NominationTest, ANewLeaderMakesItAnewOrTakesItBack) {
  Preempt();
  api_.AddPod({.name = "stale", .gpus = 8});
  api_.EditPod("stale",
               [](api::Pod& pod) { pod.nominated_node_name = "elsewhere"; });
  api_.Settle();
  EXPECT_EQ(Shown("stale"), "elsewhere");  // Somebody else's word.
  api_.Restart();
  api_.Settle();
  EXPECT_EQ(Shown("high"), "n");
  EXPECT_EQ(Shown("stale"), "");
  api_.Pass(10 * kSecond);
  EXPECT_EQ(api_.NodeOf("high"), "n");
}

TEST_F(NominationTest, NominatedPodsOfOtherSchedulersUseNoRoom) {
  api_.AddNode("n", 1);
  api_.AddPod({.name = "foreign", .gpus = 1, .scheduler = "other"});
  api_.EditPod("foreign", [](api::Pod& pod) { pod.nominated_node_name = "n"; });
  api_.AddPod({.name = "w", .gpus = 1});
  api_.Settle();
  EXPECT_EQ(api_.NodeOf("w"), "n");
}

}  // namespace
}  // namespace muster::kubernetes
