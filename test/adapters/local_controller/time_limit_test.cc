// Time limits of jobs that the scheduler suspends.
#include <gtest/gtest.h>

#include "test/adapters/local_controller/world.h"

namespace muster::local {
namespace {

class TimeLimitTest : public testing::Test {
 protected:
  static ControllerConfig Box() {
    ControllerConfig config = OneBox(1);
    config.scheduler.host.suspend = true;
    config.scheduler.host.suspended_keeps = {"memory"};
    config.classes.push_back({.key = "patient",
                              .value = -20,
                              .on_preempted = OnPreempted::kSuspend});
    return config;
  }
  // Of 100 s, suspended when 60 s of them are over.
  void SetUp() override {
    low_ = world_.Submit(Manifest({.name = "a",
                                   .gpus = "1",
                                   .spec = R"("activeDeadlineSeconds":100,)"}),
                         "patient");
    world_.Pass(60 * kSecond);
    high_ = world_.Submit(Manifest({.name = "b", .gpus = "1"}), "high");
    ASSERT_TRUE(world_.Of(low_)->suspended);
  }

  World world_{Box()};
  uint64_t low_ = 0;
  uint64_t high_ = 0;
};

TEST_F(TimeLimitTest, TheLimitCountsTheTimeThatAJobRuns) {
  world_.Pass(500 * kSecond);
  EXPECT_EQ(world_.Phase(low_), "running");
  EXPECT_TRUE(world_.Of(low_)->suspended);
  world_.Exit(high_, 0);
  world_.Settle();
  ASSERT_FALSE(world_.Of(low_)->suspended);
  EXPECT_EQ(world_.wake_at, world_.now + 40 * kSecond);
  world_.Pass(39 * kSecond);
  EXPECT_EQ(world_.Phase(low_), "running");
  world_.Pass(kSecond);
  EXPECT_EQ(world_.Phase(low_), "failed");
  EXPECT_EQ(world_.Row(low_).reason, "DeadlineExceeded");
  EXPECT_EQ(world_.Row(low_).exit_code, 124);
}

TEST_F(TimeLimitTest, ARestartOfTheProgramForgetsNothingOfIt) {
  world_.Pass(250 * kSecond);
  world_.Restart();
  world_.Pass(250 * kSecond);
  EXPECT_EQ(world_.Phase(low_), "running");
  world_.Exit(high_, 0);
  world_.Settle();
  world_.Restart();
  world_.Settle();
  EXPECT_EQ(world_.wake_at, world_.now + 40 * kSecond);
}

TEST_F(TimeLimitTest, ASuspendedJobThatIsCancelledEnds) {
  ASSERT_TRUE(world_.controller->Cancel(low_, world_.now).ok());
  world_.Settle();
  EXPECT_EQ(world_.Phase(low_), "forgotten");
}

}  // namespace
}  // namespace muster::local
