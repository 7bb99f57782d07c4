#include <gtest/gtest.h>

#include <vector>

#include "adapters/local/controller/job_maker.h"
#include "adapters/local/controller/life_codec.h"
#include "adapters/local/controller/meeting.h"
#include "adapters/local/controller/port_pool.h"
#include "adapters/local/controller/task_folder.h"

namespace muster::local {
namespace {

TEST(LifeCodecTest, EveryEventComesBackAsItWas) {
  using namespace workload;
  const std::vector<LifeEvent> events = {
      Submitted{},
      Placed{{{0, 1}, {2, 3}}},
      PlacesTaken{{{1, 0}}, 5 * kSecond, true},
      Preempted{kMaxDuration},
      TaskStarted{{1, 2}, 3},
      TaskReady{{1, 2}, 4'000'000'000},
      TaskExited{{0, 99'999}, 1, 255, ExitReason::kOutOfMemory},
      CheckpointDone{7},
      ResizeAsked{1, 4},
      SuspendAsked{},
      ResumeAsked{},
      TimePassed{},
      Paused{},
      Continued{},
      LimitChanged{3'600 * kSecond},
      DeletionAsked{},
      TasksListed{{{{0, 1}, 2, true}}}};
  ASSERT_EQ(events.size(), std::variant_size_v<LifeEvent>);
  for (const LifeEvent& event : events) {
    const std::string text = ToJson(event);
    const auto read = LifeEventFromJson(text);
    ASSERT_TRUE(read.ok()) << text << ": " << read.status();
    EXPECT_EQ(read->index(), event.index());
    EXPECT_EQ(ToJson(*read), text);
  }
}

TEST(LifeCodecTest, WhatIsNoEventIsRefused) {
  for (const char* text :
       {"", "{", "[]", "{}", "[\"placed\"]", "[\"placed\",[[0]]]",
        "[\"placed\",[[0,-1]]]", "[\"submitted\",1]", "[\"unknown\"]",
        "[\"task-ready\",[0,1],4294967296]", "[\"preempted\",1.5]",
        "[\"task-exited\",[0,0],1,0,\"bored\"]", "\"submitted\""}) {
    EXPECT_FALSE(LifeEventFromJson(text).ok()) << text;
  }
}

TEST(MeetingTest, ComesBackAsItWas) {
  const Meeting meeting{.ports = {{20'000}, {20'001, 0}},
                        .numbers = {{0}, {1, 0}}};
  const auto read = MeetingFromJson(ToJson(meeting));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, meeting);
  EXPECT_EQ(ToJson(Meeting{}), "");
  EXPECT_TRUE(MeetingFromJson("")->empty());
  EXPECT_FALSE(MeetingFromJson("[[[70000]],[]]").ok());
  EXPECT_FALSE(MeetingFromJson("[[1],[]]").ok());
}

TEST(PortPoolTest, GivesEachPortOnce) {
  PortPool pool(10, 12, [](uint16_t port) { return port != 11; });
  EXPECT_EQ(pool.Take(2), 12);
  EXPECT_EQ(pool.Take(2), 10);  // In a circle.
  EXPECT_EQ(pool.Take(0), std::nullopt);
  pool.Return(12);
  pool.Return(12);  // Twice does no harm.
  EXPECT_EQ(pool.taken(), 1u);
  EXPECT_FALSE(pool.Claim(10));
  EXPECT_FALSE(pool.Claim(13));
  EXPECT_TRUE(pool.Claim(11));  // It was given before a restart.
}

TEST(GangKeyTest, LaterJobsHaveGreaterKeys) {
  EXPECT_LT(GangKey(9), GangKey(10));
  EXPECT_EQ(JobOfGang(GangKey(1234)), 1234u);
  EXPECT_EQ(JobOfGang("default/x"), std::nullopt);
}

TEST(NumberedClassTest, IsOfAnInteger) {
  EXPECT_EQ(NumberedClass("-5")->key, "priority--5");
  EXPECT_EQ(NumberedClass("-5")->value, -5);
  EXPECT_FALSE(NumberedClass("high").has_value());
  EXPECT_FALSE(NumberedClass("99999999999").has_value());
}

TEST(TaskFolderTest, IsOfNumbersAlone) {
  EXPECT_EQ(TaskFolder("/s", {.job = 7, .role = 1, .index = 2, .attempt = 3}),
            "/s/jobs/7/1-2/3");
}

}  // namespace
}  // namespace muster::local
