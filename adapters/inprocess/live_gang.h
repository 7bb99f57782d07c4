// One submitted gang as it really is: where its tasks run and how far its work
// has come.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/inprocess/observer.h"
#include "adapters/inprocess/real_usage.h"
#include "adapters/inprocess/workload.h"
#include "muster/ids.h"

namespace muster::inprocess {

enum class TaskLife : uint8_t {
  kNone,       // Nowhere.
  kStarting,   // Holds its place, does nothing yet.
  kRunning,    //
  kStopping,   // Holds its place, does nothing any more.
  kSuspended,  // Holds what the host lets it keep, and what it did.
};

struct LiveTask {
  TaskLife life = TaskLife::kNone;
  uint32_t alternative = 0;
  uint32_t attempt = 0;      // The scheduler's number for it.
  uint32_t incarnation = 0;  // Ours: rises whenever it is started or stopped.
  bool is_stopped = false;   // By somebody else than the scheduler.
  uint32_t node = 0;         // An index in RealUsage.
  RealUsage::Place place{};  // There.

  // All of its place.
  bool holds() const {
    return life == TaskLife::kStarting || life == TaskLife::kRunning ||
           life == TaskLife::kStopping;
  }
};

// Thousandths of devices that it asks for at full size; a device of which it
// asks for memory counts as a whole one.
int64_t DeviceMilliOf(const Gang& gang);

// Work is counted in task-nanoseconds: run time x tasks at work. All exact.
struct LiveGang {
  Job job{};
  GangId id{};
  std::vector<LiveTask> tasks{};  // By (role, index).
  uint32_t version = 0;           // Of the rate; never reset.
  bool alive = false;
  bool work_done = false;  // Finished; the scheduler may not know yet.
  bool leaving = false;    // The scheduler is about to forget it.
  bool has_run = false;
  bool resumes = false;  // Its next start goes on from a suspension.
  uint16_t class_index = 0;
  uint32_t rate = 0;  // Tasks at work; 0: it does not work.
  int64_t done = 0;
  int64_t saved = 0;
  Duration burn = 0;  // Run time still to be lost to the restart.
  Time updated = 0;
  Time first_run = 0;
  int64_t device_milli = 0;  // At full size.
  StopCause last_stop = StopCause::kOther;

  uint32_t desired_tasks() const { return static_cast<uint32_t>(tasks.size()); }
  int64_t total() const { return job.work * desired_tasks(); }
  int64_t checkpoint_step() const {
    return job.checkpoint_every * desired_tasks();
  }
  // In run time at full size.
  Duration RunTime(int64_t work) const { return work / desired_tasks(); }

  // Takes over a new gang: everything but `version` starts afresh. False: the
  // work does not fit in 63 bits.
  bool Begin(GangId gang_id);
  uint32_t FlatIndex(TaskId task) const;  // Past the end: no such task.
  TaskId IdOf(uint32_t flat) const;
  const TaskShape& ShapeOf(uint32_t flat) const;
  bool elastic() const;  // Some role may run with fewer tasks than desired.

  // Work goes on to `now`.
  void Advance(Time now);
  // When the next checkpoint is due or the work is done; rate > 0.
  Time NextGoal() const;
  // Tasks at work if roles and groups have their minimum, else 0.
  uint32_t WorkingTasks() const;
};

}  // namespace muster::inprocess
