// What a host tells the life of a job, and what it is asked to do.
#ifndef MUSTER_WORKLOAD_LIFE_EVENT_H_
#define MUSTER_WORKLOAD_LIFE_EVENT_H_

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "muster/enum_names.h"
#include "muster/event.h"
#include "muster/ids.h"

namespace muster::workload {

// A place is what the scheduler gives: a role and a number below what its gang
// desires. A task is what the job runs: a role and an index. They are the same,
// but for the tasks of a batch/v1 Job, which take whatever place is free.

// --- Events ------------------------------------------------------------------

// Why a task has ended, beside its code.
enum class ExitReason : uint8_t {
  kExited,       // By itself, or by a signal: code 128 + its number.
  kOutOfMemory,  // It was killed for its memory.
  kNotStarted,   // It could not be started.
  kNodeLost,     // With its node.
  kPreempted,    // It was stopped for other work.
  kLost,         // It is gone, and nobody knows how.
};
MUSTER_ENUM_NAMES(ExitReason, "exited", "out-of-memory", "not-started",
                  "node-lost", "preempted", "lost");

// The job is there. The first event.
struct Submitted {};
// The scheduler has given these places. At the start all that the gang needs at
// least come together; later, places that it grew by, or for those it lost.
struct Placed {
  std::vector<TaskId> places{};
};
// The scheduler, or the owner of the node, takes these places back within
// `notice`, of 0..kMaxDuration. `moved`: others will be given for them; else
// the job has become smaller.
struct PlacesTaken {
  std::vector<TaskId> places{};
  Duration notice = 0;
  bool moved = false;
};
// The scheduler takes all places back, within such a notice. The job waits for
// others.
struct Preempted {
  Duration notice = 0;
};
// The process of a task runs; it is ready. A host that knows nothing of
// readiness tells both at once.
struct TaskStarted {
  TaskId task{};
  uint32_t attempt = 0;  // Action::attempt.
};
struct TaskReady {
  TaskId task{};
  uint32_t attempt = 0;
};
// Nothing of the task runs any more. `code`: 0..255, of kExited.
struct TaskExited {
  TaskId task{};
  uint32_t attempt = 0;
  int32_t code = 0;
  ExitReason reason = ExitReason::kExited;
};
// The work up to now is saved. 0: of its own accord.
struct CheckpointDone {
  uint32_t version = 0;  // Action::version.
};
// A role is to have so many tasks.
struct ResizeAsked {
  uint32_t role = 0;
  uint32_t size = 0;
};
struct SuspendAsked {};
struct ResumeAsked {};
// The scheduler has the tasks stand still where they are, in their places, and
// go on: that time is not the job's. Told twice, it is as once.
struct Paused {};
struct Continued {};
// Its time with places, in all, is to be so much, 0: without end, in place of
// Job::active_deadline. Of 0..kMaxDuration.
struct LimitChanged {
  Duration limit = 0;
};
// Time has passed: LifeOutput::wake_at.
struct TimePassed {};
// The job is to be gone, with all its tasks.
struct DeletionAsked {};
// All tasks that really run, after the host was out of touch. Exits that it
// knows of, it has told before.
struct LiveTask {
  TaskId task{};
  uint32_t attempt = 0;
  bool ready = false;
};
struct TasksListed {
  std::vector<LiveTask> live{};
};

using LifeEvent =
    std::variant<Submitted, Placed, PlacesTaken, Preempted, TaskStarted,
                 TaskReady, TaskExited, CheckpointDone, ResizeAsked,
                 SuspendAsked, ResumeAsked, TimePassed, DeletionAsked,
                 TasksListed, Paused, Continued, LimitChanged>;

// --- Actions -----------------------------------------------------------------

enum class ActionKind : uint8_t {
  kReserve,     // Submit the gang.
  kStart,       // Start `task` in place `slot` of its role, as `attempt`.
  kStop,        // Stop `task`: a request, after `grace` by force.
  kFree,        // Place `slot` of task.role is free: answer `outcome`.
  kRelease,     // Nothing holds a place any more: the gang is over, `result`.
  kCheckpoint,  // Ask the job to save its work, as `version`, within `grace`.
  kResize,      // The gang's role task.role is to desire `slot` tasks.
  kCleanUp,     // Remove what is kept of its tasks.
  kForget,      // The job is gone.
};
MUSTER_ENUM_NAMES(ActionKind, "reserve", "start", "stop", "free", "release",
                  "checkpoint", "resize", "clean-up", "forget");

// Actions of one step are to be carried out in their order. A host that carries
// one out twice, or tells of it twice, does no harm: attempts and versions tell
// them apart.
struct Action {
  ActionKind kind = ActionKind::kReserve;
  TaskId task{};
  uint32_t slot = 0;
  uint32_t attempt = 0;
  uint32_t version = 0;
  Duration grace = 0;
  TaskOutcome outcome = TaskOutcome::kReleased;
  GangOutcome result = GangOutcome::kSucceeded;

  friend bool operator==(const Action&, const Action&) = default;
};

enum class ConditionType : uint8_t {
  kCreated,
  kQueuing,
  kRunning,
  kRestarting,
  kSuspended,
  kSucceeded,
  kFailed,
};
MUSTER_ENUM_NAMES(ConditionType, "Created", "Queuing", "Running", "Restarting",
                  "Suspended", "Succeeded", "Failed");

// A thing that is so, or is not, since when and why.
struct Condition {
  ConditionType type = ConditionType::kCreated;
  bool status = true;
  std::string_view reason{};  // A constant of the library.
  Time since = 0;

  friend bool operator==(const Condition&, const Condition&) = default;
};

}  // namespace muster::workload

#endif  // MUSTER_WORKLOAD_LIFE_EVENT_H_
