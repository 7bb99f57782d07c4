// Jobs that become others while they wait, or run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "test/adapters/local_controller/world.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

JobChange ChangeOf(const std::string& edits) {
  const auto read = JobEditsFromJson(edits);
  EXPECT_TRUE(read.ok()) << read.status();
  return {.edits = read.ok() ? *read : JobEdits()};
}

JobChange Gpus(const std::string& count) {
  return ChangeOf(absl::StrCat(
      R"({"roles":{"":{"requests":{"nvidia.com/gpu":")", count, R"("}}}})"));
}

class EditTest : public testing::Test {
 protected:
  // Of two devices one job has both, and three wait.
  void SetUp() override {
    first_ = world_.Submit(Manifest({.name = "a", .gpus = "2"}));
    for (const char* name : {"b", "c", "d"}) {
      waiting_.push_back(world_.Submit(Manifest({.name = name, .gpus = "2"})));
      world_.Pass(kSecond);
    }
  }
  absl::Status Edit(uint64_t job, const JobChange& change) {
    const absl::Status s = world_.controller->Edit(job, change, world_.now);
    world_.Settle();
    return s;
  }
  uint32_t Ahead(uint64_t job) {
    return world_.controller->Explain(job)->ahead;
  }

  World world_{OneBox(2)};
  uint64_t first_ = 0;
  std::vector<uint64_t> waiting_{};
};

TEST_F(EditTest, AJobThatWaitsAsksForSomethingElseInItsPlace) {
  ASSERT_TRUE(Edit(waiting_[1], Gpus("1")).ok());
  EXPECT_EQ(Ahead(waiting_[1]), 1u);
  world_.Exit(first_, 0);
  world_.Settle();
  world_.Exit(waiting_[0], 0);
  world_.Settle();
  const Process* process = world_.Of(waiting_[1]);
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(process->start.devices.size(), 1u);
  EXPECT_EQ(world_.Phase(waiting_[2]), "queued");
  EXPECT_EQ(world_.Row(waiting_[1]).manifest,
            Manifest({.name = "c", .gpus = "2"}));
}

TEST_F(EditTest, WhatFitsNowStartsAtOnce) {
  const uint64_t none = world_.Submit(Manifest({.name = "e", .gpus = "2"}));
  ASSERT_TRUE(Edit(none, Gpus("0")).ok());
  EXPECT_EQ(world_.Running(none).size(), 1u);
  EXPECT_THAT(world_.Of(none)->start.devices, IsEmpty());
}

TEST_F(EditTest, ARestartForgetsNothingOfIt) {
  JobChange change =
      ChangeOf(R"({"time":50,"roles":{"":{"command":["other","--lr","2"]}}})");
  change.name = "renamed";
  change.priority = "7";
  ASSERT_TRUE(world_.controller->Edit(waiting_[2], change, world_.now).ok());
  world_.Turn();  // The job that runs is to make room.
  world_.Restart();
  world_.Settle();
  const Process* process = world_.Of(waiting_[2]);
  ASSERT_NE(process, nullptr);
  EXPECT_THAT(process->start.launch.argv, ElementsAre("other", "--lr", "2"));
  EXPECT_EQ(world_.Env(waiting_[2], "MUSTER_JOB_NAME"), "renamed");
  EXPECT_EQ(world_.Row(waiting_[2]).priority_class, "priority-7");
  const Time begin = world_.now;
  world_.Pass(20 * kSecond);  // Whom it stopped may make room again before.
  EXPECT_EQ(world_.wake_at, begin + 50 * kSecond);
  world_.Restart();
  world_.Pass(30 * kSecond);
  EXPECT_EQ(world_.Row(waiting_[2]).reason, "DeadlineExceeded");
}

TEST_F(EditTest, ANewQueueKeepsTheTimeOfSubmission) {
  ControllerConfig config = OneBox(1);
  config.queues = {
      {.key = "default"}, {.key = "night"}, {.key = "shut", .closed = true}};
  World world(config);
  world.Submit(Manifest({.name = "a", .gpus = "1"}));
  const uint64_t early = world.Submit(Manifest({.name = "b", .gpus = "1"}));
  world.Pass(kSecond);
  const auto late = world.Submit(Submission{
      .manifest = Manifest({.name = "c", .gpus = "1"}), .queue = "night"});
  world.Pass(kSecond);
  JobChange change = Gpus("1");
  change.queue = "shut";
  change.name = "x";
  const uint64_t before = world.controller->scheduler().StateHash();
  EXPECT_TRUE(absl::IsFailedPrecondition(
      world.controller->Edit(early, change, world.now)));
  EXPECT_EQ(world.Row(early).name, "b");
  EXPECT_EQ(world.controller->scheduler().StateHash(), before);
  change.queue = "night";
  ASSERT_TRUE(world.controller->Edit(early, change, world.now).ok());
  world.Settle();
  EXPECT_EQ(world.controller->Explain(early)->ahead, 0u);
  EXPECT_EQ(world.controller->Explain(late[0])->ahead, 1u);
  EXPECT_THAT(world.controller->defects(), IsEmpty());
}

