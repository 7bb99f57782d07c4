// How long gangs ran, and how much of it is safe: told as stories.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/scheduler_fixture.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

class AccountStories : public SchedulerTest {
 protected:
  void Starts(const Gang& gang) {
    s.Submit(gang);
    s.Pass();
    s.AllDone();
    ASSERT_EQ(s.Phase(gang.key), "running");
  }
  // Gangs of the class "frozen" are suspended.
  void CanFreeze() {
    Capable({.suspend = true});
    PriorityClass frozen{.key = "frozen"};
    frozen.on_preempted = OnPreempted::kSuspend;
    s.Happens(PriorityClassChanged{frozen});
  }
  void Saves(const std::string& gang, int64_t second) {
    s.Happens(CheckpointTaken{gang, second * kSecond});
  }
  int64_t Served(const std::string& gang) {
    return s.Of(gang).run_time / kSecond;
  }
  int64_t Saved(const std::string& gang) { return s.Of(gang).saved / kSecond; }
  int64_t Unsaved(const std::string& gang) {
    return s.Of(gang).unsaved / kSecond;
  }
};

TEST_F(AccountStories, WhatNoCheckpointCoversIsLostWithARun) {
  Nodes({1});
  s.now = 10 * kSecond;
  Starts(Job("a", 1, 1, "low"));
  s.now = 17 * kSecond;
  Saves("a", 16);
  EXPECT_EQ(Served("a"), 0) << "of runs that are over";
  s.now = 20 * kSecond;
  s.Submit(Job("b", 1, 1, "high"));
  s.Pass();
  s.AllDone();
  EXPECT_EQ(Served("a"), 10);
  EXPECT_EQ(Saved("a"), 6);
  // Another run without a checkpoint saves nothing more.
  s.Pass();
  s.AllDone();
  s.now = 30 * kSecond;
  s.Happens(GangFinished{"b"});
  s.Pass();
  s.AllDone();
  s.now = 45 * kSecond;
  s.Happens(GangYielded{"a"});
  EXPECT_EQ(Served("a"), 25);
  EXPECT_EQ(Saved("a"), 6);
  EXPECT_EQ(Unsaved("a"), 0);
}

TEST_F(AccountStories, WhatIsSuspendedIsNeitherSavedNorLost) {
  CanFreeze();
  Nodes({1});
  s.now = 10 * kSecond;
  Starts(Job("a", 1, 1, "frozen"));
  s.now = 14 * kSecond;
  Saves("a", 13);
  s.now = 20 * kSecond;
  s.Submit(Job("b", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("suspend a for b", "nominate b: n1"));
  s.AllDone();
  EXPECT_EQ(s.Phase("a"), "suspended");
  EXPECT_EQ(Served("a"), 10);
  EXPECT_EQ(Saved("a"), 3);
  EXPECT_EQ(Unsaved("a"), 7);
  s.Pass();
  s.AllDone();
  s.now = 30 * kSecond;
  s.Happens(GangFinished{"b"});
  EXPECT_THAT(s.Pass(), ElementsAre("resume a: n1"));
  s.AllDone();
  // A checkpoint of the second run covers the first one, too.
  s.now = 40 * kSecond;
  Saves("a", 35);
  s.Happens(GangYielded{"a"});
  EXPECT_EQ(Served("a"), 20);
  EXPECT_EQ(Saved("a"), 15);
  EXPECT_EQ(Unsaved("a"), 0);
}

// Two jobs as old as each other; one carries work from before it was suspended,
// and costs more to stop.
TEST_F(AccountStories, WorkFromBeforeASuspensionMakesAVictimDearer) {
  CanFreeze();
  Nodes({1, 1});
  Starts(Job("a", 1, 1, "frozen"));
  Starts(Job("wide", 1, 1, "high"));
  s.now = 100 * kSecond;
  s.Submit(Job("b", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("suspend a for b", "nominate b: n1"));
  s.AllDone();
  s.Pass();
  s.AllDone();
  s.Happens(GangFinished{"b"});
  s.Happens(GangFinished{"wide"});
  EXPECT_THAT(s.Pass(), ElementsAre("resume a: n1"));
  s.AllDone();
  Starts(Job("young", 1, 1, "frozen"));
  s.now = 110 * kSecond;
  s.Submit(Job("c", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("suspend young for c", "nominate c: n2"));
}

TEST_F(AccountStories, ARestoredSchedulerKnowsTheAccounts) {
  Nodes({1});
  s.now = 10 * kSecond;
  Starts(Job("a"));
  s.now = 20 * kSecond;
  Saves("a", 15);
  s.Happens(GangYielded{"a"});
  const absl::StatusOr<Scheduler> twin =
      Scheduler::Restore(s.scheduler().State());
  ASSERT_TRUE(twin.ok()) << twin.status();
  EXPECT_EQ(twin->State().gangs[0].run_time, 10 * kSecond);
  EXPECT_EQ(twin->State().gangs[0].saved, 5 * kSecond);
  SchedulerState wrong = s.scheduler().State();
  wrong.gangs[0].saved = 11 * kSecond;
  EXPECT_THAT(std::string(Scheduler::Restore(wrong).status().message()),
              ::testing::HasSubstr(".saved"));
}

}  // namespace
}  // namespace muster
