// Plans that are taken as they are recorded, good and bad.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "muster/scheduler.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A node with four devices, and a gang of two tasks that waits.
Scheduler Waiting() {
  auto s = Scheduler::Create({.resources = {"gpu"}});
  EXPECT_TRUE(s.ok()) << s.status();
  const Node node{.key = "n", .devices = std::vector<Device>(4)};
  EXPECT_TRUE(s->Apply({0, NodeChanged{node}}).ok());
  EXPECT_TRUE(s->Apply({0, QueueChanged{{.key = "q"}}}).ok());
  Gang gang{.key = "g", .queue = "q"};
  Role& role = gang.roles.emplace_back();
  role.min_tasks = role.desired_tasks = 2;
  role.shape.devices.count = 1;
  EXPECT_TRUE(s->Apply({0, GangSubmitted{gang}}).ok());
  return *std::move(s);
}

PlanRecord PlanOf(Scheduler scheduler) {
  Plan plan;
  scheduler.Schedule(0, &plan);
  return scheduler.Record(plan);
}

void IsRefused(const PlanRecord& plan, const std::string& why) {
  Scheduler s = Waiting();
  const uint64_t before = s.StateHash();
  const absl::Status status = s.Follow(plan);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  EXPECT_EQ(s.StateHash(), before);
}

TEST(FollowTest, APlanLeadsToTheStateInWhichItWasMade) {
  Scheduler s = Waiting(), other = Waiting();
  Plan plan;
  s.Schedule(0, &plan);
  EXPECT_TRUE(other.Follow(s.Record(plan)).ok());
  EXPECT_EQ(other.StateHash(), s.StateHash());
}

// A queue comes to hold more than it is guaranteed beside what it held before,
// or not, as the tasks of a start come one after the other: what is optional
// last where it is decided, in the order of their roles where it is followed.
TEST(FollowTest, WhatATaskActivatesDoesNotDependOnTheOrderOfTasks) {
  auto s = Scheduler::Create({.resources = {"cpu", "gpu"}});
  ASSERT_TRUE(s.ok()) << s.status();
  const auto happens = [&](const EventBody& what) {
    const absl::Status taken = s->Apply({0, what});
    ASSERT_TRUE(taken.ok()) << taken;
  };
  const Node node{
      .key = "n", .capacity = {8}, .devices = std::vector<Device>(4)};
  happens(NodeChanged{node});
  happens(ExternalUsageChanged{
      {.node = "n", .devices = {{.device = 0, .milli = 1000}}}});
  happens(QueueChanged{
      {.key = "owner", .quotas = {{.resource = "gpu", .guarantee = 2000}}}});
  happens(QueueChanged{{.key = "borrower"}});
  Gang large{.key = "large", .queue = "owner"};
  large.roles.emplace_back().shape.devices.count = 4;
  happens(GangSubmitted{large});
  Plan plan;
  s->Schedule(0, &plan);
  Gang two{.key = "two", .queue = "borrower"};
  two.roles.resize(2);
  two.roles[0].name = "optional";
  two.roles[0].min_tasks = 0;
  two.roles[0].shape.devices.count = 1;
  two.roles[1].name = "wide";
  two.roles[1].shape = {.resources = {3}, .devices = {.count = 1}};
  happens(GangSubmitted{two});
  absl::StatusOr<Scheduler> follower = s->Fork();
  ASSERT_TRUE(follower.ok()) << follower.status();
  s->Schedule(0, &plan);
  ASSERT_EQ(plan.decisions.size(), 1);
  ASSERT_TRUE(follower->Follow(s->Record(plan)).ok());
  EXPECT_EQ(follower->State().gang_classes, s->State().gang_classes);
}