TEST_F(EditTest, WhatCannotBeChangesNothing) {
  const JobRow before = world_.Row(waiting_[0]);
  const auto refusal = [&](const JobChange& change) {
    const absl::Status s = Edit(waiting_[0], change);
    EXPECT_FALSE(s.ok());
    EXPECT_EQ(world_.Row(waiting_[0]), before);
    return std::string(s.message());
  };
  JobChange change = Gpus("1");
  change.name = "Not A Name";
  EXPECT_THAT(refusal(change), HasSubstr("name"));
  change.name = "fine";
  change.queue = "none";
  EXPECT_THAT(refusal(change), HasSubstr("queue: there is no queue 'none'"));
  change.queue.reset();
  change.priority = "urgent";
  EXPECT_THAT(refusal(change), HasSubstr("there are: high, low"));
  EXPECT_THAT(refusal(ChangeOf(R"({"roles":{"x":{"command":["y"]}}})")),
              HasSubstr("role: 'x' is none of"));
  EXPECT_THAT(refusal(ChangeOf(R"({"roles":{"":{"requests":{"fpga":"1"}}}})")),
              HasSubstr("fpga"));
  EXPECT_TRUE(absl::IsNotFound(Edit(999, Gpus("1"))));
  EXPECT_THAT(world_.controller->defects(), IsEmpty());
}

TEST_F(EditTest, OfAJobThatRunsOnlySomeThingsChange) {
  const absl::Status s = Edit(first_, Gpus("1"));
  EXPECT_TRUE(absl::IsFailedPrecondition(s)) << s;
  JobChange change{.name = "other", .priority = "high"};
  ASSERT_TRUE(Edit(first_, change).ok());
  EXPECT_EQ(world_.Row(first_).name, "other");
  EXPECT_EQ(world_.Row(first_).priority_class, "high");
  EXPECT_EQ(world_.Running(first_).size(), 1u);
  EXPECT_THAT(world_.Log(), testing::Not(testing::Contains("stop 1")));
}

TEST_F(EditTest, TheTimeLimitOfAJobThatRunsIsLoweredByItsOwner) {
  ASSERT_TRUE(Edit(first_, ChangeOf(R"({"time":100})")).ok());
  ASSERT_TRUE(Edit(first_, ChangeOf(R"({"time":60})")).ok());
  for (const char* more : {R"({"time":61})", R"({"time":0})"}) {
    EXPECT_TRUE(absl::IsPermissionDenied(Edit(first_, ChangeOf(more)))) << more;
  }
  JobChange raise = ChangeOf(R"({"time":80})");
  raise.may_all = true;
  ASSERT_TRUE(Edit(first_, raise).ok());
  world_.Restart();
  world_.now = kSecond + 79 * kSecond;
  world_.Settle();
  EXPECT_EQ(world_.Phase(first_), "running");
  // What it has used is more.
  ASSERT_TRUE(Edit(first_, ChangeOf(R"({"time":10})")).ok());
  world_.Settle();
  EXPECT_EQ(world_.Row(first_).reason, "DeadlineExceeded");
  EXPECT_EQ(world_.Row(first_).exit_code, 124);
}

TEST_F(EditTest, AJobThatHasRunAndWaitsAgainIsEditedToo) {
  const uint64_t urgent =
      world_.Submit(Manifest({.name = "u", .gpus = "2"}), "high");
  ASSERT_EQ(world_.Phase(first_), "queued");
  JobChange change = Gpus("1");
  change.edits.limit = 1'000 * kSecond;
  ASSERT_TRUE(Edit(first_, change).ok());
  world_.Restart();
  world_.Exit(urgent, 0);
  world_.Settle();
  ASSERT_NE(world_.Of(first_), nullptr);
  EXPECT_EQ(world_.Of(first_)->start.devices.size(), 1u);
  EXPECT_EQ(world_.Env(first_, "MUSTER_ATTEMPT"), "2");
}

TEST_F(EditTest, AnElementOfAnArrayKeepsItsIndex) {
  const auto ids = world_.Submit(Submission{
      .manifest = Manifest({.name = "s", .gpus = "2"}), .array = {3, 4}});
  world_.Settle();
  ASSERT_TRUE(Edit(ids[0], {.name = "t"}).ok());
  EXPECT_EQ(world_.Row(ids[0]).name, "t-3");
  ASSERT_TRUE(Edit(ids[0], {.name = "u-3"}).ok());
  EXPECT_EQ(world_.Row(ids[0]).name, "u-3");
  EXPECT_EQ(world_.Row(ids[1]).name, "s-4");
}

TEST_F(EditTest, OneSeesWhatCanBeEdited) {
  ASSERT_TRUE(Edit(waiting_[0], Gpus("1")).ok());
  const auto waits = world_.controller->Editable(waiting_[0]);
  ASSERT_TRUE(waits.ok()) << waits.status();
  EXPECT_TRUE(waits->waits);
  EXPECT_EQ(waits->job.roles[0].task.Requested("nvidia.com/gpu"), 1);
  const auto runs = world_.controller->Editable(first_);
  ASSERT_TRUE(runs.ok()) << runs.status();
  EXPECT_FALSE(runs->waits);
}

}  // namespace
}  // namespace muster::local
