// A command with the devices and CPUs of a task of a job: the remote shell of
// mpirun, whose hosts are places on this machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/local/client/session.h"

namespace muster::local {

// What is to be executed, and what its environment has beside or in place of
// that of the caller.
struct ExecPlan {
  std::string command{};  // For a shell.
  std::string session{};  // Of the job and the task: names a folder.
  std::vector<std::pair<std::string, std::string>> environment{};
  std::vector<uint32_t> cpus{};  // It is bound to these; none: as the caller.
};

// `words`: a host and a command, as ssh has them: the words are one line for a
// shell. The host is "7.worker-0"; or, in a task of the job ($MUSTER_JOB_ID,
// here as `inside`), "worker-0" or a name that ends so, as the hostfile of the
// job has. INVALID_ARGUMENT: there is no command, or no job; NOT_FOUND: no such
// job.
absl::StatusOr<ExecPlan> PlanExec(Session* session, const std::string& inside,
                                  const std::vector<std::string>& words);

// Becomes that command. Returns only if it cannot.
int Exec(Session* session, const std::vector<std::string>& words);

}  // namespace muster::local
