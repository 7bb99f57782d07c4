// QueueStanding: where a queue stands beside what it is guaranteed.
#ifndef MUSTER_QUEUE_STANDING_H_
#define MUSTER_QUEUE_STANDING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "muster/enum_names.h"
#include "muster/export.h"
#include "muster/resources.h"

namespace muster {

// What was accepted of a queue's quotas, and cannot be kept as it is written.
enum class QueueNoteKind : uint8_t {
  // The queues right below are guaranteed more together than the queue is: who
  // comes first has it.
  kMoreBelow,
  // The roots are guaranteed more together than the nodes have.
  kMoreThanNodes,
  // A queue beside it is guaranteed some of the kind, and neither it nor a
  // queue below is: of that it is owed nothing.
  kNotStated,
};
MUSTER_ENUM_NAMES(QueueNoteKind, "more-below", "more-than-nodes", "not-stated");

struct QueueNote {
  QueueNoteKind kind = QueueNoteKind::kMoreBelow;
  ResourceKind resource = 0;
  int64_t asked = 0;      // What is guaranteed together; kNotStated: 0.
  int64_t available = 0;  // What there is for it; kNotStated: 0.

  friend bool operator==(const QueueNote&, const QueueNote&) = default;
};

// Of a queue with all below it, by kind. Who owes: a queue that borrows. Whom:
// those that are within. Sums are as large as Resources count.
struct QueueStanding {
  Resources guaranteed{};  // As it states, else what those below it are.
  Resources used{};        // Nominated included, releasing not.
  Resources releasing{};
  Resources borrowed{};  // Beyond that; of kinds guaranteed to it or beside it.
  // Guaranteed and not used: what it may take back from those that borrow, as
  // far as its PreemptionPolicy lets it.
  Resources unused{};
  // The share by which it is compared with the queues beside it, in millionths:
  // the dominant share divided by the weight.
  int64_t share_millionths = 0;
  std::vector<QueueNote> notes{};  // By kind, then resource.

  friend bool operator==(const QueueStanding&, const QueueStanding&) = default;
};

// The note in words, such as "gpu: the queues below it are guaranteed 8000, and
// it is 4000". `resources`: SchedulerConfig::resources; amounts are in the unit
// of the kind. Any thread. O(1).
MUSTER_API std::string ToText(const QueueNote& note,
                              const std::vector<std::string>& resources);

}  // namespace muster

#endif  // MUSTER_QUEUE_STANDING_H_
