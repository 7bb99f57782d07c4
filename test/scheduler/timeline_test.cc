#include "lib/scheduler/timeline.h"

#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/property/dice.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(TimelineTest, TheNextToWakeComesFirst) {
  Timeline timeline;
  timeline.SetWake(1, kForever, 30);
  timeline.SetWake(2, kForever, 10);
  timeline.SetWake(3, kForever, 10);
  EXPECT_THAT(timeline.wakes(),
              ElementsAre(Pair(10, 2), Pair(10, 3), Pair(30, 1)));
  timeline.SetWake(1, 30, 5);
  timeline.SetWake(3, 10, kForever);
  EXPECT_THAT(timeline.wakes(), ElementsAre(Pair(5, 1), Pair(10, 2)));
}

TEST(TimelineTest, WakingAndEndingAreTwoMatters) {
  Timeline timeline;
  timeline.SetWake(1, kForever, 10);
  timeline.SetEnd(1, kForever, 20);
  EXPECT_THAT(timeline.ends(), ElementsAre(Pair(20, 1)));
  timeline.SetWake(1, 10, kForever);
  EXPECT_THAT(timeline.wakes(), IsEmpty());
  EXPECT_THAT(timeline.ends(), ElementsAre(Pair(20, 1)));
}

TEST(TimelineTest, AGangThatNeverWakesStandsNowhere) {
  Timeline timeline;
  timeline.SetWake(1, kForever, kForever);
  EXPECT_THAT(timeline.wakes(), IsEmpty());
}

TEST(TimelineTest, EveryGangHasItsLastTime) {
  Dice dice(1);
  Timeline timeline;
  std::vector<Time> at(6, kForever);
  for (int step = 0; step < 500; ++step) {
    const GangIndex g = dice.Below(6);
    const Time next = dice.OneIn(3) ? kForever : dice.In(0, 4);
    timeline.SetEnd(g, std::exchange(at[g], next), next);
    Timeline::Index expected;
    for (GangIndex i = 0; i < at.size(); ++i) {
      if (at[i] != kForever) expected.insert({at[i], i});
    }
    ASSERT_EQ(timeline.ends(), expected);
  }
}

}  // namespace
}  // namespace muster
