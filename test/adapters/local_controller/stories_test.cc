// What people see of a box with one queue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "test/adapters/local_controller/world.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(StoriesTest, ThreeJobsHaveTheOnlyDeviceInTurn) {
  World world(OneBox(1));
  std::vector<uint64_t> ids;
  for (const char* name : {"test1", "test2", "test3"}) {
    ids.push_back(world.Submit(Manifest({.name = name, .gpus = "1"})));
    world.now += kSecond;
  }
  for (const uint64_t id : ids) {
    EXPECT_THAT(world.Running(id), ElementsAre("0-0/1")) << id;
    EXPECT_EQ(world.processes.size(), 1u);
    world.Exit(id, 0);
    world.Pass(kSecond);
    EXPECT_EQ(world.Phase(id), "succeeded");
    EXPECT_EQ(world.Row(id).exit_code, 0);
    EXPECT_NE(world.Row(id).finished, kForever);
  }
  EXPECT_THAT(world.controller->Jobs(), IsEmpty());
  EXPECT_THAT(world.controller->scheduler().State().gangs, IsEmpty());
}

TEST(StoriesTest, APreemptedJobHasTheDeviceBackAndKnowsOfIt) {
  World world(OneBox(1));
  const uint64_t low = world.Submit(Manifest({.name = "test2", .gpus = "1"}));
  world.now += 10 * kSecond;
  const uint64_t high =
      world.Submit(Manifest({.name = "test-p1", .gpus = "1"}), "high");
  EXPECT_THAT(world.Running(low), IsEmpty());
  EXPECT_THAT(world.Running(high), ElementsAre("0-0/1"));
  EXPECT_EQ(world.Phase(low), "queued");
  EXPECT_EQ(world.Row(low).preemptions, 1u);
  EXPECT_EQ(world.Row(low).restarts, 0u);
  EXPECT_EQ(world.tasks.at({low, 0, 0, 1}).state, "ended");
  world.Exit(high, 0);
  world.Settle();
  EXPECT_THAT(world.Running(low), ElementsAre("0-0/2"));
  EXPECT_EQ(world.Env(low, "MUSTER_ATTEMPT"), "2");
  world.Exit(low, 0);
  world.Settle();
  EXPECT_EQ(world.Phase(low), "succeeded");
}

TEST(StoriesTest, TheVictimIsGivenItsGrace) {
  World world(OneBox(1));
  world.stops_at_once = false;
  const uint64_t low =
      world.Submit(Manifest({.name = "a", .gpus = "1"}), "low");
  const uint64_t high =
      world.Submit(Manifest({.name = "b", .gpus = "1"}), "high");
  ASSERT_EQ(world.commands.back().kind, CommandKind::kStop);
  EXPECT_EQ(world.commands.back().grace, 10 * kSecond);  // Its class's.
  EXPECT_EQ(world.Phase(low), "stopping");
  EXPECT_THAT(world.Running(high), IsEmpty());
  const auto why = world.controller->Explain(high);
  ASSERT_TRUE(why.ok());
  EXPECT_EQ(why->gang, GangPhase::kNominated);
  world.Exit(low, 143);
  world.Settle();
  EXPECT_THAT(world.Running(high), ElementsAre("0-0/1"));
}

TEST(StoriesTest, TwoGangsOfFourNeverHoldPartsOfFourDevices) {
  World world(OneBox(4));
  const uint64_t first =
      world.Submit(Manifest({.name = "a", .gpus = "1", .tasks = 4}));
  const uint64_t second = world.Submit(PyTorchManifest("b", 3));
  EXPECT_EQ(world.Running(first).size(), 4u);
  EXPECT_THAT(world.Running(second), IsEmpty());
  for (uint32_t i = 0; i < 3; ++i) {
    world.Exit(first, 0, 0, i);
    world.Settle();
    EXPECT_THAT(world.Running(second), IsEmpty()) << i;
  }
  world.Exit(first, 0, 0, 3);
  world.Settle();
  EXPECT_EQ(world.Running(second).size(), 4u);
}

