// Devices that others use and nobody names: where others use more than tasks
// leave, what a task leaves is theirs.
#include <functional>
#include <ostream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/scheduler_fixture.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ExternalUsageChanged OthersUse(uint32_t devices) {
  return {{.node = "n1", .unnamed_devices = devices}};
}

// Cannot be preempted.
Gang Firm(Gang gang) {
  gang.preemptible = false;
  return gang;
}

// On n1, which has two devices.
class UnnamedDevices : public SchedulerTest {
 protected:
  UnnamedDevices() { Nodes({2}); }

  void Starts(const Gang& gang, uint32_t device) {
    s.Submit(gang);
    s.Pass();
    ASSERT_EQ(s.Of(gang.key).tasks[0].devices, DeviceSet{device});
  }
  void Runs(const Gang& gang, uint32_t device) {
    Starts(gang, device);
    s.AllDone();
  }
  DeviceSet Booked() { return s.scheduler().State().nodes[0].unnamed; }
};

// --- What a task leaves ------------------------------------------------------

// A way in which "a" leaves the device 0 of n1.
struct Way {
  std::string name{};
  std::function<void(Story& s)> leave{};

  friend std::ostream& operator<<(std::ostream& out, const Way& way) {
    return out << way.name;
  }
};

std::function<void(Story&)> Answered(TaskOutcome outcome) {
  return [outcome](Story& s) { s.Answers("a", {0, 0}, outcome); };
}

const Way kWays[] = {
    {"Failed", Answered(TaskOutcome::kFailed)},
    {"Succeeded", Answered(TaskOutcome::kSucceeded)},
    {"Done", Answered(TaskOutcome::kDone)},
    {"Yielded", Answered(TaskOutcome::kYielded)},
    {"ReleasedUnasked", Answered(TaskOutcome::kReleased)},
    {"GangFinished", [](Story& s) { s.Happens(GangFinished{"a"}); }},
    {"GangYielded", [](Story& s) { s.Happens(GangYielded{"a"}); }},
    {"StartRefused", [](Story& s) { s.Refused(DecisionKind::kStart, "a"); }},
    {"CancelAnswered",
     [](Story& s) {
       s.Happens(GangCancelled{"a"});
       EXPECT_THAT(s.Pass(), ElementsAre("cancel a"));
       s.Applied(DecisionKind::kCancel, "a");
     }},
    {"EvictionAnswered",
     [](Story& s) {
       Node tainted = Machine("n1", 2);
       tainted.taints = {{"broken", "", TaintEffect::kNoExecute, 0}};
       s.Happens(NodeChanged{tainted});
       EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
       s.Answers("a", {0, 0}, TaskOutcome::kReleased);
     }},
    {"StartedElsewhere",
     [](Story& s) {
       s.HasNode("n2", 1);
       s.Happens(TasksAnswered{"a", {{.node = "n2"}}});
     }},
    {"NotFoundByTheHost",
     [](Story& s) {
       s.Happens(Reconciled{
           .nodes = {Machine("n1", 2)},
           .external = {OthersUse(1).usage},
           .tasks = {{.gang = "firm", .node = "n1", .devices = {1}}}});
     }},
    {"FoundSuspended",
     [](Story& s) {
       s.Happens(Reconciled{
           .nodes = {Machine("n1", 2)},
           .external = {OthersUse(1).usage},
           .tasks = {{.gang = "a", .node = "n1", .suspended = true},
                     {.gang = "firm", .node = "n1", .devices = {1}}}});
     }},
};

class WhatIsLeft : public UnnamedDevices,
                   public ::testing::WithParamInterface<Way> {};

// "firm" has the device 1, and one of both is in use by others.
TEST_P(WhatIsLeft, IsTheirs) {
  Capable({.suspend = true});
  Nodes({2});
  Starts(Firm(Job("a")), 0);
  Gang firm = Firm(Job("firm"));
  firm.roles[0].tolerations = {{"broken", TolerationOp::kExists, "", {}}};
  Starts(firm, 1);
  s.Applied(DecisionKind::kStart, "firm");
  s.Happens(OthersUse(1));
  ASSERT_EQ(Booked(), DeviceSet{1});

  GetParam().leave(s);
  EXPECT_EQ(Booked(), DeviceSet{0});
  EXPECT_EQ(s.FreeGpus("n1"), 0);
  EXPECT_EQ(s.FreeGpus("n1", Ledger::kLater), 0);
  s.ExpectRestorable();
  s.Happens(GangFinished{"firm"});
  EXPECT_EQ(s.FreeGpus("n1"), 1);
}

INSTANTIATE_TEST_SUITE_P(Ways, WhatIsLeft, ::testing::ValuesIn(kWays),
                         [](const auto& way) { return way.param.name; });

