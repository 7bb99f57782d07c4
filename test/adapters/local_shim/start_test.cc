// What a task gets, and what is told of its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/adapters/local_shim/shim_run.h"

namespace muster::local {
namespace {

TEST(ShimStartTest, ExitCodesAreTold) {
  ShimRun run;
  for (const int code : {0, 1, 42, 255}) {
    const ShimExit exit =
        run.Run(run.Script(absl::StrCat("exit ", code)), code);
    EXPECT_EQ(exit.code, code);
    EXPECT_EQ(exit.reason, ShimReason::kExited);
    EXPECT_EQ(exit.message, "");
  }
}

TEST(ShimStartTest, SignalsAreToldAs128AndTheirNumber) {
  ShimRun run;
  EXPECT_EQ(run.Run(run.Script("kill -SEGV $$"), 0).code, 128 + SIGSEGV);
  const ShimExit killed = run.Run(run.Script("kill -KILL $$"), 1);
  EXPECT_EQ(killed.code, 128 + SIGKILL);
  EXPECT_EQ(killed.reason, ShimReason::kExited);
}

TEST(ShimStartTest, TimesAndMemoryAreTold) {
  ShimRun run;
  const Time before = time(nullptr) * kSecond;
  const ShimExit exit = run.Run(
      run.Script("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; (exit 0)"));
  EXPECT_GE(exit.started, before);
  EXPECT_GE(exit.ended, exit.started);
  EXPECT_LE(exit.ended, (time(nullptr) + 1) * kSecond);
  EXPECT_GT(exit.ran, 0);
  EXPECT_GT(exit.user_time, 0);
  EXPECT_GT(exit.max_rss, 100 << 10);
  EXPECT_EQ(exit.left, 0);
}

TEST(ShimStartTest, ACommandThatCannotRunSaysWhy) {
  ShimRun run;
  ShimSpec spec = run.Script("");
  spec.command = {"frobnicate"};
  ShimExit exit = run.Run(spec, 0);
  EXPECT_EQ(exit.reason, ShimReason::kNotStarted);
  EXPECT_EQ(exit.code, 127);
  EXPECT_EQ(exit.message, "command: frobnicate: No such file or directory");

  const std::string plain = run.folder() + "/plain";
  std::ofstream(plain) << "#!/bin/sh\n";
  spec.command = {plain};
  exit = run.Run(spec, 1);
  EXPECT_EQ(exit.reason, ShimReason::kNotStarted);
  EXPECT_EQ(exit.code, 126);
  EXPECT_EQ(exit.message, "command: " + plain + ": Permission denied");
}

TEST(ShimStartTest, WhatElseCannotBeHadSaysWhy) {
  ShimRun run;
  ShimSpec spec = run.Script("true");
  spec.directory = run.folder() + "/nowhere";
  ShimExit exit = run.Run(spec, 0);
  EXPECT_EQ(exit.reason, ShimReason::kNotStarted);
  EXPECT_EQ(exit.code, 126);
  EXPECT_EQ(exit.message,
            "directory: " + spec.directory + ": No such file or directory");

  spec = run.Script("true");
  spec.output = run.folder() + "/nowhere/output";
  EXPECT_EQ(run.Run(spec, 1).message,
            "output: " + spec.output + ": No such file or directory");

  spec = run.Script("true");
  spec.error = run.folder();
  EXPECT_EQ(run.Run(spec, 2).message,
            "error: " + spec.error + ": Is a directory");

  spec = run.Script("true");
  spec.cpus = {1023};
  EXPECT_EQ(run.Run(spec, 3).message, "cpus: Invalid argument");
}

TEST(ShimStartTest, AFifoThatNobodyReadsIsNotWaitedFor) {
  ShimRun run;
  ShimSpec spec = run.Script("true");
  spec.output = run.folder() + "/fifo";
  ASSERT_EQ(mkfifo(spec.output.c_str(), 0600), 0);
  EXPECT_EQ(run.Run(spec).message,
            "output: " + spec.output + ": No such device or address");
}

TEST(ShimStartTest, TheEnvironmentIsTheSpecsAndNothingElse) {
  ShimRun run;
  ShimSpec spec = run.Script("");
  spec.command = {"env", "-0"};
  spec.environment = {"PATH=/usr/bin:/bin", "B=2", "A=line\nline", "EMPTY="};
  EXPECT_EQ(run.Run(spec).code, 0);
  std::string expected;
  for (const std::string& variable : spec.environment) {
    expected.append(variable).push_back('\0');
  }
  EXPECT_EQ(run.Output(), expected);
}

TEST(ShimStartTest, ATaskHasItsDirectoryAndMaskAndCpusAndFiles) {
  ShimRun run;
  ShimSpec spec = run.Script(
      "pwd; umask; nproc; ulimit -n; cat; ls /proc/self/fd | wc -l; "
      "[ $(cut -d' ' -f5 /proc/$$/stat) = $$ ] && echo leads its group");
  spec.directory = run.folder();
  spec.umask = 077;
  spec.cpus = {static_cast<uint32_t>(sched_getcpu())};
  spec.open_files = 77;
  EXPECT_EQ(run.Run(spec).code, 0);
  // ls has the folder open; nothing else, of the shim or of this process.
  EXPECT_EQ(run.Output(), run.folder() + "\n0077\n1\n77\n4\nleads its group\n");
}

TEST(ShimStartTest, NoSignalIsBlockedOrIgnoredForATask) {
  ShimRun run;
  ShimSpec spec = run.Script("");
  spec.command = {SHIM_TASK, "signals"};
  EXPECT_EQ(run.Run(spec).code, 0);
  // Neither 32 nor 33, which posix_spawn ignores and the C library uses itself.
  EXPECT_THAT(run.Output(), testing::AnyOf("SigBlk:\t0000000000000000\n"
                                           "SigIgn:\t0000000180000000\n",
                                           "SigBlk:\t0000000000000000\n"
                                           "SigIgn:\t0000000000000000\n"));
}

TEST(ShimStartTest, OutputGoesToItsFilesAnewOrAppended) {
  ShimRun run;
  ShimSpec spec = run.Script("echo out; echo err >&2");
  spec.output = run.folder() + "/out";
  spec.error = run.folder() + "/err";
  std::ofstream(spec.output) << "something longer\n";
  EXPECT_EQ(run.Run(spec, 0).code, 0);
  EXPECT_EQ(ReadText(spec.output), "out\n");
  EXPECT_EQ(ReadText(spec.error), "err\n");
  spec.append = true;
  EXPECT_EQ(run.Run(spec, 1).code, 0);
  EXPECT_EQ(ReadText(spec.output), "out\nout\n");
  EXPECT_EQ(ReadText(spec.error), "err\nerr\n");
  spec.error = "";
  EXPECT_EQ(run.Run(spec, 2).code, 0);
  EXPECT_EQ(ReadText(spec.output), "out\nout\nout\nerr\n");
}

TEST(ShimStartTest, OutputDoesNotPassThroughTheShim) {
  ShimRun run;
  constexpr int64_t kBytes = 64 << 20;
  Shim shim = run.Start(run.Script(absl::StrCat(
      "(echo $$ > $SAY); read line < $HEAR; head -c ", kBytes, " /dev/zero")));
  const std::string link = absl::StrCat("/proc/", run.Number(), "/fd/1");
  EXPECT_EQ(std::filesystem::read_symlink(link).string(),
            run.AttemptFolder() + "/output");
  run.Tell("go");
  EXPECT_EQ(run.End(&shim).code, 0);
  EXPECT_EQ(std::filesystem::file_size(run.AttemptFolder() + "/output"),
            kBytes);
}

TEST(ShimStartTest, AFolderOfOthersIsRefused) {
  ShimRun run;
  const std::string folder = run.folder() + "/open";
  ASSERT_EQ(mkdir(folder.c_str(), 0777), 0);
  ASSERT_EQ(chmod(folder.c_str(), 0777), 0);
  EXPECT_EQ(Launch(MUSTER_SHIM, folder, run.Script("true")).status().code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Adopt(folder).status().code(), absl::StatusCode::kPermissionDenied);
}

TEST(ShimStartTest, LaunchSaysWhatIsWrong) {
  ShimRun run;
  ShimSpec spec = run.Script("true");
  EXPECT_EQ(Launch(MUSTER_SHIM, "relative", spec).status().message(),
            "folder: expected an absolute path");
  EXPECT_EQ(
      Launch("/proc/nowhere/shim", run.AttemptFolder(), spec).status().code(),
      absl::StatusCode::kNotFound);
  spec.command.clear();
  EXPECT_EQ(Launch(MUSTER_SHIM, run.AttemptFolder(), spec).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ShimStartTest, TwoHundredAtOnceEachTellTheirOwnCode) {
  ShimRun run;
  constexpr int kShims = 200;
  std::vector<Shim> shims;
  for (int i = 0; i < kShims; ++i) {
    shims.push_back(
        run.Start(run.Script(absl::StrCat("read line < $HEAR; exit ", i)), i));
  }
  for (int i = 0; i < kShims; ++i) run.Tell("go");
  for (int i = 0; i < kShims; ++i) EXPECT_EQ(run.End(&shims[i]).code, i);
}

}  // namespace
}  // namespace muster::local
