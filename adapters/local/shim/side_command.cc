#include "adapters/local/shim/side_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "adapters/local/shim/exec.h"
#include "adapters/local/shim/task_user.h"

namespace muster::local {
namespace {

constexpr unsigned kLongestSeconds = 30;

}  // namespace

pid_t StartSideCommand(const ShimSpec& spec,
                       const std::vector<std::string>& command) {
  if (command.empty()) return 0;
  const pid_t pid = fork();
  if (pid != 0) return std::max<pid_t>(pid, 0);
  if (spec.user && !BecomeUser(*spec.user)) _exit(126);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    dup2(null, fd);
  }
  ResetSignals();
  alarm(kLongestSeconds);
  std::vector<char*> environment = ExecList(spec.environment);
  environ = environment.data();
  execvp(command.front().c_str(), ExecList(command).data());
  _exit(127);
}

}  // namespace muster::local
