// Child processes that outlive their host. Each runs in a session of its own,
// below a shell that writes the exit status to a file: a host that was away
// when the process ended learns the outcome from there.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "../recovery/recovery.h"

// A host that cannot go on ends as if it were killed: the next one comes back.
inline void Must(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << status << std::endl;
  _exit(1);
}
inline void Must(bool ok, const char* what) {
  if (!ok) Must(absl::ErrnoToStatus(errno, what));
}

// An attempt at a task (gangs of this host have one role), for people and for
// its files: NAME.pid says which process it is, NAME.exit with which status it
// ended, NAME.log what it printed.
inline std::string Name(const Found& f) {
  return f.task.gang + "/" + std::to_string(f.task.task.index) + "." +
         std::to_string(f.attempt);
}

// One thread uses an object; another one calls WaitForEnd().
class Processes {
 public:
  explicit Processes(std::filesystem::path folder) : folder_(folder) {}

  void Start(const Found& task, const std::string& command) {
    const pid_t pid = Fork(task, folder_ / Name(task), command);
    Must(pid > 0, "fork");
    Watch(OpenPidfd(pid), pid, task);
  }

  // Finds the process that an earlier host started. If it runs, it is watched
  // from now on; else task->ended tells how it ended. False: there was none.
  bool Adopt(Found* task) {
    const Identity was = Identify(folder_ / (Name(*task) + ".pid"));
    const pid_t pid = was.first;
    if (pid == 0) return false;
    // Before it is compared: what has a pidfd keeps its pid.
    const int fd = OpenPidfd(pid);
    const bool runs =
        Identify("/proc/" + std::to_string(pid) + "/stat") == was &&
        !exists(folder_ / (Name(*task) + ".exit"));
    if (runs) {
      Watch(fd, pid, *task);
    } else {
      if (fd >= 0) close(fd);
      task->ended = Outcome(*task);
    }
    return true;
  }

  // To all that runs for the task. If that has ended, Reap() will tell, or has.
  void Signal(const Found& task, int signal) const {
    for (const auto& [fd, p] : running_) {
      if (Name(p.second) != Name(task) || kill(-p.first, signal) == 0) continue;
      // It does not lead its group yet, or has ended.
      Must(syscall(SYS_pidfd_send_signal, fd, signal, nullptr, 0) == 0 ||
               errno == ESRCH,
           "kill");
    }
  }

  // Returns what Reap() takes when a process has ended. waitpid() would not do:
  // one that was adopted is no child of this host.
  int WaitForEnd() const {
    epoll_event event{};
    while (epoll_wait(epoll_, &event, 1, -1) != 1) {
      Must(errno == EINTR, "epoll_wait");
    }
    return event.data.fd;
  }
  Found Reap(int fd) {
    auto [pid, task] = running_.extract(fd).mapped();
    // What it left behind still uses the devices.
    Must(kill(-pid, SIGKILL) == 0 || errno == ESRCH, "kill");
    Must(waitpid(pid, nullptr, 0) > 0 || errno == ECHILD, "waitpid");
    close(fd);
    task.ended = Outcome(task);
    return task;
  }

  // From the exit status. A task that a signal stopped is placed again, unless
  // it was to stop. Without a status, it was the shell that was killed.
  muster::TaskOutcome Outcome(const Found& task) const {
    int status = -1;
    std::ifstream(folder_ / (Name(task) + ".exit")) >> status;
    return status == 0               ? muster::TaskOutcome::kSucceeded
           : status == 128 + SIGTERM ? muster::TaskOutcome::kReleased
                                     : muster::TaskOutcome::kFailed;
  }

 private:
  // A pid is used again; with the start time, in clock ticks since the machine
  // started, it is one process's.
  using Identity = std::pair<pid_t, std::string>;

  // From a copy of /proc/PID/stat: field 1 and field 22. Field 2, a name in
  // brackets, may hold anything.
  static Identity Identify(const std::filesystem::path& stat) {
    std::string line, start_time;
    std::ifstream in(stat);
    std::getline(in, line);
    std::istringstream fields(line.substr(line.rfind(')') + 1));
    for (int field = 3; field <= 22; ++field) fields >> start_time;
    return {std::atoi(line.c_str()), start_time};
  }

  static int OpenPidfd(pid_t pid) {  // In C++, glibc 2.36 cannot link its own.
    return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  }

  static pid_t Fork(const Found& f, const std::string& file,
                    const std::string& command) {
    // SIGTERM is for the command: the shell stays, to write the status. It
    // waits again where the signal ended its waiting.
    static constexpr char kShell[] = R"(
export NODE="$2" DEVICES="$3"; echo "begin $(date +%s%N) $NODE $DEVICES"
sh -c "$1" & trap : TERM; wait $!; status=$?
while kill -0 $! 2>/dev/null; do wait $!; status=$?; done
echo "end $(date +%s%N) $status"; echo $status >"$0" && mv "$0" "$0.exit")";
    std::string devices;
    for (uint32_t d : f.task.devices) devices += std::to_string(d) + " ";
    const std::string pid_file = file + ".pid", log = file + ".log";
    const pid_t pid = fork();
    if (pid != 0) return pid;
    // Until it executes the shell, this copy shares the lock of the journal. So
    // the next host, which waits for the lock, finds all .pid files. Only
    // system calls from here on: other threads may have held locks.
    constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    char stat[4096];
    const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int self = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    const int record = open(file.c_str(), kNew, 0644);
    const int out = open(log.c_str(), kNew, 0644);
    const ssize_t n = read(self, stat, sizeof stat);
    if (n > 0 && write(record, stat, n) == n && setsid() > 0 &&
        rename(file.c_str(), pid_file.c_str()) == 0 && dup2(in, 0) == 0 &&
        dup2(out, 1) == 1 && dup2(out, 2) == 2) {
      execl("/bin/sh", "sh", "-c", kShell, file.c_str(), command.c_str(),
            f.task.node.c_str(), devices.c_str(), nullptr);
    }
    _exit(127);
  }

  void Watch(int fd, pid_t pid, const Found& task) {
    running_[fd] = {pid, task};
    epoll_event event{.events = EPOLLIN | EPOLLONESHOT, .data = {.fd = fd}};
    Must(epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
  }

  const std::filesystem::path folder_;
  const int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  // By pidfd. The pid is that of the shell, and of its process group.
  std::map<int, std::pair<pid_t, Found>> running_{};
};
