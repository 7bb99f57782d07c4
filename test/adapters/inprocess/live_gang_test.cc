#include "adapters/inprocess/live_gang.h"

#include <gtest/gtest.h>

namespace muster::inprocess {
namespace {

LiveGang OneRole(uint32_t least, uint32_t desired, Duration work) {
  LiveGang g;
  g.job.work = work;
  g.job.gang.roles = {{.min_tasks = least, .desired_tasks = desired}};
  g.Begin(GangId{0, 0});
  return g;
}

void RunTasks(LiveGang* g, std::vector<uint32_t> which) {
  for (LiveTask& t : g->tasks) t.life = TaskLife::kNone;
  for (uint32_t i : which) g->tasks[i].life = TaskLife::kRunning;
  g->rate = g->WorkingTasks();
}

TEST(LiveGangTest, WorksOnlyWithItsMinimum) {
  LiveGang g = OneRole(2, 4, 100);
  RunTasks(&g, {0});
  EXPECT_EQ(g.rate, 0U);
  RunTasks(&g, {0, 3});
  EXPECT_EQ(g.rate, 2U);
}

TEST(LiveGangTest, HalfTheTasksTakeTwiceAsLong) {
  LiveGang g = OneRole(1, 4, 100);
  RunTasks(&g, {0, 1});
  EXPECT_EQ(g.NextGoal(), 200);
  g.Advance(60);
  RunTasks(&g, {0, 1, 2, 3});
  EXPECT_EQ(g.NextGoal(), 60 + 70) << "30 of 100 are done";
}

TEST(LiveGangTest, StopsAtEachCheckpointAndThenAtTheEnd) {
  LiveGang g = OneRole(1, 1, 100);
  g.job.checkpoint_every = 40;
  RunTasks(&g, {0});
  EXPECT_EQ(g.NextGoal(), 40);
  g.saved = 40;
  g.Advance(40);
  EXPECT_EQ(g.NextGoal(), 80);
  g.saved = 80;
  g.Advance(80);
  EXPECT_EQ(g.NextGoal(), 100) << "none is due at the very end";
}

TEST(LiveGangTest, ARestartBurnsTimeFirst) {
  LiveGang g = OneRole(1, 1, 100);
  RunTasks(&g, {0});
  g.burn = 30;
  EXPECT_EQ(g.NextGoal(), 130);
  g.Advance(20);
  EXPECT_EQ(g.done, 0);
  g.Advance(50);
  EXPECT_EQ(g.done, 20);
}

TEST(LiveGangTest, RolesAndGroupsHaveTheirMinimum) {
  LiveGang g;
  g.job.work = 100;
  g.job.gang.groups = {
      {.name = "root", .min_children = 2}, {.name = "left"}, {.name = "right"}};
  g.job.gang.roles = {
      {.name = "leader"},
      {.name = "a", .group = 1, .min_tasks = 2, .desired_tasks = 2},
      {.name = "b", .group = 2, .min_tasks = 2, .desired_tasks = 2}};
  g.Begin(GangId{0, 0});
  RunTasks(&g, {0, 1, 2});  // leader and the left group.
  EXPECT_EQ(g.rate, 3U);
  RunTasks(&g, {0, 1, 3});  // leader and half of each.
  EXPECT_EQ(g.rate, 0U);
  RunTasks(&g, {1, 2, 3, 4});  // Both groups.
  EXPECT_EQ(g.rate, 4U);
}

TEST(LiveGangTest, AnOptionalRoleIsNoReasonToStandStill) {
  LiveGang g;
  g.job.gang.roles = {{.name = "worker"},
                      {.name = "helper", .min_tasks = 0, .desired_tasks = 1}};
  g.Begin(GangId{0, 0});
  RunTasks(&g, {0});
  EXPECT_EQ(g.rate, 1U);
  RunTasks(&g, {1});
  EXPECT_EQ(g.rate, 0U);
}

TEST(LiveGangTest, TasksAreNumberedByRole) {
  LiveGang g;
  g.job.gang.roles = {{.name = "a", .desired_tasks = 3},
                      {.name = "b", .desired_tasks = 2}};
  g.Begin(GangId{0, 0});
  for (uint32_t flat = 0; flat < 5; ++flat) {
    EXPECT_EQ(g.FlatIndex(g.IdOf(flat)), flat);
  }
  EXPECT_EQ(g.IdOf(4), (TaskId{.role = 1, .index = 1}));
}

TEST(LiveGangTest, RefusesMoreWorkThanItCanCount) {
  LiveGang g;
  g.job.work = kForever / 8;
  g.job.gang.roles = {{.min_tasks = 64, .desired_tasks = 64}};
  EXPECT_FALSE(g.Begin(GangId{0, 0}));
}

}  // namespace
}  // namespace muster::inprocess
