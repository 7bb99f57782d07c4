#include "adapters/local/shim/shim.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/shim/adoption.h"
#include "adapters/local/shim/record.h"
#include "adapters/local/shim/task_input.h"

namespace muster::local {
namespace {

constexpr mode_t kFolderMode = 0711;  // Others go through it, no more.

// The folder, and those above it.
absl::Status MakeFolders(const std::string& path) {
  if (mkdir(path.c_str(), kFolderMode) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  const size_t slash = path.rfind('/');
  if (errno != ENOENT || slash == 0 || slash == std::string::npos) {
    return absl::ErrnoToStatus(errno, path);
  }
  if (auto status = MakeFolders(path.substr(0, slash)); !status.ok()) {
    return status;
  }
  if (mkdir(path.c_str(), kFolderMode) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, path);
}

// What posix_spawn is told: a session of its own, nothing of ours open, and no
// signal that arrives before the shim is ready for it.
class Spawn {
 public:
  Spawn() {
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_init(&files_);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &all);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID |
                                               POSIX_SPAWN_SETSIGMASK |
                                               POSIX_SPAWN_SETSIGDEF);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      posix_spawn_file_actions_addopen(&files_, fd, "/dev/null", O_RDWR, 0);
    }
  }
  ~Spawn() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  // 0 or an errno.
  int Run(const std::string& program, const std::string& argument, pid_t* pid) {
    std::array<char*, 3> arguments = {const_cast<char*>(program.c_str()),
                                      const_cast<char*>(argument.c_str()),
                                      nullptr};
    std::array<char*, 1> environment = {nullptr};
    return posix_spawn(pid, program.c_str(), &files_, &attributes_,
                       arguments.data(), environment.data());
  }

 private:
  posix_spawnattr_t attributes_{};
  posix_spawn_file_actions_t files_{};
};

}  // namespace

Shim::Shim(std::string folder, int32_t pid, OpenFile pidfd)
    : folder_(std::move(folder)), pid_(pid), pidfd_(std::move(pidfd)) {}

Shim::~Shim() {
  // Leaves no zombie of one that has ended.
  siginfo_t info{};
  if (pidfd_.ok()) {
    waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(fd()), &info,
           WEXITED | WNOHANG);
  }
}

Shim& Shim::operator=(Shim&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(exit_status_, other.exit_status_);
  return *this;
}

absl::Status Shim::Signal(int signal) {
  if (syscall(SYS_pidfd_send_signal, fd(), signal, nullptr, 0) == 0 ||
      errno == ESRCH) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, absl::StrCat("shim of ", folder_));
}

absl::Status Shim::TellByFile(const char* file, std::string_view bytes) {
  const OpenFile folder = OpenAttemptFolder(folder_);
  if (!folder.ok()) return absl::ErrnoToStatus(errno, folder_);
  const int error = WriteFile(folder.fd(), file, bytes);
  if (error == 0) return Signal(SIGHUP);
  return absl::ErrnoToStatus(error, absl::StrCat(folder_, "/", file));
}

