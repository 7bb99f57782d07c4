// Slurm's names on a daemon of all parts but processes.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "adapters/local/slurm/job_view.h"
#include "adapters/local/slurm/slurm.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/adapters/local_api/served_daemon.h"

namespace muster::local::slurm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Ran {
  int code = 0;
  std::string out{};
  std::string err{};
};

constexpr char kScript[] = "#!/bin/sh\n#SBATCH --job-name=own\ntrue\n";

std::string Self() { return UserName(geteuid()); }

class SlurmApiTest : public ::testing::Test {
 protected:
  Ran Call(const std::string& name, const std::vector<std::string>& arguments,
           const std::string& input = "") {
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    const int code = slurm::Run(name, arguments, served_.socket(),
                                {.in = in, .out = out, .err = err});
    return {code, out.str(), err.str()};
  }
  Ran Slurm(const std::vector<std::string>& arguments) {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    const int code = RunSlurm(arguments, served_.socket(),
                              {.in = in, .out = out, .err = err});
    return {code, out.str(), err.str()};
  }
  void ExpectRefused(const Ran& ran, const std::string& why) {
    EXPECT_EQ(ran.code, 1) << ran.out;
    EXPECT_THAT(ran.err, HasSubstr("error: "));
    EXPECT_THAT(ran.err, HasSubstr(why));
    EXPECT_EQ(ran.out, "");
  }

  ServedDaemon served_;
};

TEST_F(SlurmApiTest, AScriptIsSubmittedSeenAndCancelled) {
  Ran ran = Call("sbatch", {"--gres=gpu:1", "-t", "1:00:00"}, kScript);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "Submitted batch job 1\n");
  EXPECT_EQ(ran.err, "");
  ran = Call("squeue", {});
  EXPECT_THAT(ran.out, StartsWith("             JOBID PARTITION     NAME"));
  EXPECT_EQ(Call("squeue", {"-h", "-o", "%i|%j|%t|%T|%C|%b|%l|%D|%u"}).out,
            "1|own|R|RUNNING|1|gres/gpu:1|1:00:00|1|" + Self() + "\n");
  EXPECT_EQ(Call("squeue", {"-h", "-t", "PD"}).out, "");
  EXPECT_EQ(Call("scancel", {"-v", "1"}).err, "scancel: Terminating job 1\n");
  EXPECT_EQ(Call("squeue", {"-h"}).out, "");
  EXPECT_EQ(Call("scancel", {"1"}).code, 0);  // It has finished.
  EXPECT_EQ(
      Call("sacct", {"-S1970-01-01", "-nPX", "-o", "jobid,state,exitcode"}).out,
      "1|CANCELLED|0:15\n");
}

TEST_F(SlurmApiTest, TheCommandLineOverridesTheScript) {
  EXPECT_EQ(Call("sbatch", {"-J", "mine", "-n2", "--parsable"}, kScript).out,
            "1\n");
  EXPECT_EQ(Call("squeue", {"-ho", "%j %C"}).out, "mine 2\n");
  ExpectRefused(
      Call("sbatch", {"--gpus=1"}, "#!/bin/sh\n#SBATCH --gres=gpu:2\ntrue\n"),
      "the script has --gres");
  ExpectRefused(Call("sbatch", {"--mem=1G"},
                     "#!/bin/sh\n#SBATCH --mem-per-cpu=2G\ntrue\n"),
                "the script has --mem-per-cpu");
}

TEST_F(SlurmApiTest, FilesAndWrappedCommandsHaveTheirNames) {
  const std::string file = served_.daemon().state + "/train.sh";
  std::ofstream(file) << "#!/bin/sh\necho $1\n";
  EXPECT_EQ(Call("sbatch", {"-H", file, "--lr", "1"}).code, 0);
  EXPECT_EQ(Call("sbatch", {"-H", "--wrap", "echo 'a b'"}).code, 0);
  EXPECT_EQ(Call("squeue", {"-ho", "%j %r"}).out,
            "train.sh JobHeldUser\nwrap JobHeldUser\n");
  ExpectRefused(Call("sbatch", {file + "x"}), "Unable to open file");
  ExpectRefused(Call("sbatch", {"--wrap", "x", file}), "not permitted");
  ExpectRefused(Call("sbatch", {}, "echo\n"), "first line");
}

