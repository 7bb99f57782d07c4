#include "muster/queue_standing.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/activation_stage.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ResourceKind kGpu = 2;

class QueueStandings : public ::testing::Test {
 protected:
  QueueStanding Of(const std::string& queue) {
    const auto standing = s.scheduler().StandingOf(queue);
    EXPECT_TRUE(standing.ok()) << standing.status();
    return standing.value_or(QueueStanding{});
  }
  std::vector<std::string> Notes(const std::string& queue) {
    std::vector<std::string> notes;
    for (const QueueNote& note : Of(queue).notes) {
      notes.push_back(ToText(note, s.scheduler().config().resources));
    }
    return notes;
  }

  Story s;
};

TEST_F(QueueStandings, SayWhoHoldsWhatIsAnothers) {
  s.HasNode("n", 8);
  s.HasQueue("a", {GpuQuota(2, {})});
  s.HasQueue("b", {GpuQuota(4, {})}, "", 2);
  s.Submit(In("a", Job("j", 1, 6)));
  s.Pass();
  s.AllDone();
  EXPECT_EQ(Of("a").guaranteed[kGpu], 2000);
  EXPECT_EQ(Of("a").used[kGpu], 6000);
  EXPECT_EQ(Of("a").borrowed[kGpu], 4000);
  EXPECT_EQ(Of("a").unused[kGpu], 0);
  EXPECT_EQ(Of("a").share_millionths, 750'000);
  EXPECT_EQ(Of("b").unused[kGpu], 4000);
  EXPECT_EQ(Of("b").share_millionths, 0);
  s.Submit(In("b", Job("k", 1, 2)));
  s.Pass();
  s.AllDone();
  EXPECT_EQ(Of("b").share_millionths, 125'000) << "it has twice the weight";
  EXPECT_THAT(Of("a").notes, IsEmpty());
}

TEST_F(QueueStandings, OfAKindThatNobodyIsGuaranteedNothingIsBorrowed) {
  s.HasNode("n", 8);
  s.HasQueue("a");
  s.HasQueue("b");
  s.Submit(In("a", Job("j", 1, 6)));
  s.Pass();
  EXPECT_EQ(Of("a").used[kGpu], 6000);
  EXPECT_EQ(Of("a").borrowed[kGpu], 0);
  s.HasQueue("b", {GpuQuota(0, {})});
  EXPECT_EQ(Of("a").borrowed[kGpu], 6000);
}

TEST_F(QueueStandings, OfAGroupThatStatesNothingIsThatOfItsQueues) {
  s.HasNode("n", 8);
  s.HasQueue("group");
  s.HasQueue("a", {GpuQuota(2, {})}, "group");
  s.HasQueue("b", {GpuQuota(3, {})}, "group");
  s.Submit(In("a", Job("j", 1, 4)));
  s.Pass();
  EXPECT_EQ(Of("group").guaranteed[kGpu], 5000);
  EXPECT_EQ(Of("group").used[kGpu], 4000);
  EXPECT_EQ(Of("group").unused[kGpu], 1000);
}

TEST_F(QueueStandings, WhatIsBeingReleasedIsToldApart) {
  s.HasNode("n", 2);
  s.HasQueue("a", {GpuQuota(2, {})});
  s.Submit(In("a", Job("j", 1, 2)));
  s.Pass();
  s.AllDone();
  s.Happens(GangCancelled{"j"});
  s.Pass();
  EXPECT_EQ(Of("a").used[kGpu], 0);
  EXPECT_EQ(Of("a").releasing[kGpu], 2000);
}

TEST_F(QueueStandings, MoreThanTheGroupIsGuaranteedIsNoted) {
  s.HasNode("n", 8);
  s.HasQueue("group", {GpuQuota(4, {})});
  s.HasQueue("a", {GpuQuota(4, {})}, "group");
  EXPECT_THAT(Notes("group"), IsEmpty());
  s.HasQueue("b", {GpuQuota(4, {})}, "group");
  EXPECT_THAT(
      Notes("group"),
      ElementsAre("gpu: the queues below it are guaranteed 8000, and it "
                  "is 4000"));
  EXPECT_THAT(Notes("a"), IsEmpty());
}

TEST_F(QueueStandings, MoreThanTheNodesHaveIsNoted) {
  s.HasNode("n", 8);
  s.HasQueue("a", {GpuQuota(8, {})});
  EXPECT_THAT(Notes("a"), IsEmpty());
  s.HasQueue("b", {GpuQuota(8, {})});
  for (const char* queue : {"a", "b"}) {
    EXPECT_THAT(Notes(queue),
                ElementsAre("gpu: the roots are guaranteed 16000, "
                            "and the nodes have 8000"));
  }
  s.HasNode("m", 8);
  EXPECT_THAT(Notes("a"), IsEmpty());
}

TEST_F(QueueStandings, AKindThatASiblingStatesIsNoted) {
  s.HasNode("n", 8);
  s.HasQueue("a", {GpuQuota(4, {})});
  s.HasQueue("b");
  EXPECT_THAT(Notes("b"), ElementsAre("gpu: a queue beside it is guaranteed "
                                      "some, it is owed none"));
  s.HasQueue("b", {GpuQuota(0, {})});
  EXPECT_THAT(Notes("b"), IsEmpty()) << "that is what it says";
}

TEST_F(QueueStandings, SumsAreBounded) {
  s.HasNode("n", 8);
  Quota quota{.resource = "gpu", .guarantee = kMaxQuota};
  for (const char* key : {"a", "b", "c", "d", "e", "f"}) {
    s.HasQueue(key, {quota});
  }
  ASSERT_EQ(Of("a").notes.size(), 1u);
  EXPECT_EQ(Of("a").notes[0].asked, Resources::kMaxTotal);
}

TEST_F(QueueStandings, ThereIsNoneOfAQueueThatIsNotThere) {
  EXPECT_EQ(s.scheduler().StandingOf("x").status().message(),
            "queue 'x' is not known");
}

}  // namespace
}  // namespace muster