// Asked while it was first in its queue: then somebody came back who is before
// it.
TEST(FollowTest, WhoIsNotFirstAnyMoreWasAsked) {
  Story s;
  s.HasNode("n1", 2);
  s.HasNode("n2", 3);
  // Of which only "second" asks: so it is within, and its turn comes first.
  Queue strict{.key = "q",
               .weight = 100,
               .ordering = QueueOrdering::kStrictFifo,
               .quotas = {{.resource = "memory", .guarantee = 1}}};
  s.Happens(QueueChanged{strict});
  s.HasQueue("owner", {GpuQuota(5, {})});
  const auto submit = [&](const char* key, const char* queue, uint32_t gpus) {
    Gang gang = Job(key, 1, gpus);
    gang.queue = queue;
    if (gang.key == "second") gang.roles[0].shape.resources.Set(1, 1);
    s.Submit(gang);
  };
  submit("large", "owner", 3);
  submit("old", "q", 2);
  s.Pass();
  s.AllDone();
  submit("first", "q", 2);
  submit("second", "q", 3);
  s.Happens(GangCancelled{"old"});
  EXPECT_THAT(s.Pass(), ElementsAre("cancel old", "nominate first: n1"));
  strict.weight = 200;
  s.Happens(QueueChanged{strict});
  submit("owed", "owner", 2);
  absl::StatusOr<Scheduler> follower =
      Scheduler::Restore(s.scheduler().State());
  ASSERT_TRUE(follower.ok()) << follower.status();
  EXPECT_THAT(s.Pass(),
              ElementsAre("evict first for owed", "nominate owed: n1"));
  ASSERT_TRUE(follower->Follow(s.scheduler().Record(s.plan())).ok());
  EXPECT_EQ(follower->State().gang_classes, s.scheduler().State().gang_classes);
}

// It loses what it grew by: a reason to repair it that needs no decision, after
// which it looks for the same again, perhaps in the next pass.
TEST(FollowTest, WhatWasCheckedAndIsDueAgainIsTold) {
  bool told = false;
  for (uint64_t budget = 1; budget <= 128; ++budget) {
    SCOPED_TRACE(budget);
    SchedulerConfig config;
    config.work_budget = budget;
    Story s(config);
    s.HasNode("n1", 1);
    s.HasNode("n2", 1);
    s.HasQueue("q");
    s.Submit(Job("a"));
    const auto pass = [&] {
      for (bool again = true; again;) {
        absl::StatusOr<Scheduler> follower = s.scheduler().Fork();
        ASSERT_TRUE(follower.ok()) << follower.status();
        Plan plan;
        s.scheduler().Schedule(s.now, &plan);
        const PlanRecord record = s.scheduler().Record(plan);
        ASSERT_TRUE(follower->Follow(record).ok());
        ASSERT_EQ(follower->StateHash(), s.scheduler().StateHash());
        told |= !record.checked.empty();
        again = plan.budget_exhausted;
      }
    };
    pass();
    Gang raised = s.Of("a").gang;
    raised.roles[0].min_tasks = raised.roles[0].desired_tasks = 2;
    s.Happens(GangChanged{raised});
    pass();
    s.Happens(NodeRemoved{"n2"});
    pass();
    EXPECT_EQ(s.Phase("a"), "starting");
  }
  EXPECT_TRUE(told);
}

TEST(FollowTest, APlanThatNamesATaskTwiceIsRefused) {
  PlanRecord plan = PlanOf(Waiting());
  plan.decisions[0].tasks.push_back(plan.decisions[0].tasks[0]);
  IsRefused(plan, "decision 1 (start of gang 'g'): names a task twice");
}

TEST(FollowTest, APlanThatStartsLessThanTheMinimumIsRefused) {
  PlanRecord plan = PlanOf(Waiting());
  plan.decisions[0].tasks.pop_back();
  IsRefused(plan, "runs below its minimum");
}

TEST(FollowTest, APlanThatNamesATaskThatIsNotThereIsRefused) {
  PlanRecord plan = PlanOf(Waiting());
  plan.decisions[0].tasks[1].task.index = 2;
  IsRefused(plan, "names a task that the gang does not have");
}

TEST(FollowTest, ADecisionThatCannotBeIsRefused) {
  PlanRecord plan = PlanOf(Waiting());
  for (const DecisionKind kind :
       {DecisionKind::kGrow, DecisionKind::kEvict, DecisionKind::kSuspend,
        DecisionKind::kCancel}) {
    plan.decisions[0].kind = kind;
    IsRefused(plan, "it does not run");
  }
  plan.decisions[0].kind = DecisionKind::kShrink;
  IsRefused(plan, "no such task");
  plan.decisions[0].kind = DecisionKind::kResume;
  IsRefused(plan, "it is not suspended");
  plan.decisions[0].gang = "other";
  IsRefused(plan, "the gang is not known");
}

}  // namespace
}  // namespace muster
