// Queues: the tree of tenants and what each of them may use.
#ifndef MUSTER_QUEUE_H_
#define MUSTER_QUEUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/enum_names.h"
#include "muster/preemption_policy.h"

namespace muster {

// What the first gang of a leaf queue, in its order, is to those behind it,
// when it cannot start. (Kueue has the same two, by the same names.)
enum class QueueOrdering : uint8_t {
  kBestEffortFifo,  // A blocked gang does not stop those behind it.
  kStrictFifo,      // It does.
};
MUSTER_ENUM_NAMES(QueueOrdering, "best-effort-fifo", "strict-fifo");

// What is compared between two siblings of which both have a gang to place, or
// one that could grow.
enum class QueueOrderKey : uint8_t {
  kWithin,    // First the one whose gang keeps it within its guarantee.
  kBand,      // The higher Queue::band.
  kShare,     // The lower dominant share (used / cluster capacity, the largest
              // over the resources) divided by the weight.
  kPriority,  // The higher priority of the gang.
  kAge,       // The gang that was submitted earlier.
};
MUSTER_ENUM_NAMES(QueueOrderKey, "within", "band", "share", "priority", "age");

// The largest guarantee or limit, in the unit of its resource.
inline constexpr int64_t kMaxQuota = int64_t{1} << 61;

// A queue's share of one resource, on one flavour of nodes. Amounts are in the
// unit of the resource (devices: thousandths), 0..kMaxQuota, and hold for the
// queue with all below it. InvalidArgument for a guarantee above the limit.
struct Quota {
  // Its name in SchedulerConfig::resources.
  std::string resource{};
  // Key of a node set; empty: all nodes. A named flavour is not supported yet.
  std::string flavor{};
  // What the queue can always have: up to it, it may reclaim from queues above
  // theirs; what it does not use of it others may borrow. Unset: nothing is
  // guaranteed, and the resource has no say in whose turn it is. (Kueue: the
  // nominal quota; Volcano: deserved.)
  std::optional<int64_t> guarantee{};
  // Never exceeded, by the queue and all below it. Unset: no bound.
  std::optional<int64_t> limit{};
  // How much more than the guarantee may be used, within the limit; of a queue
  // that states no guarantee, more than those below it are guaranteed together.
  // 0 of a root: a closed group, whose queues borrow from each other alone.
  // Unset: no bound. (Kueue: borrowingLimit.)
  std::optional<int64_t> borrow_limit{};
  // How much of an unused guarantee others may use. Not supported yet when set.
  std::optional<int64_t> lend_limit{};

  friend bool operator==(const Quota&, const Quota&) = default;
};

// A node of the tenant tree. Gangs are submitted to leaves. (Kueue: a
// ClusterQueue, and a Cohort above it; Slurm: an account.)
//
// Order between siblings, when both have a gang to place: that of
// SchedulerConfig::queue_order, of the queues that are theirs below the queue
// above both.
struct Queue {
  static constexpr uint32_t kMaxWeight = 1'000'000;
  static constexpr uint32_t kMaxDepth = 32;  // Queues above any other.

  std::string key{};     // Unique among queues.
  std::string parent{};  // Key; empty: a root.
  uint32_t weight = 1;   // 1..kMaxWeight.
  // Between siblings, the higher is served first among those that are, or are
  // not, within their guarantee. Any value. (KAI, Volcano: the queue's
  // priority.)
  int32_t band = 0;
  QueueOrdering ordering = QueueOrdering::kBestEffortFifo;
  bool closed = false;  // Refuses submissions; what waits inside still starts.
  bool held = false;    // Nothing inside starts.
  std::vector<Quota> quotas{};  // At most one a (resource, flavour).
  PreemptionPolicy preemption{};

  friend bool operator==(const Queue&, const Queue&) = default;
};

}  // namespace muster

#endif  // MUSTER_QUEUE_H_
