// muster-sim from the outside: what it prints and its exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "muster/version.h"
#include "test/adapters/cli/sim_run.h"
#include "test/adapters/test_files.h"

namespace muster::inprocess {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string Story(const std::string& name) {
  return std::string(MUSTER_SCENARIO_DIR) + "/" + name + ".yaml";
}

constexpr char kNodes[] = "nodes: [{key: n, capacity: {cpu: 4}, devices: 4}]\n";

TEST(SimCliTest, RunsAScenarioAndPrintsPictureAndTable) {
  const SimRun ran = Sim({"run", Story("story-a-precious-node")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("100-150 preempted by test-p1 with 40 s saved "
                              "and 10 s lost; 250-310"),
                    HasSubstr("GPU hours lost"), HasSubstr("state hash")));
}

TEST(SimCliTest, PrintsTheDocumentedJson) {
  const SimRun ran = Sim({"run", Story("story-a-precious-node"), "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto j = nlohmann::json::parse(ran.out);
  EXPECT_EQ(j["counts"]["submitted"], 4);
  EXPECT_EQ(j["counts"]["finished"], 4);
  EXPECT_EQ(j["stops"]["preempted"], 1);
  EXPECT_DOUBLE_EQ(j["makespan_s"].get<double>(), 410);
  EXPECT_DOUBLE_EQ(j["utilisation"]["gpu"].get<double>(), 1.0);
  EXPECT_NEAR(j["gpu_hours_lost"]["preempted"].get<double>(), 10.0 / 3600,
              1e-9);
  EXPECT_DOUBLE_EQ(j["wait_s"]["mean"].get<double>(), (0 + 100 + 310) / 4.0);
  EXPECT_DOUBLE_EQ(j["completion_s"]["p99"].get<double>(), 410);
  EXPECT_EQ(j["by_class"].size(), 2U);
  EXPECT_TRUE(j.contains("cpu_s"));
  EXPECT_EQ(j["state_hash"].get<std::string>().size(), 16U);
}

TEST(SimCliTest, SettingsGoBeforeWhatTheScenarioSays) {
  const TempFile file(
      "s.yaml",
      std::string(kNodes) +
          "priority_classes: [{key: high, value: 1}]\n"
          "gangs: [{key: low, run: 10s, per_task: {gpu: 4}},\n"
          "        {key: high, run: 1s, submit: 1s, per_task: {gpu: 4},\n"
          "         priority_class: high}]\n");
  const auto preempted = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args = {"run", file.path(), "--json"};
    args.insert(args.end(), more.begin(), more.end());
    const SimRun ran = Sim(args);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return nlohmann::json::parse(ran.out)["stops"]["preempted"].get<int>();
  };
  EXPECT_EQ(preempted({}), 1);
  EXPECT_EQ(preempted({"--set", "scheduler.preemption=false"}), 0);
  SimRun ran = Sim({"run", file.path(), "--set", "scheduler.preemption=maybe"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--set: scheduler.preemption"));
  ran = Sim({"run", file.path(), "--set", "preemption"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--set: 'preemption' is not KEY=VALUE"));
}

TEST(SimCliTest, AFolderIsNoScenario) {
  const std::string folder = MUSTER_SCENARIO_DIR;
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"run", folder},
        {"explain", folder, "g"},
        {"compare", folder, "--variant", "a", "--variant", "b:policy=fifo"}}) {
    const SimRun ran = Sim(args);
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr("is a folder"));
  }
}

TEST(SimCliTest, TellsItsVersionAndWhichSubcommandsThereAre) {
  SimRun ran = Sim({"--version"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "muster-sim " MUSTER_VERSION "\n");
  ran = Sim({"simulate", "x.yaml"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("'simulate' is none of the subcommands"),
                             HasSubstr("run, trace")));
}

TEST(SimCliTest, OutputThatCannotBeWrittenIsAnError) {
  std::ofstream full("/dev/full");
  std::ostringstream err;
  const std::string story = Story("story-a-precious-node");
  for (const std::vector<const char*>& args :
       {std::vector<const char*>{"muster-sim", "run", story.c_str()},
        {"muster-sim", "run", story.c_str(), "--json"},
        {"muster-sim", "generate"}}) {
    full.clear();
    err.str("");
    EXPECT_EQ(SimMain(static_cast<int>(args.size()), args.data(),
                      {.out = full, .err = err}),
              2);
    EXPECT_THAT(err.str(), HasSubstr("standard output cannot be written"));
  }
}

TEST(SimCliTest, AnExpectationThatFailsIsToldWithItsLine) {
  const TempFile file("s.yaml",
                      std::string(kNodes) +
                          "gangs: [{key: a, run: 10s}]\n"
                          "expect:\n  intervals:\n    a: [{to: 11s}]\n");
  const SimRun ran = Sim({"run", file.path()});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, file.path() +
                         ":5:9: expect.intervals.a[0]: to should be 11 s; it "
                         "ran 0-10\n");
}

TEST(SimCliTest, AGangLargerThanTheClusterIsBadInputAndTheRestRuns) {
  const TempFile file("s.yaml",
                      std::string(kNodes) +
                          "gangs:\n  - {key: giant, run: 10s, tasks: 5, "
                          "per_task: {gpu: 1}}\n"
                          "  - {key: fits, run: 10s, tasks: 4, per_task: {gpu: "
                          "1}}\n");
  const SimRun ran = Sim({"run", file.path(), "--json"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr(file.path() + ":3:5: "),
                             HasSubstr("gang giant: "), HasSubstr("never"),
                             HasSubstr("5"), HasSubstr("4")));
  const auto j = nlohmann::json::parse(ran.out);
  EXPECT_EQ(j["counts"]["finished"], 1);
  EXPECT_EQ(j["left_over"][0]["code"], "never-fits");
  EXPECT_EQ(j["left_over_by_reason"], nlohmann::json({{"never-fits", 1}}));
}

TEST(SimCliTest, AnEventAboutNothingIsToldWithItsLine) {
  const TempFile file("s.yaml", std::string(kNodes) +
                                    "gangs: [{key: a, run: 10s}]\n"
                                    "events:\n  - {at: 5s, node_down: m}\n");
  const SimRun ran = Sim({"run", file.path()});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr(file.path() + ":4:1: node-down m: "));
}

TEST(SimCliTest, BadInputIsOneLineAndExitCodeTwo) {
  const TempFile bad("s.yaml", "nodes: {");
  const TempFile torn("t.csv", "sn,cpu_milli,memory_mib,gpu,model\nn0,1,1\n");
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{
           {"run", bad.path()},
           {"run", "/proc/no-such/file.yaml"},
           {"explain", bad.path(), "a"},
           {"explain", Story("story-a-precious-node"), "nobody"},
           {"trace", "--nodes", torn.path(), "--pods", torn.path()},
           {"trace", "--format", "muri", "--nodes", torn.path(), "--jobs",
            torn.path()},
           {"trace", "--nodes", torn.path()},
           {"replay", bad.path()},
           {"replay", "/proc/no-such/journal"},
           {"demo", "--scenarios", "/proc/no-such/folder"},
       }) {
    const SimRun ran = Sim(args);
    EXPECT_EQ(ran.code, 2) << args[0];
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
}

TEST(SimCliTest, ABadCommandLineIsExitCodeTwo) {
  EXPECT_EQ(Sim({}).code, 2);
  EXPECT_EQ(Sim({"fly"}).code, 2);
  EXPECT_EQ(Sim({"run"}).code, 2);
  EXPECT_EQ(Sim({"run", "x", "--until", "soon"}).code, 2);
  EXPECT_EQ(Sim({"trace", "--nodes", "x", "--copies", "0"}).code, 2);
  const SimRun help = Sim({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("run"), HasSubstr("explain"),
                              HasSubstr("generate"), HasSubstr("replay")));
}

TEST(SimCliTest, ABrokenLineOfATraceIsNamed) {
  const TempFile nodes("n.csv",
                       "sn,cpu_milli,memory_mib,gpu,model\nn0,1000,10,1,T4\n");
  const TempFile pods(
      "p.csv",
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,"
      "pod_phase,creation_time,deletion_time,scheduled_time\n"
      "p0,10,10,1,1000,,LS,Running,0,5,0\n"
      "p1,10,10,1,many,,LS,Running,0,5,0\n");
  const SimRun ran =
      Sim({"trace", "--nodes", nodes.path(), "--pods", pods.path()});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "muster-sim: " + pods.path() +
                         ":3: gpu_milli: 'many' is not an integer\n");
}

