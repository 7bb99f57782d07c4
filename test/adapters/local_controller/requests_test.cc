// What is refused, and what would be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "test/adapters/local_controller/world.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Refusal(World& world, Submission submission) {
  const uint64_t before = world.controller->scheduler().StateHash();
  const auto result = world.controller->Submit(submission, world.now);
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(world.controller->Jobs(), IsEmpty());
  EXPECT_EQ(world.controller->scheduler().State().gangs.size(), 0u) << before;
  return result.ok() ? "" : std::string(result.status().message());
}

TEST(RequestsTest, WhatCannotBeIsRefusedWithItsField) {
  World world(OneBox(1));
  EXPECT_THAT(Refusal(world, {.manifest = "kind: Pod"}), HasSubstr("Pod"));
  EXPECT_THAT(Refusal(world, {.manifest = ""}), testing::Not(IsEmpty()));
  const std::string ok = Manifest({.name = "a"});
  EXPECT_THAT(Refusal(world, {.manifest = ok, .queue = "none"}),
              HasSubstr("queue: there is no queue 'none'"));
  EXPECT_THAT(Refusal(world, {.manifest = ok, .priority = "urgent"}),
              HasSubstr("there are: high, low"));
  EXPECT_THAT(Refusal(world, {.manifest = ok, .name = "Not A Name"}),
              HasSubstr("name"));
  EXPECT_THAT(Refusal(world, {.manifest = "#!/bin/sh\nrun\n",
                              .name = std::string("a\0b", 3)}),
              HasSubstr("name: has a control character"));
  EXPECT_THAT(Refusal(world, {.manifest = ok, .directory = "home"}),
              HasSubstr("directory"));
  EXPECT_THAT(Refusal(world, {.manifest = ok, .environment = {"X"}}),
              HasSubstr("environment: 'X'"));
  EXPECT_THAT(
      Refusal(world, {.manifest = Manifest(
                          {.name = "a", .gpus = "1", .resource = "fpga"})}),
      HasSubstr("fpga"));
  EXPECT_THAT(
      Refusal(
          world,
          {.manifest =
               R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},
"spec":{"template":{"spec":{"restartPolicy":"Never",
"containers":[{"name":"m"}]}}}})"}),
      HasSubstr("has no command"));
}

TEST(RequestsTest, OfSeveralJobsAllComeOrNone) {
  World world(OneBox(1));
  // The second asks for what does not exist.
  const std::string two =
      absl::StrCat("---\n", Manifest({.name = "a"}), "\n---\n",
                   Manifest({.name = "b", .gpus = "1", .resource = "fpga"}));
  EXPECT_THAT(Refusal(world, {.manifest = two}), HasSubstr("fpga"));
  const auto ids = world.Submit(
      Submission{.manifest = absl::StrCat(Manifest({.name = "a"}), "\n---\n",
                                          Manifest({.name = "b"}))});
  EXPECT_EQ(ids.size(), 2u);
}

TEST(RequestsTest, LimitsAreKept) {
  ControllerConfig config = OneBox(1);
  config.limits.jobs = 2;
  config.limits.manifest_bytes = 2000;
  World world(config);
  EXPECT_TRUE(absl::IsResourceExhausted(
      world.controller->Submit({.manifest = std::string(2001, 'x')}, world.now)
          .status()));
  EXPECT_TRUE(absl::IsResourceExhausted(
      world.controller
          ->Submit({.manifest = Manifest({.name = "a"}), .array = {1, 2, 3}},
                   world.now)
          .status()));
  EXPECT_THAT(world.controller->Jobs(), IsEmpty());
}

