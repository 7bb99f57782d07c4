// Events about objects that are not as they should be, and about Jobs that
// preemption would fail.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/kubernetes/fake_api.h"
#include "test/adapters/kubernetes/objects.h"
#include "test/adapters/kubernetes/seen_requests.h"

namespace muster::kubernetes {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WarningsTest : public testing::Test {
 protected:
  // Of objects of this kind, in order.
  std::vector<EventRequest> About(const std::string& kind) const {
    return EventsAbout(api_, kind);
  }
  void PutQueue(const std::string& name, const std::string& parent = "") {
    api_.Put(QueueNamed(name, parent));
  }
  void PutJob(bool ignores) {
    api::Owner job;
    job.meta = {.name = "j", .namespace_name = "default", .uid = "job-j"};
    job.ignores_disruption = ignores;
    job.backoff_limit = 4;
    api_.Put(job);
  }
  // The Job's only pod is preempted so often.
  void Preempt(int times) {
    api_.AddNode("n", 1);
    api_.AddPod({.name = "low", .gpus = 1, .job = "j"});
    for (int i = 0; i < times; ++i) {
      api_.Pass(kSecond);
      api_.Pass(3600 * kSecond);  // It is not protected any more.
      ASSERT_EQ(api_.NodeOf("low"), "n");
      api_.AddPod({.name = "high", .gpus = 1, .priority = 10});
      api_.Pass(kSecond);
      ASSERT_EQ(api_.NodeOf("high"), "n");
      api_.Finish("high");
      api_.DeletePod("high");
    }
  }

