// A process of its own, for what a crash leaves behind.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace muster::wire {

// As kill -9: no destructor runs, nothing is flushed.
[[noreturn]] inline void KillThisProcess() {
  raise(SIGKILL);
  _exit(99);
}

class Child {
 public:
  // Runs `body` in a copy of this process; what it returns is the exit code.
  // A failed expectation in it does not reach the test: return a code instead.
  explicit Child(const std::function<int()>& body) : pid_(fork()) {
    if (pid_ < 0) ADD_FAILURE() << "cannot fork";
    if (pid_ == 0) _exit(body());
  }
  ~Child() { Kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    Wait();
  }
  // The exit code; -1 if it was killed.
  int Wait() {
    int status = 0;
    if (pid_ > 0) waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_;
};

}  // namespace muster::wire
