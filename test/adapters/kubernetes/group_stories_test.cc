// Groups whose objects and pods come and go in every order.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"
#include "test/adapters/kubernetes/objects.h"
#include "test/adapters/kubernetes/seen_requests.h"

namespace muster::kubernetes {
namespace {

TEST(GroupStoriesTest, AMusterGroupIsRememberedUntilItsPodsCome) {
  FakeApi api;
  api.AddNode("n", 4);
  api.Put(GroupNamed("g", 2));
  api.Pass(10 * kSecond);
  api.AddPod(MemberOfG("w0"));
  api.Pass(10 * kSecond);
  EXPECT_EQ(api.NodeOf("w0"), "");
  api.AddPod(MemberOfG("w1"));
  api.Settle();
  EXPECT_EQ(api.On("n"), "w0 w1");
}

TEST(GroupStoriesTest, AnEventTellsOfAGroupThatCannotBeUsedAlsoIfItCameFirst) {
  FakeApi api;
  api.AddNode("n", 4);
  api::MusterPodGroup group = GroupNamed("g", 2);
  group.topology.slices = {{"no-level", 2}};
  api.Put(group);
  api.Pass(10 * kSecond);
  for (const char* name : {"w0", "w1"}) {
    api.AddPod(MemberOfG(name));
    api.Pass(10 * kSecond);
  }
  const auto events = EventsAbout(api, "Pod");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].object.name, "w0");
  EXPECT_THAT(events[0].note, ::testing::HasSubstr("spec.topology"));
}

TEST(GroupStoriesTest, PodsWaitForTheirMusterGroup) {
  FakeApi api;
  api.AddNode("n", 4);
  api.AddPod(MemberOfG("w0"));
  api.Pass(10 * kSecond);
  EXPECT_EQ(api.NodeOf("w0"), "");
  api.Put(GroupNamed("g", 2));
  api.Settle();
  EXPECT_EQ(api.NodeOf("w0"), "");
  api.AddPod(MemberOfG("w1"));
  api.Settle();
  EXPECT_EQ(api.On("n"), "w0 w1");
}

TEST(GroupStoriesTest, PodsThatSayHowManyTheyAreNeedNoObject) {
  FakeApi api;
  api.AddNode("n", 4);
  for (const char* name : {"w0", "w1"}) {
    EXPECT_EQ(api.On("n"), "");
    api.AddPod({.name = name,
                .gpus = 1,
                .labels = {{kPodGroupLabel, "g"}},
                .annotations = {{kMinPodsAnnotation, "2"}}});
    api.Settle();
  }
  EXPECT_EQ(api.On("n"), "w0 w1");
}

TEST(GroupStoriesTest, AMusterGroupThatAsksForMoreWaitsForMore) {
  FakeApi api;
  api.AddNode("n", 4);
  api.Put(GroupNamed("g", 2));
  api.AddPod(MemberOfG("w0"));
  api.Settle();
  api.Put(GroupNamed("g", 3));
  api.AddPod(MemberOfG("w1"));
  api.Settle();
  EXPECT_EQ(api.On("n"), "");
  api.AddPod(MemberOfG("w2"));
  api.Settle();
  EXPECT_EQ(api.On("n"), "w0 w1 w2");
}

TEST(GroupStoriesTest, RunningPodsOfAGroupThatIsGoneKeepTheirRoom) {
  FakeApi api;
  api.AddNode("n", 2);
  api.AddGang("g", {"w0", "w1"});
  api.Settle();
  api.RemoveGroup("g");
  api.AddPod({.name = "next", .gpus = 1});
  api.Settle();
  EXPECT_EQ(api.On("n"), "w0 w1");
  api.Restart();
  api.Settle();
  EXPECT_EQ(api.On("n"), "w0 w1");
  EXPECT_TRUE(api.Check().ok()) << api.Check();
}

TEST(GroupStoriesTest, RunningPodsOfAQueueThatIsGoneKeepTheirRoom) {
  FakeApi api;
  api.AddNode("n", 2);
  api::Queue queue;
  queue.meta.name = "q";
  api.Put(queue);
  api.AddPod({.name = "w", .gpus = 2, .labels = {{kQueueLabel, "q"}}});
  api.Settle();
  EXPECT_EQ(api.On("n"), "w");
  api.RemoveQueue("q");
  api.AddPod({.name = "next", .gpus = 1});
  api.Settle();
  api.Restart();
  api.Settle();
  EXPECT_EQ(api.On("n"), "w");
}