TEST_F(UnnamedDevices, LeaveNoRoomUntilTheyAreFewer) {
  Runs(Firm(Job("a")), 0);
  Runs(Firm(Job("firm")), 1);
  s.Happens(OthersUse(1));
  s.Happens(GangFinished{"a"});
  s.Submit(Job("b"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Happens(OthersUse(0));
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n1"));
}

TEST_F(UnnamedDevices, HaveWhatAGangThatShrinksLeaves) {
  Nodes({3});
  Gang elastic = Firm(Elastic("a", 1, 2));
  s.Submit(elastic);
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n1 n1"));
  s.AllDone();
  Runs(Firm(Job("firm")), 2);
  s.Happens(OthersUse(1));
  ASSERT_EQ(Booked(), DeviceSet{2});
  elastic.roles[0].desired_tasks = 1;
  s.Happens(GangChanged{elastic});
  EXPECT_THAT(s.Pass(), ElementsAre("shrink a: 0/1"));
  EXPECT_EQ(Booked(), DeviceSet{1}) << "it will be free";
  EXPECT_EQ(s.FreeGpus("n1"), -1) << "and is not yet";
  s.AllDone();
  EXPECT_EQ(s.FreeGpus("n1"), 0);
}

// "h" waits for the device of "x", which is being stopped.
TEST_F(UnnamedDevices, HaveWhatWasKeptForANominatedGang) {
  Runs(Job("x"), 0);
  Runs(Firm(Job("firm")), 1);
  s.Happens(GangCancelled{"x"});
  s.Submit(Job("h"));
  EXPECT_THAT(s.Pass(), ElementsAre("cancel x", "nominate h: n1"));
  s.Happens(OthersUse(1));
  s.Happens(GangHeld{"h"});
  EXPECT_THAT(s.Pass(), ElementsAre("evict h"));
  EXPECT_EQ(Booked(), DeviceSet{0});
  s.AllDone();
  EXPECT_EQ(s.FreeGpus("n1"), 0);
}

TEST_F(UnnamedDevices, AreTheSameOnANodeThatWasDown) {
  Runs(Firm(Job("a")), 0);
  Runs(Firm(Job("firm")), 1);
  s.Happens(OthersUse(1));
  s.Happens(NodeDown{"n1"});
  s.Happens(NodeUp{"n1"});
  EXPECT_EQ(s.FreeGpus("n1"), 1);
}

// --- Whose devices they are where there are too few --------------------------

TEST_F(UnnamedDevices, AreThoseOfTheGangThatGivesWayFirst) {
  Runs(Job("low", 1, 1, "low"), 0);
  Runs(Job("high", 1, 1, "high"), 1);
  s.Happens(OthersUse(1));
  EXPECT_THAT(s.Pass(), ElementsAre("evict low"));
  s.AllDone();
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_EQ(s.FreeGpus("n1"), 0);
}

TEST_F(UnnamedDevices, AreNotThoseOfAGangThatCannotBePreempted) {
  Runs(Job("a", 1, 1, "high"), 0);
  Runs(Firm(Job("firm", 1, 1, "low")), 1);
  s.Happens(OthersUse(1));
  EXPECT_THAT(s.Pass(), ElementsAre("evict a"));
}

TEST_F(UnnamedDevices, AreThoseOfAGangThatIsBeingStopped) {
  Runs(Job("a", 1, 1, "high"), 0);
  Runs(Job("b", 1, 1, "low"), 1);
  s.Happens(GangCancelled{"a"});
  EXPECT_THAT(s.Pass(), ElementsAre("cancel a"));
  s.Happens(OthersUse(1));
  EXPECT_THAT(s.Pass(), IsEmpty()) << "b has the other one";
  s.AllDone();
  EXPECT_EQ(s.FreeGpus("n1"), 0);
}

// "h" waits for the device of "low"; "x", which is being stopped as well, and
// stands before "low", leaves its device to others.
TEST_F(UnnamedDevices, AreNotThoseThatAGangWasStoppedFor) {
  Runs(Job("x", 1, 1, "high"), 0);
  Runs(Job("low", 1, 1, "low"), 1);
  s.Happens(GangCancelled{"x"});
  EXPECT_THAT(s.Pass(), ElementsAre("cancel x"));
  s.Happens(OthersUse(1));
  ASSERT_EQ(Booked(), DeviceSet{0});
  s.Submit(Job("h", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), ElementsAre("evict low for h", "nominate h: n1"));
  Node labelled = Machine("n1", 2);
  labelled.labels.emplace_back("seen", "again");
  s.Happens(NodeChanged{labelled});
  EXPECT_EQ(Booked(), DeviceSet{0});
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("start h: n1"));
}

// "last" does not stop. What "first" would leave is what others have, so it is
// not stopped for "h" while that is so.
TEST_F(UnnamedDevices, AreNotLeftToAGangThatPreempts) {
  Nodes({3});
  Runs(Job("first", 1, 1, "low"), 0);
  Runs(Job("last", 1, 1, "low"), 1);
  s.Happens(OthersUse(2));
  EXPECT_THAT(s.Pass(), ElementsAre("evict last"));
  s.Refused(DecisionKind::kEvict, "last");
  s.Submit(Job("h", 1, 1, "high"));
  EXPECT_THAT(s.Pass(), IsEmpty());
  ASSERT_EQ(Booked(), (DeviceSet{1, 2}));
  ASSERT_LT(s.NextWakeup(), kForever);
  s.now = s.NextWakeup();
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict last", "evict first for h", "nominate h: n1"));
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("start h: n1"));
}

}  // namespace
}  // namespace muster
