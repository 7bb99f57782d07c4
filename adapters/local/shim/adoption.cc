#include "adapters/local/shim/adoption.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/local/shim/attempt_folder.h"
#include "adapters/local/shim/open_file.h"
#include "adapters/local/shim/process_tree.h"
#include "adapters/local/shim/shim_spec.h"
#include "adapters/local/shim/shim_start.h"
#include "adapters/local/shim/task_cgroup.h"

namespace muster::local {
namespace {

// How long after each other it is looked for what was killed.
constexpr std::chrono::milliseconds kBetweenLooks(5);

// Who has the lock of a shim; 0: nobody. It is asked without being taken, so
// that a shim that starts meanwhile can have it.
absl::StatusOr<int32_t> HolderOf(int lock_file) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(lock_file, F_GETLK, &lock) != 0) {
    return absl::ErrnoToStatus(errno, kLockFile);
  }
  return lock.l_type == F_UNLCK ? 0 : lock.l_pid;
}

// The shim that runs in the folder, if one does.
absl::StatusOr<std::optional<Shim>> RunningIn(int folder,
                                              const std::string& path) {
  const OpenFile file(
      openat(folder, kLockFile, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.ok() && errno == ENOENT) return std::nullopt;
  if (!file.ok()) return absl::ErrnoToStatus(errno, kLockFile);
  for (;;) {
    const auto holder = HolderOf(file.fd());
    if (!holder.ok()) return holder.status();
    if (*holder == 0) return std::nullopt;
    OpenFile pidfd(static_cast<int>(syscall(SYS_pidfd_open, *holder, 0)));
    if (!pidfd.ok() && errno != ESRCH) {
      return absl::ErrnoToStatus(errno, "pidfd_open");
    }
    // Who still has the lock had it when the pidfd was opened.
    const auto again = HolderOf(file.fd());
    if (!again.ok()) return again.status();
    if (pidfd.ok() && *again == *holder) {
      return Shim(path, *holder, std::move(pidfd));
    }
  }
}

// What is left of a task whose shim has ended.
class Remains {
 public:
  explicit Remains(const ShimStart& start) : start_(start) {
    // No task is in the session of who looks, nor in that of processes whose
    // session began outside of this PID namespace, which is told as 0.
    if (start.shim.pid <= 0 || start.shim.pid == getsid(0)) return;
    // A number of a session is not given to another process as long as the
    // session has one; if it has been, then the session is another one.
    const auto shim = StatOf(start.shim.pid);
    session_ends_ = !shim || shim->id == start.shim;
  }

  std::vector<ProcessStat> List() const {
    std::vector<ProcessStat> found;
    std::set<ProcessId> seen;
    const auto add = [&](const ProcessStat& process) {
      if (process.state != 'Z' && process.state != 'X' &&
          process.id != start_.shim && seen.insert(process.id).second) {
        found.push_back(process);
      }
    };
    const auto main = StatOf(start_.task.pid);
    if (main && main->id == start_.task) add(*main);
    if (session_ends_) {
      for (const ProcessStat& process : ProcessesOfSession(start_.shim.pid)) {
        if (process.id.start >= start_.shim.start) add(process);
      }
    }
    for (size_t i = 0; i < found.size(); ++i) {
      for (const ProcessStat& child : DescendantsOf(found[i].id.pid)) {
        add(child);
      }
    }
    return found;
  }

 private:
  const ShimStart start_;
  bool session_ends_ = false;
};

// That of the spec, if it has one.
TaskCgroup CgroupOf(int folder) {
  std::string bytes;
  ShimSpec spec;
  if (ReadFile(folder, kSpecFile, &bytes) != 0 || !Decode(bytes, &spec)) {
    return TaskCgroup();
  }
  return TaskCgroup::Existing(spec.cgroup);
}

absl::Status KillRemains(int folder, const std::string& path,
                         const ShimStart& start, Duration patience) {
  if (start.boot != BootId()) return absl::OkStatus();  // Another boot's.
  const Remains remains(start);
  TaskCgroup cgroup = CgroupOf(folder);
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience);
  for (;;) {
    cgroup.Kill();
    if (Slay([&] { return remains.List(); }).empty() && !cgroup.IsPopulated()) {
      cgroup.Remove();
      return absl::OkStatus();
    }
    if (std::chrono::steady_clock::now() >= end) break;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return absl::DeadlineExceededError(
      absl::StrCat(path, ": the shim is gone, and its task is still there"));
}

// Of one whose task was started and did not end by itself.
absl::StatusOr<Adoption> AdoptLost(int folder, const std::string& path,
                                   const std::string& started,
                                   Duration patience) {
  // A damaged file is one from before a loss of power, as are its processes.
  ShimStart start;
  if (Decode(started, &start)) {
    if (auto status = KillRemains(folder, path, start, patience);
        !status.ok()) {
      return status;
    }
  }
  return Adoption{.state = AttemptState::kLost};
}

}  // namespace

absl::StatusOr<Adoption> Adopt(const std::string& folder, Duration patience) {
  const OpenFile open_folder = OpenAttemptFolder(folder);
  if (!open_folder.ok() && errno == ENOENT) return Adoption{};
  if (!open_folder.ok()) return absl::ErrnoToStatus(errno, folder);
  // In the opposite order of what a shim does: lock, "started", "exit". So what
  // was started and has no lock and no "exit" has no shim either.
  std::string started;
  const int not_started = ReadFile(open_folder.fd(), kStartedFile, &started);
  if (not_started != 0 && not_started != ENOENT) {
    return absl::ErrnoToStatus(not_started,
                               absl::StrCat(folder, "/", kStartedFile));
  }
  auto shim = RunningIn(open_folder.fd(), folder);
  if (!shim.ok()) return shim.status();
  if (*shim) {
    return Adoption{.state = AttemptState::kRuns, .shim = std::move(*shim)};
  }
  std::string bytes;
  ShimExit exit;
  if (ReadFile(open_folder.fd(), kExitFile, &bytes) == 0 &&
      Decode(bytes, &exit)) {
    return Adoption{.state = AttemptState::kEnded, .exit = std::move(exit)};
  }
  if (not_started != 0) return Adoption{};
  return AdoptLost(open_folder.fd(), folder, started, patience);
}

}  // namespace muster::local
