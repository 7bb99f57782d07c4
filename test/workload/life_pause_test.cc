// Jobs whose tasks stand still for a while: that time is not theirs.
#include "test/workload/life_fixture.h"

namespace muster::workload {
namespace {

class LifePauseTest : public LifeTest {
 protected:
  // Runs from 0 on, for 100 s.
  LifeHost& RunFor100s() {
    Job job = JobOf("jax");
    job.active_deadline = 100 * kSecond;
    job.roles[0].restart = RestartPolicy::kOnFailure;
    return Run(job);
  }
};

TEST_F(LifePauseTest, TheDeadlineStandsStillWithTheTasks) {
  LifeHost& h = RunFor100s();
  const Time begin = h.now();
  h.At(begin + 60 * kSecond);
  h.Tell(Paused{});
  EXPECT_EQ(h.output().wake_at, kForever);
  h.At(begin + 3600 * kSecond);
  h.Tell(Paused{});  // Twice is once.
  EXPECT_EQ(h.phase(), LifePhase::kRunning);
  h.Tell(Continued{});
  EXPECT_EQ(h.output().wake_at, begin + 3640 * kSecond);
  h.At(begin + 3630 * kSecond);
  h.Tell(Continued{});
  EXPECT_EQ(h.output().wake_at, begin + 3640 * kSecond);
  h.At(begin + 3640 * kSecond);
  h.Tell(TimePassed{});
  EXPECT_EQ(h.phase(), LifePhase::kFailed);
  EXPECT_EQ(Conditions().back(), "Failed:DeadlineExceeded");
  h.FinishStops();
}

TEST_F(LifePauseTest, WhatStartsAnewMeanwhileStandsStillToo) {
  LifeHost& h = RunFor100s();
  const Time begin = h.now();
  h.At(begin + 60 * kSecond);
  h.Tell(Paused{});
  h.Exits({0, 0}, 1);
  h.FinishStops();
  ASSERT_EQ(h.phase(), LifePhase::kRunning);
  EXPECT_EQ(h.output().wake_at, kForever);
  h.At(begin + 500 * kSecond);
  h.Tell(Continued{});
  EXPECT_EQ(h.output().wake_at, begin + 540 * kSecond);
}

TEST_F(LifePauseTest, WhoLosesItsPlacesMeanwhileIsPausedNoMore) {
  LifeHost& h = RunFor100s();
  const Time begin = h.now();
  h.At(begin + 60 * kSecond);
  h.Tell(Paused{});
  h.Tell(Preempted{0});
  h.FinishStops();
  ASSERT_EQ(h.phase(), LifePhase::kQueued);
  h.Tell(Continued{});  // Late.
  EXPECT_EQ(h.output().wake_at, kForever);
  h.Tell(Paused{});  // Nothing of it is there to stand still.
  h.At(begin + 500 * kSecond);
  h.PlaceAll();
  EXPECT_EQ(h.output().wake_at, begin + 540 * kSecond);
}

}  // namespace
}  // namespace muster::workload
