// Shim: the daemon's handle on a muster-shim, the process that runs one task
// and outlives the daemon.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/shim/attempt_folder.h"
#include "adapters/local/shim/open_file.h"
#include "adapters/local/shim/shim_exit.h"
#include "adapters/local/shim/shim_spec.h"
#include "muster/ids.h"

namespace muster::local {

// One thread at a time. Its end leaves the task as it is.
//
// Stop, Kill, Suspend, Resume and Bind ask the shim and do not wait: what came
// of it is told by Exit. They are OK where it has ended. PERMISSION_DENIED: it
// runs as somebody else. All functions: some system calls, no waiting.
class Shim {
 public:
  // A process that exists, by its pidfd. Rather Launch and Adopt.
  Shim(std::string folder, int32_t pid, OpenFile pidfd);
  ~Shim();
  Shim(Shim&& other) noexcept = default;
  Shim& operator=(Shim&& other) noexcept;

  // Readable when the shim has ended.
  int fd() const { return pidfd_.fd(); }
  int32_t pid() const { return pid_; }
  const std::string& folder() const { return folder_; }

  // SIGTERM to the process group of the task's main process, which is resumed
  // if it was suspended; SIGKILL to all of its processes when `grace` is over.
  // A later stop can leave it less time, not more. INVALID_ARGUMENT: `grace` is
  // none of 0..kMaxDuration.
  absl::Status Stop(Duration grace);
  // SIGKILL at once.
  absl::Status Kill();
  // SIGSTOP to all of its processes. They keep their memory; the time limit
  // stands still. Nothing happens to a task that is being stopped.
  absl::Status Suspend();
  absl::Status Resume();
  // Its processes run on these CPUs from now on, also while it is suspended;
  // what has bound itself to some of them stays there. INVALID_ARGUMENT: there
  // is none, or no such number.
  absl::Status Bind(const std::vector<uint32_t>& cpus);
  // As much of it as there is room for is what the task reads next: how much;
  // nothing while it has not started. FAILED_PRECONDITION: the task has no
  // input (ShimSpec::input), or does not read it any more.
  absl::StatusOr<size_t> Send(std::string_view bytes);
  // Behind what was sent, the task reads the end of its input.
  absl::Status EndInput();

  // How the task ended. A shim that is a child of this process is waited for.
  // FAILED_PRECONDITION: the shim has not ended. ABORTED: this one has found
  // another shim in the folder; Adopt gives that one. DATA_LOSS: the shim ended
  // without telling; what it had started has been killed. UNAVAILABLE: it ended
  // before it started the task, and why; Launch may be tried again.
  // DEADLINE_EXCEEDED: after a lost shim, as of Adopt.
  absl::StatusOr<ShimExit> Exit(Duration patience = 5 * kSecond);

 private:
  absl::Status Signal(int signal);
  // What the file has now is to be heeded.
  absl::Status TellByFile(const char* file, std::string_view bytes);

  std::string folder_;
  int32_t pid_;
  OpenFile pidfd_;
  int exit_status_ = kShimDone;  // Of the shim, if it was a child that exited.
};

// Starts `program`, a muster-shim, detached from this process, for a task in
// `folder`, an absolute path. The folder is made if it is not there, with those
// above it, and is this user's alone to write in and to list. To launch twice
// is harmless: one shim starts the task, once, the other one ends (Exit:
// ABORTED, or the end of the task). INVALID_ARGUMENT names the field of `spec`.
// Otherwise what the system says: no disk space, no such program. After it the
// shim has what it needs, and survives kill -9 of this process. This process
// does not ignore SIGCHLD, nor wait for children that it does not know. About
// as long as a vfork and exec.
absl::StatusOr<Shim> Launch(const std::string& program,
                            const std::string& folder, const ShimSpec& spec);

}  // namespace muster::local
