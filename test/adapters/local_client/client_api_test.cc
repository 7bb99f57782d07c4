// The command line on a daemon of all parts but processes: a socket, routes, a
// controller and a store.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/local/client/cli.h"
#include "adapters/local/client/exec_command.h"
#include "adapters/local/client/held_cpus.h"
#include "adapters/local/client/held_devices.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_api/served_daemon.h"

namespace muster::local {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

struct Ran {
  int code = 0;
  std::string out{};
  std::string err{};
};

class ClientApiTest : public ::testing::Test {
 protected:
  Ran Muster(std::vector<std::string> arguments,
             const std::string& input = "") {
    arguments.insert(arguments.begin(), {"--socket", served_.socket()});
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    const int code = RunMuster(arguments, {.in = in, .out = out, .err = err});
    return {code, out.str(), err.str()};
  }
  void Exit(uint64_t job, int32_t code) { served_.Exit(job, code); }
  void Write(uint64_t job, const std::string& text) {
    const std::string folder = daemon_.FolderOf(job);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/output", std::ios::app) << text << std::flush;
  }

  ServedDaemon served_;
  Daemon& daemon_ = served_.daemon();
  std::mutex& mutex_ = served_.mutex();
};

TEST_F(ClientApiTest, ASubmittedJobIsSeenAndCancelled) {
  Ran ran = Muster({"submit", "--gpus", "1", "--name", "first", "--", "train",
                    "--json", "-x"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "Submitted job 1\n");
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(Muster({"queue"}).out, HasSubstr("running"));
  const Ran described = Muster({"describe", "last"});
  EXPECT_THAT(described.out, HasSubstr("Command:      train --json -x\n"));
  EXPECT_THAT(described.out,
              HasSubstr(absl::StrCat(
                  "Directory:    ", std::filesystem::current_path().string())));
  EXPECT_THAT(Muster({"nodes"}).out, HasSubstr("1\n"));
  EXPECT_EQ(Muster({"cancel", "first"}).code, 0);
  EXPECT_THAT(Muster({"queue"}).out, Not(HasSubstr("first")));
  EXPECT_THAT(Muster({"history"}).out, HasSubstr("cancelled"));
  ran = Muster({"cancel", "1"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "muster: job 1: has finished\n");
}

TEST_F(ClientApiTest, AGridIsAnArrayWithAJobForEachPoint) {
  const std::vector<std::string> words = {
      "submit",   "--name", "sweep", "--grid", "lr=0.1,0.01", "--grid",
      "bs=32,64", "--",     "train", "{lr}",   "{bs}"};
  std::vector<std::string> dry = words;
  dry.insert(dry.begin() + 1, "--dry-run");
  Ran ran = Muster(dry);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("INDEX  PARAMETERS     COMMAND\n"
                                 "0      lr=0.1 bs=32   train 0.1 32\n"
                                 "1      lr=0.1 bs=64   train 0.1 64\n"
                                 "2      lr=0.01 bs=32  train 0.01 32\n"));
  EXPECT_THAT(Muster({"history"}).out, Not(HasSubstr("sweep")));
  ran = Muster(words);
  EXPECT_EQ(ran.out, "Submitted array 1, 4 jobs\n") << ran.err;
  EXPECT_THAT(Muster({"queue"}).out, HasSubstr("lr=0.01 bs=64"));
  EXPECT_THAT(Muster({"history"}).out, HasSubstr("PARAMETERS"));
  const Ran described = Muster({"describe", "1_2"});
  EXPECT_THAT(described.out, HasSubstr("Parameters:   lr=0.01 bs=32\n"));
  EXPECT_THAT(described.out, HasSubstr("Command:      train 0.01 32\n"));
}

TEST_F(ClientApiTest, AFileOfPointsIsReadAndItsMistakesTold) {
  const std::string file = daemon_.state + "/points";
  std::ofstream(file) << "lr=0.1 bs=32\nlr=0.2 bs=64\n";
  EXPECT_EQ(Muster({"submit", "--grid-file", file, "x"}).out,
            "Submitted array 1, 2 jobs\n");
  EXPECT_EQ(Muster({"submit", "--grid-file", "-", "x"}, "seed\n1\n2\n3\n").out,
            "Submitted array 3, 3 jobs\n");
  std::ofstream(file) << "lr=0.1\nbs=1\n";
  Ran ran = Muster({"submit", "--grid-file", file, "x"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("points:2: 'bs'"));
  EXPECT_EQ(Muster({"submit", "--grid-file", "/proc/none", "x"}).code, 2);
  ran = Muster({"submit", "--grid", "lr=1", "--grid", "lr=2", "x"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("'lr' is there twice"));
  std::string many = "a=0";
  for (int i = 1; i < 200; ++i) absl::StrAppend(&many, ",", i);
  ran = Muster({"submit", "--grid", many, "--grid", "b" + many.substr(1), "x"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("more than 10000 points"));
  ran = Muster({"submit", "--grid", "a=1,2", "--array", "2", "x"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("array: 2: the parameters have 2 points"));
}

// Two devices are taken; what is submitted later waits.
class EditCommandTest : public ClientApiTest {
 protected:
  EditCommandTest() {
    Muster({"submit", "--name", "first", "--gpus", "2", "x"});
    for (const char* name : {"a", "b", "c"}) {
      Muster({"submit", "--name", name, "--gpus", "2", "--", "train", "--lr"});
    }
  }
  ~EditCommandTest() override { unsetenv("EDITOR"); }
  // A script that is run on the file, as EDITOR.
  void SetEditor(const std::string& script) {
    const std::string file = daemon_.state + "/editor";
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    unsetenv("VISUAL");
    setenv("EDITOR", file.c_str(), 1);
  }
  // Of the job, as JSON.
  Json Edits(const std::string& job) {
    return Json::parse(Muster({"--json", "describe", job}).out)
        .value("edits", Json());
  }
  std::string Ahead(const std::string& job) {
    return Muster({"explain", job}).out;
  }
};

TEST_F(EditCommandTest, OptionsSayWhatIsOther) {
  Ran ran =
      Muster({"edit", "b", "--gpus", "0.5", "--time", "90m", "--cpus", "2",
              "--name", "new", "--priority=-3", "--", "other", "--gpus", "9"});
  EXPECT_EQ(ran.out, "Job 3 is edited\n") << ran.err;
  EXPECT_EQ(Edits("3"), Json::parse(R"({"time":5400,"roles":{"task":{
      "requests":{"cpu":"2","muster.dev/gpu-milli":"500","nvidia.com/gpu":"0"},
      "command":["other","--gpus","9"]}}})"));
  const Ran described = Muster({"describe", "new"});
  EXPECT_THAT(described.out, HasSubstr("Command:      other --gpus 9\n"));
  EXPECT_THAT(described.out, HasSubstr("Edited:       time 1:30:00, cpu 2"));
  EXPECT_THAT(described.out, HasSubstr("Priority:     priority--3\n"));
  ran = Muster({"edit", "3", "--gpus", "1"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(Edits("3")["roles"]["task"]["requests"],
            Json::parse(R"({"cpu":"2","muster.dev/gpu-memory":"0",
                "muster.dev/gpu-milli":"0","nvidia.com/gpu":"1"})"));
}

TEST_F(EditCommandTest, WhatIsRefusedIsTold) {
  Ran ran = Muster({"edit", "first", "--gpus", "1"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("job 1: runs: its command"));
  ran = Muster({"edit", "b", "--time", "soon"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--time: 'soon'"));
  EXPECT_EQ(Muster({"edit", "none", "--gpus", "1"}).code, 1);
  EXPECT_EQ(Muster({"edit", "b", "--role", "x", "--gpus", "1"}).code, 1);
}

TEST_F(EditCommandTest, AnEditorShowsAndChangesTheJob) {
  const std::string shown = daemon_.state + "/shown";
  SetEditor("cp $1 " + shown +
            "; sed -i -e 's/^time: .*/time: 2h/' -e 's/gpu: \"2\"/gpu: \"1\"/' "
            "-e 's/--lr/--lr, \"3\"/' $1");
  const Ran ran = Muster({"edit", "b"});
  EXPECT_EQ(ran.out, "Job 3 is edited\n") << ran.err;
  std::ifstream file(shown);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, StartsWith("# Job 3: save it to change it"));
  EXPECT_THAT(text, HasSubstr("\nname: b\nqueue: default\n"));
  EXPECT_THAT(text, HasSubstr("\ntime: none\n"));
  EXPECT_EQ(Edits("3"), Json::parse(R"({"time":7200,"roles":{"task":{
      "requests":{"nvidia.com/gpu":"1"},"command":["train","--lr","3"]}}})"));
}

TEST_F(EditCommandTest, AFileThatStaysChangesNothing) {
  SetEditor("touch $1");
  EXPECT_EQ(Muster({"edit", "b"}).out, "Job 3: nothing was changed\n");
  EXPECT_EQ(Edits("3"), Json());
  SetEditor("exit 3");
  const Ran ran = Muster({"edit", "b"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("has failed: nothing is changed"));
}

TEST_F(EditCommandTest, AMistakeIsShownInTheEditorAgain) {
  const std::string shown = daemon_.state + "/shown";
  // A mistake first, then what the daemon refuses, and then a good one.
  SetEditor(
      "head -1 $1 >> " + shown + "; case $(wc -l < " + shown +
      ") in "
      "1) echo 'nmae: x' >> $1;; "
      "2) sed -i -e '/^nmae/d' -e 's/^queue: .*/queue: none/' $1;; "
      "*) sed -i -e 's/^queue: .*/queue: default/' -e 's/^name: .*/name: z/' "
      "$1;; esac");
  const Ran ran = Muster({"edit", "b"});
  EXPECT_EQ(ran.out, "Job 3 is edited\n") << ran.err;
  std::ifstream file(shown);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, HasSubstr("# NOT CHANGED: "));
  EXPECT_THAT(text, HasSubstr("nmae"));
  EXPECT_THAT(text,
              HasSubstr("# NOT CHANGED: queue: there is no queue 'none'"));
  EXPECT_THAT(Muster({"describe", "3"}).out, HasSubstr("Name:         z\n"));
}

TEST_F(EditCommandTest, WhoGivesUpAfterAMistakeKeepsTheFile) {
  SetEditor("grep -q bad $1 || echo 'bad: 1' >> $1");
  const Ran ran = Muster({"edit", "b"});
  EXPECT_EQ(ran.code, 1);
  const std::string before = "what you wrote is in ";
  ASSERT_THAT(ran.err, HasSubstr(before));
  const size_t at = ran.err.find(before) + before.size();
  const std::string path = ran.err.substr(at, ran.err.find('\n', at) - at);
  EXPECT_TRUE(std::filesystem::remove(path)) << path;
}

TEST_F(EditCommandTest, JobsChangePlaces) {
  EXPECT_EQ(Muster({"move", "c", "--first"}).code, 0);
  EXPECT_THAT(Ahead("c"), Not(HasSubstr("jobs wait before it")));
  EXPECT_THAT(Ahead("a"), HasSubstr("1 jobs wait before it"));
  EXPECT_EQ(Muster({"move", "a", "--after", "b"}).code, 0);
  EXPECT_THAT(Ahead("a"), HasSubstr("2 jobs wait before it"));
  EXPECT_EQ(Muster({"move", "a", "--before", "c"}).code, 0);
  EXPECT_EQ(Muster({"move", "c", "--last"}).code, 0);
  EXPECT_THAT(Ahead("c"), HasSubstr("2 jobs wait before it"));
  EXPECT_EQ(Muster({"move", "c"}).code, 2);
  EXPECT_EQ(Muster({"move", "c", "default", "--first"}).code, 2);
  EXPECT_EQ(Muster({"move", "c", "default"}).code, 0);
  const Ran ran = Muster({"move", "first", "--last"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("job 1: does not wait, but is running"));
}

TEST_F(ClientApiTest, TheEnvironmentGoesWithTheJob) {
  setenv("MUSTER_CLIENT_TEST", "here", 1);
  EXPECT_EQ(Muster({"submit", "x"}).code, 0);
  const Json job = Json::parse(Muster({"--json", "describe", "1"}).out);
  EXPECT_THAT(job["environment"].dump(), HasSubstr("MUSTER_CLIENT_TEST=here"));
}

// Of a folder that nobody else has, from which it is submitted.
TEST_F(ClientApiTest, AJobRunsInASnapshotOfItsCode) {
  namespace fs = std::filesystem;
  const fs::path code = fs::canonical(daemon_.state) / "project";
  const fs::path store = fs::canonical(daemon_.state) / "code";
  fs::create_directories(code / "sub");
  std::ofstream(code / "train.py") << "as it was";
  setenv("MUSTER_CODE", store.c_str(), 1);
  const fs::path before = fs::current_path();
  fs::current_path(code);
  const std::vector<std::string> words = {"submit", "--snapshot", "--chdir",
                                          "sub",    "--output",   "log",
                                          "--",     "train"};
  const Ran ran = Muster(words);
  const Ran outside = Muster({"submit", "--snapshot", "--chdir", "/", "x"});
  const Ran dry = Muster({"submit", "--snapshot", "--dry-run", "x"});
  const Ran refused = Muster({"submit", "--snapshot", "-q", "none", "x"});
  fs::current_path(before);
  unsetenv("MUSTER_CODE");
  EXPECT_EQ(ran.out, "Submitted job 1\n") << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(outside.err, HasSubstr("--chdir: '/' is not in the snapshot"));
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_EQ(refused.code, 1);
  // Of the jobs that were not submitted nothing is left.
  std::vector<fs::path> copies;
  for (const auto& entry : fs::directory_iterator(store)) {
    if (entry.is_directory()) copies.push_back(entry.path());
  }
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_TRUE(fs::exists(copies[0] / "train.py"));
  EXPECT_TRUE(fs::exists(copies[0].string() + ".jobs"));
  const Ran described = Muster({"describe", "1"});
  EXPECT_THAT(described.out,
              HasSubstr(absl::StrCat("Code:         ", code.string())));
  const Json job = Json::parse(Muster({"--json", "describe", "1"}).out);
  const Json manifest = Json::parse(job["manifest"].get<std::string>());
  EXPECT_EQ(manifest["spec"]["template"]["spec"]["containers"][0]["workingDir"],
            (copies[0] / "sub").string());
  EXPECT_EQ(manifest["metadata"]["annotations"]["muster.dev/output"],
            (code / "sub/log").string());
}

// As mpirun calls it in the launcher of a job, and as people do.
TEST_F(ClientApiTest, ACommandHasTheDevicesOfATask) {
  EXPECT_EQ(Muster({"submit", "--gpus", "1", "--name", "mpi", "x"}).code, 0);
  std::istringstream in;
  std::ostringstream out;
  Session session(daemon_.state + "/socket", false, &in, &out, &out);
  const auto plan = [&](const std::string& inside,
                        const std::vector<std::string>& words) {
    auto made = PlanExec(&session, inside, words);
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? *made : ExecPlan();
  };
  const std::vector<std::pair<std::string, std::string>> device = {
      {"CUDA_VISIBLE_DEVICES", "0"},
      {"MUSTER_GPUS", "0"},
      {"PMIX_MCA_gds", "hash"}};
  const ExecPlan orted = plan("1", {"mpi-task-0", "PATH=/x", "orted", "'a b'"});
  EXPECT_EQ(orted.command, "PATH=/x orted 'a b'");
  EXPECT_EQ(orted.environment, device);
  EXPECT_EQ(plan("1", {"mpi-task-0.mpi.ns.svc", "x"}).environment, device);
  EXPECT_EQ(plan("", {"1.task-0", "x"}).environment, device);
  EXPECT_EQ(plan("", {"mpi.task-0", "x"}).environment, device);
  // A place without devices sees none.
  EXPECT_EQ(plan("1", {"mpi-task-10", "x"}).environment[0].second, "");
  for (const auto& words : std::vector<std::vector<std::string>>{
           {}, {"1.task-0"}, {"task-0", "x"}, {"7.task-0", "x"}}) {
    EXPECT_FALSE(PlanExec(&session, "", words).ok());
  }
}

TEST(HeldCpusTest, AreThoseOfThePlaceElseWhatIsShared) {
  const auto nodes = nlohmann::ordered_json::parse(R"({"nodes": [{"cpus": {
      "unit": "core", "all": [0, 1, 2, 3], "shared": [3], "held": [
      {"job": 1, "task": "worker-0", "cpus": [0, 1]},
      {"job": 2, "task": "worker-0", "cpus": [2]}]}}]})");
  const auto of = [&](int job) {
    return HeldCpus(nodes,
                    [&](const auto& held) { return held["job"] == job; });
  };
  using Cpus = std::vector<uint32_t>;
  EXPECT_EQ(of(1), std::vector<Cpus>{Cpus({0, 1})});
  EXPECT_EQ(of(3), std::vector<Cpus>());
  EXPECT_EQ(SharedCpus(nodes), Cpus{3});
  EXPECT_EQ(SharedCpus(nlohmann::ordered_json::parse(R"({"nodes": [{}]})")),
            Cpus());
}

TEST(HeldDevicesTest, AreNamedAsTheDriverDoesAndTheMissingIsLeftOut) {
  const auto nodes = nlohmann::ordered_json::parse(R"({"nodes": [{"devices": [
      {"index": 0, "held": [{"job": 1}]},
      {"index": 1, "held": [{"job": 2, "visible": "GPU-b"}]},
      {"index": 2, "held": [{"job": 1, "visible": "MIG-c"},
                            {"job": 1, "visible": "MIG-d"}]},
      {"index": 4, "held": [{"job": 1, "visible": "GPU-e"},
                            {"job": 1, "visible": "GPU-e"}]}]}]})");
  std::string told;
  for (const NamedDevice& device :
       HeldDevices(nodes, [](const auto& held) { return held["job"] == 1; })) {
    absl::StrAppend(&told, device.index, "=", device.visible, " ");
  }
  EXPECT_EQ(told, "2=MIG-c 2=MIG-d 4=GPU-e ");
}

