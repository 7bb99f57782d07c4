// Decisions: what the host is asked to do. All of it is plain data without
// behaviour; the scheduler writes it, the host reads it.
#ifndef MUSTER_DECISION_H_
#define MUSTER_DECISION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "muster/device_set.h"
#include "muster/enum_names.h"
#include "muster/ids.h"
#include "muster/reason.h"

namespace muster {

// What is asked. docs/design.md has the states of a gang, docs/state-machine.md
// the table state x event. Kubernetes calls a start a binding and an eviction
// the same; Slurm says start, and preempt or requeue. What a host cannot do
// (HostCapabilities) is not asked of it.
enum class DecisionKind : uint8_t {
  // It has places, and starts there when what is being released has been. The
  // host has nothing to do but to show it. (Kubernetes: nominated
  // node; Volcano: pipelined.)
  kNominate,
  kStart,  // Start these tasks: the whole gang, at least at its minimum.
  kGrow,   // Start these further tasks of a gang that runs.
  // Stop these tasks; the gang goes on without them.
  kShrink,
  // Stop all its tasks; the gang waits again in its old place. Without tasks: a
  // nomination is withdrawn.
  kEvict,
  kSuspend,  // Suspend all its tasks where they are.
  kResume,   // Resume all its tasks where they were.
  kMigrate,  // Reserved for a later version.
  kCancel,   // Stop all its tasks; the gang is gone.
  kReserve,  // Reserved for a later version.
};
MUSTER_ENUM_NAMES(DecisionKind, "nominate", "start", "grow", "shrink", "evict",
                  "suspend", "resume", "migrate", "cancel", "reserve");

// A piece of Plan::text, in bytes; Plan::Text reads it. It means nothing in
// another plan, and nothing after the plan was passed to another pass.
struct TextRef {
  uint32_t offset = 0;
  uint32_t length = 0;
};

// One task a decision speaks of, and its place.
struct PlannedTask {
  TaskId task{};
  // Numbers the starts and growths of the gang, from 1; 0 in a nomination. The
  // host gives it back in TaskAnswer::attempt, so that a late answer about an
  // earlier incarnation of the task changes nothing. (Kubernetes tells them
  // apart by the pod's UID.)
  uint32_t attempt = 0;
  NodeId node{};
  TextRef node_key{};
  // The devices to give to the task. Empty where the host chooses, that is
  // where HostCapabilities or the Node has choose_devices false; the host tells
  // with kStarted which they came to be.
  DeviceSet devices{};
  // The same, as it is charged until it answers.
  DeviceSet booked{};
  // First slice of its partition, as it is charged; 0 if the task asks for
  // none.
  uint32_t first_slice = 0;
  // 0: Role::shape; i: Role::alternatives[i - 1].
  uint32_t alternative = 0;
  // A task starts when all tasks of its gang with a lower wave run: see
  // Role::start_after. The waves that a gang has tasks of need not follow each
  // other. What runs already is left alone by what joins it (kGrow).
  uint32_t wave = 0;
};

// One thing to be done to one gang. The host answers with seq, once for all
// (DecisionApplied, DecisionRefused) or task by task (TasksAnswered); until
// then the state holds what was decided, as if it were done. A decision that is
// never answered stays pending for ever: Reconciled tells what really is. A
// nomination asks for nothing and needs no answer.
struct Decision {
  // Rises by 1 from decision to decision, over all plans.
  uint64_t seq = 0;
  DecisionKind kind = DecisionKind::kStart;
  Reason reason{};
  GangId gang{};
  TextRef gang_key{};
  // kEvict, kShrink, kSuspend: the gang that room is made for; invalid, and its
  // key empty, where it is for no other gang (a drained node, a failed task).
  GangId on_behalf_of{};
  TextRef on_behalf_key{};
  // kEvict, kShrink, kSuspend, kCancel: how long the tasks may take to stop
  // before the host forces them. PriorityClass::grace of the gang stopped; 0
  // for a host that gives none. (Kubernetes: terminationGracePeriodSeconds.)
  Duration grace = 0;
  // Its tasks are Plan::tasks[first_task .. first_task + task_count - 1]:
  // Plan::TasksOf.
  uint32_t first_task = 0;
  uint32_t task_count = 0;
};

// The same as values with keys: what journals hold and wires carry. They mean
// the same in every process and at any time; Scheduler::Record makes them.
struct PlannedTaskRecord {
  TaskId task{};
  uint32_t attempt = 0;
  std::string node{};
  // As held, also where the host chooses.
  DeviceSet devices{};
  uint32_t alternative = 0;
  uint32_t wave = 0;
  uint32_t first_slice = 0;  // As held, likewise.

  friend bool operator==(const PlannedTaskRecord&,
                         const PlannedTaskRecord&) = default;
};

// A Decision with its tasks.
struct DecisionRecord {
  uint64_t seq = 0;
  DecisionKind kind = DecisionKind::kStart;
  NamedReason reason{};
  std::string gang{};
  std::string on_behalf_of{};  // Empty: for no other gang.
  Duration grace = 0;
  std::vector<PlannedTaskRecord> tasks{};

  friend bool operator==(const DecisionRecord&,
                         const DecisionRecord&) = default;
};

}  // namespace muster

#endif  // MUSTER_DECISION_H_
