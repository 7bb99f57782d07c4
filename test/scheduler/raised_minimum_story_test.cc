// A minimum that is raised while its gang runs: what runs goes on under the one
// of before, and what it lacks is placed when there is room.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/scheduler_fixture.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RaisedMinimum : public SchedulerTest {
 protected:
  static void AddRole(Gang& gang, const std::string& name, uint32_t min) {
    Role role = gang.roles[0];
    role.name = name;
    role.min_tasks = role.desired_tasks = min;
    gang.roles.push_back(role);
  }
  // By role, as it is recorded; empty: that of the gang.
  std::vector<uint32_t> RunsUnder(const std::string& gang) {
    return s.Of(gang).runs_under.role_tasks;
  }
};

TEST_F(RaisedMinimum, WhatItLacksIsPlacedBesideTheOthers) {
  Nodes({2, 2});
  Runs(Job("a", 2));
  Resize("a", 3, 3);
  EXPECT_THAT(RunsUnder("a"), ElementsAre(2));
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2"));
  EXPECT_THAT(RunsUnder("a"), ElementsAre(2)) << "it has not met it yet";
  s.AllDone();
  EXPECT_THAT(RunsUnder("a"), IsEmpty());
  EXPECT_THAT(s.Pass(), IsEmpty());
}

TEST_F(RaisedMinimum, ATaskThatIsLostMeanwhileComesBackInTheSamePass) {
  Nodes({2, 2});
  Runs(Job("a", 2));
  Resize("a", 3, 3);
  s.Answers("a", {0, 0}, TaskOutcome::kFailed);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1", "grow a: n2"));
  EXPECT_THAT(s.Pass(), IsEmpty());
}

TEST_F(RaisedMinimum, WithoutRoomWhatRunsGoesOn) {
  Nodes({2});
  Runs(Job("a", 2));
  Resize("a", 3, 3);
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.PassAfter(3600), IsEmpty());
  EXPECT_EQ(s.Phase("a"), "running");
  s.ExpectRestorable();
  s.HasNode("n2", 1);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2"));
}

TEST_F(RaisedMinimum, ANewRoleStopsNothing) {
  Nodes({2});
  Gang a = Job("a", 2);
  a.roles[0].name = "worker";
  Runs(a);
  Change("a", [](Gang& g) { AddRole(g, "server", 2); });
  EXPECT_THAT(RunsUnder("a"), ElementsAre(2, 0));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.HasNode("n2", 1);
  EXPECT_THAT(s.Pass(), IsEmpty()) << "no part of a role is placed";
  s.HasNode("n3", 1);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2 n3"));
  s.AllDone();
  EXPECT_THAT(RunsUnder("a"), IsEmpty());
}

TEST_F(RaisedMinimum, NorDoesAGroupThatAsksForMore) {
  Nodes({2});
  Gang a = Job("a", 2);
  a.groups.emplace_back();
  a.groups[0].min_tasks = 2;
  a.roles[0].min_tasks = 1;
  Runs(a);
  Change("a", [](Gang& g) {
    g.roles[0].desired_tasks = 3;
    g.groups[0].min_tasks = 3;
  });
  EXPECT_EQ(s.Of("a").runs_under.group_tasks, std::vector<uint32_t>{2});
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.HasNode("n2", 1);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2"));
}

// Of two groups one was enough.
TEST_F(RaisedMinimum, NorDoesAGroupThatAsksForMoreChildren) {
  Nodes({2});
  Gang a = Job("a", 2);
  a.roles[0].name = "one";
  AddRole(a, "two", 2);
  a.groups.resize(3);
  a.groups[0].min_children = 1;
  a.roles[0].group = 1;
  a.roles[1].group = 2;
  Runs(a);
  Change("a", [](Gang& g) { g.groups[0].min_children = 2; });
  EXPECT_THAT(s.Of("a").runs_under.group_children, ElementsAre(1, 0, 0));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.HasNode("n2", 2);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2 n2"));
}

// It has more than it needed; as much as it needs now is no surplus any more.
TEST_F(RaisedMinimum, WhatItHasAlreadyMeetsItAtOnce) {
  Nodes({3});
  Runs(Elastic("a", 1, 3));
  Resize("a", 3, 3);
  EXPECT_THAT(RunsUnder("a"), IsEmpty());
  s.Submit(Job("b"));
  EXPECT_THAT(s.Pass(), IsEmpty());
}

// --- What comes first --------------------------------------------------------

