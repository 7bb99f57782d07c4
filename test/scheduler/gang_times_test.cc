#include "lib/scheduler/gang_times.h"

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

TEST(GangTimesTest, TheNextToWakeComesFirst) {
  GangTimes times;
  times.SetWake(1, kForever, 30);
  times.SetWake(2, kForever, 10);
  times.SetWake(3, kForever, 10);
  EXPECT_THAT(times.wakes(),
              ElementsAre(Pair(10, 2), Pair(10, 3), Pair(30, 1)));
  times.SetWake(1, 30, 5);
  times.SetWake(3, 10, kForever);
  EXPECT_THAT(times.wakes(), ElementsAre(Pair(5, 1), Pair(10, 2)));
}

TEST(GangTimesTest, WakingAndEndingAreTwoMatters) {
  GangTimes times;
  times.SetWake(1, kForever, 10);
  times.SetEnd(1, kForever, 20);
  EXPECT_THAT(times.ends(), ElementsAre(Pair(20, 1)));
  times.SetWake(1, 10, kForever);
  EXPECT_THAT(times.wakes(), IsEmpty());
  EXPECT_THAT(times.ends(), ElementsAre(Pair(20, 1)));
}

TEST(GangTimesTest, AGangThatNeverWakesStandsNowhere) {
  GangTimes times;
  times.SetWake(1, kForever, kForever);
  EXPECT_THAT(times.wakes(), IsEmpty());
}

TEST(GangTimesTest, EveryGangHasItsLastTime) {
  Dice dice(1);
  GangTimes times;
  std::vector<Time> at(6, kForever);
  for (int step = 0; step < 500; ++step) {
    const GangIndex g = dice.Below(6);
    const Time next = dice.OneIn(3) ? kForever : dice.In(0, 4);
    times.SetEnd(g, std::exchange(at[g], next), next);
    GangTimes::Index expected;
    for (GangIndex i = 0; i < at.size(); ++i) {
      if (at[i] != kForever) expected.insert({at[i], i});
    }
    ASSERT_EQ(times.ends(), expected);
  }
}

}  // namespace
}  // namespace muster
