// Evictions do not go round in circles: who was evicted waits before it makes
// room for itself, is protected for longer each time, and makes room once until
// something else happens.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/scheduler.h"
#include "test/scheduler/activation_stage.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The gang, with so much of a cpu besides for each of its tasks.
Gang WithCpus(Gang gang, int64_t cpus) {
  gang.roles[0].shape.resources.Set(0, cpus * 1000);
  return gang;
}

size_t CountEvictions(const std::vector<std::string>& lines) {
  size_t count = 0;
  for (const std::string& line : lines) count += line.starts_with("evict");
  return count;
}

// Passes, one a second, in each of which the host does as it was told.
size_t EvictionsWithin(Story& s, int64_t seconds) {
  size_t evictions = 0;
  for (int64_t i = 0; i < seconds; ++i) {
    evictions += CountEvictions(s.PassAfter(1));
    s.AllDone();
  }
  return evictions;
}

// Two queues, each guaranteed half of two nodes, and six gangs of them: by
// reclaim and priority in turn each makes room again for the one before it.
Story RingOfFour(const SchedulerConfig& config) {
  Story s(config);
  for (const char* key : {"n1", "n2"}) {
    Node node = Machine(key, 2);
    node.capacity.Set(0, 4000);
    s.Happens(NodeChanged{node});
  }
  s.HasQueue("q0", {GpuQuota(2, {})});
  s.HasQueue("q1", {GpuQuota(2, {})});
  s.HasClasses();
  s.Submit(In("q1", Job("g3", 3, 1, "high")));
  s.Submit(In("q0", WithCpus(Job("g9", 1, 1, "mid"), 4)));
  s.Submit(In("q1", Job("g13", 1, 2, "mid")));
  s.Submit(In("q0", Job("g18", 2, 1, "low")));
  s.Submit(In("q0", Job("g19", 1, 1, "high")));
  s.Submit(In("q0", WithCpus(Job("g21", 1, 0, "high"), 3)));
  return s;
}

// Without any times: what bounds them is that each makes room once.
SchedulerConfig NoBackoff() {
  SchedulerConfig config;
  config.eviction_backoff = {.wait_base = 0, .protection_base = 0};
  return config;
}

TEST(EvictionBackoffStories, ARingComesToItsEndByItself) {
  for (const SchedulerConfig& config : {SchedulerConfig(), NoBackoff()}) {
    Story s = RingOfFour(config);
    const size_t evictions = EvictionsWithin(s, 600);
    EXPECT_LE(evictions, 12u);
    EXPECT_EQ(EvictionsWithin(s, 3600), 0u);
    std::cout << evictions << " evictions\n";
  }
}

// A gang that has run for so long is done.
void FinishAfter(Story& s, const std::string& gang, int64_t seconds) {
  if (s.Phase(gang) == "running" &&
      s.now >= s.Of(gang).started + seconds * kSecond) {
    s.Happens(GangFinished{gang});
  }
}

// Eight GPUs are lent for half an hour, of which four are guaranteed to another
// queue: a gang of one GPU for a minute each ten minutes.
TEST(EvictionBackoffStories, ManySmallDoNotKeepOneLargeFromItsEnd) {
  Story s;
  s.HasNode("n", 8);
  s.HasQueue("a", {GpuQuota(4, {})});
  s.HasQueue("b");
  s.Submit(In("b", Job("big", 8, 1)));
  std::vector<std::string> small;
  size_t evictions = 0;
  int64_t second = 0, longest = 0;
  while (s.Phase("big") != "gone" && second < 7200) {
    if (second % 600 == 300) {
      small.push_back("a" + std::to_string(small.size()));
      Gang owed = In("a", Job(small.back()));
      owed.submitted = s.now;
      s.Submit(owed);
    }
    s.now = ++second * kSecond;
    FinishAfter(s, "big", 1800);
    for (const std::string& key : small) FinishAfter(s, key, 60);
    evictions += CountEvictions(s.Pass());
    s.AllDone();
    for (const std::string& key : small) {
      if (s.Phase(key) != "waiting") continue;
      longest = std::max(longest, (s.now - s.Of(key).gang.submitted) / kSecond);
    }
  }
  EXPECT_EQ(s.Phase("big"), "gone") << "it is done within two hours";
  EXPECT_LE(evictions, 6u);
  EXPECT_LE(longest, 1800);
  std::cout << evictions << " evictions, done after " << second
            << " s, an owed gang waited " << longest << " s\n";
}