TEST_F(RaisedMinimum, NobodyTakesTheRoomInBetween) {
  Nodes({2, 1});
  Runs(Job("a", 2));
  Runs(Job("c"));
  Resize("a", 3, 3);
  s.Submit(Job("b"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Happens(GangFinished{"c"});
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2"));
}

TEST_F(RaisedMinimum, ALimitThatIsRaisedLetsItIn) {
  Nodes({3});
  s.HasQueue("q", {GpuQuota({}, 2)});
  Runs(Job("a", 2));
  Resize("a", 3, 3);
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.HasQueue("q", {GpuQuota({}, 3)});
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1"));
}

// What it has beyond the minimum of before is surplus as ever.
TEST_F(RaisedMinimum, WhileItLacksTasksItIsAVictimLikeAnyOther) {
  Nodes({3});
  Runs(Elastic("a", 1, 3, "low"));
  Resize("a", 4, 4);
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Submit(Job("b", 2, 1, "high"));
  EXPECT_THAT(s.Pass(),
              ElementsAre("shrink a for b: 0/1 0/2", "nominate b: n1 n1"));
  s.Submit(Job("c", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a for c", "nominate c: n1"));
}

// What was placed for the need is not given to others before it has started.
TEST_F(RaisedMinimum, WhatIsPlacedForItIsNoSurplus) {
  Nodes({3});
  Runs(Job("a", 2));
  Resize("a", 3, 3);
  s.Submit(Job("b"));
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.AllDone();
  EXPECT_THAT(s.Pass(), IsEmpty());
}

TEST_F(RaisedMinimum, AGangThatLacksTasksDoesNotGrow) {
  Nodes({2, 1});
  Runs(Elastic("a", 2, 2));
  Resize("a", 4, 8);
  EXPECT_THAT(s.Pass(), IsEmpty()) << "a part of what it needs is of no use";
  Resize("a", 2, 8);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2"));
}

// --- What is lost meanwhile --------------------------------------------------

TEST_F(RaisedMinimum, ATaskThatFailsBeforeItIsMetStopsNothing) {
  Nodes({3});
  Runs(Job("a", 2));
  Resize("a", 3, 3);
  for (const int64_t backoff : {10, 20, 40, 80, 160}) {
    EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1"));
    s.Answers("a", {0, 2}, TaskOutcome::kFailed);
    EXPECT_THAT(s.Pass(), IsEmpty()) << "it waits longer each time";
    EXPECT_THAT(s.PassAfter(backoff - 1), IsEmpty());
    s.now += kSecond;
  }
  EXPECT_EQ(s.Phase("a"), "running");
}

TEST_F(RaisedMinimum, BelowTheMinimumOfBeforeItIsRolledBack) {
  Nodes({2});
  Runs(Job("a", 2));
  Resize("a", 3, 3);
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Happens(ExternalUsageChanged{{.node = "n1", .unnamed_devices = 0}});
  s.Answers("a", {0, 1}, TaskOutcome::kFailed);
  s.Happens(NodeChanged{Machine("n1", 1)});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
  s.AllDone();
  EXPECT_EQ(s.Phase("a"), "waiting");
  EXPECT_THAT(RunsUnder("a"), IsEmpty());
  s.HasNode("n2", 2);
  EXPECT_THAT(s.PassAfter(60), ElementsAre("start a: n1 n2 n2"));
}

TEST_F(RaisedMinimum, OnceMetItIsTheMinimum) {
  Nodes({2, 1});
  Runs(Job("a", 2));
  Resize("a", 3, 3);
  s.Pass();
  s.AllDone();
  s.Happens(NodeDown{"n2"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
}

// --- Changed again -----------------------------------------------------------

TEST_F(RaisedMinimum, RaisedTwiceItRunsUnderTheFirst) {
  Nodes({2});
  Runs(Job("a", 2));
  Resize("a", 3, 3);
  s.Pass();
  Resize("a", 5, 5);
  EXPECT_THAT(RunsUnder("a"), ElementsAre(2));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.HasNode("n2", 3);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2 n2 n2"));
}

TEST_F(RaisedMinimum, LoweredAgainItLacksNothing) {
  Nodes({2});
  Runs(Job("a", 2));
  Resize("a", 3, 3);
  s.Pass();
  Resize("a", 2, 2);
  EXPECT_THAT(RunsUnder("a"), IsEmpty());
  s.HasNode("n2", 3);
  EXPECT_THAT(s.Pass(), IsEmpty());
}

TEST_F(RaisedMinimum, ToldTwiceItIsTheSame) {
  Nodes({2});
  Runs(Job("a", 2));
  Resize("a", 3, 3);
  const uint64_t once = s.scheduler().StateHash();
  GangState before = s.Of("a");
  Resize("a", 3, 3);
  EXPECT_EQ(s.Of("a"), before);
  EXPECT_NE(once, 0u);
}

// A leaving task and a raised minimum: the one that goes is needed no more than
// before, and what is new comes when it has gone.
TEST_F(RaisedMinimum, WithATaskThatLeaves) {
  Nodes({3, 1});
  Runs(Elastic("a", 2, 3));
  s.Answers("a", {0, 2}, TaskOutcome::kLeaving);
  Resize("a", 4, 4);
  EXPECT_EQ(s.FreeGpus("n1", Ledger::kLater), 1);
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Answers("a", {0, 2}, TaskOutcome::kYielded);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1 n2"));
}

TEST_F(RaisedMinimum, AStateThatSaysWhatCannotBeIsRefused) {
  Nodes({2});
  Runs(Job("a", 2));
  Resize("a", 3, 3);
  SchedulerState state = s.scheduler().State();
  state.gangs[0].runs_under.role_tasks.push_back(1);
  EXPECT_EQ(Scheduler::Restore(state).status().message(),
            "state.gangs 'a'.runs_under: one number for each of its roles and "
            "groups");
  state = s.scheduler().State();
  state.gangs[0].runs_under.role_tasks[0] = 7;
  EXPECT_FALSE(Scheduler::Restore(state).ok());
}

}  // namespace
}  // namespace muster