  FakeApi api_;
};

// --- Queues ------------------------------------------------------------------

TEST_F(WarningsTest, AQueueWithoutItsParentIsToldAfterAWhile) {
  PutQueue("child", "parent");
  api_.AddNode("n", 1);
  api_.AddPod({.name = "w", .gpus = 1});
  api_.Pass(kSecond);
  EXPECT_EQ(api_.NodeOf("w"), "n");  // Everything else goes on.
  EXPECT_THAT(About("Queue"), IsEmpty());
  // The controller asks to be called for it.
  EXPECT_LE(api_.controller().next_step(), api_.now() + 5 * kSecond);
  api_.Pass(5 * kSecond);
  ASSERT_EQ(About("Queue").size(), 1u);
  const EventRequest event = About("Queue")[0];
  EXPECT_EQ(event.object.name, "child");
  EXPECT_EQ(event.object.uid, "uid-child");
  EXPECT_TRUE(event.warning);
  EXPECT_THAT(event.note, HasSubstr("parent"));
  // Once, whatever else happens.
  PutQueue("other");
  api_.Pass(600 * kSecond);
  EXPECT_EQ(About("Queue").size(), 1u);
  PutQueue("parent");
  api_.Pass(600 * kSecond);
  EXPECT_EQ(About("Queue").size(), 1u);
}

TEST_F(WarningsTest, AParentThatComesSoonIsNothingToTell) {
  PutQueue("child", "parent");
  api_.Pass(kSecond);
  PutQueue("parent");
  api_.Pass(600 * kSecond);
  EXPECT_THAT(About("Queue"), IsEmpty());
  EXPECT_EQ(api_.controller().next_step(), kForever);
}

TEST_F(WarningsTest, AFieldOfAQueueThatIsNotKnownIsNamed) {
  api::Queue queue = QueueNamed("q");
  queue.not_understood = {"spec.cohort"};
  api_.Put(queue);
  api_.Settle();
  api_.Pass(10 * kSecond);
  ASSERT_EQ(About("Queue").size(), 1u);
  EXPECT_THAT(About("Queue")[0].note, HasSubstr("spec.cohort"));
}

// --- Groups ------------------------------------------------------------------

TEST_F(WarningsTest, AFaultyGroupIsTold) {
  api::MusterPodGroup group;
  group.meta.name = "g";
  group.meta.uid = "uid-g";
  group.not_understood = {"spec.colour"};
  api_.Put(group);
  api_.AddNode("n", 1);
  api_.AddPod({.name = "w", .gpus = 1});
  api_.Settle();
  EXPECT_EQ(api_.NodeOf("w"), "n");
  ASSERT_EQ(About("PodGroup").size(), 1u);
  EXPECT_EQ(About("PodGroup")[0].object,
            (api::ObjectReference{"muster.dev/v1alpha1", "PodGroup", "default",
                                  "g", "uid-g"}));
  EXPECT_THAT(About("PodGroup")[0].note, HasSubstr("spec.colour"));
  group.meta.labels["x"] = "y";  // As it was in all else.
  api_.Put(group);
  api_.Settle();
  EXPECT_EQ(About("PodGroup").size(), 1u);
  group.not_understood = {};
  api_.Put(group);
  group.not_understood = {"spec.colour"};
  api_.Put(group);
  api_.Settle();
  EXPECT_EQ(About("PodGroup").size(), 2u);
}

// --- What cannot be read -----------------------------------------------------

TEST_F(WarningsTest, AnObjectThatCannotBeReadIsToldOnceForEachReason) {
  const api::ObjectReference queue{"muster.dev/v1alpha1", "Queue", "", "q",
                                   "uid-q"};
  Observer& observer = api_.controller().observer();
  observer.ObserveBad(queue, "spec.weight: expected a number");
  observer.ObserveBad(queue, "spec.weight: expected a number");
  api_.Settle();
  ASSERT_EQ(About("Queue").size(), 1u);
  EXPECT_EQ(About("Queue")[0].object, queue);
  observer.ObserveBad(queue, "spec.parent: expected a text");
  api_.Settle();
  EXPECT_EQ(About("Queue").size(), 2u);
  observer.Readable(queue);
  EXPECT_FALSE(observer.has_warnings());
  observer.ObserveBad(queue, "spec.parent: expected a text");
  api_.Settle();
  EXPECT_EQ(About("Queue").size(), 3u);
}

TEST_F(WarningsTest, VeryManyFaultyObjectsAreNotAllRemembered) {
  Observer& observer = api_.controller().observer();
  const auto bad = [&](int i) {
    const std::string name = std::to_string(i);
    observer.ObserveBad({"v1", "Pod", "ns", name, name}, "bad");
  };
  for (int i = 0; i < 10'000; ++i) bad(i);
  bad(0);
  api_.Settle();
  EXPECT_EQ(About("Pod").size(), 10'000u);
  bad(10'000);  // Room is made.
  bad(0);
  api_.Settle();
  EXPECT_EQ(About("Pod").size(), 10'002u);
}

// --- Jobs --------------------------------------------------------------------

TEST_F(WarningsTest, AJobThatCountsPreemptionsAsFailuresIsToldOnce) {
  PutJob(false);
  Preempt(3);
  ASSERT_EQ(About("Job").size(), 1u);
  const EventRequest event = About("Job")[0];
  EXPECT_EQ(event.object,
            (api::ObjectReference{"batch/v1", "Job", "default", "j", "job-j"}));
  EXPECT_TRUE(event.warning);
  EXPECT_THAT(event.note, AllOf(HasSubstr("podFailurePolicy"),
                                HasSubstr("DisruptionTarget"), HasSubstr("4")));
}

TEST_F(WarningsTest, AJobThatIgnoresDisruptionIsFine) {
  PutJob(true);
  Preempt(2);
  EXPECT_THAT(About("Job"), IsEmpty());
}

TEST_F(WarningsTest, APodOfAGroupIsOfItsJobNevertheless) {
  PutJob(false);
  api_.AddNode("n", 1);
  api_.AddGroup("g", 1);
  api_.AddPod({.name = "low", .gpus = 1, .group = "g", .job = "j"});
  api_.Settle();
  EXPECT_THAT(About("Job"), IsEmpty());  // It was not preempted.
  api_.AddPod({.name = "high", .gpus = 1, .priority = 10});
  api_.Pass(kSecond);
  EXPECT_EQ(About("Job").size(), 1u);
}

}  // namespace
}  // namespace muster::kubernetes