TEST(StoriesTest, FractionsShareADevice) {
  World world(OneBox(1));
  const JobSpec half{
      .name = "half", .gpus = "500", .resource = "muster.dev/gpu-milli"};
  const uint64_t a = world.Submit(Manifest(half));
  const uint64_t b = world.Submit(Manifest(half));
  const uint64_t c = world.Submit(Manifest(half));
  EXPECT_THAT(world.DeviceUse(), ElementsAre(1000));
  ASSERT_NE(world.Of(a), nullptr);
  EXPECT_EQ(world.Of(b)->start.devices[0].memory_bytes, int64_t{40} << 30);
  EXPECT_THAT(world.Running(c), IsEmpty());
  world.Exit(a, 0);
  world.Settle();
  EXPECT_THAT(world.Running(c), ElementsAre("0-0/1"));
  // A piece of the memory.
  world.Exit(b, 0);
  const uint64_t d = world.Submit(Manifest(
      {.name = "mem", .gpus = "20Gi", .resource = "muster.dev/gpu-memory"}));
  ASSERT_NE(world.Of(d), nullptr);
  EXPECT_EQ(world.Of(d)->start.devices[0].memory_bytes, int64_t{20} << 30);
  EXPECT_EQ(world.Of(d)->start.devices[0].milli, 250);
}

// Half of its time and a quarter of its memory: two share the device, whose
// other half of the memory is for a third that asks for memory alone.
TEST(StoriesTest, AShareHasBothItsMeasures) {
  World world(OneBox(1));
  JobSpec share{
      .name = "share", .gpus = "400", .resource = "muster.dev/gpu-milli"};
  share.gpu_memory = "20Gi";
  const uint64_t a = world.Submit(Manifest(share));
  const uint64_t b = world.Submit(Manifest(share));
  ASSERT_NE(world.Of(b), nullptr);
  EXPECT_EQ(world.Of(a)->start.devices[0].milli, 400);
  EXPECT_EQ(world.Of(a)->start.devices[0].memory_bytes, int64_t{20} << 30);
  EXPECT_THAT(world.DeviceUse(), ElementsAre(800));
  const uint64_t c = world.Submit(Manifest(share));
  EXPECT_THAT(world.Running(c), IsEmpty()) << "there is memory, but no time";
  share.gpus = "100";
  share.gpu_memory = "50Gi";
  const uint64_t d = world.Submit(Manifest(share));
  EXPECT_THAT(world.Running(d), IsEmpty()) << "there is time, but no memory";
  share.gpu_memory = "40Gi";
  EXPECT_THAT(world.Running(world.Submit(Manifest(share))), SizeIs(1));
}

TEST(StoriesTest, AJobThatFailsIsTriedAgainWithinItsBudget) {
  World world(OneBox(1));
  const uint64_t id =
      world.Submit(Manifest({.name = "a", .gpus = "1", .backoff_limit = 2}));
  for (int i = 0; i < 2; ++i) {
    world.Exit(id, 3);
    world.Settle();
    world.Pass(60 * kSecond);  // Behind every back-off.
    EXPECT_THAT(world.Running(id), ElementsAre(absl::StrCat("0-0/", i + 2)));
  }
  EXPECT_EQ(world.Row(id).restarts, 2u);
  world.Exit(id, 3);
  world.Settle();
  EXPECT_EQ(world.Phase(id), "failed");
  EXPECT_EQ(world.Row(id).exit_code, 3);
  EXPECT_EQ(world.Row(id).reason, "BackoffLimitExceeded");
}

TEST(StoriesTest, TheBackOffIsWaitedForWithoutOtherEvents) {
  World world(OneBox(1));
  const uint64_t id = world.Submit(Manifest({.name = "a", .gpus = "1"}));
  world.Exit(id, 1);
  world.Settle();
  EXPECT_THAT(world.Running(id), IsEmpty());
  ASSERT_NE(world.wake_at, kForever);
  world.now = world.wake_at;
  world.Settle();
  EXPECT_THAT(world.Running(id), ElementsAre("0-0/2"));
}