TEST_F(SlurmApiTest, AnArrayIsOneLineThatWaitsAndManyThatRun) {
  EXPECT_EQ(Call("sbatch", {"-a", "1-4,9", "-H"}, kScript).out,
            "Submitted batch job 1\n");
  EXPECT_EQ(Call("squeue", {"-ho", "%i %j"}).out, "1_[1-4,9] own\n");
  EXPECT_EQ(Call("scancel", {"1_[2-3]"}).code, 0);
  EXPECT_EQ(Call("squeue", {"-rho", "%i %F %K"}).out,
            "1_1 1 1\n1_4 1 4\n1_9 1 9\n");
  EXPECT_EQ(Call("scancel", {"1"}).code, 0);  // All of it.
  EXPECT_EQ(Call("squeue", {"-h"}).out, "");
  EXPECT_EQ(Call("sbatch", {"-a", "1-4%2", "-H"}, kScript).out,
            "Submitted batch job 6\n");
  EXPECT_EQ(Call("squeue", {"-ho", "%i"}).out, "6_[1-4%2]\n");
  ExpectRefused(Call("sbatch", {"-a", "1-4%0"}, kScript), "behind %");
}

TEST_F(SlurmApiTest, JobsAreChosenByNameUserStateAndQueue) {
  Call("sbatch", {"-J", "a"}, kScript);
  Call("sbatch", {"-J", "b", "-H"}, kScript);
  EXPECT_EQ(Call("squeue", {"-hn", "b", "-o", "%i"}).out, "2\n");
  EXPECT_EQ(Call("squeue", {"-h", "--me", "-tR", "-o", "%i"}).out, "1\n");
  EXPECT_EQ(Call("squeue", {"-hu", "daemon"}).out, "");
  EXPECT_EQ(Call("squeue", {"-hp", "none"}).out, "");
  ExpectRefused(Call("squeue", {"-u", "no-such-user"}), "Invalid user");
  ExpectRefused(Call("squeue", {"-t", "X"}), "Invalid job state");
  ExpectRefused(Call("squeue", {"-j", "99"}), "Invalid job id specified: 99");
  EXPECT_EQ(Call("scancel", {"-u", Self(), "-t", "PENDING"}).code, 0);
  EXPECT_EQ(Call("squeue", {"-ho", "%i"}).out, "1\n");
  EXPECT_EQ(Call("scancel", {"-n", "a"}).code, 0);
  EXPECT_EQ(Call("squeue", {"-h"}).out, "");
}

TEST_F(SlurmApiTest, WhatCannotBeCancelledIsTold) {
  ExpectRefused(Call("scancel", {}), "No job identification provided");
  ExpectRefused(Call("scancel", {"99"}), "Invalid job id specified");
  ExpectRefused(Call("scancel", {"name"}), "Invalid job id specified");
  ExpectRefused(Call("scancel", {"-s", "USR1", "1"}), "--signal=USR1");
  EXPECT_EQ(Call("scancel", {"-Q", "99"}).err, "");
}

TEST_F(SlurmApiTest, AWhatIfSubmitsNothing) {
  const Ran ran = Call("sbatch", {"--test-only"}, kScript);
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err, StartsWith("sbatch: own would start now"));
  EXPECT_EQ(Call("sacct", {"-nS", "1970-01-01"}).out, "");
}

