#include "adapters/local/host/task_runner.h"

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "adapters/local/controller/task_folder.h"
#include "adapters/local/shim/process_tree.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_host/temporary_folder.h"
#include "test/adapters/local_shim/usable_cpus.h"

namespace muster::local {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = TaskEvent::Kind;

class TaskRunnerTest : public testing::Test {
 protected:
  TaskRunnerTest() : poller_(*Poller::Create()) { Begin(); }
  ~TaskRunnerTest() override {
    for (const TaskKey& task : started_) {
      auto adoption = Adopt(FolderOf(task));
      if (!adoption.ok() || !adoption->shim) continue;
      EXPECT_TRUE(adoption->shim->Kill().ok());
      EXPECT_TRUE(Eventually([&] {
        return !absl::IsFailedPrecondition(adoption->shim->Exit().status());
      }));
    }
  }

  // Another program takes over.
  void Begin() {
    runner_.reset();
    TaskRunnerOptions options{.state = folder_.path(), .shim = MUSTER_SHIM};
    options.visible_devices = [this](const std::vector<DeviceShare>& shares) {
      absl::StatusOr<std::string> told = visible_;
      if (told.ok()) *told = absl::StrCat(shares.size(), " devices");
      return told;
    };
    options.adopt = [this](const std::string& folder, Duration patience) {
      EXPECT_EQ(patience, 0);
      ++looks_;
      const auto it = left_.find(folder);
      if (it != left_.end()) return absl::StatusOr<Adoption>(it->second);
      return Adopt(folder, patience);
    };
    runner_ = *TaskRunner::Create(std::move(options), &poller_);
  }

  static TaskKey Key(uint64_t job, uint32_t attempt = 1) {
    return {.job = job, .attempt = attempt};
  }
  std::string FolderOf(const TaskKey& task) const {
    return TaskFolder(folder_.path(), task);
  }
  std::string OutputOf(const TaskKey& task) const {
    return TextOf(FolderOf(task) + "/output");
  }
  TaskCommand Script(const TaskKey& task, const std::string& script) const {
    TaskCommand command{.kind = CommandKind::kStart, .task = task};
    command.start.uid = geteuid();
    command.start.gid = getegid();
    command.start.directory = "/";
    command.start.launch.argv = {"/bin/sh", "-c", script};
    command.start.launch.env = {
        {"PATH", "/usr/bin:/bin"},
        {"MUSTER_CHECKPOINT", FolderOf(task) + "/checkpoint"}};
    command.start.devices = {{.device = 0}};
    return command;
  }
  void Start(const TaskKey& task, const std::string& script) {
    started_.push_back(task);
    runner_->CarryOut(Script(task, script));
  }
  void Tell(CommandKind kind, const TaskKey& task, Duration grace = 0,
            uint32_t version = 0) {
    runner_->CarryOut(
        {.kind = kind, .task = task, .grace = grace, .version = version});
  }
  // The next that happens to the task, as the loop would take it.
  TaskEvent Next(const TaskKey& task) {
    TaskEvent next{.kind = Kind::kLost, .code = -1};
    const bool came = Eventually([&] {
      for (const uint64_t id : poller_.Wait(0)) runner_->Ready(id);
      for (TaskEvent& event : runner_->Take()) events_.push_back(event);
      const auto it = std::ranges::find(events_, task, &TaskEvent::task);
      if (it == events_.end()) return false;
      next = *it;
      events_.erase(it);
      return true;
    });
    EXPECT_TRUE(came) << "nothing happens to the task";
    return next;
  }
  // What is told once more, that it runs, is passed over.
  TaskEvent End(const TaskKey& task) {
    TaskEvent event = Next(task);
    while (event.kind == Kind::kRuns) event = Next(task);
    return event;
  }
  void ExpectNext(const TaskKey& task, Kind kind) {
    const TaskEvent event = Next(task);
    EXPECT_EQ(static_cast<int>(event.kind), static_cast<int>(kind))
        << OutputOf(task);
  }

