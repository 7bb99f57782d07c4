#include "adapters/local/shim/task_cleanup.h"

#include <fcntl.h>
#include <unistd.h>

#include <vector>

#include "adapters/local/shim/exec.h"
#include "adapters/local/shim/task_user.h"

namespace muster::local {
namespace {

constexpr unsigned kLongestSeconds = 30;

}  // namespace

void StartCleanup(const ShimSpec& spec) {
  if (spec.cleanup.empty() || fork() != 0) return;
  if (spec.user && !BecomeUser(*spec.user)) _exit(126);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    dup2(null, fd);
  }
  ResetSignals();
  alarm(kLongestSeconds);
  std::vector<char*> environment = ExecList(spec.environment);
  environ = environment.data();
  execvp(spec.cleanup.front().c_str(), ExecList(spec.cleanup).data());
  _exit(127);
}

}  // namespace muster::local
