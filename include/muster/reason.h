// Reasons: why something was decided, and why a gang waits. Data, not text.
#ifndef MUSTER_REASON_H_
#define MUSTER_REASON_H_

#include <cstdint>
#include <string>

#include "muster/enum_names.h"
#include "muster/export.h"

namespace muster {

// What a reason is. docs/reasons.md has a line for each, with its operands.
// Codes of decisions come in Decision::reason, codes of waiting in
// Waiting::reason and Explanation::reason; kWaitingForRelease comes in both, as
// the reason for a nomination without victims. New ones are added at
// the end.
enum class ReasonCode : uint8_t {
  kNone,  // Nothing is to be said.

  // Of decisions: why something is started, stopped or taken back.
  kFits,              // There is room.
  kPreempts,          // Room is made by evictions.
  kReleased,          // The last release it waited for was reported.
  kMadeRoom,          // Evicted, shrunk or suspended for another gang.
  kReclaimed,         // Likewise, for a queue below its guarantee.
  kNodeLost,          // A node under it is gone.
  kNodeDrained,       // A node under it must be emptied.
  kTaskFailed,        // A task failed and the gang cannot go on without.
  kNominationUndone,  // What it was nominated for cannot be had any more.
  kMaxRuntime,        // It ran for its maximum run time.
  kCancelledByHost,   // The host cancelled it.
  kOvercommitted,     // Its node holds more than it has.

  // Of waiting: why a gang does not start. What says "never" or "always" says
  // so of the cluster and the limits as they are: a new node may change it.
  kHeld,               // The gang, its queue or an ancestor is held.
  kNotBefore,          // Its time has not come.
  kBackoff,            // A start failed; it is tried again later.
  kQueueLimit,         // Its queue, or an ancestor, is at its limit.
  kInsufficient,       // Not enough of a resource is free.
  kNoNodeAdmits,       // No node passes selector, taints and node sets.
  kNoDomain,           // Free in all, but not inside one required domain.
  kNoMatchingDevice,   // No node has free devices of the right kind.
  kBehindHead,         // Its strict queue's head waits.
  kWaitingForRelease,  // Nominated; victims have not released yet.
  kNeverFits,          // Not even on the empty cluster.
  kOverLimitAlways,    // Needs more than its queue may ever have.
  kBudget,             // The pass's work budget ended before its turn.
  kConstraint,         // A group's or role's constraint cannot be met.
  kSuspendedWaits,     // Suspended; its own nodes have no room yet.

  // Of decisions, added later.
  kBelowMinimum,      // Too few of its tasks run, though none failed.
  kResized,           // Its spec asks for fewer tasks than it has.
  kSuspendedTooLong,  // See SchedulerConfig::suspend_timeout.

  // Of waiting, added later.
  // No room, or no victims, were found yet, nor that there are none: the search
  // came to the end of its budget (SearchLimits) and goes on later, with a
  // larger one. Operands as of the nearest shortfall.
  kNotFound,
};
MUSTER_ENUM_NAMES(ReasonCode, "none", "fits", "preempts", "released",
                  "made-room", "reclaimed", "node-lost", "node-drained",
                  "task-failed", "nomination-undone", "max-runtime",
                  "cancelled-by-host", "overcommitted", "held", "not-before",
                  "backoff", "queue-limit", "insufficient", "no-node-admits",
                  "no-domain", "no-matching-device", "behind-head",
                  "waiting-for-release", "never-fits", "over-limit-always",
                  "budget", "constraint", "suspended-waits", "below-minimum",
                  "resized", "suspended-too-long", "not-found");

// What Reason::object is a handle's index (or position) of: which of the host's
// objects stands in the way.
enum class ReasonObject : uint8_t {
  kNone,
  kNode,   // NodeId::index.
  kQueue,  // QueueId::index.
  kGang,   // GangId::index.
  kRole,   // Position in Gang::roles.
  kGroup,  // Position in Gang::groups.
  kLevel,  // Level position in the topology the constraint names.
};
MUSTER_ENUM_NAMES(ReasonObject, "none", "node", "queue", "gang", "role",
                  "group", "level");

// A code with its operands: of `resource`, at `object`, this much was needed
// and this much available. Operands that mean nothing for a code are 0/none.
//
// A plain value of one scheduler: `object` is valid as long as what it names is
// there, in the gang that the reason is about. Scheduler::Named looks it up.
// Other schedulers give a text here (Kubernetes: the condition's message) or a
// bare code (Slurm: the job's reason).
struct Reason {
  ReasonCode code = ReasonCode::kNone;
  ReasonObject object_kind = ReasonObject::kNone;
  uint32_t object = 0;
  // A ResourceKind; 0xffffffff: tasks are counted.
  uint32_t resource = 0xffffffff;
  // In the unit of the resource (devices: thousandths); for kNotBefore and
  // kBackoff Times: until when it waits, and the time when that was told.
  int64_t needed = 0;
  int64_t available = 0;

  friend bool operator==(const Reason&, const Reason&) = default;
};

// A reason with its object named, for records and messages: it means the same
// in every process and at any time.
struct NamedReason {
  ReasonCode code = ReasonCode::kNone;
  ReasonObject object_kind = ReasonObject::kNone;
  // The key of a node, queue or gang, the name of a role, group or level; empty
  // where there is none.
  std::string object{};
  // Its name in SchedulerConfig::resources; empty: tasks are counted.
  std::string resource{};
  // As in Reason.
  int64_t needed = 0;
  int64_t available = 0;

  friend bool operator==(const NamedReason&, const NamedReason&) = default;
};

// One English line, e.g. "insufficient: needs 4000 gpu, 1000 available". For
// people: its wording may change. Programs read the members.
MUSTER_API std::string ToText(const NamedReason& reason);

}  // namespace muster

#endif  // MUSTER_REASON_H_