TEST_F(SlurmApiTest, WaitEndsWithTheJobsCode) {
  std::thread ends([this] {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const std::lock_guard lock(served_.mutex());
      const JobRow* row = served_.daemon().controller->Find(1);
      if (row == nullptr || row->phase != "running") continue;
      served_.daemon().Exit(1, 42);
      return;
    }
  });
  const Ran ran = Call("sbatch", {"--wait"}, kScript);
  ends.join();
  EXPECT_EQ(ran.code, 42);
  EXPECT_EQ(Call("sacct", {"-nPj", "1", "-o", "State,ExitCode"}).out,
            "FAILED|42:0\n");
}

TEST_F(SlurmApiTest, TheEnvironmentIsWhatExportSays) {
  setenv("SLURM_TEST_A", "of another job", 1);
  setenv("EXPORT_TEST", "here", 1);
  ASSERT_EQ(Call("sbatch", {"--parsable", "-H"}, kScript).out, "1\n");
  const auto of = [&](uint64_t id) {
    const std::lock_guard lock(served_.mutex());
    return served_.daemon()
        .Ask("GET", "/v1/jobs/" + std::to_string(id), "", Daemon::kOwner)
        .json()["environment"]
        .dump();
  };
  EXPECT_THAT(of(1), HasSubstr("EXPORT_TEST=here"));
  EXPECT_THAT(of(1), Not(HasSubstr("SLURM_TEST_A")));
  Call("sbatch", {"-H", "--export=NONE"}, kScript);
  EXPECT_THAT(of(2), Not(HasSubstr("EXPORT_TEST")));
  Call("sbatch", {"-H", "--export=EXPORT_TEST,B=1"}, kScript);
  EXPECT_EQ(of(3), "[\"EXPORT_TEST=here\"]");
  Call("sbatch", {"-H"}, "#!/bin/sh\n#SBATCH --export=NONE\ntrue\n");
  EXPECT_THAT(of(4), Not(HasSubstr("EXPORT_TEST")));
}

TEST_F(SlurmApiTest, KnownOptionsAreRefusedOrIgnoredByName) {
  ExpectRefused(Call("sbatch", {"--dependency=afterok:1"}, kScript),
                "--dependency: ");
  ExpectRefused(Call("sbatch", {"-C", "a100"}, kScript), "--constraint: ");
  ExpectRefused(Call("sbatch", {"--no-such"}, kScript), "--no-such");
  ExpectRefused(Call("srun", {"--pty", "bash"}), "--pty: ");
  ExpectRefused(Call("sinfo", {"-R"}), "--list-reasons: ");
  const Ran ran = Call("sbatch", {"--mail-type=END", "-A", "x"}, kScript);
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("warning: --mail-type: no mail is sent"));
  EXPECT_THAT(ran.err, HasSubstr("warning: --account: "));
}

TEST_F(SlurmApiTest, TheQueueAsJsonHasSlurmsNames) {
  Call("sbatch", {"-c", "2", "-t", "90", "-a", "3"}, kScript);
  const auto answer = nlohmann::json::parse(Call("squeue", {"--json"}).out);
  const auto& job = answer["jobs"][0];
  EXPECT_EQ(job["job_id"], 1);
  EXPECT_EQ(job["array_task_id"]["number"], 3);
  EXPECT_EQ(job["job_state"][0], "RUNNING");
  EXPECT_EQ(job["cpus"]["number"], 2);
  EXPECT_EQ(job["time_limit"]["number"], 90);
  EXPECT_EQ(job["user_name"], Self());
  EXPECT_EQ(job["name"], "own");
}

TEST_F(SlurmApiTest, TheMachineIsANodeOfEachQueue) {
  EXPECT_THAT(Call("sinfo", {}).out, HasSubstr("infinite      1   idle "));
  Call("sbatch", {"-G1"}, kScript);
  EXPECT_EQ(Call("sinfo", {"-ho", "%P|%a|%T|%G|%D"}).out,
            "default|up|mixed|gpu:2|1\n");
  EXPECT_THAT(Call("sinfo", {"-N"}).out, StartsWith("NODELIST"));
  EXPECT_EQ(Call("sinfo", {"-h", "-p", "none"}).out, "");
}

