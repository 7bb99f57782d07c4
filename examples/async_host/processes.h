// Child processes that outlive their host. Each is a shell, task.sh, that
// writes the exit status to a file, for a host that was away when it ended.
// Another file has its pid, and is locked as long as anything of it runs.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <semaphore>
#include <thread>

#include "../recovery/recovery.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

// An attempt at a task; gangs of this host have one role.
inline std::string Name(const Found& f) {
  return absl::StrCat(f.task.gang, "/", f.task.task.index, ".", f.attempt);
}

// Belongs to the thread that schedules.
class Processes {
 public:
  // `ended` is called by another thread when a process has ended, for Reap().
  Processes(std::filesystem::path folder,
            std::function<void(const Found&)> ended)
      : folder_(std::move(folder)), ended_(std::move(ended)) {}

  void Start(const Found& task, const std::string& command) {
    const std::string file = File(task);
    const std::string devices = absl::StrJoin(task.task.devices, " ");
    // The child inherits the lock, and so do those that it starts.
    const int lock = open(file.c_str(), O_WRONLY | O_CREAT, 0644);
    const pid_t pid = flock(lock, LOCK_EX) == 0 ? fork() : -1;
    if (pid < 0) Must(absl::ErrnoToStatus(errno, file));
    setpgid(pid, pid);  // Here and in the child: it may be stopped at once.
    if (pid == 0) {
      // Until it executes the shell, the child shares the lock of the journal.
      // So the next host, which waits for that, finds the pid.
      const pid_t self = getpid();
      if (write(lock, &self, sizeof self) == sizeof self) {
        execl("/bin/sh", "sh", TASK_SH, file.c_str(), command.c_str(),
              task.task.node.c_str(), devices.c_str(), nullptr);
      }
      _exit(127);
    }
    close(lock);
    Watch(task, pid);
  }

  // Watches what an earlier host has started. If it does not run any more,
  // task.ended tells how it ended: it failed if it was never started.
  Found Adopt(Found task) {
    const int fd = open(File(task).c_str(), O_RDONLY | O_CLOEXEC);
    pid_t pid = 0;
    const bool runs = flock(fd, LOCK_EX | LOCK_NB) != 0 &&
                      read(fd, &pid, sizeof pid) == sizeof pid;
    close(fd);
    if (runs) Watch(task, pid);
    if (!runs) task.ended = Outcome(task);
    return task;
  }

  // Stops all that runs for a task that has not been reaped.
  void Stop(const Found& task, std::chrono::nanoseconds grace) {
    Process& process = running_.at(Name(task));
    kill(-process.pid, SIGTERM);
    process.killer = std::jthread([&process, grace] {
      const bool ended = process.ended.try_acquire_for(grace);
      if (!ended) kill(-process.pid, SIGKILL);
    });
  }

  // How the task has ended.
  muster::TaskOutcome Reap(const Found& task) {
    const pid_t pid = running_.extract(Name(task)).mapped().pid;
    waitpid(pid, nullptr, 0);  // Fails if it is another host's child.
    return Outcome(task);
  }

 private:
  struct Process {
    pid_t pid = 0;  // Of the shell, and of its process group.
    std::binary_semaphore ended{0};
    std::jthread watcher{}, killer{};
  };

  std::string File(const Found& task) const { return folder_ / Name(task); }

  void Watch(const Found& task, pid_t pid) {
    Process& process = running_[Name(task)];
    process.pid = pid;
    process.watcher = std::jthread([this, task, &process] {
      const int fd = open(File(task).c_str(), O_RDONLY | O_CLOEXEC);
      if (flock(fd, LOCK_EX) != 0) Must(absl::ErrnoToStatus(errno, "flock"));
      close(fd);
      process.ended.release();
      ended_(task);
    });
  }

  // One that a signal stopped is placed again, unless it was to stop. Without a
  // status, it was the shell that was killed.
  muster::TaskOutcome Outcome(const Found& task) const {
    int status = -1;
    std::ifstream(File(task) + ".exit") >> status;
    return status == 0               ? muster::TaskOutcome::kSucceeded
           : status == 128 + SIGTERM ? muster::TaskOutcome::kReleased
                                     : muster::TaskOutcome::kFailed;
  }

  const std::filesystem::path folder_;
  const std::function<void(const Found&)> ended_;
  std::map<std::string, Process> running_{};  // By Name().
};
