// SchedulerState: a scheduler's whole state as one plain value.
#ifndef MUSTER_STATE_H_
#define MUSTER_STATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "muster/class_state.h"
#include "muster/config.h"
#include "muster/decision.h"
#include "muster/device_set.h"
#include "muster/disruption_budget.h"
#include "muster/enum_names.h"
#include "muster/gang.h"
#include "muster/ids.h"
#include "muster/node.h"
#include "muster/priority_class.h"
#include "muster/queue.h"
#include "muster/reason.h"

namespace muster {

// Where a gang is in its life. docs/design.md draws the machine.
enum class GangPhase : uint8_t {
  kWaiting,     // Holds nothing.
  kNominated,   // Holds promised capacity; waits for releases.
  kStarting,    // Told to start; not every task has answered.
  kRunning,     // Every task it was given has answered once.
  kStopping,    // Being stopped: waits again, or is gone, when released.
  kSuspending,  // Being suspended.
  kSuspended,   // Holds nothing, keeps its nodes in mind.
};
MUSTER_ENUM_NAMES(GangPhase, "waiting", "nominated", "starting", "running",
                  "stopping", "suspending", "suspended");

// What a task holds: see Ledger.
enum class TaskPhase : uint8_t {
  kNominated,  // kLater.
  kStarting,   // Both.
  kRunning,    // Both.
  kReleasing,  // kNow.
  kSuspended,  // Nothing.
  kSucceeded,  // Nothing.
};
MUSTER_ENUM_NAMES(TaskPhase, "nominated", "starting", "running", "releasing",
                  "suspended", "succeeded");

// A task that is somewhere; tasks that wait are not listed.
struct TaskState {
  TaskId task{};
  TaskPhase phase = TaskPhase::kNominated;
  uint32_t attempt = 0;
  std::string node{};
  DeviceSet devices{};
  uint32_t alternative = 0;
  uint32_t slot = 0;  // First slice of its partition.

  friend bool operator==(const TaskState&, const TaskState&) = default;
};

// A decision about a gang that the host has not fully answered.
struct OpenDecision {
  uint64_t seq = 0;
  DecisionKind kind = DecisionKind::kStart;
  std::string on_behalf_of{};
  std::vector<TaskId> tasks{};

  friend bool operator==(const OpenDecision&, const OpenDecision&) = default;
};

struct GangState {
  Gang gang{};
  GangPhase phase = GangPhase::kWaiting;
  bool cancel = false;  // It goes when it has stopped; asked for or decided.
  ReasonCode trouble = ReasonCode::kNone;  // What the next plan must mend.
  uint32_t attempts = 0;                   // The highest attempt handed out.
  uint32_t failures = 0;                   // Failed starts in a row.
  Time backoff_until = 0;
  Time started = kForever;  // When it got all it was started with; kForever:
                            // it does not run.
  Time checkpoint = 0;      // Work up to then is safe.
  std::vector<TaskState> tasks{};    // By task.
  std::vector<OpenDecision> open{};  // By seq.
  // The decision that placed its tasks last (see SchedulerState::round_seq).
  uint64_t placed_seq = 0;
  bool look = false;  // The next pass looks at it by itself.
  // Since when it is suspended, or runs below its minimum: see trouble. In
  // other phases of no meaning.
  Time since = kForever;
  // How long it ran, in the runs that are over (for this one: see started),
  // and how much of that checkpoints cover.
  Duration served = 0;
  Duration saved = 0;
  // Of served: neither saved nor lost yet, as it was suspended, not stopped.
  Duration unsaved = 0;

  friend bool operator==(const GangState&, const GangState&) = default;
};

struct NodeState {
  Node node{};
  bool down = false;
  bool draining = false;
  Time spot_notice = kForever;
  OtherUsage others{};
  DeviceSet unnamed{};  // Which OtherUsage::unnamed_devices are booked as.

  friend bool operator==(const NodeState&, const NodeState&) = default;
};

// Everything that later plans depend on, each list sorted by key: equal states
// are equal values. A scheduler made from it goes on to the same plans.
struct SchedulerState {
  SchedulerConfig config{};
  Time now = 0;
  uint64_t version = 0;   // Rises with every event taken and decision made.
  uint64_t next_seq = 1;  // Of the next decision.
  std::vector<NodeState> nodes{};
  std::vector<NodeSet> node_sets{};
  std::vector<Queue> queues{};
  std::vector<PriorityClass> priority_classes{};
  std::vector<GangState> gangs{};
  // Classes of which not all questions are open, by `grows` and gang.
  std::vector<ClassState> classes{};
  // The round under way began with this decision: what it placed is nobody's
  // victim before a pass has left no question open. next_seq: there is none.
  uint64_t round_seq = 1;
  std::vector<DisruptionBudget> budgets{};  // As they are left, by key.
  // Of that round: a pass was ended by its budget; gangs were asked whether
  // they can grow.
  bool round_open = false;
  bool round_grew = false;

  friend bool operator==(const SchedulerState&,
                         const SchedulerState&) = default;
};

}  // namespace muster

#endif  // MUSTER_STATE_H_