TEST(SimCliTest, ExplainsHowItWentOrHowItWas) {
  const std::string story = Story("story-a-precious-node");
  const SimRun history = Sim({"explain", story, "test2"});
  EXPECT_EQ(history.code, 0);
  EXPECT_THAT(history.out,
              AllOf(HasSubstr("0 s  submitted"), HasSubstr("waiting: "),
                    HasSubstr("150 s  preempted by test-p1"),
                    HasSubstr("on precious")));
  EXPECT_THAT(Sim({"explain", story, "test3", "--at", "120s"}).out,
              HasSubstr("120 s  waiting: insufficient"));
  EXPECT_EQ(Sim({"explain", story, "test-p1", "--at", "1s"}).out,
            "1 s  not submitted yet\n");
  EXPECT_EQ(Sim({"explain", story, "test1", "--at", "300s"}).out,
            "300 s  gone\n");
}

TEST(SimCliTest, AJournalReplaysToTheSameState) {
  const TempFile journal("run.journal", "", false);
  const SimRun run = Sim({"run", Story("story-f-unruly-host"), "--json",
                          "--journal", journal.path()});
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string hash =
      nlohmann::json::parse(run.out)["state_hash"].get<std::string>();
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{
           {"replay", journal.path()},
           {"replay", journal.path(), "--follow"}}) {
    const SimRun replay = Sim(args);
    EXPECT_EQ(replay.code, 0) << replay.err;
    EXPECT_THAT(replay.out, HasSubstr("state hash  " + hash));
  }
  const SimRun again =
      Sim({"run", Story("story-f-unruly-host"), "--journal", journal.path()});
  EXPECT_EQ(again.code, 2) << "a journal is not overwritten";
}

