// Life: what becomes of a job, as a function of what happens.
#ifndef MUSTER_WORKLOAD_LIFE_H_
#define MUSTER_WORKLOAD_LIFE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "muster/enum_names.h"
#include "muster/export.h"
#include "muster/ids.h"
#include "muster/workload/job.h"
#include "muster/workload/life_event.h"

namespace muster::workload {

enum class LifePhase : uint8_t {
  kNew,            // Nothing has been heard of it yet.
  kQueued,         // Waits for places.
  kRunning,        // Has its places; tasks start and run.
  kCheckpointing,  // Saves its work before its tasks are stopped.
  kStopping,       // Its tasks are being stopped.
  kBackoff,        // Waits before it starts anew in its places.
  kSuspended,      // Holds nothing until it is resumed.
  kSucceeded,      // Final, as the next two.
  kFailed,
  kForgotten,
};
MUSTER_ENUM_NAMES(LifePhase, "new", "queued", "running", "checkpointing",
                  "stopping", "backoff", "suspended", "succeeded", "failed",
                  "forgotten");

// What follows when all tasks have stopped; of two, the later one.
enum class AfterStop : uint8_t {
  kRestart,  // In the same places.
  kRequeue,  // The places are given back, others will come.
  kSuspend,
  kForget,
};
MUSTER_ENUM_NAMES(AfterStop, "restart", "requeue", "suspend", "forget");

enum class TaskPhase : uint8_t {
  kIdle,
  kStarting,
  kRunning,
  kReady,
  kStopping,
  kSucceeded,
  kFailed,  // For good.
};
MUSTER_ENUM_NAMES(TaskPhase, "idle", "starting", "running", "ready", "stopping",
                  "succeeded", "failed");

// One task.
struct TaskState {
  static constexpr uint32_t kNoSlot = 0xffffffff;

  TaskPhase phase = TaskPhase::kIdle;
  bool member = false;   // Of the role's present size.
  bool leaving = false;  // Its place is given back when it has stopped.
  bool moved = false;    // ... and it starts again in another.
  bool delayed = false;  // It waits for a time: LifeState::timers.
  uint8_t out_of_memory = 0;
  uint32_t slot = kNoSlot;  // Its place; kNoSlot: it has none.
  uint32_t attempt = 0;     // Of its last start, from 1.
  uint32_t failures = 0;    // That were counted.

  friend bool operator==(const TaskState&, const TaskState&) = default;
};

struct RoleState {
  bool open = false;     // What it starts after has come true.
  uint32_t size = 0;     // Its tasks now, with those that wait for a new place.
  uint32_t held = 0;     // Places.
  uint32_t running = 0;  // Tasks that run, or are ready.
  uint32_t ready = 0;
  uint32_t succeeded = 0;
  uint32_t failed = 0;  // For good.
  uint32_t next = 0;    // Of a role of completions: the first never started.
  std::vector<uint32_t> retry{};  // Likewise: tasks to start again.
  // Likewise, by place: its task, kSpare or kNotHeld; and a list of those that
  // are spare, or were.
  static constexpr uint32_t kNotHeld = 0xffffffff;
  static constexpr uint32_t kSpare = 0xfffffffe;
  std::vector<uint32_t> owner{};
  std::vector<uint32_t> spare{};

  friend bool operator==(const RoleState&, const RoleState&) = default;
};

struct GroupState {
  uint32_t succeeded = 0;
  uint32_t failures = 0;

