#include "adapters/local/shim/task_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/local/shim/bubblewrap.h"
#include "adapters/local/shim/exec.h"
#include "adapters/local/shim/task_mounts.h"
#include "adapters/local/shim/task_user.h"
#include "adapters/local/shim/task_variables.h"
#include "adapters/local/shim/task_volumes.h"

namespace muster::local {
namespace {

constexpr int kNotFound = 127;
constexpr int kNotRunnable = 126;
constexpr mode_t kOutputMode = 0666;  // Less the task's umask.
constexpr mode_t kInFolderMode = 0600;

// What the forked process does. It is the only thread, and whatever fails ends
// it.
class Child {
 public:
  Child(const ShimSpec& spec, int folder, int input, int go, int problem)
      : spec_(spec), folder_(folder), go_(go), problem_(problem), in_(input) {}

  [[noreturn]] void Run() {
    AwaitGo();
    SetLimits();
    umask(spec_.umask);
    // What lies in the folder is the shim's to make, all else the user's.
    OpenOutputs(/*in_folder=*/true);
    if (spec_.volumes.empty()) {
      TakeUser();
      TakeVariables();
    } else {
      TakeVolumes();
    }
    // That of an image is entered within it.
    const std::string directory = in_image_ ? "/" : spec_.directory;
    if (chdir(directory.c_str()) != 0) Fail("directory: ", directory);
    OpenOutputs(/*in_folder=*/false);
    if (in_image_) WrapCommand();
    TakeStreams();
    ResetSignals(in_image_ ? SIGTERM : 0);  // See RunInImage.
    Exec();
  }

 private:
  [[noreturn]] void Fail(std::string_view field, std::string_view value,
                         int code = kNotRunnable) {
    const char* const why = std::strerror(errno);
    const std::string text =
        std::string(field).append(value).append(": ").append(why);
    // If nobody reads it, there is nobody to tell.
    [[maybe_unused]] const ssize_t written =
        write(problem_, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
    _exit(code);
  }

  void AwaitGo() {
    setpgid(0, 0);
    char byte = 0;
    ssize_t count = 0;
    do {
      count = read(go_, &byte, 1);
    } while (count < 0 && errno == EINTR);
    if (count != 1) _exit(kNotRunnable);
  }

  void SetLimits() {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = std::min<rlim_t>(spec_.open_files, files.rlim_max);
    if (setrlimit(RLIMIT_NOFILE, &files) != 0) Fail("open_files", "");
  }

  void OpenOutputs(bool in_folder) {
    Open("output: ", spec_.output, in_folder, &out_);
    if (spec_.error.empty() || spec_.error == spec_.output) return;
    Open("error: ", spec_.error, in_folder, &err_);
  }

  void Open(const char* field, const std::string& path, bool in_folder,
            int* fd) {
    const bool is_in_folder = !path.empty() && path.front() != '/';
    if (path.empty() || is_in_folder != in_folder || *fd >= 0) return;
    // Not blocking: a FIFO that nobody reads is an error, not a wait.
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
                (spec_.append ? O_APPEND : O_TRUNC);
    if (is_in_folder || root_) flags |= O_NOFOLLOW;
    *fd = openat(is_in_folder ? folder_ : AT_FDCWD, path.c_str(), flags,
                 is_in_folder ? kInFolderMode : kOutputMode);
    if (*fd < 0 || fcntl(*fd, F_SETFL, spec_.append ? O_APPEND : 0) != 0 ||
        (is_in_folder && root_ && spec_.user &&
         fchown(*fd, spec_.user->uid, spec_.user->gid) != 0)) {
      Fail(field, path);
    }
  }

  void TakeUser() {
    if (spec_.user && !BecomeUser(*spec_.user)) {
      Fail("user: ", std::to_string(spec_.user->uid));
    }
  }

  void TakeVariables() {
    std::string where;
    if (!ReadVariables(spec_, &environment_, &where)) Fail(where, "");
  }

  // Outputs, and files of variables, are where the machine has them, whatever
  // is mounted there: their names are what others know them by.
  void TakeVolumes() {
    TaskVolumes volumes(spec_);
    TaskMounts mounts(spec_, &volumes);
    if (!volumes.MakeOwn(folder_)) Fail(volumes.where(), "");
    if (spec_.mounts.empty()) {
      TakeUser();
      TakeVariables();
      if (!volumes.Open()) Fail(volumes.where(), "");
      return;
    }
    const bool as_root = TaskMounts::EnterAsRoot();
    if (as_root) {
      const AsUser user(spec_.user);
      TakeVariables();
      OpenOutputs(/*in_folder=*/false);
    } else {
      TakeUser();
      TakeVariables();
      OpenOutputs(/*in_folder=*/false);
      if (!TaskMounts::EnterAsUser()) Fail("mounts", "");
    }
    if (!mounts.OpenVolumes() || !mounts.MountAll()) Fail(mounts.where(), "");
    if (!as_root) return;
    // What a program with the rights of its owner reads, /etc/passwd say, may
    // be the task's now: none has such rights here.
    if (spec_.user && spec_.user->uid != 0 &&
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
      Fail("no_new_privs", "");
    }
    TakeUser();
  }

  void TakeStreams() {
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) Fail("/dev/null", "");
    if (in_ < 0) in_ = null;
    if (out_ < 0) out_ = null;
    if (err_ < 0) err_ = out_;
    if (dup2(in_, STDIN_FILENO) < 0 || dup2(out_, STDOUT_FILENO) < 0 ||
        dup2(err_, STDERR_FILENO) < 0) {
      Fail("output: ", spec_.output);
    }
  }