TEST(SimCliTest, ATornJournalIsReplayedUpToTheTear) {
  const TempFile journal("run.journal", "", false);
  ASSERT_EQ(
      Sim({"run", Story("story-b-all-or-nothing"), "--journal", journal.path()})
          .code,
      0);
  const std::string whole = journal.Read();
  journal.Write(whole.substr(0, whole.size() - 3));
  const SimRun torn = Sim({"replay", journal.path()});
  EXPECT_EQ(torn.code, 2);
  EXPECT_THAT(torn.out, HasSubstr("decided again: all equal"));
  EXPECT_THAT(torn.err, AllOf(HasSubstr(journal.path() + ": record "),
                              HasSubstr("is torn")));
  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 0x40;
  journal.Write(damaged);
  EXPECT_EQ(Sim({"replay", journal.path()}).code, 2);
}

TEST(SimCliTest, GeneratesWhatItCanRunAndReplay) {
  const TempFile file("g.yaml", "", false);
  const TempFile journal("g.journal", "", false);
  const SimRun made = Sim({"generate", "--load", "0.95", "--seed", "3",
                           "--days", "2", "--no-failures", "-o", file.path()});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("preset=small,load=0.95,seed=3,days=2"),
                              HasSubstr("muster-sim run " + file.path())));
  const SimRun ran = Sim({"run", file.path(), "--json", "--validate",
                          "--journal", journal.path()});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto j = nlohmann::json::parse(ran.out);
  EXPECT_EQ(j["counts"]["finished"], j["counts"]["submitted"]);
  EXPECT_GT(j["stops"]["preempted"], 0);
  const SimRun replay = Sim({"replay", journal.path()});
  EXPECT_EQ(replay.code, 0) << replay.err;
  EXPECT_THAT(replay.out, HasSubstr(j["state_hash"].get<std::string>()));

  const SimRun direct = Sim(
      {"run", "--json", "--generate", "load=0.95,seed=3,days=2,no-failures"});
  EXPECT_EQ(direct.code, 0) << direct.err;
  const auto same = nlohmann::json::parse(direct.out);
  EXPECT_EQ(same["state_hash"], j["state_hash"]);
  EXPECT_EQ(same["completion_s"], j["completion_s"]);
}

TEST(SimCliTest, TellsWhatWasGenerated) {
  const SimRun json = Sim({"generate", "--preset", "medium", "--json"});
  EXPECT_EQ(json.code, 0) << json.err;
  const auto j = nlohmann::json::parse(json.out);
  EXPECT_EQ(j["options"], "preset=medium,load=0.85,seed=1,days=7");
  EXPECT_EQ(j["statistics"]["gpus"]["value"], 6212);
  EXPECT_NEAR(j["statistics"]["load"]["value"].get<double>(), 0.85, 0.001);
  EXPECT_THAT(Sim({"generate"}).out,
              HasSubstr("muster-sim run --generate preset=small"));
  EXPECT_THAT(Sim({"generate", "-o", "-"}).out, StartsWith("title: "));
}

TEST(SimCliTest, WhatCannotBeGeneratedIsExitCodeTwo) {
  const SimRun preset = Sim({"generate", "--preset", "tiny"});
  EXPECT_EQ(preset.code, 2);
  EXPECT_THAT(preset.err, HasSubstr("--preset: 'tiny' is not small, medium"));
  EXPECT_EQ(Sim({"generate", "--load", "3"}).code, 2);
  EXPECT_EQ(Sim({"generate", "-o", "/proc/no-such/folder/x.yaml"}).code, 2);
  const SimRun run = Sim({"run", "--generate", "preset=small,lode=1"});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("--generate: there is no 'lode'"));
  EXPECT_EQ(Sim({"run", "x.yaml", "--generate", "seed=1"}).code, 2);
}

}  // namespace
}  // namespace muster::inprocess
