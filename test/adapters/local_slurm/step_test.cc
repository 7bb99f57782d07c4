#include "adapters/local/slurm/step.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local::slurm {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class StepTest : public ::testing::Test {
 protected:
  int Run(const std::string& script, uint32_t tasks) {
    step_.command = {"sh", "-c", script};
    step_.tasks = tasks;
    step_.environment.push_back("PATH=/usr/bin:/bin");
    return RunStep(command_, {.in = in_, .out = out_, .err = err_}, step_);
  }

  Command command_{"srun", ""};
  std::istringstream in_{};
  std::ostringstream out_{}, err_{};
  Step step_{};
};

TEST_F(StepTest, EachTaskKnowsItsNumberAndItsDevices) {
  step_.environment = {"SLURM_PROCID=7", "OTHER=1"};
  step_.devices = {"0,1", "2,3"};
  step_.tasks = 2;
  const auto environment = TaskEnvironment(step_, 1);
  EXPECT_THAT(environment, Contains("SLURM_PROCID=1"));
  EXPECT_THAT(environment, Not(Contains("SLURM_PROCID=7")));
  EXPECT_THAT(environment, Contains("SLURM_NTASKS=2"));
  EXPECT_THAT(environment, Contains("CUDA_VISIBLE_DEVICES=2,3"));
  EXPECT_THAT(environment, Contains("OTHER=1"));
}

TEST_F(StepTest, EachTaskIsBoundToItsCpusAndThisProcessToNone) {
  cpu_set_t before, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  std::vector<uint32_t> cpus;
  for (uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before)) cpus.push_back(cpu);
  }
  // The third may not go there, and runs where this process does.
  step_.cpus = {{cpus.front()}, {cpus.back()}, {CPU_SETSIZE - 1}};
  step_.environment = {absl::StrCat("LAST=", cpus.size())};
  EXPECT_EQ(Run("[ $SLURM_PROCID = 2 ] && [ $(nproc) = $LAST ] && exit 0; "
                "[ $(nproc) = 1 ] && grep -q "
                "\"Cpus_allowed_list:.$MUSTER_CPUS$\" /proc/self/status",
                3),
            0)
      << err_.str();
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST_F(StepTest, TheHighestCodeIsThatOfTheStep) {
  EXPECT_EQ(Run("exit $SLURM_PROCID", 4), 3);
  EXPECT_THAT(err_.str(), HasSubstr("task 3: Exited with exit code 3"));
  EXPECT_THAT(err_.str(), Not(HasSubstr("task 0")));
}

TEST_F(StepTest, ASignalOfATaskIsACode) {
  EXPECT_EQ(Run("kill -9 $$", 1), 137);
  EXPECT_THAT(err_.str(), HasSubstr("ended by signal 9"));
}

TEST_F(StepTest, ACommandThatIsNotThereIsTold) {
  step_.command = {"/proc/no-such/program"};
  EXPECT_EQ(RunStep(command_, {.in = in_, .out = out_, .err = err_}, step_),
            127);
  EXPECT_THAT(err_.str(), HasSubstr("/proc/no-such/program"));
}

TEST_F(StepTest, OneFailureStopsAllWhereThatIsAsked) {
  step_.kill_on_failure = true;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Run("[ $SLURM_PROCID = 0 ] && exit 4; exec sleep 60", 2), 143);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST_F(StepTest, ASignalGoesOnToTheTasks) {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, nullptr);  // Of the thread, too.
  std::thread sends([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    kill(getpid(), SIGTERM);
  });
  EXPECT_EQ(Run("trap 'exit 6' TERM; while :; do sleep 0.05; done", 1), 6);
  sends.join();
  pthread_sigmask(SIG_UNBLOCK, &term, nullptr);
}

}  // namespace
}  // namespace muster::local::slurm
