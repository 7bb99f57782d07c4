// TaskDriver: tasks that are alive, and what is asked of them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "adapters/local/controller/cpu_driver.h"
#include "adapters/local/controller/job_record.h"
#include "adapters/local/controller/launch_maker.h"
#include "adapters/local/controller/state.h"
#include "adapters/local/model/task_key.h"
#include "muster/event.h"
#include "muster/ids.h"
#include "muster/workload/life_event.h"

namespace muster::local {

// Not synchronised.
class TaskDriver {
 public:
  // None is owned.
  TaskDriver(ControllerState* state, LaunchMaker* launches, CpuDriver* cpus)
      : s_(*state), launches_(*launches), cpus_(*cpus) {}

  // --- What the life of a job asks -------------------------------------------
  // `anew`: no task of the job was alive before this step.
  void Start(JobRecord* job, const workload::Action& action, bool anew);
  void Stop(JobRecord* job, TaskId task, uint32_t attempt, Duration grace);
  void Checkpoint(JobRecord* job, uint32_t version, Duration grace);
  // Tells all that run how many they are.
  void TellSize(const JobRecord& job);
  void CleanUp(const JobRecord& job);

  // --- What the scheduler asks -----------------------------------------------
  // The tasks in these places are suspended, or go on. Answers follow at once
  // where nothing runs in a place.
  void Suspend(JobRecord* job, TaskId place);
  void Resume(JobRecord* job, TaskId place);
  // Tells the scheduler what has become of a place. One that is free is the
  // job's no more; it, and one that is suspended, has no CPUs of its own.
  void Answer(JobRecord* job, TaskId place, TaskOutcome outcome);

  // --- What has happened -----------------------------------------------------
  // The attempt, if it is alive; else null.
  LiveTask* Find(JobRecord* job, const TaskKey& key);
  void Started(LiveTask* task);
  void Suspended(JobRecord* job, LiveTask* task);
  void Resumed(JobRecord* job, LiveTask* task);
  // It is no more.
  void Ended(JobRecord* job, const TaskKey& key, int32_t code,
             workload::ExitReason reason);
  // A task that was never launched and has ended, which nobody but this class
  // can tell of; nothing: there is none.
  struct Unlaunched {
    TaskKey key{};
    workload::ExitReason reason = workload::ExitReason::kLost;
  };
  std::optional<Unlaunched> NextUnlaunched();

  // After a restart: what is wanted of the job's tasks, once more.
  void AskAgain(JobRecord* job);
  // And that the task in this place has not answered that it is suspended.
  void AwaitSuspended(JobRecord* job, TaskId place);

 private:
  static LiveTask* InPlace(JobRecord* job, TaskId place);
  void Launch(JobRecord* job, LiveTask* task);
  void Ask(const LiveTask& task, CommandKind kind, Duration grace = 0);
  void AskToStop(const LiveTask& task, Duration grace);
  void SetState(LiveTask* task, std::string_view state);

  ControllerState& s_;
  LaunchMaker& launches_;
  CpuDriver& cpus_;
  std::deque<Unlaunched> unlaunched_;
};

}  // namespace muster::local
