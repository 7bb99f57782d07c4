// Reasons: why something was decided, and why a gang waits. Data, not text.
#ifndef MUSTER_REASON_H_
#define MUSTER_REASON_H_

#include <cstdint>
#include <string>

#include "muster/enum_names.h"

namespace muster {

// One line each in docs/reasons.md.
enum class ReasonCode : uint8_t {
  kNone,
  // Of decisions.
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
  // Of waiting.
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
  // Of decisions.
  kBelowMinimum,      // Too few of its tasks run, though none failed.
  kResized,           // Its description asks for fewer tasks than it has.
  kSuspendedTooLong,  // See SchedulerConfig::suspend_timeout.
  // Of waiting.
  kNotFound,  // No room, or no victims, were found yet, nor that there are
              // none; operands as of the nearest shortfall.
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

// What Reason::object is a handle's index (or position) of.
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
struct Reason {
  ReasonCode code = ReasonCode::kNone;
  ReasonObject object_kind = ReasonObject::kNone;
  uint32_t object = 0;
  uint32_t resource = 0xffffffff;  // ResourceKind; 0xffffffff: tasks.
  int64_t needed = 0;
  int64_t available = 0;

  friend bool operator==(const Reason&, const Reason&) = default;
};

// A reason with its object named, for records and messages.
struct NamedReason {
  ReasonCode code = ReasonCode::kNone;
  ReasonObject object_kind = ReasonObject::kNone;
  std::string object{};    // Key or name.
  std::string resource{};  // Name; empty: tasks.
  int64_t needed = 0;
  int64_t available = 0;

  friend bool operator==(const NamedReason&, const NamedReason&) = default;
};

// One English line, e.g. "insufficient gpu: needs 4000, 1000 available".
std::string ToText(const NamedReason& reason);

}  // namespace muster

#endif  // MUSTER_REASON_H_
