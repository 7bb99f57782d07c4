// SchedulerState: a scheduler's whole state as one plain value. A host reads it
// (Scheduler::State, View, Find) or stores it (muster::wire); it need not make
// one. What is restored is checked: a state that contradicts itself is refused.
#ifndef MUSTER_STATE_H_
#define MUSTER_STATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/config.h"
#include "muster/decision.h"
#include "muster/device_set.h"
#include "muster/disruption_budget.h"
#include "muster/enum_names.h"
#include "muster/event.h"
#include "muster/export.h"
#include "muster/gang.h"
#include "muster/gang_class_state.h"
#include "muster/ids.h"
#include "muster/node.h"
#include "muster/priority_class.h"
#include "muster/queue.h"
#include "muster/reason.h"

namespace muster {

// Where a gang is in its life. docs/design.md draws the machine, and says what
// each phase holds. (Kubernetes: the phase of a PodGroup; Slurm: the job
// state.)
enum class GangPhase : uint8_t {
  kWaiting,     // Holds nothing.
  kNominated,   // Has places; waits until they are released.
  kStarting,    // Told to start; not every task has answered.
  kRunning,     // Every task it was given has answered once.
  kStopping,    // Being stopped: waits again, or is gone, when released.
  kSuspending,  // Being suspended.
  // Holds nothing but what it keeps (HostCapabilities::suspended_keeps), and
  // keeps its nodes in mind.
  kSuspended,
};
MUSTER_ENUM_NAMES(GangPhase, "waiting", "nominated", "starting", "running",
                  "stopping", "suspending", "suspended");

// Where a task is in its life; behind it, which capacity is charged for
// it: what is free now, what will be free when all releases are done, or both.
enum class TaskPhase : uint8_t {
  kNominated,  // Later: it has not started.
  kStarting,   // Both: the host has not answered.
  kRunning,    // Both.
  kReleasing,  // Now: told to stop, or leaving by itself; not gone yet.
  kSuspended,  // Nothing, but for what it keeps.
  kSucceeded,  // Nothing. It is not placed again.
};
MUSTER_ENUM_NAMES(TaskPhase, "nominated", "starting", "running", "releasing",
                  "suspended", "succeeded");

// A task that is somewhere, or has succeeded; tasks that wait are not listed.
struct TaskState {
  TaskId task{};
  TaskPhase phase = TaskPhase::kNominated;
  // Of the start it is of: see PlannedTask::attempt. 0 while it is nominated.
  uint32_t attempt = 0;
  // Where it is, and has these devices. One that succeeded is nowhere: empty.
  std::string node{};
  // What it is charged for: as the host answered; until then, and where the
  // host does not say, as the library chose.
  DeviceSet devices{};
  // 0: Role::shape; i: Role::alternatives[i - 1].
  uint32_t alternative = 0;
  // First slice of its partition.
  uint32_t first_slice = 0;

  friend bool operator==(const TaskState&, const TaskState&) = default;
};

// A decision about a gang that the host has not fully answered. After a restart
// a host goes through these: it answers them, or sends Reconciled.
struct PendingDecision {
  uint64_t seq = 0;  // Decision::seq, which answers name.
  DecisionKind kind = DecisionKind::kStart;
  std::string on_behalf_of{};   // The gang it makes room for, or empty.
  std::vector<TaskId> tasks{};  // Those without an answer; at least one.

  friend bool operator==(const PendingDecision&,
                         const PendingDecision&) = default;
};

// The numbers of a gang's minimum, by position in Gang::roles and Gang::groups.
struct GangMinimum {
  std::vector<uint32_t> role_tasks{};      // Role::min_tasks.
  std::vector<uint32_t> group_tasks{};     // Group::min_tasks.
  std::vector<uint32_t> group_children{};  // Group::min_children.

