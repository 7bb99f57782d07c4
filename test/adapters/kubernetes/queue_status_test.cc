// Queues of queues, leaders that change, and groups that move: what is told of
// queues.
#include <string>
#include <vector>

#include "adapters/kubernetes/controller/queue_tally.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"

namespace muster::kubernetes {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr char kGpu[] = "nvidia.com/gpu";

api::Queue QueueNamed(const std::string& name, const std::string& parent = "") {
  api::Queue queue;
  queue.meta.name = name;
  queue.meta.uid = "uid-" + name;
  queue.meta.generation = 3;
  queue.parent = parent;
  return queue;
}

PodSpec PodIn(const std::string& queue, const std::string& name) {
  return {.name = name, .gpus = 1, .labels = {{kQueueLabel, queue}}};
}

std::vector<QueueStatusRequest> StatusesOf(const FakeApi& api,
                                           const std::string& queue) {
  std::vector<QueueStatusRequest> statuses;
  for (const ApiRequest& request : api.seen()) {
    const auto* status = std::get_if<QueueStatusRequest>(&request.body);
    if (status != nullptr && status->name == queue) {
      statuses.push_back(*status);
    }
  }
  return statuses;
}

TEST(QueueStatusTest, AQueueAboveUsesWhatThoseBelowUse) {
  FakeApi api;
  api.AddNode("n", 1);
  api.Put(QueueNamed("above"));
  api.Put(QueueNamed("below", "above"));
  api.AddPod(PodIn("below", "p"));
  api.Settle();
  api.Pass(5 * kSecond);
  const QueueStatusRequest last = StatusesOf(api, "above").back();
  EXPECT_EQ(last.used.at(kGpu), 1'000);
  EXPECT_EQ(last.counts, QueueCounts{});  // Its own.
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

TEST(QueueTallyTest, AGroupThatChangesItsQueueIsCountedOnce) {
  StatusNews<std::string> news(5 * kSecond);
  QueueTally tally(&news);
  const GroupRef ref{GroupKind::kPod, "ns", "p"};
  tally.Set(ref, {.queue = "a", .pending_pods = 2});
  tally.Set(ref, {.queue = "b", .running_pods = 2});
  EXPECT_EQ(tally.Of("a"), QueueCounts{});
  EXPECT_EQ(tally.Of("b"),
            (QueueCounts{.running_groups = 1, .running_pods = 2}));
  EXPECT_THAT(news.TakeTouched(), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(news.TakeTouched(), IsEmpty());
  tally.Set(ref, {.queue = "b", .running_pods = 2});
  EXPECT_THAT(news.TakeTouched(), IsEmpty());
  tally.Remove(ref);
  EXPECT_THAT(news.TakeTouched(), ElementsAre("b"));
  tally.Forget("a");
  tally.Forget("b");
  EXPECT_THAT(tally.queues(), IsEmpty());
}

}  // namespace
}  // namespace muster::kubernetes