TEST(RequestsTest, OneUserLeavesRoomForOthers) {
  constexpr uint32_t kAlice = 2000, kBob = 2001, kOwner = 7;
  ControllerConfig config = OneBox(1);
  config.owner = kOwner;
  config.limits.jobs = 10;
  config.limits.jobs_of_user = 4;
  World world(config);
  const auto submit = [&](uint32_t uid, std::vector<uint32_t> array) {
    return world.controller
        ->Submit({.uid = uid,
                  .manifest = Manifest({.name = "a"}),
                  .held = true,
                  .array = std::move(array)},
                 world.now)
        .status();
  };
  EXPECT_TRUE(submit(kAlice, {1, 2, 3}).ok());
  const absl::Status more = submit(kAlice, {1, 2});
  EXPECT_TRUE(absl::IsResourceExhausted(more)) << more;
  EXPECT_THAT(std::string(more.message()), HasSubstr("user 2000"));
  EXPECT_TRUE(submit(kAlice, {1}).ok());
  EXPECT_FALSE(submit(kAlice, {1}).ok());
  EXPECT_TRUE(submit(kBob, {1}).ok());
  EXPECT_TRUE(submit(kOwner, {1, 2, 3, 4, 5}).ok());
  // What has ended counts no more.
  ASSERT_TRUE(world.controller->Cancel(1, world.now).ok());
  world.Settle();
  EXPECT_TRUE(submit(kAlice, {1}).ok());
  EXPECT_FALSE(submit(0, {1}).ok());  // All are there.
}

// The classes are the administrator's, and what is above them is not a user's.
TEST(RequestsTest, NobodyWritesANumberThatIsAboveAllClasses) {
  constexpr uint32_t kAlice = 2000;
  ControllerConfig config = OneBox(1);
  config.classes = {{.key = "low", .value = -5}, {.key = "high", .value = 10}};
  World world(config);
  const auto submit = [&](uint32_t uid, const std::string& priority) {
    return world.controller
        ->Submit({.uid = uid,
                  .manifest = Manifest({.name = "a"}),
                  .priority = priority,
                  .held = true},
                 world.now)
        .status();
  };
  EXPECT_TRUE(submit(kAlice, "10").ok());
  EXPECT_TRUE(submit(kAlice, "high").ok());
  const absl::Status above = submit(kAlice, "11");
  EXPECT_TRUE(absl::IsPermissionDenied(above)) << above;
  EXPECT_THAT(std::string(above.message()), HasSubstr("at most 10"));
  EXPECT_TRUE(submit(0, "11").ok());
  Controller& c = *world.controller;
  EXPECT_TRUE(absl::IsPermissionDenied(
      c.Reprioritize(1, "12", world.now, /*bounded=*/true)));
  EXPECT_TRUE(c.Reprioritize(1, "12", world.now).ok());
  EXPECT_TRUE(
      absl::IsPermissionDenied(c.Edit(1, {.priority = "13"}, world.now)));
  EXPECT_TRUE(c.Edit(1, {.priority = "13", .may_all = true}, world.now).ok());
}