  friend bool operator==(const GangMinimum&, const GangMinimum&) = default;
};

// A live gang: as it was submitted, and what became of it. One that is over is
// in no state.
struct GangState {
  // With its queue and priority class of now, and labels sorted by key.
  Gang gang{};
  GangPhase phase = GangPhase::kWaiting;
  // It goes when it has stopped; asked for or decided.
  bool cancel = false;
  // What the next plan must repair, by the reason it will give; kNone: nothing.
  ReasonCode repair_reason = ReasonCode::kNone;
  // The highest attempt handed out.
  uint32_t attempts = 0;
  // Failed starts in a row: each doubles the back-off.
  uint32_t failures = 0;
  // Not started before.
  Time backoff_until = 0;
  // When it got all it was started with; kForever: it does not run.
  Time started = kForever;
  // Work up to then is safe: CheckpointTaken.
  Time checkpoint = 0;
  std::vector<TaskState> tasks{};          // By task.
  std::vector<PendingDecision> pending{};  // By seq.
  // The decision that placed its tasks last (see SchedulerState::round_seq).
  uint64_t placed_seq = 0;
  bool check_due = false;  // The next pass checks it without an event.
  // Since when it is suspended, or runs below its minimum: see repair_reason.
  // In other phases of no meaning.
  Time since = kForever;
  // How long it ran, in the runs that are over (for this one: see started),
  // and how much of that checkpoints cover.
  Duration run_time = 0;
  Duration saved = 0;
  // Of run_time: neither saved nor lost yet, as it was suspended, not stopped.
  Duration unsaved = 0;
  // While it is stopping: some task of it has been stopped or lost. So it waits
  // again, whatever the others do; else it is gone if all of them succeed.
  bool interrupted = false;
  // What it needs to go on, where its minimum was raised while it ran: until it
  // has met that (GangChanged). Empty: what `gang` says.
  GangMinimum runs_under{};
  // Evictions in a row, each before it had saved any of the run that it ended,
  // and the time of the last: see EvictionBackoff.
  uint32_t evictions = 0;
  Time evicted = 0;
  // The last decision by which another gang gave way to it; 0: none did.
  uint64_t made_room_seq = 0;

  friend bool operator==(const GangState&, const GangState&) = default;
};

// The entry of Reconciled::tasks for a task of Scheduler::State(): it is as the
// scheduler has recorded it. None for a task that has succeeded or is only
// nominated: it is nowhere. `task` is one of gang.tasks. O(devices).
MUSTER_API std::optional<RealTask> AsReal(const GangState& gang,
                                          const TaskState& task);

// A node: as the host described it, and what happened to it since.
struct NodeState {
  Node node{};
  bool down = false;      // NodeDown, until NodeUp.
  bool draining = false;  // NodeDrained.
  // SpotNotice::at, until NodeUp; kForever: there is none. The node counts as
  // draining meanwhile.
  Time spot_notice = kForever;
  ExternalUsage external{};
  // Which devices ExternalUsage::unnamed_devices are booked as.
  DeviceSet unnamed{};

  friend bool operator==(const NodeState&, const NodeState&) = default;
};

// Everything that later plans depend on, each list sorted by key: equal states
// are equal values. A scheduler made from it goes on to the same plans.
struct SchedulerState {
  SchedulerConfig config{};
  // The largest time that it was given.
  Time now = 0;
  // Rises with every event taken and decision made.
  uint64_t version = 0;
  // Decision::seq of the next decision.
  uint64_t next_seq = 1;
  std::vector<NodeState> nodes{};
  std::vector<NodeSet> node_sets{};
  std::vector<Queue> queues{};
  std::vector<PriorityClass> priority_classes{};
  std::vector<GangState> gangs{};
  // Classes of which not all questions are active, by `grows` and gang.
  std::vector<GangClassState> gang_classes{};
  // The round under way began with this decision: what it placed is no
  // victim before a pass has left no question active. next_seq: there is none.
  uint64_t round_seq = 1;
  // As they are left, by key.
  std::vector<DisruptionBudget> disruption_budgets{};
  // Of that round: a pass was ended by its budget; gangs were asked whether
  // they can grow.
  bool round_open = false;
  bool round_grew = false;
  // The decision that was next when something last happened but that the host
  // did as it was told (TasksAnswered of tasks that started, or stopped as
  // asked, DecisionApplied, CheckpointTaken): to a gang to which others have
  // given way since, by GangState::made_room_seq, none does so again before
  // something else happens. 0: nothing is known of that.
  uint64_t external_seq = 0;

  friend bool operator==(const SchedulerState&,
                         const SchedulerState&) = default;
};

}  // namespace muster

#endif  // MUSTER_STATE_H_
