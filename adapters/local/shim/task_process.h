// The main process of a task, from fork to exec. POSIX alone. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "adapters/local/shim/open_file.h"
#include "adapters/local/shim/shim_spec.h"

namespace muster::local {

// A process that has been forked and waits to become the task.
class TaskProcess {
 public:
  // Forks it: it leads a process group of its own. pid() is 0 if that failed,
  // and problem() says why. All are used before it returns. `input`: its
  // standard input; -1: /dev/null.
  static TaskProcess Fork(const ShimSpec& spec, int folder, int input);

  int32_t pid() const { return pid_; }
  // Lets it go on. What is left undone if the shim dies before: it ends.
  void Go();
  // When it has ended: why it did not become the task; "": it did.
  std::string problem();

 private:
  int32_t pid_ = 0;
  OpenFile go_;       // It waits for a byte, or the end.
  OpenFile problem_;  // It writes here what failed; exec closes it.
  std::string fork_problem_;
};

}  // namespace muster::local
