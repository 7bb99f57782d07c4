// What is out of service: by hand, and by failures in a row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "adapters/local/controller/fault_book.h"
#include "test/adapters/local_controller/world.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int32_t kAborted = 134;

uint64_t OneGpu(World& w) {
  const uint64_t job = w.Submit(
      Manifest({.name = "a", .gpus = "1", .cpu = "0", .backoff_limit = 0}));
  w.Settle();
  return job;
}

// A job with one GPU that fails after `ran`.
uint64_t Fail(World& w, int32_t code = kAborted, Duration ran = kSecond) {
  const uint64_t job = OneGpu(w);
  w.Pass(ran);
  w.Exit(job, code);
  w.Settle();
  return job;
}

const std::vector<DrainRow>& Drains(World& w) { return w.drains; }

TEST(DrainTest, NoTaskStartsOnWhatIsDrainedAndWhatRunsGoesOn) {
  World w(OneBox(2));
  const uint64_t first = OneGpu(w);
  ASSERT_EQ(w.Env(first, "MUSTER_GPUS"), "0");
  w.now += 5 * kSecond;
  ASSERT_TRUE(
      w.controller->Drain({.device = 0, .uid = 5, .reason = "fan"}, w.now)
          .ok());
  w.Settle();
  EXPECT_EQ(w.Phase(first), "running");
  w.Exit(first, 0);
  const uint64_t second = OneGpu(w);
  const uint64_t third = OneGpu(w);
  EXPECT_EQ(w.Env(second, "MUSTER_GPUS"), "1");
  EXPECT_EQ(w.Phase(third), "queued");
  EXPECT_THAT(w.controller->ViewNode().drains,
              ElementsAre(DrainRow{
                  .device = 0, .since = w.now, .uid = 5, .reason = "fan"}));
  w.Restart();
  w.Settle();
  EXPECT_EQ(w.Phase(third), "queued");
  ASSERT_TRUE(w.controller->ResumeNode(0, w.now).ok());
  w.Settle();
  EXPECT_EQ(w.Env(third, "MUSTER_GPUS"), "0");
  EXPECT_THAT(Drains(w), IsEmpty());
}

TEST(DrainTest, OfADrainedNodeNothingIsGiven) {
  World w(OneBox(1));
  ASSERT_TRUE(w.controller->Drain({.device = 0}, w.now).ok());
  ASSERT_TRUE(w.controller->Drain({.reason = "moves"}, w.now).ok());
  const uint64_t job = w.Submit(Manifest({.name = "a"}));
  const uint64_t gpu = OneGpu(w);
  w.Restart();
  w.Settle();
  EXPECT_EQ(w.Phase(job), "queued");
  // Another look at the machine does not put it back.
  Node node = w.config.node;
  node.devices[0].model = "H200";
  ASSERT_TRUE(w.controller->NodeChanged(node, w.now).ok());
  w.Settle();
  EXPECT_EQ(w.Phase(job), "queued");
  EXPECT_EQ(w.controller->ViewNode().node.devices[0].model, "H200");
  ASSERT_TRUE(w.controller->ResumeNode(std::nullopt, w.now).ok());
  w.Settle();
  EXPECT_EQ(w.Phase(job), "running");
  EXPECT_EQ(w.Phase(gpu), "running");
  EXPECT_THAT(Drains(w), IsEmpty());
  EXPECT_TRUE(absl::IsFailedPrecondition(w.controller->ResumeNode(0, w.now)));
  EXPECT_TRUE(
      absl::IsInvalidArgument(w.controller->Drain({.device = 1}, w.now)));
}

TEST(DrainTest, ThreeJobsThatFailInARowPutTheirDeviceIntoQuarantine) {
  World w(OneBox(2));
  Fail(w);
  Fail(w);
  EXPECT_THAT(Drains(w), IsEmpty());
  Fail(w);
  ASSERT_THAT(Drains(w), SizeIs(1));
  EXPECT_EQ(Drains(w)[0].device, 0);
  EXPECT_TRUE(Drains(w)[0].quarantine);
  EXPECT_THAT(Drains(w)[0].reason, HasSubstr("jobs 1, 2, 3 failed soon"));
  EXPECT_EQ(w.Env(OneGpu(w), "MUSTER_GPUS"), "1");
}