class EvictedInARow : public ::testing::Test {
 protected:
  // "victim" has the one node's four GPUs, and is stopped `times` times in a
  // row for an urgent gang, which is gone at once.
  Story Evicted(uint32_t times, const SchedulerConfig& config = {}) {
    Story s(config);
    s.HasNode("n1", 4);
    s.HasQueue("q");
    s.HasClasses();
    s.Submit(Job("victim", 1, 4, "mid"));
    Runs(s);
    for (uint32_t i = 0; i < times; ++i) {
      s.now += 3600 * kSecond;
      EXPECT_THAT(Evict(s), ElementsAre("evict victim for urgent",
                                        "nominate urgent: n1"));
      EndUrgent(s);
      Runs(s);
    }
    return s;
  }
  static std::vector<std::string> Evict(Story& s) {
    s.Submit(Job("urgent", 1, 4, "high"));
    return s.Pass();
  }
  static void EndUrgent(Story& s) {
    Runs(s);
    s.Happens(GangFinished{"urgent"});
  }
  static void Runs(Story& s) {
    s.AllDone();
    s.Pass();
    s.AllDone();
  }
};

TEST_F(EvictedInARow, EachTimeProtectsItForTwiceAsLong) {
  EXPECT_THAT(Evicted(0).Of("victim").evictions, 0u);
  for (const auto& [times, seconds] :
       {std::pair(1u, 120), {2u, 240}, {4u, 960}, {5u, 1800}, {9u, 1800}}) {
    Story s = Evicted(times);
    EXPECT_EQ(s.Of("victim").evictions, times);
    EXPECT_THAT(Evict(s), IsEmpty()) << times;
    EXPECT_THAT(s.PassAfter(seconds - 1), IsEmpty()) << times;
    EXPECT_THAT(s.PassAfter(1),
                ElementsAre("evict victim for urgent", "nominate urgent: n1"))
        << times;
  }
}

TEST_F(EvictedInARow, ItsClassMayProtectItForLonger) {
  Story s = Evicted(1);
  PriorityClass mid{.key = "mid", .value = 10, .min_runtime = 200 * kSecond};
  s.Happens(PriorityClassChanged{mid});
  EXPECT_THAT(Evict(s), IsEmpty());
  EXPECT_THAT(s.PassAfter(199), IsEmpty());
  EXPECT_EQ(CountEvictions(s.PassAfter(1)), 1u);
}

// A checkpoint of the run that ends: the next time is the first in a row.
TEST_F(EvictedInARow, WhatItSavedEndsTheRow) {
  Story s = Evicted(3);
  s.now += 3600 * kSecond;
  s.Happens(CheckpointTaken{"victim", s.now});
  EXPECT_EQ(CountEvictions(Evict(s)), 1u);
  EXPECT_EQ(s.Of("victim").evictions, 0u);
  EndUrgent(s);
  Runs(s);
  EXPECT_EQ(CountEvictions(Evict(s)), 1u) << "it is not protected";
  EXPECT_EQ(s.Of("victim").evictions, 1u);
}

TEST_F(EvictedInARow, WhereTheHostRefusesNothingWasLost) {
  Story s = Evicted(1);
  s.now += 3600 * kSecond;
  Evict(s);
  EXPECT_EQ(s.Of("victim").evictions, 2u);
  s.Refused(DecisionKind::kEvict, "victim");
  EXPECT_EQ(s.Of("victim").evictions, 1u);
}

TEST_F(EvictedInARow, NoTimeIsSetByABaseOfNothing) {
  Story s = Evicted(3, NoBackoff());
  EXPECT_EQ(s.Of("victim").evictions, 3u);
  EXPECT_EQ(CountEvictions(Evict(s)), 1u);
}

// Two nodes; "mid" was stopped for "high" on one, and could stop "low" on the
// other.
class EvictedAndAble : public ::testing::Test {
 protected:
  Story LostItsPlace(const SchedulerConfig& config = {}) {
    Story s(config);
    s.HasNode("n1", 4);
    s.HasQueue("q");
    s.HasClasses();
    s.Submit(Job("mid", 1, 4, "mid"));
    s.Pass();
    s.AllDone();
    s.Submit(Job("high", 1, 4, "high"));
    EXPECT_THAT(s.Pass(),
                ElementsAre("evict mid for high", "nominate high: n1"));
    s.AllDone();
    s.HasNode("n2", 4);
    Gang low = Job("low", 1, 4, "low");
    s.Happens(GangHeld{"mid", true});
    s.Submit(low);
    s.Pass();
    s.AllDone();
    EXPECT_EQ(s.Phase("low"), "running");
    s.Happens(GangHeld{"mid", false});
    return s;
  }
};

TEST_F(EvictedAndAble, ItWaitsBeforeItMakesRoom) {
  Story s = LostItsPlace();
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.NextWakeup(), 10 * kSecond);
  EXPECT_THAT(s.PassAfter(9), IsEmpty());
  EXPECT_THAT(s.PassAfter(1),
              ElementsAre("evict low for mid", "nominate mid: n2"));
  s.ExpectRestorable();
}

