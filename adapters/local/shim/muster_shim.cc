// muster-shim: runs the task of one attempt and outlives the daemon.
//
//   muster-shim FOLDER
//   muster-shim --try-mounts     0, or the errno why tasks can have no mounts.
//   muster-shim --run ...        Within an image: bubblewrap.h.
//
// FOLDER has the file "spec" (shim_spec.h). Signals to the shim: SIGTERM stops
// the task, with its grace (or that of the file "grace"), SIGQUIT at once,
// SIGUSR1 suspends and SIGUSR2 resumes it, SIGHUP binds it to the CPUs of the
// file "cpus"; all others are ignored. Exit codes: attempt_folder.h. Small and
// without libraries, for there are many.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "adapters/local/shim/attempt_folder.h"
#include "adapters/local/shim/bubblewrap.h"
#include "adapters/local/shim/open_file.h"
#include "adapters/local/shim/shim_exit.h"
#include "adapters/local/shim/shim_spec.h"
#include "adapters/local/shim/supervisor.h"
#include "adapters/local/shim/task_mounts.h"

namespace muster::local {
namespace {

// Out of reach of the daemon's end, its terminal and its files.
void Detach() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  setsid();  // Fails where it leads a session already.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  syscall(SYS_close_range, 3u, ~0u, 0u);
}

// 0: the lock is ours, until the process ends. It is a record lock, which
// belongs to the process and not to the task, and of which the kernel tells
// the holder.
int Lock(int folder) {
  OpenFile file(openat(folder, kLockFile,
                       O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (!file.ok() || fcntl(file.fd(), F_SETLK, &lock) != 0) {
    return errno == EAGAIN || errno == EACCES ? kShimRuns : errno;
  }
  file.Release();
  return 0;
}

bool Exists(int folder, const char* name) {
  return faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

// The spec is not what the daemon wrote, which no try can mend.
int RefuseSpec(int folder) {
  const ShimExit exit{.code = 126,
                      .reason = ShimReason::kNotStarted,
                      .message = "spec: damaged"};
  return WriteFile(folder, kExitFile, Encode(exit));
}

int Main(const char* path) {
  Detach();
  const OpenFile folder = OpenAttemptFolder(path);
  if (!folder.ok()) return errno;
  [[maybe_unused]] const int moved = chdir("/");  // Holds no file system.
  if (const int error = Lock(folder.fd()); error != 0) return error;
  if (Exists(folder.fd(), kStartedFile) || Exists(folder.fd(), kExitFile)) {
    return kShimWasHere;
  }
  std::string bytes;
  if (const int error = ReadFile(folder.fd(), kSpecFile, &bytes); error != 0) {
    return error;
  }
  ShimSpec spec;
  if (!Decode(bytes, &spec)) return RefuseSpec(folder.fd());
  return Supervisor(folder.fd(), std::move(spec)).Run();
}

}  // namespace
}  // namespace muster::local

int main(int argc, char** argv) {
  if (argc > 3 && std::string_view(argv[1]) == muster::local::kRun) {
    return muster::local::RunInImage(argv + 2);
  }
  if (argc != 2) {
    std::fputs("usage: muster-shim FOLDER | --try-mounts\n", stderr);
    return EINVAL;
  }
  if (std::string_view(argv[1]) == muster::local::kTryMounts) {
    return muster::local::TryMounts();
  }
  return muster::local::Main(argv[1]);
}
