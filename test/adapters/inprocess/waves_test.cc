#include "adapters/inprocess/waves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace muster::inprocess {
namespace {

using testing::ElementsAre;
using testing::Pair;

// A launcher that needs one of two servers before it; all are starting.
class WavesTest : public testing::Test {
 protected:
  WavesTest() {
    gang_.job.gang.roles = {
        {.name = "server", .min_tasks = 1, .desired_tasks = 2},
        {.name = "launcher"}};
    EXPECT_TRUE(gang_.Begin({0, 1}));
    for (LiveTask& t : gang_.tasks) t.life = TaskLife::kStarting;
    for (const TaskId id : {TaskId{0, 0}, TaskId{0, 1}, TaskId{1, 0}}) {
      PlannedTask& task = planned_.emplace_back();
      task.task = id;
      task.wave = id.role;
    }
  }

  LiveGang gang_;
  std::vector<PlannedTask> planned_;
  Waves waves_;
};

TEST_F(WavesTest, ALaterWaveBeginsWhenTheRolesBeforeItRun) {
  waves_.Add(planned_, gang_, {.slot = 3});
  const auto first = waves_.Next(3, gang_);
  ASSERT_TRUE(first.has_value());
  EXPECT_THAT(first->tasks, ElementsAre(Pair(0, 0), Pair(1, 0)));
  EXPECT_FALSE(first->whole) << "there is another wave";
  EXPECT_FALSE(waves_.Next(3, gang_).has_value());

  gang_.tasks[0].life = TaskLife::kRunning;
  EXPECT_FALSE(waves_.Next(3, gang_).has_value()) << "a server is starting";
  gang_.tasks[1].life = TaskLife::kNone;
  const auto second = waves_.Next(3, gang_);
  ASSERT_TRUE(second.has_value());
  EXPECT_THAT(second->tasks, ElementsAre(Pair(2, 0)));
  EXPECT_FALSE(waves_.Next(3, gang_).has_value());
  EXPECT_TRUE(waves_.empty());
}

TEST_F(WavesTest, WhatIsRefusedIsRefusedAsAWhole) {
  waves_.Add(planned_, gang_, {.lapse = Lapse{.kind = LapseKind::kRefuse}});
  const auto act = waves_.Next(0, gang_);
  ASSERT_TRUE(act.has_value());
  EXPECT_EQ(act->tasks.size(), 3u);
  EXPECT_TRUE(act->whole);
}

TEST_F(WavesTest, TasksThatAreGoneBeginNothing) {
  waves_.Add(planned_, gang_, {});
  for (LiveTask& t : gang_.tasks) ++t.incarnation;
  EXPECT_FALSE(waves_.Next(0, gang_).has_value());
  EXPECT_TRUE(waves_.empty());
}

TEST_F(WavesTest, AGangThatIsForgottenHasNone) {
  waves_.Add(planned_, gang_, {.slot = 3});
  EXPECT_FALSE(waves_.Next(2, gang_).has_value());
  waves_.Forget(3);
  EXPECT_TRUE(waves_.empty());
}

}  // namespace
}  // namespace muster::inprocess