TEST(GroupStoriesTest, ARelabelledPodLeavesItsGroup) {
  FakeApi api;
  api.AddNode("n", 4);
  api.Put(GroupNamed("g", 2));
  api.AddPod(MemberOfG("w0"));
  api.EditPod("w0", [](api::Pod& pod) { pod.meta.labels.clear(); });
  api.Settle();
  EXPECT_EQ(api.On("n"), "w0");  // By itself.
  api.AddPod(MemberOfG("w1"));
  api.Settle();
  EXPECT_EQ(api.NodeOf("w1"), "");  // One of two.
}

TEST(GroupStoriesTest, AGatedPodIsNotThereYet) {
  FakeApi api;
  api.AddNode("n", 4);
  api.AddGroup("g", 2);
  api.AddPod({.name = "w0", .gpus = 1, .group = "g"});
  api.AddPod({.name = "w1", .gpus = 1, .group = "g", .gated = true});
  api.Settle();
  EXPECT_EQ(api.On("n"), "");
  api.EditPod("w1", [](api::Pod& pod) { pod.scheduling_gates.clear(); });
  api.Settle();
  EXPECT_EQ(api.On("n"), "w0 w1");
}

TEST(GroupStoriesTest, APodKeepsItsRoomUntilItIsGone) {
  FakeApi api;
  api.grace = 30 * kSecond;
  api.AddNode("n", 1);
  api.AddPod({.name = "low", .gpus = 1, .job = "low"});
  api.Settle();
  api.AddPod({.name = "high", .gpus = 1, .priority = 9, .job = "high"});
  api.Settle();
  EXPECT_EQ(api.On("n"), "low");
  EXPECT_TRUE(api.PodNamed("low").meta.deletion.has_value());
  api.Pass(29 * kSecond);
  EXPECT_EQ(api.On("n"), "low");
  api.Pass(kSecond);
  EXPECT_EQ(api.On("n"), "high");
}

TEST(GroupStoriesTest, PodsThatAreThroughAreNotNeededAgain) {
  FakeApi api;
  api.AddNode("n", 2);
  api.AddGang("g", {"w0", "w1"});
  api.Settle();
  api.Finish("w0");
  api.DeletePod("w1");
  api.Settle();
  api.Pass(100 * kSecond);  // Nobody makes it again.
  api.AddPod({.name = "w2", .gpus = 1, .group = "g"});
  api.AddPod({.name = "too-large", .gpus = 4, .group = "g"});
  api.Settle();
  EXPECT_EQ(api.On("n"), "w2");
}

// A group that comes pod by pod costs a write for each, not for each two.
TEST(GroupStoriesTest, EachPodIsToldOnceThatOthersLack) {
  FakeApi api;
  api.AddNode("n", 4);
  api.AddGroup("g", 100);
  for (int i = 0; i < 30; ++i) {
    api.AddPod({.name = absl::StrCat("w", i), .gpus = 1, .group = "g"});
    api.Pass(2 * kSecond);
  }
  EXPECT_EQ(Seen<UnscheduledRequest>(api).size(), 30u);
  EXPECT_EQ(Seen<EventRequest>(api).size(), 1u);
}

TEST(GroupStoriesTest, APodThatJoinsOthersThatWaitIsToldWhy) {
  FakeApi api;
  api.AddNode("n", 1);
  for (const char* name : {"runs", "waits", "waits-too"}) {
    api.AddPod({.name = name, .gpus = 1});
    api.Pass(2 * kSecond);
  }
  std::string told;
  for (const auto& unscheduled : Seen<UnscheduledRequest>(api)) {
    absl::StrAppend(&told, unscheduled.pod.name, " ");
  }
  EXPECT_EQ(told, "waits waits-too ");
}

TEST(GroupStoriesTest, AJobsPlaceIsThatOfItsObject) {
  FakeApi api;
  api.AddNode("n", 1);
  api.AddPod({.name = "first", .gpus = 1});
  api.Settle();
  api::Owner job;
  job.meta = {.name = "early", .namespace_name = "default", .uid = "job-early"};
  job.meta.creation = api.now() / kMillisecond;
  api.Put(job);
  api.Pass(10 * kSecond);
  api.AddPod({.name = "later", .gpus = 1});
  api.Pass(10 * kSecond);
  api.AddPod({.name = "early-0", .gpus = 1, .job = "early"});
  api.Settle();
  api.Finish("first");
  api.Settle();
  EXPECT_EQ(api.On("n"), "early-0");
}

}  // namespace
}  // namespace muster::kubernetes