TEST(StoriesTest, ADeadlineEndsAJobWithTheCodeOfTimeout) {
  World world(OneBox(1));
  const uint64_t id = world.Submit(Manifest(
      {.name = "a", .gpus = "1", .spec = R"("activeDeadlineSeconds":60,)"}));
  world.Pass(30 * kSecond);
  EXPECT_EQ(world.Phase(id), "running");
  world.now = world.wake_at;
  world.Settle();
  EXPECT_EQ(world.Phase(id), "failed");
  EXPECT_EQ(world.Row(id).exit_code, 124);
  EXPECT_THAT(world.processes, IsEmpty());
}

TEST(StoriesTest, AHeldJobWaitsUntilItIsReleased) {
  World world(OneBox(1));
  const auto ids = world.Submit(Submission{
      .manifest = Manifest({.name = "a", .gpus = "1"}), .held = true});
  world.Settle();
  EXPECT_THAT(world.processes, IsEmpty());
  EXPECT_THAT(world.controller->Explain(ids[0])->text, HasSubstr("held"));
  ASSERT_TRUE(world.controller->Release(ids[0], world.now).ok());
  world.Settle();
  EXPECT_THAT(world.Running(ids[0]), ElementsAre("0-0/1"));
  // Held while it runs: it goes on, and does not come back once preempted.
  ASSERT_TRUE(world.controller->Hold(ids[0], world.now).ok());
  world.Settle();
  EXPECT_EQ(world.Running(ids[0]).size(), 1u);
  const uint64_t high =
      world.Submit(Manifest({.name = "b", .gpus = "1"}), "high");
  world.Exit(high, 0);
  world.Settle();
  EXPECT_THAT(world.processes, IsEmpty());
  ASSERT_TRUE(world.controller->Release(ids[0], world.now).ok());
  world.Settle();
  EXPECT_THAT(world.Running(ids[0]), ElementsAre("0-0/2"));
}

TEST(StoriesTest, ACancelledJobIsGoneInEveryPhase) {
  World world(OneBox(1));
  world.stops_at_once = false;
  const uint64_t running = world.Submit(Manifest({.name = "a", .gpus = "1"}));
  const uint64_t queued = world.Submit(Manifest({.name = "b", .gpus = "1"}));
  ASSERT_TRUE(world.controller->Cancel(queued, world.now).ok());
  world.Settle();
  EXPECT_EQ(world.Phase(queued), "forgotten");
  EXPECT_EQ(world.Row(queued).reason, "Cancelled");
  EXPECT_EQ(world.Row(queued).exit_code, 143);
  EXPECT_TRUE(absl::IsNotFound(world.controller->Cancel(queued, world.now)));
  ASSERT_TRUE(world.controller->Cancel(running, world.now).ok());
  world.Settle();
  EXPECT_EQ(world.Phase(running), "stopping");
  ASSERT_TRUE(world.controller->Cancel(running, world.now).ok());  // Twice.
  world.Settle();
  world.Exit(running, 143);
  world.Settle();
  EXPECT_EQ(world.Phase(running), "forgotten");
  EXPECT_EQ(world.Row(running).exit_code, 143);
  EXPECT_THAT(world.controller->scheduler().State().gangs, IsEmpty());
}

TEST(StoriesTest, ASuspendedJobHoldsNothingUntilItIsResumed) {
  World world(OneBox(1));
  const uint64_t id = world.Submit(Manifest({.name = "a", .gpus = "1"}));
  ASSERT_TRUE(world.controller->Suspend(id, world.now).ok());
  world.Settle();
  EXPECT_EQ(world.Phase(id), "suspended");
  const uint64_t other = world.Submit(Manifest({.name = "b", .gpus = "1"}));
  EXPECT_EQ(world.Running(other).size(), 1u);
  ASSERT_TRUE(world.controller->Resume(id, world.now).ok());
  world.Settle();
  EXPECT_EQ(world.Phase(id), "queued");
  world.Exit(other, 0);
  world.Settle();
  EXPECT_THAT(world.Running(id), ElementsAre("0-0/2"));
  EXPECT_EQ(world.Row(id).preemptions, 0u);
}

