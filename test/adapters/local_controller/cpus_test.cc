// Tasks on cores of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "adapters/local/model/cpu_list.h"
#include "test/adapters/local_controller/world.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two NUMA nodes of two cores of two threads; a device is near each.
ControllerConfig BoundBox() {
  ControllerConfig config = OneBox(2);
  config.cpus.cores = {{0, {0, 4}}, {0, {1, 5}}, {1, {2, 6}}, {1, {3, 7}}};
  config.node.capacity.Set(0, 4'000);
  config.node.devices[0].numa = 0;
  config.node.devices[1].numa = 1;
  config.scheduler.host.suspend = true;
  config.scheduler.host.suspended_keeps = {"memory"};
  config.classes.push_back(
      {.key = "patient", .value = -20, .on_preempted = OnPreempted::kSuspend});
  return config;
}

// The list of the CPUs that the task's process is bound to.
std::string Bound(const World& world, uint64_t job, uint32_t role = 0,
                  uint32_t index = 0) {
  const Process* process = world.Of(job, role, index);
  return process == nullptr ? "none" : CpuListText(process->start.cpus);
}

std::string Script(const std::string& options) {
  return absl::StrCat("#!/bin/sh\n#SBATCH ", options, "\nsrun x\n");
}

TEST(CpusTest, WholeNumbersHaveCoresOfTheirOwnAndOthersShareWhatIsLeft) {
  World world(BoundBox());
  const uint64_t half = world.Submit(Manifest({.name = "half", .cpu = "0.5"}));
  EXPECT_EQ(Bound(world, half), "0-7");
  const uint64_t two = world.Submit(Manifest({.name = "two", .cpu = "2"}));
  EXPECT_EQ(Bound(world, two), "0-1,4-5");
  EXPECT_EQ(Bound(world, half), "2-3,6-7");
  const uint64_t one = world.Submit(Manifest({.name = "one", .cpu = "1"}));
  EXPECT_EQ(Bound(world, one), "2,6");
  EXPECT_EQ(Bound(world, half), "3,7");
  world.Exit(two, 0);
  world.Settle();
  EXPECT_EQ(Bound(world, half), "0-1,3-5,7");
  EXPECT_EQ(Bound(world, one), "2,6");
}

TEST(CpusTest, TasksKnowWhatTheyHave) {
  World world(BoundBox());
  const uint64_t two = world.Submit(Manifest({.name = "two", .cpu = "2"}));
  EXPECT_EQ(world.Env(two, "MUSTER_CPUS"), "0-1,4-5");
  EXPECT_EQ(world.Env(two, "OMP_NUM_THREADS"), "2");
  const uint64_t half = world.Submit(Manifest({.name = "half", .cpu = "0.5"}));
  EXPECT_EQ(world.Env(half, "MUSTER_CPUS"), "");
  EXPECT_EQ(world.Env(half, "OMP_NUM_THREADS"), "unset");
  const auto ids = world.Submit(
      Submission{.manifest = Manifest({.name = "said"}),
                 .directory = "/w",
                 .environment = {"OMP_NUM_THREADS=7", "MUSTER_CPUS=99"}});
  world.Settle();
  EXPECT_EQ(world.Env(ids[0], "OMP_NUM_THREADS"), "7");
  EXPECT_EQ(world.Env(ids[0], "MUSTER_CPUS"), "2,6");
  const auto details = world.controller->Details(two);
  ASSERT_TRUE(details.ok());
  EXPECT_THAT(details->tasks[0].cpus, ElementsAre(0, 1, 4, 5));
  const NodeView view = world.controller->ViewNode();
  EXPECT_THAT(view.free_cpus, ElementsAre(3, 7));
  ASSERT_EQ(view.held_cpus.size(), 2u);
  EXPECT_EQ(view.held_cpus[0].job, two);
  EXPECT_THAT(view.held_cpus[0].cpus, ElementsAre(0, 1, 4, 5));
}

TEST(CpusTest, WithoutABindingNothingIsSaid) {
  World world(OneBox(1));
  const auto ids = world.Submit(Submission{.manifest = Manifest({.name = "a"}),
                                           .directory = "/w",
                                           .environment = {"MUSTER_CPUS=99"}});
  world.Settle();
  EXPECT_EQ(Bound(world, ids[0]), "");
  EXPECT_EQ(world.Env(ids[0], "MUSTER_CPUS"), "unset");
  EXPECT_EQ(world.Env(ids[0], "OMP_NUM_THREADS"), "unset");
  EXPECT_EQ(world.Row(ids[0]).cpus, "");
}

TEST(CpusTest, CoresAreNearTheDevices) {
  World world(BoundBox());
  const uint64_t first =
      world.Submit(Manifest({.name = "a", .gpus = "1", .cpu = "1"}));
  const uint64_t second =
      world.Submit(Manifest({.name = "b", .gpus = "1", .cpu = "1"}));
  std::set<std::string> bound = {Bound(world, first), Bound(world, second)};
  EXPECT_THAT(bound, ElementsAre("0,4", "2,6"));
  const bool zero = world.Of(first)->start.devices[0].device == 0;
  EXPECT_EQ(Bound(world, first), zero ? "0,4" : "2,6");
}

TEST(CpusTest, ThreadsAreCountedWhereTheConfigurationSaysSo) {
  ControllerConfig config = BoundBox();
  config.cpus.unit = CpuUnit::kThread;
  config.node.capacity.Set(0, 8'000);
  World world(config);
  const uint64_t three = world.Submit(Manifest({.name = "a", .cpu = "3"}));
  EXPECT_EQ(Bound(world, three), "0-1,4");
  const uint64_t one = world.Submit(Manifest({.name = "b", .cpu = "1"}));
  EXPECT_EQ(Bound(world, one), "5");
}

TEST(CpusTest, ARestartLeavesThemWithTheirTasks) {
  World world(BoundBox());
  const uint64_t half = world.Submit(Manifest({.name = "half", .cpu = "0.5"}));
  const uint64_t two = world.Submit(Manifest({.name = "two", .cpu = "2"}));
  world.Restart();
  world.Settle();
  EXPECT_EQ(Bound(world, two), "0-1,4-5");
  EXPECT_EQ(Bound(world, half), "2-3,6-7");
  const uint64_t one = world.Submit(Manifest({.name = "one", .cpu = "1"}));
  EXPECT_EQ(Bound(world, one), "2,6");
  world.Exit(two, 0);
  world.Settle();
  EXPECT_EQ(Bound(world, half), "0-1,3-5,7");
}

TEST(CpusTest, ABindingThatWasKeptAndNotDoneIsDone) {
  World world(BoundBox());
  const uint64_t half = world.Submit(Manifest({.name = "half", .cpu = "0.5"}));
  world.Submit(Submission{.manifest = Manifest({.name = "two", .cpu = "2"}),
                          .directory = "/w"});
  world.Crash(/*kept=*/true, /*done=*/0);
  world.Settle();
  EXPECT_EQ(Bound(world, half), "2-3,6-7");
}

TEST(CpusTest, AStartThatWasDoneAndNotToldIsBoundAnew) {
  World world(BoundBox());
  const auto half = world.Submit(Submission{
      .manifest = Manifest({.name = "a", .cpu = "0.5"}), .directory = "/w"});
  world.Submit(Submission{.manifest = Manifest({.name = "b", .cpu = "2"}),
                          .directory = "/w"});
  world.Crash(/*kept=*/true, /*done=*/1);
  ASSERT_EQ(Bound(world, half[0]), "0-7") << "as it was started";
  world.Settle();
  EXPECT_EQ(Bound(world, half[0]), "2-3,6-7");
}

TEST(CpusTest, WhatIsSuspendedGivesItsCoresLikeItsDevices) {
  World world(BoundBox());
  const uint64_t low = world.Submit(
      Manifest({.name = "low", .gpus = "2", .cpu = "3"}), "patient");
  EXPECT_EQ(Bound(world, low), "0-2,4-6");
  const uint64_t high =
      world.Submit(Manifest({.name = "high", .gpus = "2", .cpu = "2"}), "high");
  ASSERT_EQ(world.Running(high).size(), 1u);
  EXPECT_TRUE(world.Of(low)->suspended);
  EXPECT_EQ(Bound(world, high), "0-1,4-5");
  EXPECT_EQ(Bound(world, low), "2-3,6-7") << "in case that it is stopped";
  world.Restart();
  world.Settle();
  const uint64_t one = world.Submit(Manifest({.name = "one"}));
  EXPECT_EQ(Bound(world, one), "2,6");
  world.Exit(high, 0);
  world.Settle();
  EXPECT_FALSE(world.Of(low)->suspended);
  EXPECT_EQ(Bound(world, low), "0-1,3-5,7");
  EXPECT_EQ(Bound(world, one), "2,6");
}

TEST(CpusTest, EachElementOfAnArrayHasItsOwn) {
  World world(BoundBox());
  const auto ids =
      world.Submit(Submission{.manifest = Manifest({.name = "a", .cpu = "2"}),
                              .directory = "/w",
                              .array = {1, 2, 3}});
  world.Settle();
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_EQ(Bound(world, ids[0]), "0-1,4-5");
  EXPECT_EQ(Bound(world, ids[1]), "2-3,6-7");
  EXPECT_EQ(Bound(world, ids[2]), "none");
  world.Exit(ids[0], 0);
  world.Settle();
  EXPECT_EQ(Bound(world, ids[2]), "0-1,4-5");
}

TEST(CpusTest, AScriptHasTheCoresOfAllItsSteps) {
  World world(BoundBox());
  const uint64_t id = world.Submit(Script("-n 3 -c 1"));
  ASSERT_EQ(world.Running(id).size(), 1u);
  EXPECT_EQ(Bound(world, id), "0-2,4-6");
  EXPECT_EQ(world.Env(id, "OMP_NUM_THREADS"), "1");
  const NodeView view = world.controller->ViewNode();
  ASSERT_EQ(view.held_cpus.size(), 3u);
  EXPECT_EQ(view.held_cpus[0].task, "batch-0");
  EXPECT_EQ(view.held_cpus[2].task, "step-1");
  world.Exit(id, 0);
  world.Settle();
  EXPECT_THAT(world.controller->ViewNode().held_cpus, IsEmpty());
}

TEST(CpusTest, AnotherConfigurationHoldsForWhatStartsThen) {
  World world(BoundBox());
  const uint64_t two = world.Submit(Manifest({.name = "two", .cpu = "2"}));
  world.config.cpus.cores.erase(world.config.cpus.cores.begin());
  world.config.cpus.unit = CpuUnit::kThread;
  world.config.node.capacity.Set(0, 6'000);
  world.Restart();
  world.Settle();
  EXPECT_EQ(Bound(world, two), "0-1,4-5");
  const uint64_t three = world.Submit(Manifest({.name = "a", .cpu = "3"}));
  EXPECT_EQ(Bound(world, three), "2-3,6");
  world.config.cpus = {};
  world.Restart();
  world.Settle();
  EXPECT_EQ(Bound(world, two), "0-1,4-5");
  const uint64_t none = world.Submit(Manifest({.name = "b", .cpu = "1"}));
  EXPECT_EQ(Bound(world, none), "");
}

TEST(CpusTest, DamageIsTold) {
  World world(BoundBox());
  world.Submit(Manifest({.name = "two", .cpu = "2"}));
  for (const char* damaged : {"[", "{}", "[[0,0]]", "[[0,0,[-1]]]"}) {
    StoredState saved = world.Saved();
    saved.jobs[0].cpus = damaged;
    const auto made =
        Controller::Restore(world.config, std::move(saved), world.now);
    EXPECT_TRUE(absl::IsDataLoss(made.status())) << made.status();
  }
}

}  // namespace
}  // namespace muster::local
