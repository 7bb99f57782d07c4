// Jobs whose time with places gets another limit.
#include "test/workload/life_fixture.h"

namespace muster::workload {
namespace {

class LifeLimitTest : public LifeTest {
 protected:
  LifeHost& RunFor100s() {
    Job job = JobOf("jax");
    job.active_deadline = 100 * kSecond;
    return Run(job);
  }
};

TEST_F(LifeLimitTest, ALimitThatIsRaisedCountsFromTheStart) {
  LifeHost& h = RunFor100s();
  const Time begin = h.now();
  h.At(begin + 60 * kSecond);
  h.Tell(LimitChanged{300 * kSecond});
  EXPECT_EQ(h.output().wake_at, begin + 300 * kSecond);
  h.At(begin + 299 * kSecond);
  h.Tell(TimePassed{});
  EXPECT_EQ(h.phase(), LifePhase::kRunning);
  h.At(begin + 300 * kSecond);
  h.Tell(TimePassed{});
  EXPECT_EQ(h.phase(), LifePhase::kFailed);
  EXPECT_EQ(Conditions().back(), "Failed:DeadlineExceeded");
  h.FinishStops();
}

TEST_F(LifeLimitTest, AJobThatHasUsedMoreEndsWhenTimePasses) {
  LifeHost& h = RunFor100s();
  h.At(h.now() + 60 * kSecond);
  h.Tell(LimitChanged{30 * kSecond});
  EXPECT_EQ(h.phase(), LifePhase::kRunning);
  EXPECT_LE(h.output().wake_at, h.now());
  h.Tell(TimePassed{});
  EXPECT_EQ(h.phase(), LifePhase::kFailed);
  h.FinishStops();
}

TEST_F(LifeLimitTest, ZeroIsNoLimit) {
  LifeHost& h = RunFor100s();
  h.Tell(LimitChanged{0});
  EXPECT_EQ(h.output().wake_at, kForever);
  h.At(h.now() + 1'000 * kSecond);
  h.Tell(TimePassed{});
  EXPECT_EQ(h.phase(), LifePhase::kRunning);
}

TEST(LimitChangedTest, WhatIsNoLimitIsRefused) {
  const auto life = Life::Make(JobOf("jax"));
  ASSERT_TRUE(life.ok());
  LifeState state = life->Begin();
  const LifeState before = state;
  LifeOutput output;
  for (const Duration limit : {Duration{-1}, kMaxDuration + 1}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        life->Step(LimitChanged{limit}, 0, &state, &output)));
  }
  EXPECT_TRUE(state == before);
}

}  // namespace
}  // namespace muster::workload
