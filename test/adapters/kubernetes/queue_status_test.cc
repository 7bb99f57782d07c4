// What the controller writes of queues and PodGroups, and counts of them.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/controller/queue_tally.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"
#include "test/adapters/kubernetes/objects.h"
#include "test/adapters/kubernetes/seen_requests.h"

namespace muster::kubernetes {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// The statuses that a queue was given, oldest first.
std::vector<QueueStatusRequest> StatusesOf(const FakeApi& api,
                                           const std::string& queue) {
  auto statuses = Seen<QueueStatusRequest>(api);
  std::erase_if(statuses, [&](const QueueStatusRequest& status) {
    return status.name != queue;
  });
  return statuses;
}

// A status that is due, and of which nobody knows whether it arrives, is
// written again after 5 s, and not once it has arrived. `others`: requests of
// other kinds, which have no answer.
template <typename Status>
void ExpectWrittenAgain(FakeApi* api, size_t* others) {
  const auto statuses = [&](Duration after, ApiOutcome outcome) {
    std::vector<ApiRequest> requests;
    api->controller().Step(api->now() + after, &requests);
    size_t count = 0;
    for (const ApiRequest& request : requests) {
      const bool is_status = std::holds_alternative<Status>(request.body);
      ++(is_status ? count : *others);
      if (is_status) api->controller().Answer({request.id, outcome, ""});
    }
    return count;
  };
  EXPECT_EQ(statuses(0, ApiOutcome::kUnknown), 1u);
  EXPECT_EQ(statuses(4 * kSecond, ApiOutcome::kDone), 0u);
  EXPECT_EQ(statuses(5 * kSecond, ApiOutcome::kDone), 1u);
  EXPECT_EQ(statuses(60 * kSecond, ApiOutcome::kDone), 0u);
}

TEST(QueueStatusTest, TellsWhatWaitsAndRunsAndWhatIsUsed) {
  FakeApi api;
  api.AddNode("n", 1);
  api.Put(QueueNamed("root"));
  api.Put(QueueNamed("q", "root"));
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
  api.Put(QueueNamed("q"));
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
  api.Put(QueueNamed("q"));
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
  api.Put(QueueNamed("q"));
  size_t others = 0;
  ExpectWrittenAgain<QueueStatusRequest>(&api, &others);
  EXPECT_EQ(others, 0u);
}

TEST(QueueStatusTest, AQueueWithoutAnObjectHasNone) {
  FakeApi api;
  api.AddNode("n", 1);
  api.AddPod({.name = "p", .gpus = 1});
  api.Settle();
  EXPECT_THAT(StatusesOf(api, "default"), IsEmpty());
  EXPECT_EQ(api.controller().tally().Of("default").running_pods, 1);
}

TEST(QueueStatusTest, ANewLeaderWritesAnew) {
  FakeApi api;
  api.AddNode("n", 1);
  api.Put(QueueNamed("q"));
  api.AddPod(PodIn("q", "p"));
  api.Settle();
  api.Pass(5 * kSecond);
  const size_t before = StatusesOf(api, "q").size();
  api.Restart();
  api.Settle();
  api.Pass(5 * kSecond);
  EXPECT_GT(StatusesOf(api, "q").size(), before);
  EXPECT_EQ(StatusesOf(api, "q").back().counts.running_pods, 1);
}

// The statuses of PodGroup "g", "PHASE PENDING RUNNING: MESSAGE" each.
std::vector<std::string> GroupStatuses(const FakeApi& api) {
  std::vector<std::string> statuses;
  for (const auto& status : Seen<GroupStatusRequest>(api)) {
    if (status.name != "g") continue;
    statuses.push_back(absl::StrCat(status.running ? "Running " : "Pending ",
                                    status.pending_pods, " ",
                                    status.running_pods, ": ", status.message));
  }
  return statuses;
}

TEST(GroupStatusTest, TellsWhyAPodGroupWaitsAndThatItRuns) {
  FakeApi api;
  api.AddNode("n", 2);
  api.AddPod({.name = "other", .gpus = 1});
  api.Settle();
  api.Put(GroupNamed("g", 2));
  for (const char* name : {"a", "b"}) {
    api.AddPod(MemberOfG(name));
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
  api.Put(GroupNamed("g", 2));
  api.AddPod(MemberOfG("a"));
  size_t others = 0;
  ExpectWrittenAgain<GroupStatusRequest>(&api, &others);
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

TEST(QueueTallyTest, AGroupThatChangesItsQueueIsCountedOnce) {
  StatusNews<std::string> news(5 * kSecond);
  QueueTally tally(&news);
  GangCounts counted;
  tally.Set(&counted, {.queue = "a", .pending_pods = 2});
  tally.Set(&counted, {.queue = "b", .running_pods = 2});
  EXPECT_EQ(tally.Of("a"), QueueCounts{});
  EXPECT_EQ(tally.Of("b"),
            (QueueCounts{.running_groups = 1, .running_pods = 2}));
  EXPECT_THAT(news.TakeTouched(), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(news.TakeTouched(), IsEmpty());
  tally.Set(&counted, {.queue = "b", .running_pods = 2});
  EXPECT_THAT(news.TakeTouched(), IsEmpty());
  EXPECT_EQ(tally.groups(), 1u);
  tally.Set(&counted, {});
  EXPECT_EQ(tally.groups(), 0u);
  EXPECT_THAT(news.TakeTouched(), ElementsAre("b"));
  tally.Forget("a");
  tally.Forget("b");
  EXPECT_THAT(tally.queues(), IsEmpty());
}

}  // namespace
}  // namespace muster::kubernetes
