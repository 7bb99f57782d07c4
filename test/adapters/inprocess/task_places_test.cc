#include "adapters/inprocess/task_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace muster::inprocess {
namespace {

using testing::ElementsAre;

constexpr ResourceKind kCpu = 0;
constexpr ResourceKind kDevices = 1;

struct Log final : Observer {
  void PlaceChanged(const PlaceChange& change) override {
    taken.push_back(change.taken);
  }
  std::vector<bool> taken{};
};

// A task with half a GPU on the first of two nodes.
class TaskPlacesTest : public testing::Test {
 protected:
  TaskPlacesTest()
      : config_{.resources = {"cpu", "gpu"}, .device_kind = "gpu"},
        real_usage_(2, kDevices),
        metrics_(kDevices),
        places_(config_, &real_usage_, &metrics_, &log_) {
    for (const char* key : {"a", "b"}) {
      Node node{.key = key, .capacity = {1000}};
      node.devices.resize(2);
      real_usage_.Upsert(node);
    }
    TaskShape shape{.resources = {600}};
    shape.devices = {.count = 1, .milli = 500};
    gang_.job.gang.roles = {{.shape = shape}};
    EXPECT_TRUE(gang_.Begin({0, 1}));
    task().life = TaskLife::kRunning;
    task().place.devices = {0};
    places_.Hold(0, gang_, 0);
  }

  LiveTask& task() { return gang_.tasks[0]; }
  int64_t used(ResourceKind kind) const {
    return real_usage_.totals().used[kind];
  }

  SchedulerConfig config_;
  RealUsage real_usage_;
  Metrics metrics_;
  Log log_;
  TaskPlaces places_;
  LiveGang gang_;
};

TEST_F(TaskPlacesTest, ATaskHoldsItsPlaceUntilItLeaves) {
  EXPECT_EQ(used(kCpu), 600);
  EXPECT_EQ(used(kDevices), 500);
  places_.Leave(1, gang_, 0, TaskLife::kNone);
  EXPECT_EQ(used(kCpu), 0);
  EXPECT_EQ(task().incarnation, 1u);
  places_.Leave(2, gang_, 0, TaskLife::kNone);
  EXPECT_EQ(used(kCpu), 0) << "it had left";
  EXPECT_THAT(log_.taken, ElementsAre(true, false));
}

TEST_F(TaskPlacesTest, ASuspendedTaskKeepsWhatTheHostLetsIt) {
  config_.host.suspended_keeps = {"cpu"};
  places_.Leave(1, gang_, 0, TaskLife::kSuspended);
  EXPECT_EQ(used(kCpu), 600);
  EXPECT_EQ(used(kDevices), 0);
  places_.Leave(2, gang_, 0, TaskLife::kNone);
  EXPECT_EQ(used(kCpu), 0);
}

TEST_F(TaskPlacesTest, WhatThereIsNoRoomForIsCounted) {
  places_.Hold(1, gang_, 0);
  EXPECT_EQ(metrics_.counts.overcommits, 1u);
}

TEST_F(TaskPlacesTest, AMovedTaskTellsWhereItIs) {
  places_.Move(1, {.kind = LapseKind::kOtherDevices}, gang_, 0);
  EXPECT_THAT(places_.AnswerFor(gang_, 0, TaskOutcome::kStarted, true).devices,
              ElementsAre(1));
  places_.Move(1, {.kind = LapseKind::kElsewhere, .node = "b"}, gang_, 0);
  EXPECT_EQ(places_.AnswerFor(gang_, 0, TaskOutcome::kStarted, true).node, "b");
  EXPECT_EQ(places_.AnswerFor(gang_, 0, TaskOutcome::kStarted, false).node, "");
  places_.Move(1, {.kind = LapseKind::kElsewhere, .node = "none"}, gang_, 0);
  EXPECT_EQ(real_usage_.key(task().node), "b");
  EXPECT_EQ(used(kDevices), 500);
}

}  // namespace
}  // namespace muster::inprocess