TEST_F(EvictedAndAble, ItStartsWhereThereIsRoomAtAnyTime) {
  Story s = LostItsPlace();
  s.HasNode("n3", 4);
  EXPECT_THAT(s.Pass(), ElementsAre("start mid: n3"));
}

// Others of its class do not wait for it.
TEST_F(EvictedAndAble, WhoIsLikeItMakesRoomMeanwhile) {
  Story s = LostItsPlace();
  s.Submit(Job("other", 1, 4, "mid"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict low for other", "nominate other: n2"));
}

// What a raised minimum asks besides is made room for by the same rules.
TEST_F(EvictedInARow, ItsRaisedMinimumWaitsAsWell) {
  Story s = Evicted(0);
  Gang other = Job("low", 1, 4, "low");
  s.HasNode("n2", 4);
  s.Submit(other);
  Runs(s);
  s.now = 100 * kSecond;
  PriorityClass low{.key = "low", .on_preempted = OnPreempted::kNever};
  s.Happens(PriorityClassChanged{low});
  EXPECT_EQ(CountEvictions(Evict(s)), 1u);
  EndUrgent(s);
  Runs(s);
  ASSERT_EQ(s.Phase("victim"), "running");
  low.on_preempted = OnPreempted::kRequeue;
  s.Happens(PriorityClassChanged{low});
  s.Happens(GangChanged{Job("victim", 2, 4, "mid")});
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.PassAfter(9), IsEmpty());
  EXPECT_THAT(s.PassAfter(1),
              ElementsAre("evict low for victim", "nominate victim: n2"));
}

// "mid" has made room for itself on n1, and is stopped there for "high", whose
// time has come: nothing else has happened. It could stop "low2" on n2.
class MadeRoomBefore : public ::testing::Test {
 protected:
  static Story Mid() {
    Story s(NoBackoff());
    for (const char* key : {"n1", "n2"}) {
      Node node = Machine(key, 4);
      node.labels = {{"name", key}};
      s.Happens(NodeChanged{node});
    }
    s.HasQueue("q");
    s.HasClasses();
    s.Submit(On("n2", Job("low2", 1, 4, "low")));
    s.Pass();
    s.AllDone();
    s.now = 5 * kSecond;
    s.Submit(On("n1", Job("low1", 1, 4, "low")));
    Gang high = On("n1", Job("high", 1, 4, "high"));
    high.not_before = 20 * kSecond;
    s.Submit(high);
    s.Pass();
    s.AllDone();
    s.Submit(Job("mid", 1, 4, "mid"));
    EXPECT_THAT(s.Pass(),
                ElementsAre("evict low1 for mid", "nominate mid: n1"));
    s.AllDone();
    EXPECT_THAT(s.Pass(), ElementsAre("start mid: n1"));
    s.AllDone();
    s.now = 20 * kSecond;
    EXPECT_THAT(s.Pass(),
                ElementsAre("evict mid for high", "nominate high: n1"));
    s.AllDone();
    EXPECT_THAT(s.Pass(), ElementsAre("start high: n1"));
    s.AllDone();
    return s;
  }
};

TEST_F(MadeRoomBefore, NobodyGivesWayToItAsLongAsNothingElseHappens) {
  Story s = Mid();
  EXPECT_THAT(s.PassAfter(3600), IsEmpty());
  s.ExpectRestorable();
}

// What the host says of its own is something else.
TEST_F(MadeRoomBefore, WhateverElseHappensLetsItAskAgain) {
  const std::vector<EventBody> others = {
      NodeChanged{Machine("n3", 0)}, GangSubmitted{Job("other", 1, 4, "low")},
      QueueChanged{{.key = "other"}}, GangYielded{"high"},
      TasksAnswered{
          .gang = "high",
          .tasks = {{.task = {0, 0}, .outcome = TaskOutcome::kReleased}}}};
  for (const EventBody& what : others) {
    Story s = Mid();
    s.Happens(what);
    EXPECT_THAT(s.Pass(),
                Contains(AnyOf("evict low2 for mid", "start mid: n1")))
        << what.index();
  }
}

TEST_F(MadeRoomBefore, ThatTheHostDoesAsToldIsNothingElse) {
  Story s = Mid();
  s.Happens(CheckpointTaken{"high", s.now});
  s.Happens(TasksAnswered{
      .gang = "high",
      .tasks = {{.task = {0, 0}, .outcome = TaskOutcome::kStarted}}});
  s.Happens(TasksAnswered{.gang = "nobody", .tasks = {{.task = {0, 0}}}});
  EXPECT_THAT(s.Pass(), IsEmpty());
}

}  // namespace
}  // namespace muster