TEST(DrainTest, WhatIsTheJobsOwnFaultCountsForNothing) {
  World w(OneBox(1));
  for (int i = 0; i < 5; ++i) Fail(w, 1);
  for (int i = 0; i < 5; ++i) Fail(w, 139);
  EXPECT_THAT(Drains(w), IsEmpty());
  // Nor that it was stopped.
  for (int i = 0; i < 5; ++i) {
    w.stops_at_once = false;
    const uint64_t job = OneGpu(w);
    ASSERT_TRUE(w.controller->Cancel(job, w.now).ok());
    w.Settle();
    w.Exit(job, 137);
    w.Settle();
  }
  EXPECT_THAT(Drains(w), IsEmpty());
}

TEST(DrainTest, CodesOfTheConfigurationCountToo) {
  ControllerConfig config = OneBox(1);
  config.quarantine.codes = {1};
  config.quarantine.jobs = 2;
  World w(config);
  Fail(w, 1);
  Fail(w, 1);
  EXPECT_THAT(Drains(w), SizeIs(1));
  ControllerConfig never = OneBox(1);
  never.quarantine.jobs = 0;
  World other(never);
  for (int i = 0; i < 5; ++i) Fail(other);
  EXPECT_THAT(Drains(other), IsEmpty());
}

TEST(DrainTest, ASuccessOrALongRunBeginsTheRowAnew) {
  World w(OneBox(1));
  for (int i = 0; i < 3; ++i) {
    Fail(w);
    Fail(w);
    Fail(w, 0);
    Fail(w);
    Fail(w);
    Fail(w, kAborted, 61 * kSecond);
  }
  EXPECT_THAT(Drains(w), IsEmpty());
}

TEST(DrainTest, FailuresFarApartAreNoRow) {
  World w(OneBox(1));
  for (int i = 0; i < 6; ++i) {
    Fail(w);
    w.Pass(301 * kSecond);
  }
  EXPECT_THAT(Drains(w), IsEmpty());
}

TEST(DrainTest, TheJobsOfAnArrayAreOneProgram) {
  World w(OneBox(1));
  const std::vector<uint64_t> jobs = w.Submit(Submission{
      .manifest =
          Manifest({.name = "a", .gpus = "1", .cpu = "0", .backoff_limit = 0}),
      .array = {1, 2, 3, 4, 5}});
  w.Settle();
  for (const uint64_t job : jobs) {
    w.Exit(job, kAborted);
    w.Settle();
  }
  EXPECT_THAT(Drains(w), IsEmpty());
  // Nor does one job count twice.
  const uint64_t again = w.Submit(
      Manifest({.name = "b", .gpus = "1", .cpu = "0", .backoff_limit = 9}));
  w.Settle();
  for (int i = 0; i < 5; ++i) {
    w.Exit(again, kAborted);
    w.Settle();
    w.Pass(100 * kSecond);
  }
  EXPECT_THAT(Drains(w), IsEmpty());
}

TEST(DrainTest, TasksWithoutDevicesCountForTheNode) {
  World w(OneBox(1));
  for (int i = 0; i < 3; ++i) {
    const uint64_t job = w.Submit(Manifest({.name = "a", .backoff_limit = 0}));
    w.Settle();
    w.Exit(job, kAborted);
    w.Settle();
  }
  ASSERT_THAT(Drains(w), SizeIs(1));
  EXPECT_EQ(Drains(w)[0].device, DrainRow::kWholeNode);
}

TEST(DrainTest, AfterItsReturnADeviceHasANewRow) {
  World w(OneBox(1));
  for (int i = 0; i < 3; ++i) Fail(w);
  ASSERT_THAT(Drains(w), SizeIs(1));
  ASSERT_TRUE(w.controller->ResumeNode(std::nullopt, w.now).ok());
  Fail(w);
  Fail(w);
  EXPECT_THAT(Drains(w), IsEmpty());
  Fail(w);
  EXPECT_THAT(Drains(w), SizeIs(1));
}

}  // namespace
}  // namespace muster::local