TEST(RequestsTest, AWrongConfigurationNamesItsField) {
  const auto error = [](const std::function<void(ControllerConfig*)>& change) {
    ControllerConfig config = OneBox(1);
    change(&config);
    const auto made = Controller::Begin(config, 0);
    EXPECT_FALSE(made.ok());
    return std::string(made.status().message());
  };
  EXPECT_THAT(error([](auto* c) { c->state = "here"; }), HasSubstr("state"));
  EXPECT_THAT(error([](auto* c) { c->first_port = 30'000; }),
              HasSubstr("first_port"));
  EXPECT_THAT(error([](auto* c) { c->queues = {{.key = "x"}}; }),
              HasSubstr("default_queue"));
  EXPECT_THAT(error([](auto* c) { c->node.key = ""; }), HasSubstr("node"));
  EXPECT_THAT(error([](auto* c) { c->scheduler.device_kind = "tpu"; }),
              HasSubstr("device_kind"));
}

TEST(RequestsTest, WhatIfTellsAndChangesNothing) {
  World world(OneBox(1));
  const Submission ask{.manifest = Manifest({.name = "a", .gpus = "1"})};
  const uint64_t before = world.controller->scheduler().StateHash();
  auto told = world.controller->WhatIf(ask, world.now);
  ASSERT_TRUE(told.ok()) << told.status();
  ASSERT_EQ(told->jobs.size(), 1u);
  EXPECT_EQ(told->jobs[0].outcome, Forecast::Outcome::kStarts);
  EXPECT_EQ(told->jobs[0].places[0].task, "task-0");
  EXPECT_THAT(told->jobs[0].places[0].devices, ElementsAre(0));
  EXPECT_EQ(world.controller->scheduler().StateHash(), before);

  const uint64_t first = world.Submit(ask.manifest);
  const uint64_t full = world.controller->scheduler().StateHash();
  told = world.controller->WhatIf(ask, world.now);
  EXPECT_EQ(told->jobs[0].outcome, Forecast::Outcome::kWaits);
  EXPECT_THAT(told->jobs[0].why, HasSubstr("insufficient"));
  Submission urgent = ask;
  urgent.priority = "77";  // A class that is not there yet.
  told = world.controller->WhatIf(urgent, world.now);
  ASSERT_TRUE(told.ok()) << told.status();
  EXPECT_EQ(told->jobs[0].outcome, Forecast::Outcome::kMakesRoom);
  EXPECT_THAT(told->jobs[0].victims, ElementsAre(first));
  told = world.controller->WhatIf(
      {.manifest = Manifest({.name = "a", .gpus = "2"})}, world.now);
  EXPECT_THAT(told->jobs[0].why, HasSubstr("never-fits"));
  EXPECT_EQ(world.controller->scheduler().StateHash(), full);
  EXPECT_EQ(world.controller->Jobs().size(), 1u);
}

TEST(RequestsTest, AnotherPriorityChangesTheOrder) {
  World world(OneBox(1));
  const uint64_t first = world.Submit(Manifest({.name = "a", .gpus = "1"}));
  const uint64_t second = world.Submit(Manifest({.name = "b", .gpus = "1"}));
  const uint64_t third = world.Submit(Manifest({.name = "c", .gpus = "1"}));
  EXPECT_EQ(world.controller->Explain(third)->ahead, 1u);
  ASSERT_TRUE(world.controller->Reprioritize(second, "low", world.now).ok());
  world.Settle();
  EXPECT_EQ(world.controller->Explain(third)->ahead, 0u);
  ASSERT_TRUE(world.controller->Reprioritize(third, "3", world.now).ok());
  world.Settle();  // It takes the device now.
  EXPECT_EQ(world.Phase(first), "queued");
  EXPECT_EQ(world.Running(third).size(), 1u);
  EXPECT_EQ(world.Row(third).priority_class, "priority-3");
  EXPECT_TRUE(absl::IsInvalidArgument(
      world.controller->Reprioritize(third, "none", world.now)));
}

TEST(RequestsTest, AJobMovesToAnotherQueue) {
  ControllerConfig config = OneBox(1);
  config.queues = {{.key = "default"},
                   {.key = "slow", .held = true},
                   {.key = "shut", .closed = true}};
  World world(config);
  const auto ids = world.Submit(Submission{
      .manifest = Manifest({.name = "a", .gpus = "1"}), .queue = "slow"});
  world.Settle();
  EXPECT_THAT(world.processes, IsEmpty());
  EXPECT_TRUE(absl::IsInvalidArgument(
      world.controller->Move(ids[0], "none", world.now)));
  EXPECT_TRUE(absl::IsFailedPrecondition(
      world.controller->Move(ids[0], "shut", world.now)));
  ASSERT_TRUE(world.controller->Move(ids[0], "default", world.now).ok());
  world.Settle();
  EXPECT_EQ(world.Running(ids[0]).size(), 1u);
  EXPECT_EQ(world.Row(ids[0]).queue, "default");
  const auto queues = world.controller->Queues();
  ASSERT_EQ(queues.size(), 3u);
  EXPECT_EQ(queues[0].queue.key, "default");
  EXPECT_EQ(queues[0].running, 1u);
  EXPECT_EQ(queues[0].standing.used[2], 1000);
  const auto closed = world.controller->Submit(
      {.manifest = Manifest({.name = "a"}), .queue = "shut"}, world.now);
  EXPECT_TRUE(absl::IsFailedPrecondition(closed.status()));
}

TEST(RequestsTest, ASuspendedSubmissionWaitsUntilItIsReleased) {
  World world(OneBox(0));
  const uint64_t id = world.Submit("#!/bin/sh\n#SBATCH --hold\nrun\n");
  EXPECT_EQ(world.Phase(id), "suspended");
  EXPECT_THAT(world.controller->scheduler().State().gangs, IsEmpty());
  ASSERT_TRUE(world.controller->Release(id, world.now).ok());
  world.Settle();
  EXPECT_EQ(world.Running(id).size(), 1u);
}

TEST(RequestsTest, WhoCannotBeResumedIsToldWhy) {
  World world(OneBox(1));
  const uint64_t id = world.Submit(Manifest({.name = "a", .gpus = "1"}));
  const uint64_t other = world.Submit(Manifest({.name = "b", .gpus = "1"}));
  ASSERT_TRUE(world.controller->Suspend(id, world.now).ok());
  world.Settle();
  world.config.queues = {{.key = "default", .closed = true}};
  world.Restart();
  world.Settle();
  EXPECT_TRUE(
      absl::IsFailedPrecondition(world.controller->Resume(id, world.now)));
  world.Settle();
  EXPECT_EQ(world.Phase(id), "suspended");
  EXPECT_EQ(world.Running(other).size(), 1u);
  // Who is resumed while it still stops is told by its end.
  world.stops_at_once = false;
  ASSERT_TRUE(world.controller->Suspend(other, world.now).ok());
  world.Settle();
  ASSERT_TRUE(world.controller->Resume(other, world.now).ok());
  world.Exit(other, 143);
  world.Settle();
  EXPECT_EQ(world.Phase(other), "forgotten");
  EXPECT_THAT(world.Row(other).reason, HasSubstr("closed"));
}

TEST(RequestsTest, FieldsWithoutEffectAreTold) {
  World world(OneBox(0));
  const auto result = world.controller->Submit(
      {.manifest = "#!/bin/sh\n#SBATCH --mail-user=me\nrun\n"}, world.now);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->ignored.size(), 1u);
  EXPECT_EQ(result->ignored[0].path, "--mail-user");
  EXPECT_EQ(result->ignored[0].line, 2);
  const auto ttl = world.controller->Submit(
      {.manifest =
           Manifest({.name = "a", .spec = R"("ttlSecondsAfterFinished":5,)"})},
      world.now);
  ASSERT_TRUE(ttl.ok());
  world.Settle();
  EXPECT_EQ(world.Row(ttl->jobs[0].id).ttl, 5 * kSecond);
  EXPECT_THAT(ttl->notes, ElementsAre(HasSubstr("5 seconds after its end")));
}

TEST(RequestsTest, NobodyIsFoundWhoIsNotThere) {
  World world(OneBox(0));
  EXPECT_TRUE(absl::IsNotFound(world.controller->Hold(7, world.now)));
  EXPECT_TRUE(absl::IsNotFound(world.controller->Details(7).status()));
  EXPECT_TRUE(absl::IsNotFound(world.controller->Explain(7).status()));
  EXPECT_EQ(world.controller->Find(7), nullptr);
  world.controller->TaskExited({.job = 7, .attempt = 1}, 0,
                               workload::ExitReason::kExited, world.now);
  world.controller->CheckpointDone(7, 1, world.now);
  EXPECT_FALSE(world.Turn());
}

// A job with volumes of three kinds.
constexpr const char* kWithVolumes = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: train:1
        command: [train]
        volumeMounts:
        - {name: data, mountPath: /data}
        - {name: same, mountPath: /srv}
        - {name: shm, mountPath: /dev/shm}
      volumes:
      - {name: data, persistentVolumeClaim: {claimName: data}}
      - {name: same, hostPath: {path: /srv}}
      - {name: shm, emptyDir: {medium: Memory, sizeLimit: 1Gi}}
)";