absl::Status Shim::Stop(Duration grace) {
  if (grace < 0 || grace > kMaxDuration) {
    return absl::InvalidArgumentError("grace: expected 0 to kMaxDuration");
  }
  const OpenFile folder = OpenAttemptFolder(folder_);
  if (!folder.ok()) return absl::ErrnoToStatus(errno, folder_);
  RecordWriter out;
  out.Add("grace", grace);
  const int error = WriteFile(folder.fd(), kGraceFile, out.Take());
  // A stop goes on with the spec's grace where the disk is full.
  if (auto status = Signal(SIGTERM); !status.ok()) return status;
  if (error == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(error, absl::StrCat(folder_, "/", kGraceFile));
}

absl::Status Shim::Kill() { return Signal(SIGQUIT); }
absl::Status Shim::Suspend() { return Signal(SIGUSR1); }
absl::Status Shim::Resume() { return Signal(SIGUSR2); }

absl::Status Shim::Bind(const std::vector<uint32_t>& cpus) {
  if (cpus.empty() || !ProblemOfCpus(cpus).empty()) {
    return absl::InvalidArgumentError(cpus.empty() ? "cpus: expected some"
                                                   : ProblemOfCpus(cpus));
  }
  return TellByFile(kCpusFile, EncodeCpus(cpus));
}

absl::StatusOr<size_t> Shim::Send(std::string_view bytes) {
  const OpenFile folder = OpenAttemptFolder(folder_);
  if (!folder.ok()) return absl::ErrnoToStatus(errno, folder_);
  size_t taken = 0;
  int error = WriteInput(folder.fd(), bytes, &taken);
  if (error == ENOENT || error == ENXIO) {
    // It may be about to be made; when it has started, it has been.
    if (faccessat(folder.fd(), kStartedFile, F_OK, 0) != 0) return 0;
    error = WriteInput(folder.fd(), bytes, &taken);
  }
  switch (error) {
    case 0:
    case EAGAIN:
      return taken;
    case ENOENT:
      return absl::FailedPreconditionError("the task has no input");
    case ENXIO:
    case EPIPE:
      return absl::FailedPreconditionError("the task reads no input any more");
    default:
      return absl::ErrnoToStatus(error, absl::StrCat(folder_, "/", kInputFile));
  }
}

absl::Status Shim::EndInput() { return TellByFile(kNoInputFile, ""); }

absl::StatusOr<ShimExit> Shim::Exit(Duration patience) {
  pollfd poll_fd{.fd = fd(), .events = POLLIN, .revents = 0};
  if (poll(&poll_fd, 1, 0) != 1) {
    return absl::FailedPreconditionError(
        absl::StrCat("shim of ", folder_, ": has not ended"));
  }
  siginfo_t info{};
  if (waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(fd()), &info,
             WEXITED) == 0 &&
      info.si_code == CLD_EXITED) {
    exit_status_ = info.si_status;
  }
  auto adoption = Adopt(folder_, patience);
  if (!adoption.ok()) return adoption.status();
  switch (adoption->state) {
    case AttemptState::kEnded:
      return *std::move(adoption->exit);
    case AttemptState::kRuns:
      return absl::AbortedError(
          absl::StrCat("shim of ", folder_, ": another one runs the task"));
    case AttemptState::kLost:
      return absl::DataLossError(absl::StrCat(
          "shim of ", folder_, ": ended without telling how the task did"));
    case AttemptState::kNeverLaunched:
      break;
  }
  // Where another one had the folder and ended before it started the task, it
  // can be tried again as well.
  const bool has_errno = exit_status_ > kShimDone && exit_status_ < kShimRuns;
  return absl::UnavailableError(absl::StrCat(
      "shim of ", folder_, ": ended before it started the task",
      has_errno ? ": " : "", has_errno ? std::strerror(exit_status_) : ""));
}

absl::StatusOr<Shim> Launch(const std::string& program,
                            const std::string& folder, const ShimSpec& spec) {
  if (const std::string problem = ProblemOf(spec); !problem.empty()) {
    return absl::InvalidArgumentError(problem);
  }
  if (!folder.starts_with('/')) {
    return absl::InvalidArgumentError("folder: expected an absolute path");
  }
  if (auto status = MakeFolders(folder); !status.ok()) return status;
  const OpenFile open_folder = OpenAttemptFolder(folder);
  if (!open_folder.ok()) return absl::ErrnoToStatus(errno, folder);
  if (const int error = WriteFile(open_folder.fd(), kSpecFile, Encode(spec));
      error != 0) {
    return absl::ErrnoToStatus(error, absl::StrCat(folder, "/", kSpecFile));
  }
  pid_t pid = 0;
  if (const int error = Spawn().Run(program, folder, &pid); error != 0) {
    return absl::ErrnoToStatus(error, program);
  }
  // A child that nobody has waited for keeps its number.
  OpenFile pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.ok()) return absl::ErrnoToStatus(errno, "pidfd_open");
  return Shim(folder, pid, std::move(pidfd));
}

}  // namespace muster::local