TEST_F(ClientApiTest, AnOptionTakesNoWordOfTheCommand) {
  const Ran ran =
      Muster({"submit", "--env", "A=1", "--env", "B=2", "train", "x"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(Muster({"describe", "1"}).out, HasSubstr("train x\n"));
}

TEST_F(ClientApiTest, WaitEndsWithTheJobsCode) {
  std::thread ends([this] {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const std::lock_guard lock(mutex_);
      const JobRow* row = daemon_.controller->Find(1);
      if (row == nullptr || row->phase != "running") continue;
      daemon_.Exit(1, 42);
      return;
    }
  });
  const Ran ran = Muster({"submit", "--wait", "--", "false"});
  ends.join();
  EXPECT_EQ(ran.code, 42);
  EXPECT_EQ(Muster({"wait", "1"}).code, 42);
  EXPECT_EQ(Muster({"wait", "99"}).code, 1);
}

TEST_F(ClientApiTest, AnArrayIsManyJobsThatCanBeNamed) {
  EXPECT_EQ(Muster({"submit", "--array", "2-6:2", "--hold", "--", "x"}).out,
            "Submitted array 1, 3 jobs\n");
  EXPECT_THAT(Muster({"queue"}).out, HasSubstr("1_4"));
  EXPECT_EQ(Muster({"cancel", "1_4"}).code, 0);
  EXPECT_EQ(Muster({"cancel", "1_5"}).code, 1);
  EXPECT_THAT(Muster({"queue"}).out, Not(HasSubstr("1_4")));
  EXPECT_EQ(Muster({"cancel", "1-3"}).code, 1);  // The second has finished.
  EXPECT_EQ(Muster({"cancel", "all"}).code, 0);  // None is left.
  EXPECT_EQ(Json::parse(Muster({"queue", "--json"}).out)["jobs"].size(), 0u);
}

TEST_F(ClientApiTest, JobsAreHeldReleasedMovedAndRaised) {
  Muster({"submit", "--gpus", "2", "--hold", "--name", "a", "--", "x"});
  EXPECT_THAT(Muster({"queue"}).out, HasSubstr("held"));
  EXPECT_THAT(Muster({"explain", "a"}).out, StartsWith("Job 1 is queued: "));
  EXPECT_EQ(Muster({"priority", "a", "high"}).code, 0);
  EXPECT_THAT(Muster({"queue"}).out, HasSubstr("high"));
  const Ran none = Muster({"priority", "a", "none"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("none"));
  EXPECT_EQ(Muster({"move", "a", "default"}).code, 0);
  EXPECT_EQ(Muster({"release", "@"}).code, 0);
  EXPECT_THAT(Muster({"queue"}).out, HasSubstr("running"));
  EXPECT_EQ(Muster({"suspend", "1"}).code, 0);
  EXPECT_THAT(Muster({"queue"}).out, HasSubstr("suspended"));
  EXPECT_EQ(Muster({"resume", "1"}).code, 0);
  EXPECT_THAT(Muster({"queue"}).out, HasSubstr("running"));
}

TEST_F(ClientApiTest, AManifestIsAppliedFromAFileOrTheInput) {
  EXPECT_EQ(Muster({"apply", "-f", "-"}, ManifestOf("piped")).out,
            "Submitted job 1\n");
  const std::string file = daemon_.state + "/job.json";
  std::ofstream(file) << ManifestOf("filed");
  EXPECT_EQ(Muster({"apply", "-f", file}).out, "Submitted job 2\n");
  EXPECT_EQ(Muster({"apply", "-f", file + "x"}).code, 1);
  const Ran bad = Muster({"apply", "-f", "-"}, "kind: Pod");
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, StartsWith("muster: "));
}

TEST_F(ClientApiTest, ADryRunAndAWhatIfSubmitNothing) {
  const Ran dry = Muster({"submit", "--dry-run", "--gpus", "2", "--", "x"});
  EXPECT_EQ(dry.code, 0);
  EXPECT_EQ(Json::parse(dry.out)["kind"], "Job");
  EXPECT_THAT(Muster({"what-if", "--gpus", "2", "--", "x"}).out,
              StartsWith("x would start now\n"));
  EXPECT_EQ(Muster({"submit", "--dry-run", "-q", "none", "--", "x"}).code, 1);
  EXPECT_EQ(Json::parse(Muster({"history", "--json"}).out)["jobs"].size(), 0u);
}

TEST_F(ClientApiTest, LogsAreReadAndFollowedToTheEndOfTheJob) {
  Muster({"submit", "--", "x"});
  Write(1, "one\n");
  EXPECT_EQ(Muster({"logs", "1"}).out, "one\n");
  EXPECT_EQ(Muster({"logs", "1.task-0"}).out, "one\n");
  EXPECT_EQ(Muster({"logs", "1.chief-0"}).code, 1);
  std::thread writes([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    Write(1, "two\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    Write(1, std::string(200'000, 'x') + "\n");
    Exit(1, 0);
  });
  const Ran followed = Muster({"logs", "-f", "1"});
  writes.join();
  EXPECT_EQ(followed.code, 0) << followed.err;
  EXPECT_EQ(followed.out, "one\ntwo\n" + std::string(200'000, 'x') + "\n");
  EXPECT_EQ(Muster({"logs", "-f", "1.chief-0"}).code, 1);
}

TEST_F(ClientApiTest, TopIsOnePageWhereThereIsNoTerminal) {
  Muster({"submit", "--name", "seen", "--", "x"});
  const Ran top = Muster({"top"});
  EXPECT_EQ(top.code, 0);
  EXPECT_THAT(top.out, HasSubstr("DEVICE"));
  EXPECT_THAT(top.out, HasSubstr("seen"));
  EXPECT_THAT(top.out, Not(HasSubstr("\033")));
}

TEST_F(ClientApiTest, ManyClientsAtOnceAllGetTheirJob) {
  constexpr int kClients = 150;  // More than may be connected.
  std::vector<std::thread> clients;
  std::atomic<int> submitted = 0;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&] {
      if (Muster({"submit", "--hold", "--", "x"}).code == 0) ++submitted;
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(submitted, kClients);
  EXPECT_EQ(Json::parse(Muster({"queue", "--json"}).out)["jobs"].size(),
            size_t{kClients});
}

}  // namespace
}  // namespace muster::local