ControllerConfig SuspendingBox() {
  ControllerConfig config = OneBox(1);
  config.scheduler.host.suspend = true;
  config.scheduler.host.suspended_keeps = {"memory"};
  config.classes.push_back(
      {.key = "patient", .value = -20, .on_preempted = OnPreempted::kSuspend});
  return config;
}

TEST(StoriesTest, AVictimMayBeSuspendedWithItsMemory) {
  World world(SuspendingBox());
  const uint64_t low =
      world.Submit(Manifest({.name = "a", .gpus = "1"}), "patient");
  const uint64_t high =
      world.Submit(Manifest({.name = "b", .gpus = "1"}), "high");
  ASSERT_NE(world.Of(low), nullptr);
  EXPECT_TRUE(world.Of(low)->suspended);
  EXPECT_EQ(world.tasks.at({low, 0, 0, 1}).state, "suspended");
  EXPECT_THAT(world.Running(high), ElementsAre("0-0/1"));
  world.Exit(high, 0);
  world.Settle();
  EXPECT_FALSE(world.Of(low)->suspended);
  EXPECT_THAT(world.Running(low), ElementsAre("0-0/1"));  // The same attempt.
  EXPECT_EQ(world.tasks.at({low, 0, 0, 1}).state, "run");
  EXPECT_EQ(world.controller->Explain(low)->gang, GangPhase::kRunning);
  world.Exit(low, 0);
  world.Settle();
  EXPECT_EQ(world.Phase(low), "succeeded");
}

TEST(StoriesTest, ASuspendedVictimCanBeCancelled) {
  World world(SuspendingBox());
  const uint64_t low =
      world.Submit(Manifest({.name = "a", .gpus = "1"}), "patient");
  world.Submit(Manifest({.name = "b", .gpus = "1"}), "high");
  ASSERT_TRUE(world.Of(low)->suspended);
  ASSERT_TRUE(world.controller->Cancel(low, world.now).ok());
  world.Settle();
  EXPECT_EQ(world.Phase(low), "forgotten");
  EXPECT_THAT(world.Running(low), IsEmpty());
}

TEST(StoriesTest, AClassCanSayThatItsVictimsAreGone) {
  ControllerConfig config = OneBox(1);
  config.classes.push_back(
      {.key = "scrap", .value = -5, .on_preempted = OnPreempted::kCancel});
  World world(config);
  const uint64_t low =
      world.Submit(Manifest({.name = "a", .gpus = "1"}), "scrap");
  const uint64_t high =
      world.Submit(Manifest({.name = "b", .gpus = "1"}), "high");
  EXPECT_EQ(world.Phase(low), "forgotten");
  EXPECT_EQ(world.Row(low).reason, "Preempted");
  EXPECT_EQ(world.Running(high).size(), 1u);
}

// Of low class, on the only device; it can save its work, and takes its time to
// stop.
uint64_t SubmitOneThatSaves(World* world) {
  world->stops_at_once = false;
  return world->Submit(
      Manifest({.name = "a",
                .gpus = "1",
                .annotations = R"("muster.dev/checkpoint":"true")"}),
      "low");
}

TEST(StoriesTest, AJobThatCanSavesItsWorkBeforeItIsStopped) {
  World world(OneBox(1));
  const uint64_t low = SubmitOneThatSaves(&world);
  const uint64_t high =
      world.Submit(Manifest({.name = "b", .gpus = "1"}), "high");
  ASSERT_EQ(world.commands.back().kind, CommandKind::kCheckpoint);
  EXPECT_EQ(world.commands.back().version, 1u);
  EXPECT_EQ(world.commands.back().grace, 10 * kSecond);
  EXPECT_EQ(world.Phase(low), "checkpointing");
  world.now += kSecond;
  world.controller->CheckpointDone(low, 1, world.now);
  world.Settle();
  EXPECT_EQ(world.commands.back().kind, CommandKind::kStop);
  EXPECT_EQ(world.commands.back().grace, 9 * kSecond);
  EXPECT_EQ(world.controller->Details(low)->checkpoint_at, world.now);
  // It has saved once more, of its own accord.
  world.now += kSecond;
  world.controller->CheckpointDone(low, 1, world.now);
  EXPECT_EQ(world.controller->Details(low)->checkpoint_at, world.now);
  world.Exit(low, 143);
  world.Settle();
  EXPECT_EQ(world.Running(high).size(), 1u);
}

