// Decisions: what the host is asked to do.
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

// What is asked. docs/design.md has the table state x event.
enum class DecisionKind : uint8_t {
  kNominate,  // Will start here once what is being released has been.
  kStart,     // Start these tasks: the whole gang, at least at its minimum.
  kGrow,      // Start these further tasks of a gang that runs.
  kShrink,    // Stop these tasks; the gang goes on without them.
  kEvict,     // Stop all its tasks; the gang waits again in its old place.
  kSuspend,   // Suspend all its tasks where they are.
  kResume,    // Resume all its tasks where they were.
  kMigrate,   // Reserved for a later version.
  kCancel,    // Stop all its tasks; the gang is gone.
  kReserve,   // Reserved for a later version.
};
MUSTER_ENUM_NAMES(DecisionKind, "nominate", "start", "grow", "shrink", "evict",
                  "suspend", "resume", "migrate", "cancel", "reserve");

// A piece of Plan::text.
struct TextRef {
  uint32_t offset = 0;
  uint32_t length = 0;
};

// One task a decision speaks of. `attempt` numbers the incarnations of a
// gang's tasks: answers about this one carry it.
struct PlannedTask {
  TaskId task{};
  uint32_t attempt = 0;
  NodeId node{};
  TextRef node_key{};
  DeviceSet devices{};       // Empty where the host chooses.
  DeviceSet booked{};        // The same, as the books have it until it answers.
  uint32_t slot = 0;         // First slice of its partition, as the books have
                             // it; 0 if the task asks for none.
  uint32_t alternative = 0;  // 0: Role::shape; i: Role::alternatives[i - 1].
  // A task starts when all tasks of its gang with a lower wave run: see
  // Role::start_after. The waves that a gang has tasks of need not follow each
  // other. What runs already is left alone by what joins it (kGrow).
  uint32_t wave = 0;
};

struct Decision {
  uint64_t seq = 0;  // Rises by 1 from decision to decision, over all plans.
  DecisionKind kind = DecisionKind::kStart;
  Reason reason{};
  GangId gang{};
  TextRef gang_key{};
  GangId on_behalf_of{};  // kEvict, kShrink, kSuspend: for whom; or invalid.
  TextRef on_behalf_key{};
  Duration grace =
      0;  // kEvict, kShrink, kSuspend, kCancel: before it is forced.
  uint32_t first_task = 0;  // Into Plan::tasks.
  uint32_t task_count = 0;
};

// The same as values with keys: what journals hold and wires carry.
struct PlannedTaskRecord {
  TaskId task{};
  uint32_t attempt = 0;
  std::string node{};
  DeviceSet devices{};  // As held, also where the host chooses.
  uint32_t alternative = 0;
  uint32_t wave = 0;
  uint32_t slot = 0;  // As held, likewise.

  friend bool operator==(const PlannedTaskRecord&,
                         const PlannedTaskRecord&) = default;
};

struct DecisionRecord {
  uint64_t seq = 0;
  DecisionKind kind = DecisionKind::kStart;
  NamedReason reason{};
  std::string gang{};
  std::string on_behalf_of{};
  Duration grace = 0;
  std::vector<PlannedTaskRecord> tasks{};

  friend bool operator==(const DecisionRecord&,
                         const DecisionRecord&) = default;
};

}  // namespace muster

#endif  // MUSTER_DECISION_H_