  friend bool operator==(const GroupState&, const GroupState&) = default;
};

// All that is to be known of a job: a value, for a journal as it is. Two of
// equal history are equal.
struct LifeState {
  Time now = 0;  // Of the last event.
  LifePhase phase = LifePhase::kNew;
  AfterStop after = AfterStop::kRestart;
  bool reserved = false;       // The scheduler knows the gang.
  bool suspend = false;        // Asked for.
  bool paused = false;         // Its tasks stand still: the clock, too.
  bool free_restart = false;   // The restart under way is nobody's failure.
  uint32_t live = 0;           // Tasks that run, start or stop.
  uint32_t lacking = 0;        // Members whose place is gone and comes again.
  uint32_t restarts = 0;       // By failures: what budgets count.
  uint32_t gang_restarts = 0;  // Of all tasks, for whatever cause.
  uint32_t preemptions = 0;
  uint32_t failed_indexes = 0;
  uint32_t checkpoint_asked = 0;  // Version; more than `checkpoint_done`: under
  uint32_t checkpoint_done = 0;   // way, if the phase is kCheckpointing.
  Time checkpoint_at = 0;         // Of the last that is done; 0: none.
  Time stop_by = kForever;        // When a checkpoint is waited for no longer.
  Time start_at = 0;              // When kBackoff ends.
  // With places and not paused; kForever: it is not so.
  Time active_since = kForever;
  Duration active_used = 0;  // Before that.
  // In place of Job::active_deadline: LimitChanged.
  std::optional<Duration> limit{};
  Time finished_at = kForever;
  std::vector<TaskState> tasks{};  // By role, then index.
  std::vector<RoleState> roles{};
  std::vector<GroupState> groups{};  // By role, then group; of a JobSet.
  std::vector<uint32_t> rules{};     // What Job::success has counted.
  // When tasks start again, and which: a heap, the earliest first.
  std::vector<std::pair<Time, uint32_t>> timers{};
  std::vector<Condition> conditions{};

  friend bool operator==(const LifeState&, const LifeState&) = default;
};

struct LifeOutput {
  std::vector<Action> actions{};
  std::vector<Condition> conditions{};  // Those that have changed.
  // When TimePassed is due, if nothing else happens; kForever: not at all.
  Time wake_at = kForever;
};

// What an exit is to the job that its task is of.
enum class ExitClass : uint8_t {
  kSuccess,
  kRetryable,
  kPermanent,
  kFree,  // Nobody's failure: it starts again, and is not counted.
};
MUSTER_ENUM_NAMES(ExitClass, "success", "retryable", "permanent", "free");
// Of the exit alone, without rules of a podFailurePolicy or budgets. O(1).
MUSTER_API ExitClass Classify(RestartPolicy restart, RetryableCodes codes,
                              int32_t code, ExitReason reason);

// Whether such a failure may be the fault of the machine, as far as it can be
// told: the task was lost, could not be started though its command was there
// (any code but 126 and 127), or died of SIGABRT, SIGBUS or SIGKILL (134, 135,
// 137). What was too little memory is the job's own, and what was stopped for
// others is nobody's. O(1).
MUSTER_API bool MayBeMachinesFault(int32_t code, ExitReason reason);

// The rules of one job, made once; immutable, for any thread. States belong to
// the caller.
class MUSTER_API Life {
 public:
  // InvalidArgument where the job is none: as Parse.
  static absl::StatusOr<Life> Make(Job job);
  Life(Life&&) noexcept;
  Life& operator=(Life&&) noexcept;
  ~Life();

  const Job& job() const;
  // Before the first event.
  LifeState Begin() const;

  // What follows from an event at a time: the state moves, and the output says
  // what is to be done. No clock, no I/O: equal states and events, equal
  // results. What is late, or told twice, changes nothing; a time before that
  // of an earlier event is as if no time had passed. InvalidArgument for a
  // task, role or place that the job does not have and for a notice out of its
  // range, FailedPrecondition for another size of a job that has one; the state
  // stays as it was then.
  //
  // O(what changes): one task that starts or ends costs O(roles + rules), times
  // the logarithm of tasks that wait for their time; what concerns all tasks,
  // O(tasks).
  absl::Status Step(const LifeEvent& event, Time now, LifeState* state,
                    LifeOutput* output) const;

 private:
  struct Rep;
  explicit Life(std::unique_ptr<const Rep> rep);
  std::unique_ptr<const Rep> rep_;
};

// The place of a task in LifeState::tasks. O(roles).
MUSTER_API uint32_t PositionOf(const Job& job, TaskId task);

}  // namespace muster::workload

#endif  // MUSTER_WORKLOAD_LIFE_H_