TEST(StoriesTest, WhoDoesNotSaveInTimeIsKilled) {
  World world(OneBox(1));
  const uint64_t low = SubmitOneThatSaves(&world);
  world.Submit(Manifest({.name = "b", .gpus = "1"}), "high");
  ASSERT_EQ(world.Phase(low), "checkpointing");
  EXPECT_EQ(world.wake_at, world.now + 10 * kSecond);
  world.Pass(10 * kSecond);
  EXPECT_EQ(world.commands.back().kind, CommandKind::kKill);
  EXPECT_EQ(world.Phase(low), "stopping");
}

TEST(StoriesTest, TasksThatOutliveTheirJobMakeRoom) {
  World world(OneBox(2));
  const uint64_t id = world.Submit(PyTorchManifest("ddp", 1));
  world.Exit(id, 0, 0, 0);  // The master has succeeded; its worker runs on.
  world.Settle();
  ASSERT_EQ(world.Phase(id), "succeeded");
  ASSERT_THAT(world.Running(id), ElementsAre("1-0/1"));
  const uint64_t high =
      world.Submit(Manifest({.name = "b", .gpus = "2"}), "high");
  EXPECT_THAT(world.Running(id), IsEmpty());
  EXPECT_EQ(world.Phase(id), "succeeded");
  EXPECT_EQ(world.Row(id).exit_code, 0);
  EXPECT_EQ(world.Running(high).size(), 1u);
}

TEST(StoriesTest, ANodeThatHasLessSendsAJobBackToTheQueue) {
  World world(OneBox(2));
  world.Submit(Manifest({.name = "a", .gpus = "1"}));
  const uint64_t second = world.Submit(Manifest({.name = "b", .gpus = "1"}));
  Node node = world.config.node;
  node.capacity = {1000, int64_t{64} << 30};
  ASSERT_TRUE(world.controller->NodeChanged(node, world.now).ok());
  world.config.node = node;
  world.Settle();
  EXPECT_EQ(world.Phase(second), "queued");
  EXPECT_EQ(world.processes.size(), 1u);
}

TEST(StoriesTest, AnInstanceOfADeviceIsHeldAlone) {
  ControllerConfig config = OneBox(1);
  config.scheduler.partition_schemes = CommonPartitionSchemes();
  config.node.devices[0].partition_scheme = "h100-80gb";
  World world(config);
  const JobSpec spec{
      .name = "a", .gpus = "1", .resource = "nvidia.com/mig-3g.40gb"};
  const uint64_t a = world.Submit(Manifest(spec));
  const uint64_t b = world.Submit(Manifest(spec));
  const uint64_t c = world.Submit(Manifest(spec));
  ASSERT_NE(world.Of(a), nullptr);
  ASSERT_NE(world.Of(b), nullptr);
  const DeviceShare& one = world.Of(a)->start.devices[0];
  const DeviceShare& other = world.Of(b)->start.devices[0];
  EXPECT_EQ(one.partition, "3g.40gb");
  EXPECT_NE(one.first_slice, other.first_slice);
  EXPECT_EQ(one.memory_bytes, int64_t{40} << 30);
  EXPECT_LT(one.milli, 500);
  EXPECT_THAT(world.Running(c), IsEmpty());
}

