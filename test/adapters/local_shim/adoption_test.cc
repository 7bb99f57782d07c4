// Shims that outlive who launched them, and those that do not.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "adapters/local/shim/shim_start.h"
#include "test/adapters/local_shim/shim_run.h"

namespace muster::local {
namespace {

// Launches in a process of its own, leader of its group, which a SIGKILL ends
// then; the number of the shim.
int32_t LaunchAndDie(const ShimRun& run, const ShimSpec& spec) {
  std::array<int, 2> pipe_ends{};
  EXPECT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t daemon = fork();
  if (daemon == 0) {
    setpgid(0, 0);
    const auto shim = Launch(MUSTER_SHIM, run.AttemptFolder(), spec);
    const int32_t pid = shim.ok() ? shim->pid() : 0;
    if (write(pipe_ends[1], &pid, sizeof(pid)) != sizeof(pid)) _exit(1);
    for (;;) pause();
  }
  int32_t pid = 0;
  EXPECT_EQ(read(pipe_ends[0], &pid, sizeof(pid)),
            static_cast<ssize_t>(sizeof(pid)));
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  EXPECT_EQ(kill(-daemon, SIGKILL), 0);
  EXPECT_EQ(waitpid(daemon, nullptr, 0), daemon);
  return pid;
}

AttemptState StateOf(const ShimRun& run) {
  const auto adoption = Adopt(run.AttemptFolder());
  EXPECT_TRUE(adoption.ok()) << adoption.status();
  return adoption.ok() ? adoption->state : AttemptState::kNeverLaunched;
}

TEST(ShimAdoptionTest, WhatIsNotThereWasNeverLaunched) {
  ShimRun run;
  EXPECT_EQ(StateOf(run), AttemptState::kNeverLaunched);
  // A daemon that died before its shim began.
  std::filesystem::create_directories(run.AttemptFolder());
  EXPECT_EQ(StateOf(run), AttemptState::kNeverLaunched);
  std::ofstream(run.AttemptFolder() + "/spec") << "half of";
  std::ofstream(run.AttemptFolder() + "/lock");
  EXPECT_EQ(StateOf(run), AttemptState::kNeverLaunched);
  EXPECT_EQ(run.Run(run.Script("exit 21")).code, 21);
  EXPECT_EQ(StateOf(run), AttemptState::kEnded);
}

TEST(ShimAdoptionTest, ATaskOutlivesKillOfItsLauncherAndKeepsItsCode) {
  ShimRun run;
  const int32_t pid = LaunchAndDie(
      run, run.Script("echo up > $SAY; read line < $HEAR; exit 42"));
  EXPECT_EQ(run.Line(), "up");
  EXPECT_EQ(getsid(pid), pid);
  auto adoption = Adopt(run.AttemptFolder());
  ASSERT_TRUE(adoption.ok()) << adoption.status();
  ASSERT_EQ(adoption->state, AttemptState::kRuns);
  EXPECT_EQ(adoption->shim->pid(), pid);
  run.Tell("go");
  EXPECT_EQ(run.End(&*adoption->shim).code, 42);
  adoption = Adopt(run.AttemptFolder());
  ASSERT_TRUE(adoption.ok()) << adoption.status();
  ASSERT_EQ(adoption->state, AttemptState::kEnded);
  EXPECT_EQ(adoption->exit->code, 42);
}

TEST(ShimAdoptionTest, AnAdoptedTaskIsStoppedAsAnyOther) {
  ShimRun run;
  LaunchAndDie(run, run.Script("exec $SHIM_TASK heed 8"));
  EXPECT_GT(run.Number(), 0);
  auto adoption = Adopt(run.AttemptFolder());
  ASSERT_TRUE(adoption.ok()) << adoption.status();
  ASSERT_EQ(adoption->state, AttemptState::kRuns);
  ASSERT_TRUE(adoption->shim->Stop(3600 * kSecond).ok());
  EXPECT_EQ(run.End(&*adoption->shim).code, 8);
}

TEST(ShimAdoptionTest, LaunchedTwiceItRunsOnce) {
  ShimRun run;
  const ShimSpec spec = run.Script("echo ran; read line < $HEAR; exit 5");
  Shim one = run.Start(spec);
  Shim two = run.Start(spec);
  // Whichever came first has the task; the other one ends at once.
  EXPECT_TRUE(Eventually([&] { return !run.Output().empty(); }));
  const auto adoption = Adopt(run.AttemptFolder());
  ASSERT_TRUE(adoption.ok() && adoption->shim);
  const bool one_has_it = adoption->shim->pid() == one.pid();
  Shim& has_it = one_has_it ? one : two;
  Shim& has_not = one_has_it ? two : one;
  EXPECT_TRUE(IsReadable(has_not.fd()));
  EXPECT_EQ(has_not.Exit().status().code(), absl::StatusCode::kAborted);
  run.Tell("go");
  EXPECT_EQ(run.End(&has_it).code, 5);
  EXPECT_EQ(run.Output(), "ran\n");
}

TEST(ShimAdoptionTest, LaunchedAfterItsEndItDoesNotRunAgain) {
  ShimRun run;
  ShimSpec spec = run.Script("echo ran; exit 5");
  spec.append = true;
  EXPECT_EQ(run.Run(spec).code, 5);
  EXPECT_EQ(run.Run(spec).code, 5);
  EXPECT_EQ(run.Output(), "ran\n");
}

TEST(ShimAdoptionTest, ManyLaunchesAtOnceRunOnce) {
  ShimRun run;
  ShimSpec spec = run.Script("echo ran; read line < $HEAR; exit 5");
  spec.append = true;
  std::vector<Shim> shims;
  for (int i = 0; i < 20; ++i) shims.push_back(run.Start(spec));
  EXPECT_TRUE(Eventually([&] { return !run.Output().empty(); }));
  run.Tell("go");
  for (Shim& shim : shims) EXPECT_TRUE(IsReadable(shim.fd()));
  for (Shim& shim : shims) EXPECT_EQ(run.End(&shim).code, 5);
  EXPECT_EQ(run.Output(), "ran\n");
}

TEST(ShimAdoptionTest, WhoHasNoPatienceIsToldThatSomethingIsStillThere) {
  ShimRun run;
  Shim shim = run.Start(run.Script("echo $$ > $SAY; read line < $HEAR"));
  const OpenFile task = PidfdOf(run.Number());
  ASSERT_EQ(kill(shim.pid(), SIGKILL), 0);
  ASSERT_TRUE(IsReadable(shim.fd()));
  // What is killed now has not gone by the same look.
  EXPECT_EQ(shim.Exit(/*patience=*/0).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(IsReadable(task.fd()));
  EXPECT_TRUE(Eventually([&] {
    const auto adoption = Adopt(run.AttemptFolder(), /*patience=*/0);
    return adoption.ok() && adoption->state == AttemptState::kLost;
  }));
}

TEST(ShimAdoptionTest, OfALostShimNothingIsLeft) {
  ShimRun run;
  // The main process, a child whose parent has ended, and one of a session of
  // its own.
  Shim shim = run.Start(run.Script(
      "(sh -c 'echo $$ > $SAY; while :; do sleep 60; done' &) ; "
      "setsid sh -c 'echo $$ > $SAY; while :; do sleep 60; done' & "
      "trap '' TERM; echo $$ > $SAY; while :; do read l < $HEAR; done"));
  std::vector<OpenFile> tree;
  for (int i = 0; i < 3; ++i) tree.push_back(PidfdOf(run.Number()));
  ASSERT_EQ(kill(shim.pid(), SIGKILL), 0);
  ASSERT_TRUE(IsReadable(shim.fd()));
  EXPECT_EQ(shim.Exit().status().code(), absl::StatusCode::kDataLoss);
  for (const OpenFile& process : tree) EXPECT_TRUE(IsReadable(process.fd()));
  EXPECT_EQ(StateOf(run), AttemptState::kLost);
  EXPECT_EQ(StateOf(run), AttemptState::kLost);  // And stays so.
  // Nor does its task start again.
  Shim again = run.Start(run.Script("echo again"));
  ASSERT_TRUE(IsReadable(again.fd()));
  EXPECT_EQ(again.Exit().status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(run.Output(), "");
}

// Moments from before the lock to after the end; where each falls is the
// machine's, what follows is not.
TEST(ShimAdoptionTest, KilledAtAnyMomentItRunsAtMostOnceAndIsNotForgotten) {
  ShimRun run;
  constexpr int kAttempts = 100;
  constexpr int kStepMicroseconds = 60;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    ShimSpec spec = run.Script("echo ran; exit 5");
    spec.append = true;
    Shim shim = run.Start(spec, attempt);
    usleep(attempt * kStepMicroseconds);
    kill(shim.pid(), SIGKILL);
    ASSERT_TRUE(IsReadable(shim.fd()));
    const auto exit = shim.Exit();
    const absl::StatusCode code = exit.status().code();
    const std::string before = run.Output(attempt);
    // What a daemon does that has forgotten all.
    Shim again = run.Start(spec, attempt);
    ASSERT_TRUE(IsReadable(again.fd()));
    const auto second = again.Exit();
    if (code == absl::StatusCode::kUnavailable) {
      EXPECT_EQ(before, "");
      ASSERT_TRUE(second.ok()) << second.status();
      EXPECT_EQ(run.Output(attempt), "ran\n");
    } else if (exit.ok()) {
      EXPECT_EQ(exit->code, 5);
      EXPECT_EQ(before, "ran\n");
      ASSERT_TRUE(second.ok()) << second.status();
      EXPECT_EQ(*second, *exit);
    } else {
      EXPECT_EQ(code, absl::StatusCode::kDataLoss) << exit.status();
      EXPECT_EQ(second.status().code(), absl::StatusCode::kDataLoss);
    }
    EXPECT_TRUE(run.Output(attempt) == before ||
                code == absl::StatusCode::kUnavailable);
  }
}

TEST(ShimAdoptionTest, OfALostShimNobodyElseIsKilled) {
  ShimRun run;
  // This process, as if its number had been the task's once.
  const auto self = StatOf(getpid());
  ASSERT_TRUE(self);
  std::filesystem::create_directories(run.AttemptFolder());
  for (ShimStart start :
       {ShimStart{.task = {.pid = getpid(), .start = self->id.start - 1},
                  .shim = {.pid = getsid(0), .start = 0},
                  .boot = BootId()},
        ShimStart{.task = {.pid = getpid(), .start = self->id.start - 1},
                  .shim = {.pid = 0, .start = 0},
                  .boot = BootId()},
        ShimStart{.task = self->id, .shim = self->id, .boot = "another"}}) {
    std::ofstream(run.AttemptFolder() + "/started") << Encode(start);
    EXPECT_EQ(StateOf(run), AttemptState::kLost);
  }
}

TEST(ShimAdoptionTest, ADamagedStartIsALostOne) {
  ShimRun run;
  std::filesystem::create_directories(run.AttemptFolder());
  std::ofstream(run.AttemptFolder() + "/started");
  EXPECT_EQ(StateOf(run), AttemptState::kLost);
}

TEST(ShimAdoptionTest, ADamagedSpecIsTold) {
  ShimRun run;
  // As Launch would, but for the spec.
  Shim shim = run.Start(run.Script("exit 0"));
  EXPECT_EQ(run.End(&shim).code, 0);
  std::filesystem::remove(run.AttemptFolder() + "/exit");
  std::filesystem::remove(run.AttemptFolder() + "/started");
  std::ofstream(run.AttemptFolder() + "/spec") << "half of";
  const std::string command =
      absl::StrCat(MUSTER_SHIM, " ", run.AttemptFolder());
  EXPECT_EQ(std::system(command.c_str()), 0);
  const auto adoption = Adopt(run.AttemptFolder());
  ASSERT_TRUE(adoption.ok() && adoption->exit);
  EXPECT_EQ(adoption->exit->reason, ShimReason::kNotStarted);
  EXPECT_EQ(adoption->exit->message, "spec: damaged");
}

}  // namespace
}  // namespace muster::local
