#include "adapters/local/shim/task_cleanup.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "adapters/local/shim/task_user.h"

namespace muster::local {
namespace {

constexpr unsigned kLongestSeconds = 30;

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) {
    list.push_back(const_cast<char*>(text.c_str()));
  }
  list.push_back(nullptr);
  return list;
}

}  // namespace

void StartCleanup(const ShimSpec& spec) {
  if (spec.cleanup.empty() || fork() != 0) return;
  if (spec.user && !BecomeUser(*spec.user)) _exit(126);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    dup2(null, fd);
  }
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    std::signal(signal, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  alarm(kLongestSeconds);
  std::vector<char*> environment = Pointers(spec.environment);
  environ = environment.data();
  execvp(spec.cleanup.front().c_str(), Pointers(spec.cleanup).data());
  _exit(127);
}

}  // namespace muster::local