TEST_F(SlurmApiTest, TheHistoryIsFilteredAndFormatted) {
  Call("sbatch", {"-J", "a", "-G2", "--mem=2G"}, kScript);
  served_.Exit(1, 0);
  Call("sbatch", {"-J", "b", "-H"}, kScript);
  EXPECT_EQ(Call("sacct", {"-S", "1970-01-01", "-s", "CD", "-P", "-o",
                           "JobName,AllocTRES,NNodes"})
                .out,
            "JobName|AllocTRES|NNodes\na|cpu=1,mem=2G,node=1,gres/gpu=2|1\n");
  EXPECT_EQ(Call("sacct", {"-S", "1970-01-01", "-np", "-o", "jobid"}).out,
            "1|\n2|\n");
  EXPECT_EQ(Call("sacct", {"-S1970-01-01", "-no", "jobname%3,state%-4"}).out,
            "  a COM+ \n  b PEN+ \n");
  ExpectRefused(Call("sacct", {"-o", "nothing"}), "Invalid field requested");
  ExpectRefused(Call("sacct", {"-S", "sometime"}), "expected a time");
  EXPECT_THAT(Call("sacct", {"-e"}).out, HasSubstr("AllocTRES\n"));
}

TEST_F(SlurmApiTest, AJobOfItsOwnIsRunAndItsCodeTold) {
  unsetenv("SLURM_JOB_ID");
  unsetenv("MUSTER_JOB_ID");
  ExpectRefused(Call("srun", {}), "No command given");
  std::thread ends([this] {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const std::lock_guard lock(served_.mutex());
      const JobRow* row = served_.daemon().controller->Find(1);
      if (row == nullptr || row->phase != "running") continue;
      const std::string folder = served_.daemon().FolderOf(1);
      std::filesystem::create_directories(folder);
      std::ofstream(folder + "/output") << "hello\n";
      served_.daemon().Exit(1, 7);
      return;
    }
  });
  const Ran ran = Call("srun", {"-J", "step", "echo", "hello"});
  ends.join();
  EXPECT_EQ(ran.code, 7) << ran.err;
  EXPECT_EQ(ran.out, "hello\n");
  EXPECT_EQ(Call("sacct", {"-nPj1", "-o", "JobName"}).out, "step\n");
}

TEST_F(SlurmApiTest, NoDaemonIsAnError) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(slurm::Run("squeue", {}, served_.socket() + "-none",
                       {.in = in, .out = out, .err = err}),
            1);
  EXPECT_THAT(err.str(), StartsWith("squeue: error: no answer from musterd"));
}

TEST_F(SlurmApiTest, LinksAreMadeAndOthersProgramsStay) {
  const std::string folder = served_.daemon().state + "/bin";
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/squeue") << "a real one";
  const Ran ran = Slurm({"install", folder});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("squeue: is another program"));
  EXPECT_FALSE(std::filesystem::is_symlink(folder + "/squeue"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder + "/sbatch"));
  std::filesystem::remove(folder + "/squeue");
  EXPECT_EQ(Slurm({"install", folder}).code, 0);
  EXPECT_EQ(Slurm({"install", folder}).code, 0);  // They are there.
  EXPECT_EQ(Slurm({"install", folder + "/none"}).code, 1);
  EXPECT_EQ(Slurm({}).code, 2);
  EXPECT_EQ(Slurm({"smap"}).code, 2);
  EXPECT_EQ(Slurm({"sinfo", "-h"}).code, 0);
  EXPECT_EQ(NameOf("/usr/local/bin/sbatch"), "sbatch");
  EXPECT_EQ(NameOf("/usr/bin/muster"), "");
}

}  // namespace
}  // namespace muster::local::slurm
