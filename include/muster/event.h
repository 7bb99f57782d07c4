// Events: everything a host tells a scheduler. Plain values with keys of the
// host: they mean the same in any process, and journals hold them as they are.
//
// Scheduler::Apply takes an event as a whole, or refuses it and changes
// nothing. Unless the event says otherwise: NOT_FOUND where it names a node,
// gang, queue, class or set that is not known; INVALID_ARGUMENT, with the
// field, where a value is out of its bounds; no error where it says what is so
// already. An event costs about its own size and that of what it names.
#ifndef MUSTER_EVENT_H_
#define MUSTER_EVENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "muster/config.h"
#include "muster/disruption_budget.h"
#include "muster/enum_names.h"
#include "muster/gang.h"
#include "muster/ids.h"
#include "muster/node.h"
#include "muster/priority_class.h"
#include "muster/queue.h"

namespace muster {

// --- The cluster -----------------------------------------------------------

// A new node, or new values for a known one: capacity, devices, labels,
// taints, schedulable. What runs on it stays, unless a kNoExecute taint that
// it does not tolerate asks it to leave. A node may come to have less than what
// is in use on it: the next plan repairs that, as with ExternalUsageChanged.
struct NodeChanged {
  Node node{};
};
// The node stopped working: its tasks are lost. It may come back with NodeUp.
struct NodeDown {
  std::string node{};
};
// The node works again; a SpotNotice is forgotten, a drain is not.
struct NodeUp {
  std::string node{};
};
// The node is gone for good: its tasks are lost, the key is free again.
struct NodeRemoved {
  std::string node{};
};
// drain: nothing new starts on the node and what runs there is moved away by
// the next plans. Not drain: the node takes work again. (Kubernetes: cordon and
// evict; Slurm: DRAIN, which waits for the running jobs instead.)
struct NodeDrained {
  std::string node{};
  bool drain = true;
};
// The provider takes the (spot) node back at `at`: it is drained until then.
struct SpotNotice {
  std::string node{};
  Time at = 0;  // 0..kMaxTime. Told in states; the drain begins at once.
};
// Replaces the external usage of one node. It may be more than is free: the
// next plan stops tasks of gangs there until nothing is held twice, unless the
// host keeps what runs (HostCapabilities::keeps_running).
struct ExternalUsageChanged {
  ExternalUsage usage{};
};
// A new set, or other nodes for a known one. Tasks that run stay where they
// are.
struct NodeSetChanged {
  NodeSet set{};
};
// FAILED_PRECONDITION while a gang names the set. O(gangs).
struct NodeSetRemoved {
  std::string set{};
};

// --- The configuration ------------------------------------------------------

// Another configuration from now on; all else stays. resources begins with the
// kinds there are, in their order, and device_kind stays; topologies,
// fabrics, partition schemes, what the host can do, times and bounds may all be
// others. Refused if something that is there (a node, a queue, a gang, a place)
// would not be valid under it. All questions are asked again, and all GangId,
// QueueId and NodeId from before are void. O(nodes + gangs), as Restore.
struct ConfigChanged {
  SchedulerConfig config{};
};

// --- Tenants ----------------------------------------------------------------

// A new queue, or new values for a known one: another parent, too, with all
// that is below it.
struct QueueChanged {
  Queue queue{};
};
// FAILED_PRECONDITION while the queue has children or gangs.
struct QueueRemoved {
  std::string queue{};
};
// New or changed; the new values hold at once for every gang of the class.
// O(gangs) where they are others.
struct PriorityClassChanged {
  PriorityClass priority_class{};
};
// FAILED_PRECONDITION while gangs are of the class. O(gangs).
struct PriorityClassRemoved {
  std::string priority_class{};
};
// A new budget, or new values for a known one; without gangs it is removed.
struct DisruptionBudgetChanged {
  DisruptionBudget budget{};
};

// --- Gangs ------------------------------------------------------------------

// A new gang: waits from now on. ALREADY_EXISTS for the key of a live one,
// FAILED_PRECONDITION for a closed queue, UNIMPLEMENTED for fields marked
// [later]. Scheduler::Submit does the same from any thread.
struct GangSubmitted {
  Gang gang{};
};
// A live gang's new spec: gang.key says which. It is as if it had been
// submitted so, but for what it has already:
//  - its queue stays (GangMoved), gang.queue names it;
//  - a nomination is withdrawn if what decides about its places changed;
//  - while tasks of a role are somewhere, the role keeps its position and name,
//    and the shape they have keeps resources and devices (FAILED_PRECONDITION);
//    roles behind the last one with tasks come and go freely;
//  - what runs stays where it is, also where a selector or a constraint would
//    not put it any more; new tolerations hold at once;
//  - tasks with an index beyond a role's desired_tasks are shrunk by the next
//    plan (by a host that cannot shrink, the gang is evicted);
//  - a raised minimum (of a role or group, or by a new role) stops nothing of
//    the gang: it goes on under the minimum of before until all that the new
//    one asks has run once. What it lacks is placed whole, beside the others
//    and before anything that waits. Where there is no room, others give way to
//    it as to a gang that waits, and it is nominated for that while it runs; it
//    grows no further meanwhile. Tasks beyond the minimum of before make room
//    for others as ever.
struct GangChanged {
  Gang gang{};
};
// The gang goes to another leaf queue, with all it holds. It keeps its place in
// the order of submission. Refused if that queue is closed.
struct GangMoved {
  std::string gang{};
  std::string queue{};
};
// Held: it is not started, and loses a nomination; what runs goes on.
struct GangHeld {
  std::string gang{};
  bool held = true;
  std::string why{};  // The host's word for it: see Gang::held_why.
};
// The gang gets another priority class.
struct GangReprioritized {
  std::string gang{};
  std::string priority_class{};
};
// The host wants it gone. A waiting gang goes at once; one that runs is
// stopped by a Cancel decision of the next plan.
struct GangCancelled {
  std::string gang{};
};
// How a gang ended. It decides nothing: for journals and their readers.
enum class GangOutcome : uint8_t {
  kSucceeded,
  kFailed,
  kCancelled,
};
MUSTER_ENUM_NAMES(GangOutcome, "succeeded", "failed", "cancelled");

// The gang is over and nothing of it runs any more: it is forgotten, in any
// phase. What was decided about it and is not answered counts as answered.
struct GangFinished {
  std::string gang{};
  GangOutcome outcome = GangOutcome::kSucceeded;  // For journals and reports.
};
// Nothing of the gang runs any more, through no fault of its own (another
// scheduler took its places, it gave them up). It waits in its old place,
// without back-off. A nomination stays.
struct GangYielded {
  std::string gang{};
};
// A checkpoint that covers the work up to `at` (at most the event's time).
struct CheckpointTaken {
  std::string gang{};
  Time at = 0;
};

// --- Answers ----------------------------------------------------------------

// What became of a task. After all but kStarted, kSuspended and kLeaving it
// holds nothing.
enum class TaskOutcome : uint8_t {
  kStarted,  // It runs.
  kFailed,   // It could not be started, or died.
  // It was stopped as asked. Of a task that was not asked to stop, or to be
  // suspended only: as kYielded.
  kReleased,
  // It finished its work for this run of its gang, and is not placed again.
  // When all have, the gang is over, also one that is being stopped. A gang
  // that is stopped before, or loses a node, starts anew with all its tasks.
  kSucceeded,
  // It stopped through no fault of its own. It is placed again, with no
  // back-off, and does not count as failed.
  kYielded,
  // It ended well, and its place in the role is free for the next task: placed
  // again like one that yielded.
  kDone,
  // It was suspended as asked: it keeps HostCapabilities::suspended_keeps. Of a
  // task that is not asked to be suspended (any more) it changes nothing.
  kSuspended,
  // Somebody else stops it (a deleted pod, a scale-down), and it has not gone
  // yet: it holds its place until another answer comes. It is none of its
  // gang's tasks any more: it counts for no minimum and is nobody's victim. Its
  // room is on the way for all, unless its gang needs it to go on: then it is
  // kept for the task that takes its place in the role, which is placed when it
  // has gone, there or elsewhere. A gang all of whose tasks leave is stopping:
  // it waits again when they have gone. Of a task that does not start or run,
  // it changes nothing.
  kLeaving,
};
MUSTER_ENUM_NAMES(TaskOutcome, "started", "failed", "released", "succeeded",
                  "yielded", "done", "suspended", "leaving");

// The answer of one task.
struct TaskAnswer {
  TaskId task{};
  // PlannedTask::attempt; 0: whichever is current.
  uint32_t attempt = 0;
  TaskOutcome outcome = TaskOutcome::kStarted;
  // kStarted: where it really is, the node's key and the numbers of as many
  // devices as it asks for. Empty: as planned. Devices that the node has lost
  // since may be named where they are those that were planned.
  std::string node{};
  std::vector<uint32_t> devices{};
  // The first slice of its partition, beside `devices`. None: as planned, or
  // where there is room.
  std::optional<uint32_t> first_slice{};
};

// What became of tasks. Idempotent: an answer that was given before, that came
// too late or that is about a gang, task or attempt that is over changes
// nothing and is no error. The state follows what the answer says, also where
// it differs from the plan.
struct TasksAnswered {
  std::string gang{};
  std::vector<TaskAnswer> tasks{};
};
// Everything the decision asked was done as asked: short for an answer for
// each of its tasks. Idempotent likewise.
struct DecisionApplied {
  uint64_t seq = 0;  // Decision::seq. One that was never made is refused.
};
// The host did not and will not do it. A start: all its tasks failed. An
// eviction: the victim goes on, and the nomination it was for is undone. Of a
// suspension that was done in part: likewise, and the tasks that are suspended
// are given up; the host stops them, and they are placed anew.
// Either way the gang is left alone for a while
// (SchedulerConfig::backoff_base), or until a task of it fails.
struct DecisionRefused {
  uint64_t seq = 0;
};

// --- The whole --------------------------------------------------------------

// One task as the host sees it.
struct RealTask {
  std::string gang{};
  TaskId task{};
  std::string node{};  // Among Reconciled::nodes, and not down.
  // As many as it asks for, of those that the node has, or that the task was
  // known to have there before the node lost them. Empty: the library picks
  // some to charge, however few the node has left.
  std::vector<uint32_t> devices{};
  // The shape it was started with: 0: Role::shape; i: alternatives[i - 1].
  uint32_t alternative = 0;
  // It is being stopped, and holds its place until an answer comes.
  bool releasing = false;
  std::optional<uint32_t> first_slice{};  // As in TaskAnswer.
  // It is there, but does not run: of a host that can suspend.
  bool suspended = false;
  // Since when it runs; kForever: nothing is said. A gang that the scheduler
  // does not know to run has run since the latest of them.
  Time started = kForever;
};

// What the host knows of a gang that runs, and the scheduler may not: after a
// crash of the one that planned it. kForever: nothing is said.
struct RealGang {
  std::string gang{};
  // Since when all of it runs; at most the event's time.
  Time started = kForever;
  // What work is covered, as CheckpointTaken.
  Time checkpoint = kForever;
  // How long it ran in runs that are over, and how much of that is saved, as
  // GangState has them.
  Duration run_time = kForever;
  Duration saved = kForever;
};

// The host's whole state, taken over atomically: afterwards the nodes, external
// usage and the tasks are exactly these. A node not named is removed; a
// task not named is released; a task named runs where it is named, whatever
// was planned. Pending decisions count as applied or refused accordingly.
// Overcommitted nodes and gangs below their minimum are legal: the next plan
// repairs them. A gang that runs on keeps the time at which it started. Gangs
// and queues themselves are not changed; a task of an unknown gang is an error.
// Scheduler::Reconcile tells what it changed. O(nodes + tasks + gangs), times
// the logarithm. A host sends it when it has been out of touch: after a crash,
// a restored snapshot, a lost answer. AsReal() (state.h) makes the entry of a
// task that is as recorded. (Kubernetes: a relist.)
struct Reconciled {
  std::vector<Node> nodes{};
  std::vector<ExternalUsage> external{};
  std::vector<std::string> down{};  // Nodes that are there and do not work.
  std::vector<RealTask> tasks{};
  std::vector<RealGang> gangs{};  // Those of which something is to be said.
};

using EventBody =
    std::variant<NodeChanged, NodeDown, NodeUp, NodeRemoved, NodeDrained,
                 SpotNotice, ExternalUsageChanged, NodeSetChanged, QueueChanged,
                 QueueRemoved, PriorityClassChanged, GangSubmitted, GangHeld,
                 GangReprioritized, GangCancelled, GangFinished,
                 CheckpointTaken, TasksAnswered, DecisionApplied,
                 DecisionRefused, Reconciled, GangChanged, GangMoved,
                 GangYielded, NodeSetRemoved, PriorityClassRemoved,
                 DisruptionBudgetChanged, ConfigChanged>;

// What happened, and when (0..kMaxTime). A time before the scheduler's own
// counts as now.
struct Event {
  Time at = 0;
  EventBody what{};
};

}  // namespace muster

#endif  // MUSTER_EVENT_H_
