#include "adapters/local/host/notifier.h"

#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_host/temporary_folder.h"

namespace muster::local {
namespace {

using testing::HasSubstr;

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool Eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 3000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class NotifierTest : public testing::Test {
 protected:
  // A shell script.
  NotifyRule Rule(const std::string& script) {
    std::ofstream(program()) << "#!/bin/sh\n" << script << "\n";
    chmod(program().c_str(), 0755);
    return {.command = {program(), "--to", "ann"}};
  }
  std::string program() const { return folder_ / "tell"; }
  std::string said() const { return folder_ / "said"; }

  TemporaryFolder folder_;
};

TEST_F(NotifierTest, ItIsToldWhatHappenedInOrder) {
  Notifier notifier(Rule(absl::StrCat(
      "echo \"$MUSTER_EVENT $MUSTER_JOB_ID [$MUSTER_JOB_NAME] $MUSTER_JOB_UID "
      "$MUSTER_JOB_QUEUE $MUSTER_JOB_PHASE $MUSTER_JOB_REASON "
      "$MUSTER_JOB_CODE $*\" >> ",
      said())));
  const JobRow failed{.id = 7,
                      .uid = 1000,
                      .name = "$(true) \"x\"",
                      .queue = "lab",
                      .phase = "failed",
                      .reason = "BackoffLimitExceeded",
                      .exit_code = 3};
  const JobRow zero{.id = 8, .name = std::string("a\0b", 3)};
  notifier.Tell({{{.job = 7, .what = "started"},
                  {.job = 7, .what = "failed"},
                  {.job = 8, .what = "succeeded"},
                  {.job = 9, .what = "cancelled"}}},
                {{failed, zero}});
  const std::string text =
      "failed 7 [$(true) \"x\"] 1000 lab failed BackoffLimitExceeded 3 --to "
      "ann\n"
      "succeeded 8 [a] 0     --to ann\n"
      "cancelled 9 []      --to ann\n";
  EXPECT_TRUE(Eventually([&] { return TextOf(said()) == text; }))
      << TextOf(said());
}

TEST_F(NotifierTest, WhatOneListsIsTold) {
  NotifyRule rule = Rule("echo $MUSTER_EVENT >> " + said());
  rule.on = {"started"};
  Notifier notifier(std::move(rule));
  notifier.Tell({{{.job = 1, .what = "failed"}, {.job = 1, .what = "started"}}},
                {});
  EXPECT_TRUE(Eventually([&] { return TextOf(said()) == "started\n"; }));
}

TEST_F(NotifierTest, AThousandWaitAndMoreAreSaidToBeLost) {
  const std::string go = folder_ / "go";
  testing::internal::CaptureStderr();
  {
    Notifier notifier(Rule("until [ -e " + go +
                           " ]; do sleep 0.01; done; echo x >> " + said()));
    const std::vector<JobNews> many(1500, {.job = 1, .what = "failed"});
    notifier.Tell(many, {});
    std::ofstream(go) << "";
    EXPECT_TRUE(Eventually([&] { return TextOf(said()).size() >= 2 * 1000; }));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("events were not told: the command takes long"));
}

TEST_F(NotifierTest, ManyEventsOfOneUserLeaveRoomForOthers) {
  testing::internal::CaptureStderr();
  {
    Notifier notifier(
        Rule("until [ -e " + folder_ / "go" +
             " ]; do sleep 0.01; done; "
             "[ \"$MUSTER_JOB_UID\" = 1 ] || echo $MUSTER_JOB_UID >> " +
             said()));
    const JobRow hers{.id = 1, .uid = 1}, his{.id = 2, .uid = 2};
    std::vector<JobNews> many(2000, {.job = 1, .what = "failed"});
    many.push_back({.job = 2, .what = "failed"});
    notifier.Tell(many, {{hers, his}});
    WriteText(folder_ / "go", "");
    EXPECT_TRUE(Eventually([&] { return TextOf(said()) == "2\n"; }));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("events were not told"));
}

TEST_F(NotifierTest, ItsEndWaitsForNoCommandAndFailuresAreSaid) {
  testing::internal::CaptureStderr();
  {
    NotifyRule rule = Rule("");
    rule.command = {"/proc/no-such/program"};
    Notifier notifier(std::move(rule));
    notifier.Tell({{{.job = 1, .what = "failed"}}}, {});
    Notifier code(Rule("echo x >> " + said() + "; exit 3"));
    code.Tell({{{.job = 1, .what = "failed"}}}, {});
    EXPECT_TRUE(Eventually([&] { return !TextOf(said()).empty(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("/proc/no-such/program: No such file"));
  EXPECT_THAT(text, HasSubstr("tell: ended with 3"));
  const auto start = std::chrono::steady_clock::now();
  {
    Notifier slow(Rule("echo y >> " + said() + "; sleep 3"));
    slow.Tell({{{.job = 1, .what = "failed"}}}, {});
    EXPECT_TRUE(Eventually([&] { return TextOf(said()) == "x\ny\n"; }));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
}

}  // namespace
}  // namespace muster::local