TEST(RequestsTest, WhatOfATasksSurroundingsIsNotThereIsSaid) {
  ControllerConfig config = OneBox(1);
  config.no_mounts = "no mount namespace";
  World world(config);
  const auto result =
      world.controller->Submit(Submission{.manifest = kWithVolumes}, world.now);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(
      result->notes,
      ElementsAre("a: image 'train:1' is not used: tasks run in the machine's "
                  "own file system",
                  "a: volume 'data' is not mounted (no mount namespace): tasks "
                  "find the machine's own '/data', and the volume at "
                  "$MUSTER_VOLUME_DATA",
                  "a: volume 'shm' is held to no size",
                  "a: volume 'shm' is not mounted (no mount namespace): tasks "
                  "find the machine's own '/dev/shm', and the volume at "
                  "$MUSTER_VOLUME_SHM",
                  "a: volume 'shm' lies on a disk, not in memory"));
  EXPECT_EQ(world.controller->ViewNode().no_mounts, config.no_mounts);
}

TEST(RequestsTest, NothingIsSaidOfVolumesThatAreMounted) {
  World world(OneBox(1));
  const auto result =
      world.controller->Submit(Submission{.manifest = kWithVolumes}, world.now);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->notes,
              ElementsAre(testing::HasSubstr("image 'train:1' is not used")));
}

}  // namespace
}  // namespace muster::local
