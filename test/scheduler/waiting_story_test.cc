// A host that shows what waits: it begins with all of it, and then follows what
// the plans say has changed.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/waiting_mirror.h"
#include "test/scheduler/scheduler_fixture.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WaitingStory : public SchedulerTest {
 protected:
  // Two devices, and gangs in q: "runs" has both, two of a kind wait, and one
  // that will never fit.
  void SetUp() override {
    Nodes({2});
    s.Submit(Job("runs", 1, 2));
    s.Pass();
    s.AllDone();
    for (const char* key : {"a", "b"}) s.Submit(Job(key, 1, 1));
    s.Submit(Job("huge", 1, 3));
  }
  // A pass, and what it told: the number of gangs of a class and why they wait.
  std::vector<std::string> Told() {
    s.Pass();
    mirror_.Follow(s.plan());
    std::vector<std::string> told;
    for (const Waiting& w : s.plan().waiting) {
      told.push_back(std::to_string(w.count) + " " +
                     std::string(s.plan().Text(w.gang_key)) + " " +
                     std::string(Name(w.reason.code)));
    }
    return told;
  }
  uint64_t ClassOf(const std::string& gang) {
    return s.scheduler().WaitingGangClass(s.scheduler().FindGang(gang));
  }
  // By the mirror, without asking for it.
  std::string Why(const std::string& gang) {
    const WaitingMirror::Class* told = mirror_.Find(ClassOf(gang));
    return told == nullptr ? "" : std::string(Name(told->reason.code));
  }

  WaitingMirror mirror_;
};

TEST_F(WaitingStory, AClassIsToldOnceAndWhenItIsGone) {
  EXPECT_THAT(Told(), ElementsAre("2 a insufficient", "1 huge never-fits"));
  EXPECT_EQ(ClassOf("a"), ClassOf("b"));
  EXPECT_NE(ClassOf("a"), ClassOf("huge"));
  EXPECT_EQ(ClassOf("runs"), 0u);
  EXPECT_EQ(Why("b"), "insufficient");

  s.Submit(Job("c", 1, 1));
  EXPECT_THAT(Told(), IsEmpty()) << "c waits for what a and b wait for";
  EXPECT_EQ(Why("c"), "insufficient");

  s.Happens(GangFinished{"runs"});
  EXPECT_THAT(Told(), IsEmpty()) << "a and b start, c waits on";
  EXPECT_EQ(Why("c"), "insufficient");

  s.AllDone();
  s.Happens(GangFinished{"a"});
  EXPECT_THAT(Told(), ElementsAre("0  none")) << "c starts";
  EXPECT_EQ(mirror_.classes().size(), 1u);
  EXPECT_EQ(Why("huge"), "never-fits");
}

TEST_F(WaitingStory, AnotherReasonIsToldOfTheSameClass) {
  Told();
  const uint64_t before = ClassOf("a");
  s.Happens(QueueChanged{
      {.key = "q", .quotas = {{.resource = "gpu", .limit = 2000}}}});
  EXPECT_THAT(Told(),
              ElementsAre("2 a queue-limit", "1 huge over-limit-always"));
  EXPECT_EQ(ClassOf("a"), before);
  EXPECT_EQ(Why("b"), "queue-limit");
}

TEST_F(WaitingStory, AWhatIfTellsWhatWouldChangeAndChangesNothing) {
  Told();
  const WaitingMirror::Classes before = mirror_.classes();
  const uint64_t id = ClassOf("a");
  const std::vector<Event> events = {{s.now, GangCancelled{"a"}},
                                     {s.now, GangCancelled{"b"}}};
  Plan plan;
  ASSERT_TRUE(s.scheduler().WhatIf(s.now, events, &plan).ok());
  ASSERT_EQ(plan.waiting.size(), 1u);
  EXPECT_EQ(plan.waiting[0].gang_class_id, id);
  EXPECT_EQ(plan.waiting[0].count, 0u);

  EXPECT_EQ(ClassOf("a"), id);
  EXPECT_THAT(Told(), IsEmpty());
  for (const Event& event : events) s.Happens(event.what);
  EXPECT_THAT(Told(), ElementsAre("0  none"));
  EXPECT_EQ(mirror_.Find(id), nullptr);
}

TEST_F(WaitingStory, AHeldGangIsInNoClass) {
  Told();
  s.Happens(GangHeld{"huge", true});
  EXPECT_THAT(Told(), ElementsAre("0  none"));
  EXPECT_EQ(ClassOf("huge"), 0u);
  s.Happens(GangHeld{"huge", false});
  EXPECT_THAT(Told(), ElementsAre("1 huge never-fits"));
}

TEST_F(WaitingStory, ANewConfigurationTellsAllAnew) {
  Told();
  const uint64_t before = ClassOf("a");
  SchedulerConfig config = s.scheduler().config();
  config.search.victim_steps *= 2;
  s.Happens(ConfigChanged{config});
  EXPECT_THAT(Told(), ElementsAre("2 a insufficient", "1 huge never-fits",
                                  "0  none", "0  none"));
  EXPECT_GT(ClassOf("a"), before);
  EXPECT_EQ(mirror_.classes().size(), 2u);
}

TEST_F(WaitingStory, ARestoredSchedulerTellsAllWhenItIsAsked) {
  Told();
  absl::StatusOr<Scheduler> restored =
      Scheduler::Restore(s.scheduler().State());
  ASSERT_TRUE(restored.ok());
  Plan plan;
  restored->Schedule(s.now, &plan);
  EXPECT_THAT(plan.waiting, IsEmpty()) << "it was told before";
  restored->AllWaiting(&plan);
  WaitingMirror mirror;
  mirror.Reset(plan);
  ASSERT_EQ(mirror.classes().size(), 2u);
  EXPECT_EQ(mirror.classes().begin()->second.first_gang, "a");
  EXPECT_EQ(mirror.classes().begin()->second.count, 2u);
}

}  // namespace
}  // namespace muster
