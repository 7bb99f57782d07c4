// What muster-shim does from the lock to the exit file: one task, watched.
// POSIX and Linux alone. One thread, which has all signals blocked.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapters/local/shim/open_file.h"
#include "adapters/local/shim/shim_exit.h"
#include "adapters/local/shim/shim_spec.h"
#include "adapters/local/shim/task_cgroup.h"
#include "adapters/local/shim/task_input.h"
#include "adapters/local/shim/task_process.h"

namespace muster::local {

class Supervisor {
 public:
  // `folder` is open and locked, and outlives it. The process is the reaper of
  // all of its descendants.
  Supervisor(int folder, ShimSpec spec);

  // Runs the task to its end, and writes how it ended. The exit code of the
  // shim.
  int Run();

 private:
  // Whether there is a process.
  bool Start();
  // Whether what is needed to know of the processes is written.
  bool WriteStart();
  void Watch();
  void Hear();  // The signals that have come.
  void Heed(uint32_t signal);
  // The first reason to end the main process is the one that is told.
  void Blame(ShimReason reason);
  void Stop(Duration grace);
  // That it shall end.
  void TellStop();
  void Suspend();
  void Resume();
  // To the CPUs of the file "cpus".
  void Bind();
  // Kills what there is, until nothing is left or it has taken too long.
  void EndTree();
  // Waits for those that have ended. False: no process is left.
  bool Reap();
  // Until a signal comes, at most that long.
  void Await(Duration longest) const;
  void CheckTimes();
  // When something is due; kForever: never.
  Time Due() const;
  void Judge();
  int WriteExit();

  const int folder_;
  const ShimSpec spec_;
  std::vector<uint32_t> cpus_;  // That the task is bound to.
  TaskCgroup cgroup_;
  TaskInput input_;
  TaskProcess task_;
  OpenFile signals_;
  ShimExit exit_;
  // All of these are of a clock that nobody sets.
  Time began_ = kForever;
  Time limit_ = kForever;      // When its time is over.
  Time kill_at_ = kForever;    // When its grace is over.
  Time suspended_ = kForever;  // Since when it is.
  Time stop_at_ = kForever;    // When it is told again.
  std::optional<int> status_;  // Of the main process, when it has ended.
  std::optional<ShimReason> stopped_for_;
  pid_t stop_ = 0;  // The process of ShimSpec::stop.
};

}  // namespace muster::local