TEST(StoriesTest, AnElasticJobGivesDevicesAndHasThemBack) {
  World world(OneBox(4));
  const uint64_t id = world.Submit(PyTorchManifest("e", 2, 1, 4));
  EXPECT_EQ(world.Running(id).size(), 4u);
  const uint64_t high =
      world.Submit(Manifest({.name = "b", .gpus = "2"}), "high");
  EXPECT_EQ(world.Running(id).size(), 2u);
  EXPECT_EQ(world.Running(high).size(), 1u);
  EXPECT_EQ(world.Row(id).preemptions, 0u);
  EXPECT_EQ(world.sizes[id], 2u);
  world.Exit(high, 0);
  world.Settle();
  EXPECT_EQ(world.Running(id).size(), 4u);
  EXPECT_EQ(world.sizes[id], 4u);
  ASSERT_TRUE(world.controller->Resize(id, "", 3, world.now).ok());
  world.Settle();
  EXPECT_EQ(world.Running(id).size(), 3u);
  EXPECT_TRUE(absl::IsInvalidArgument(
      world.controller->Resize(id, "worker", 5, world.now)));
  EXPECT_TRUE(absl::IsInvalidArgument(
      world.controller->Resize(id, "chief", 2, world.now)));
}

TEST(StoriesTest, EachElementOfAnArrayIsAJob) {
  World world(OneBox(1));
  const auto ids = world.Submit(
      Submission{.manifest = "#!/bin/sh\n#SBATCH --array=1,3-5:2 -J sweep\n"
                             "#SBATCH -o out-%A-%a.txt\nrun\n",
                 .directory = "/data/ann"});
  world.Settle();
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_EQ(world.Row(ids[1]).array, ids[0]);
  EXPECT_EQ(world.Row(ids[1]).array_index, 3u);
  EXPECT_EQ(world.Row(ids[1]).name, "sweep_3");
  EXPECT_EQ(world.Env(ids[2], "SLURM_ARRAY_TASK_ID"), "5");
  EXPECT_EQ(world.Env(ids[2], "MUSTER_ARRAY_INDEX"), "5");
  EXPECT_EQ(world.Of(ids[2])->start.output,
            absl::StrCat("/data/ann/out-", ids[0], "-5.txt"));
  // An array of the submission's own.
  const auto more = world.Submit(
      Submission{.manifest = Manifest({.name = "m"}), .array = {9, 7}});
  world.Settle();
  ASSERT_EQ(more.size(), 2u);
  EXPECT_EQ(world.Row(more[0]).name, "m-7");
  EXPECT_EQ(world.Env(more[1], "MUSTER_ARRAY_INDEX"), "9");
}

TEST(StoriesTest, OneKilledRankBringsTheWholeGangBack) {
  World world(OneBox(4));
  const uint64_t id = world.Submit(PyTorchManifest("ddp", 3));
  ASSERT_EQ(world.Running(id).size(), 4u);
  world.Exit(id, 137, 1, 1);
  world.Settle();
  EXPECT_THAT(world.Running(id),
              ElementsAre("0-0/2", "1-0/2", "1-1/2", "1-2/2"));
  EXPECT_EQ(world.Row(id).restarts, 1u);
}

TEST(StoriesTest, WhatCouldNotBeStartedHasTheCodeThatIsTold) {
  World world(OneBox(0));
  world.ready_at_once = false;
  const uint64_t id = world.Submit(Manifest({.name = "a", .backoff_limit = 0}));
  const TaskKey key = world.processes.begin()->first;
  world.processes.clear();
  world.controller->TaskExited(key, 126, workload::ExitReason::kNotStarted,
                               world.now);
  world.Settle();
  EXPECT_EQ(world.Phase(id), "failed");
  EXPECT_EQ(world.Row(id).exit_code, 126);
  EXPECT_EQ(world.tasks.at(key).code, 126);
  EXPECT_EQ(world.tasks.at(key).reason, "not-started");
  EXPECT_EQ(world.Row(id).started, kForever);
}

TEST(StoriesTest, NewsFollowAJob) {
  World world(OneBox(1));
  const uint64_t low = world.Submit(Manifest({.name = "a", .gpus = "1"}));
  const uint64_t high =
      world.Submit(Manifest({.name = "b", .gpus = "1"}), "high");
  world.Exit(high, 0);
  world.Settle();
  world.Exit(low, 0);
  world.Settle();
  std::vector<std::string> told;
  for (const JobNews& n : world.news) {
    if (n.job == low) told.emplace_back(n.what);
  }
  EXPECT_THAT(told, ElementsAre("submitted", "queued", "started", "preempted",
                                "stopping", "queued", "started", "succeeded"));
}

