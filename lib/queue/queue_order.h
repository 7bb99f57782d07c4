// Who is served next: the order between queues.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/base/fraction.h"
#include "lib/queue/queue_position.h"
#include "lib/queue/queue_tree.h"
#include "lib/queue/quota_checker.h"
#include "muster/resources.h"

namespace muster {

// What a gang puts forward: its place in its leaf, and what it would use more.
struct Claim {
  QueuePosition position{};
  const Resources* demand = nullptr;  // Outlives the claim.
};

// The order between queues (QueueOrderKey). It decides for gangs that wait and
// for gangs that grow alike; inside a leaf QueuePosition decides. It reads
// usage and quotas and keeps nothing; it is deterministic, and total: positions
// break every tie. Dominant resource fairness: Ghodsi et al., NSDI 2011.
class QueueOrder {
 public:
  // A queue beside its siblings, with its best claim: what is compared.
  struct Turn {
    QueueIndex queue = kNoQueue;
    QueuePosition position{};
    bool within = false;  // The claim stays within the queue's guarantee.
    int32_t band = 0;
    Fraction share{};  // Of what it might use, how much it does.
  };

  // All arguments outlive the order. `keys`: as SchedulerConfig::queue_order.
  QueueOrder(const QueueTree& queues, const QuotaChecker& quota,
             const Resources& capacity, const std::vector<QueueOrderKey>& keys)
      : queues_(queues), quota_(quota), capacity_(capacity), keys_(keys) {}

  // O(kinds).
  Turn TurnOf(QueueIndex q, const Claim& claim) const;
  // O(keys).
  bool Before(const Turn& a, const Turn& b) const;

 private:
  const QueueTree& queues_;
  const QuotaChecker& quota_;
  const Resources& capacity_;
  const std::vector<QueueOrderKey>& keys_;
};

}  // namespace muster