  TemporaryFolder folder_;
  Poller poller_;
  absl::StatusOr<std::string> visible_ = "";
  std::map<std::string, absl::Status> left_;  // What Adopt says, by folder.
  int looks_ = 0;
  std::unique_ptr<TaskRunner> runner_;
  std::vector<TaskKey> started_;
  std::vector<TaskEvent> events_;
};

TEST_F(TaskRunnerTest, ATaskRunsAndItsCodeIsTold) {
  Start(Key(1), "echo $CUDA_VISIBLE_DEVICES; exit 7");
  ExpectNext(Key(1), Kind::kRuns);
  const TaskEvent end = Next(Key(1));
  EXPECT_EQ(end.kind, Kind::kExited);
  EXPECT_EQ(end.code, 7);
  EXPECT_EQ(end.reason, workload::ExitReason::kExited);
  EXPECT_EQ(OutputOf(Key(1)), "1 devices\n");
  EXPECT_THAT(runner_->shims(), IsEmpty());
  EXPECT_FALSE(runner_->any());
}

TEST_F(TaskRunnerTest, AStartDoneTwiceIsOne) {
  Start(Key(1), "echo ran; sleep 600");
  runner_->CarryOut(Script(Key(1), "echo ran; sleep 600"));
  ExpectNext(Key(1), Kind::kRuns);
  ExpectNext(Key(1), Kind::kRuns);
  EXPECT_THAT(runner_->shims(), SizeIs(1));
  Begin();
  EXPECT_THAT(runner_->shims(), IsEmpty());
  runner_->CarryOut(Script(Key(1), "echo ran; sleep 600"));
  ExpectNext(Key(1), Kind::kRuns);
  EXPECT_TRUE(Eventually([&] { return OutputOf(Key(1)) == "ran\n"; }));
  // The second shim has not told yet that the first one has the task.
  Tell(CommandKind::kKill, Key(1));
  EXPECT_EQ(End(Key(1)).code, 137);
  // Nor does it start again when it has ended.
  runner_->CarryOut(Script(Key(1), "echo again"));
  EXPECT_EQ(End(Key(1)).code, 137);
}

TEST_F(TaskRunnerTest, TheNextProgramTakesOverWhatRunsAndWhatHasEnded) {
  Start(Key(1), "trap 'exit 3' TERM; echo up; while :; do sleep 0.05; done");
  Start(Key(2), "exit 4");
  ExpectNext(Key(1), Kind::kRuns);
  ASSERT_TRUE(Eventually([&] { return OutputOf(Key(1)) == "up\n"; }));
  ASSERT_TRUE(Eventually(
      [&] { return std::filesystem::exists(FolderOf(Key(2)) + "/exit"); }));
  Begin();
  events_.clear();
  Tell(CommandKind::kAdopt, Key(1));
  Tell(CommandKind::kAdopt, Key(2));
  ExpectNext(Key(1), Kind::kRuns);
  ASSERT_TRUE(Eventually([&] { return looks_ > 0; }));
  // Its shim may still be about to end.
  EXPECT_EQ(End(Key(2)).code, 4);
  Tell(CommandKind::kStop, Key(1), 60 * kSecond);
  EXPECT_EQ(End(Key(1)).code, 3);
}

TEST_F(TaskRunnerTest, WhatWasNeverLaunchedIsLostUnlessItIsToStart) {
  Tell(CommandKind::kAdopt, Key(1));
  ExpectNext(Key(1), Kind::kLost);
}

TEST_F(TaskRunnerTest, AStopIsForcedWhenItsTimeIsOver) {
  Start(Key(1), "trap '' TERM; echo up; while :; do sleep 0.05; done");
  ExpectNext(Key(1), Kind::kRuns);
  ASSERT_TRUE(Eventually([&] { return OutputOf(Key(1)) == "up\n"; }));
  Tell(CommandKind::kStop, Key(1), 50 * kMillisecond);
  EXPECT_EQ(Next(Key(1)).code, 137);
}

TEST_F(TaskRunnerTest, ATaskStandsStillAndGoesOn) {
  Start(Key(1), "trap 'exit 3' TERM; echo up; while :; do sleep 0.05; done");
  ExpectNext(Key(1), Kind::kRuns);
  ASSERT_TRUE(Eventually([&] { return OutputOf(Key(1)) == "up\n"; }));
  Tell(CommandKind::kSuspend, Key(1));
  ExpectNext(Key(1), Kind::kSuspended);
  Tell(CommandKind::kResume, Key(1));
  ExpectNext(Key(1), Kind::kResumed);
  Tell(CommandKind::kStop, Key(1), 60 * kSecond);
  EXPECT_EQ(Next(Key(1)).code, 3);
}

TEST_F(TaskRunnerTest, ATaskRunsOnItsCpusAndThenOnOthers) {
  const std::vector<uint32_t> cpus = UsableCpus();
  if (cpus.size() < 2) GTEST_SKIP() << "there is one CPU";
  started_.push_back(Key(1));
  TaskCommand start = Script(
      Key(1),
      "while sleep 0.02; do grep Cpus_allowed_list /proc/self/status; done");
  start.start.cpus = {cpus.front()};
  runner_->CarryOut(start);
  ExpectNext(Key(1), Kind::kRuns);
  const auto runs_on = [&](uint32_t cpu) {
    const std::string line = absl::StrCat("Cpus_allowed_list:\t", cpu, "\n");
    return Eventually([&] { return OutputOf(Key(1)).ends_with(line); });
  };
  EXPECT_TRUE(runs_on(cpus.front()));
  const auto bind = [&](uint32_t cpu) {
    TaskCommand command{.kind = CommandKind::kBind, .task = Key(1)};
    command.start.cpus = {cpu};
    runner_->CarryOut(command);
  };
  bind(cpus.back());
  EXPECT_TRUE(runs_on(cpus.back()));
  Begin();
  Tell(CommandKind::kAdopt, Key(1));
  EXPECT_TRUE(runs_on(cpus.back()));
  bind(cpus.front());
  EXPECT_TRUE(runs_on(cpus.front()));
  Tell(CommandKind::kKill, Key(1));
  EXPECT_EQ(End(Key(1)).kind, Kind::kExited);
}

// Each is kept: who saves without an end would fill the store.
TEST_F(TaskRunnerTest, WhoSavesAgainAndAgainIsToldOfNowAndThen) {
  Start(Key(1),
        "i=0; while [ $i -lt 300 ]; do echo >> $MUSTER_CHECKPOINT; "
        "i=$((i + 1)); sleep 0.001; done; read line");
  size_t told = 0;
  const auto count = [&] {
    for (const uint64_t id : poller_.Wait(0)) runner_->Ready(id);
    for (const TaskEvent& event : runner_->Take()) {
      told += event.kind == Kind::kCheckpoint ? 1 : 0;
    }
  };
  EXPECT_TRUE(Eventually([&] {
    count();
    return runner_->look_at() != kForever;
  }));
  EXPECT_EQ(told, 1u);
  const Time at = runner_->look_at();
  EXPECT_EQ(at, TaskRunner::kBetweenCheckpoints);
  runner_->Look(at - 1);
  count();
  EXPECT_EQ(told, 1u);
  runner_->Look(at);
  count();
  EXPECT_EQ(told, 2u);
}

TEST_F(TaskRunnerTest, CheckpointsAreLearntOfWithTheRequestTheyAnswer) {
  Start(Key(1),
        "echo 1 > $MUSTER_CHECKPOINT; while ! [ -e "
        "\"$MUSTER_CHECKPOINT-request\" ]; do sleep 0.01; done; "
        "cat \"$MUSTER_CHECKPOINT-request\"; echo 2 > $MUSTER_CHECKPOINT");
  ExpectNext(Key(1), Kind::kRuns);
  TaskEvent saved = Next(Key(1));
  EXPECT_EQ(saved.kind, Kind::kCheckpoint);
  EXPECT_EQ(saved.version, 0u);
  Tell(CommandKind::kCheckpoint, Key(1), kSecond, 5);
  saved = Next(Key(1));
  EXPECT_EQ(saved.kind, Kind::kCheckpoint);
  EXPECT_EQ(saved.version, 5u);
  TaskEvent last = Next(Key(1));
  while (last.kind == Kind::kCheckpoint) last = Next(Key(1));
  EXPECT_EQ(last.kind, Kind::kExited);
  EXPECT_EQ(OutputOf(Key(1)), "5\n");
}

TEST_F(TaskRunnerTest, ATaskLearnsTheSizeOfItsJob) {
  TaskCommand command = Script(
      Key(1), "cat $SIZE; while [ $(cat $SIZE) != 5 ]; do sleep 0.01; done");
  command.start.launch.env.emplace_back("SIZE", FolderOf(Key(1)) + "/size");
  command.start.size = 4;
  started_.push_back(Key(1));
  runner_->CarryOut(command);
  ExpectNext(Key(1), Kind::kRuns);
  ASSERT_TRUE(Eventually([&] { return OutputOf(Key(1)) == "4\n"; }));
  command.kind = CommandKind::kResize;
  command.start.size = 5;
  runner_->CarryOut(command);
  EXPECT_EQ(Next(Key(1)).code, 0);
}

TEST_F(TaskRunnerTest, CommandsToWhatHasEndedAreNothing) {
  for (const CommandKind kind :
       {CommandKind::kStop, CommandKind::kKill, CommandKind::kSuspend,
        CommandKind::kResume, CommandKind::kCheckpoint, CommandKind::kResize}) {
    Tell(kind, Key(1));
  }
  runner_->Ready(uint64_t{1} << 40);
  EXPECT_FALSE(runner_->any());
}

TEST_F(TaskRunnerTest, WhatCannotStartSaysWhyInItsOutput) {
  Start(Key(1), "");
  ExpectNext(Key(1), Kind::kRuns);
  TaskCommand command = Script(Key(2), "");
  command.start.launch.argv = {"/proc/no-such/program"};
  runner_->CarryOut(command);
  ExpectNext(Key(2), Kind::kRuns);
  TaskEvent end = Next(Key(2));
  EXPECT_EQ(end.reason, workload::ExitReason::kNotStarted);
  EXPECT_EQ(end.code, 127);
  EXPECT_THAT(OutputOf(Key(2)),
              HasSubstr("muster: command: /proc/no-such/program"));
  // A device that is not there, before there is a folder.
  visible_ = absl::InternalError("GPU 3 is not there any more");
  Start(Key(3), "true");
  end = Next(Key(3));
  EXPECT_EQ(end.reason, workload::ExitReason::kNotStarted);
  EXPECT_EQ(end.code, 126);
  EXPECT_EQ(OutputOf(Key(3)), "muster: GPU 3 is not there any more\n");
}

// Else that user could not read why.
TEST_F(TaskRunnerTest, WhyATaskDidNotStartItsUserCanRead) {
  if (geteuid() != 0) GTEST_SKIP() << "only root runs tasks as others";
  visible_ = absl::InternalError("GPU 3 is not there any more");
  TaskCommand command = Script(Key(1), "true");
  command.start.uid = command.start.gid = 65534;
  runner_->CarryOut(command);
  EXPECT_EQ(Next(Key(1)).code, 126);
  struct stat is = {};
  ASSERT_EQ(stat((FolderOf(Key(1)) + "/output").c_str(), &is), 0);
  EXPECT_EQ(is.st_uid, 65534u);
}

TEST_F(TaskRunnerTest, ALostTaskIsToldWhenNothingOfItIsLeft) {
  Start(Key(1), "echo $$; exec sleep 600");
  ExpectNext(Key(1), Kind::kRuns);
  ASSERT_TRUE(Eventually([&] { return OutputOf(Key(1)).ends_with("\n"); }));
  const int pid = std::atoi(OutputOf(Key(1)).c_str());
  ASSERT_THAT(runner_->shims(), SizeIs(1));
  ASSERT_EQ(kill(runner_->shims()[0], SIGKILL), 0);
  Time now = 0;
  ASSERT_TRUE(Eventually([&] {
    for (const uint64_t id : poller_.Wait(0)) runner_->Ready(id);
    runner_->Look(now += TaskRunner::kLongestDelay);
    return runner_->any();
  }));
  ExpectNext(Key(1), Kind::kLost);
  const auto process = local::StatOf(pid);  // Who has its remains may be slow.
  EXPECT_TRUE(!process || process->state == 'Z');
  EXPECT_EQ(runner_->look_at(), kForever);
}

TEST_F(TaskRunnerTest, TheRestOfALostTaskIsLookedForUntilItHasGone) {
  const absl::Status still = absl::DeadlineExceededError("still there");
  left_[FolderOf(Key(1))] = still;
  Tell(CommandKind::kAdopt, Key(1));
  Tell(CommandKind::kAdopt, Key(1));  // Twice does no harm.
  Tell(CommandKind::kStop, Key(1), kSecond);
  EXPECT_FALSE(runner_->any());
  // Less and less often, and others do not wait.
  Time now = 1000 * kSecond;
  Duration before = 0;
  for (int i = 0; i < 30; ++i) {
    ASSERT_LE(runner_->look_at(), now);
    runner_->Look(now);
    const Duration delay = runner_->look_at() - now;
    EXPECT_GT(delay, 0);
    EXPECT_GE(delay, before);
    EXPECT_LE(delay, TaskRunner::kLongestDelay);
    before = delay;
    looks_ = 0;
    runner_->Look(now + delay - 1);
    EXPECT_EQ(looks_, 0);  // It is not yet time to.
    now += delay;
  }
  EXPECT_EQ(before, TaskRunner::kLongestDelay);
  EXPECT_FALSE(runner_->any());
  // Its owner is told, once.
  EXPECT_EQ(OutputOf(Key(1)),
            "muster: the task is lost, and what it started is still there: it "
            "starts again when that has gone\n");
  Start(Key(2), "exit 0");
  ExpectNext(Key(2), Kind::kRuns);
  EXPECT_EQ(Next(Key(2)).code, 0);
  left_.clear();
  runner_->Look(now);
  ExpectNext(Key(1), Kind::kLost);
  EXPECT_EQ(runner_->look_at(), kForever);
}

TEST_F(TaskRunnerTest, WhatCannotBeLookedAtNowIsLookedAtLater) {
  left_[FolderOf(Key(1))] = absl::ResourceExhaustedError("too many open files");
  left_[FolderOf(Key(2))] = absl::PermissionDeniedError("is another's");
  Tell(CommandKind::kAdopt, Key(1));
  Tell(CommandKind::kAdopt, Key(2));
  EXPECT_EQ(Next(Key(2)).reason, workload::ExitReason::kNotStarted);
  EXPECT_FALSE(runner_->any());
  left_.clear();
  runner_->Look(0);
  ExpectNext(Key(1), Kind::kLost);
}

TEST_F(TaskRunnerTest, ACleanUpRemovesWhatIsKeptOfTheJobAndNoOther) {
  Start(Key(1), "exit 0");
  Start(Key(2), "exit 0");
  for (const TaskKey& task : {Key(1), Key(2)}) {
    ExpectNext(task, Kind::kRuns);
    EXPECT_EQ(Next(task).code, 0);
  }
  Tell(CommandKind::kCleanUp, Key(1));
  EXPECT_FALSE(std::filesystem::exists(JobFolder(folder_.path(), 1)));
  EXPECT_TRUE(std::filesystem::exists(FolderOf(Key(2))));
}

}  // namespace
}  // namespace muster::local