TEST(StoriesTest, WhatIsKnownIsNotKeptAgain) {
  World world(OneBox(0));
  world.Submit(Manifest({.name = "a"}));
  const TaskKey key = world.processes.begin()->first;
  world.controller->TaskReady(key, world.now);
  world.controller->TaskStarted(key, world.now);
  EXPECT_TRUE(world.controller->Step(world.now).save.life.empty());
}

TEST(StoriesTest, TasksThatAskForNothingTakeTurnsOnTheCores) {
  ControllerConfig config = OneBox(0);
  config.node.capacity = {2000, int64_t{8} << 30};
  World world(config);
  const std::string script = "#!/bin/sh\nrun\n";
  for (int i = 0; i < 3; ++i) world.Submit(script);
  EXPECT_EQ(world.processes.size(), 2u);
  // A gang of more tasks than cores has them all.
  const std::string pod =
      R"({"replicas":3,"template":{"spec":{"containers":[{"name":)"
      R"("tensorflow","command":["train"]}]}}})";
  const uint64_t gang = world.Submit(absl::StrCat(
      R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob","metadata":{"name":)"
      R"("tf"},"spec":{"tfReplicaSpecs":{"PS":)",
      pod, R"(,"Worker":)", pod, "}}}"));
  for (uint64_t id = 1; id <= 3; ++id) {
    world.Exit(id, 0);
    world.Settle();
  }
  EXPECT_EQ(world.Running(gang).size(), 6u);
  EXPECT_EQ(world.Of(gang)->start.cpu_milli, 0);  // It is held to nothing.
}

TEST(StoriesTest, OthersOnADeviceAreRespected) {
  World world(OneBox(2));
  ASSERT_TRUE(world.controller
                  ->OthersUse({.node = "local",
                               .devices = {{.device = 0, .milli = 1000}}},
                              world.now)
                  .ok());
  const uint64_t a = world.Submit(Manifest({.name = "a", .gpus = "1"}));
  const uint64_t b = world.Submit(Manifest({.name = "b", .gpus = "1"}));
  EXPECT_THAT(world.DeviceUse(), ElementsAre(0, 1000));
  EXPECT_EQ(world.Env(a, "MUSTER_GPUS"), "1");
  ASSERT_TRUE(world.controller->OthersUse({}, world.now).ok());
  world.Settle();
  EXPECT_EQ(world.Running(b).size(), 1u);
  const NodeView view = world.controller->ViewNode();
  ASSERT_EQ(view.devices.size(), 2u);
  EXPECT_EQ(view.devices[0].job, b);
  EXPECT_EQ(view.used[0], 2000);
}

TEST(StoriesTest, ThatServersOfATFJobRunOnIsSaid) {
  World world(OneBox(1));
  const auto notes = [&](const std::string& policy) {
    const std::string task =
        R"({"replicas":1,"template":{"spec":{"containers":[)"
        R"({"name":"tensorflow","command":["x"]}]}}})";
    const auto submitted = world.controller->Submit(
        {.manifest =
             absl::StrCat(R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob",)"
                          R"("metadata":{"name":"tf"},"spec":{)",
                          policy, R"("tfReplicaSpecs":{"PS":)", task,
                          R"(,"Worker":)", task, "}}}")},
        world.now);
    EXPECT_TRUE(submitted.ok()) << submitted.status();
    return absl::StrJoin(
        submitted.ok() ? submitted->notes : std::vector<std::string>(), "; ");
  };
  EXPECT_THAT(notes(""), testing::HasSubstr("cleanPodPolicy: Running"));
  EXPECT_EQ(notes(R"("runPolicy":{"cleanPodPolicy":"Running"},)"), "");
}

}  // namespace
}  // namespace muster::local
