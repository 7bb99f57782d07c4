// LaunchMaker: what a task is started with, and where tasks meet.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "adapters/local/controller/job_record.h"
#include "adapters/local/controller/state.h"
#include "adapters/local/controller/turn.h"
#include "muster/ids.h"

namespace muster::local {

// Not synchronised.
class LaunchMaker {
 public:
  // Not owned.
  explicit LaunchMaker(ControllerState* state) : s_(*state) {}

  // Sees to it that the task has where to meet the others. `anew`: none of them
  // lives, so that all meet elsewhere. RESOURCE_EXHAUSTED: there are too few
  // ports. O(1), or O(tasks) the first time.
  absl::Status Meet(JobRecord* job, TaskId task, bool anew);
  // Nobody meets any more.
  void Part(JobRecord* job);
  // The task has a place. O(its variables).
  TaskStart Make(JobRecord* job, const LiveTask& task);

 private:
  // Members of the role: the highest index of those that have places, and 1.
  static uint32_t SizeOf(const JobRecord& job, uint32_t role);
  static bool NeedsPorts(const workload::Job& job);
  absl::Status TakePorts(JobRecord* job, uint32_t role, uint32_t size);
  void Number(JobRecord* job);
  void MakeRendezvous(JobRecord* job);
  void SetEnvironment(const JobRecord& job, const LiveTask& task,
                      TaskStart* start) const;
  void SetFiles(const JobRecord& job, const LiveTask& task,
                TaskStart* start) const;

  ControllerState& s_;
};

}  // namespace muster::local
