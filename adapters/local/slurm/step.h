// A command as a step of the job that this process is of: so many processes of
// it, beside each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/local/slurm/command.h"

namespace muster::local::slurm {

struct Step {
  std::vector<std::string> command{};
  uint32_t tasks = 1;
  std::string directory{};  // Empty: this one.
  std::vector<std::string> environment{};
  // The devices of each task; empty: those of the environment.
  std::vector<std::string> devices{};
  // The CPUs of each task, which is bound to them; empty: those of this
  // process.
  std::vector<std::vector<uint32_t>> cpus{};
  bool kill_on_failure = false;
};

// The environment of one task of a step: the step's, with the task's number.
std::vector<std::string> TaskEnvironment(const Step& step, uint32_t task);

// Runs it to its end; signals go on to the processes. The highest code; 128 and
// the number for a signal; 127 for a command that is not there. Of a program
// with one thread, or whose other threads block SIGINT, SIGTERM, SIGHUP and
// SIGCHLD.
int RunStep(const Command& command, const Streams& to, const Step& step);

}  // namespace muster::local::slurm