  void WrapCommand() {
    std::array<char, PATH_MAX> shim{};
    std::string where;
    if (readlink("/proc/self/exe", shim.data(), shim.size() - 1) < 0) {
      Fail("/proc/self/exe", "");
    }
    if (!BubblewrapCommand(spec_, shim.data(), &command_, &where)) {
      Fail(where, "");
    }
  }

  [[noreturn]] void Exec() {
    std::vector<char*> command = ExecList(command_);
    std::vector<char*> environment = ExecList(environment_);
    environ = environment.data();  // Whose PATH is searched.
    execvp(command.front(), command.data());
    const int code = errno == ENOENT ? kNotFound : kNotRunnable;
    Fail("command: ", command_.front(), code);
  }

  const ShimSpec& spec_;
  const int folder_;
  const int go_;
  const int problem_;
  const bool root_ = geteuid() == 0;  // Before it becomes somebody else.
  const bool in_image_ = !spec_.image.root.empty();
  std::vector<std::string> command_ = spec_.command;
  std::vector<std::string> environment_;
  int in_;
  int out_ = -1;
  int err_ = -1;
};

}  // namespace

TaskProcess TaskProcess::Fork(const ShimSpec& spec, int folder, int input) {
  TaskProcess task;
  std::array<int, 2> go{};
  std::array<int, 2> problem{};
  const auto failed = [&task] {
    task.fork_problem_ = std::string("fork: ") + std::strerror(errno);
    return std::move(task);
  };
  if (pipe2(go.data(), O_CLOEXEC) != 0) return failed();
  OpenFile go_end(go[0]);
  task.go_ = OpenFile(go[1]);
  if (pipe2(problem.data(), O_CLOEXEC) != 0) return failed();
  task.problem_ = OpenFile(problem[0]);
  const OpenFile problem_end(problem[1]);
  const pid_t pid = fork();
  if (pid < 0) return failed();
  if (pid == 0) {
    task.go_.Close();  // Else it would never see the end of it.
    Child(spec, folder, input, go_end.fd(), problem_end.fd()).Run();
  }
  setpgid(pid, pid);  // Whoever of the two is first.
  task.pid_ = pid;
  return task;
}

void TaskProcess::Go() {
  constexpr char kByte = 1;
  // It may have been killed by now, which waiting for it tells.
  [[maybe_unused]] const ssize_t count = write(go_.fd(), &kByte, 1);
  go_.Close();
}

std::string TaskProcess::problem() {
  if (pid_ == 0 || !problem_.ok()) return fork_problem_;
  std::array<char, PIPE_BUF> text{};
  ssize_t count = 0;
  do {
    count = read(problem_.fd(), text.data(), text.size());
  } while (count < 0 && errno == EINTR);
  problem_.Close();
  return {text.data(), static_cast<size_t>(std::max<ssize_t>(count, 0))};
}

}  // namespace muster::local
