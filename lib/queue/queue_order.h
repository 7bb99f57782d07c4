// Who is served next: the order between queues, as an object.
#pragma once

#include <memory>

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

// The order between queues. It decides for gangs that wait and for gangs that
// grow alike; inside a leaf QueuePosition decides. A mode is one
// implementation, in a file of its own. It reads usage and quotas and keeps
// nothing; it is deterministic, and total: positions break every tie.
class QueueOrder {
 public:
  // A queue beside its siblings, with its best claim: what is compared.
  struct Turn {
    QueueIndex queue = kNoQueue;
    QueuePosition position{};
    bool within = false;  // The claim stays within the queue's guarantee.
    Fraction share{};     // Of what it might use, how much it does.
  };

  virtual ~QueueOrder() = default;
  virtual Turn TurnOf(QueueIndex q, const Claim& claim) const = 0;
  virtual bool Before(const Turn& a, const Turn& b) const = 0;
};

// The order that Queue documents: first the queue whose claim keeps it within
// its guarantee, then the higher priority, then the lower dominant share by
// weight, then QueuePosition. Dominant resource fairness: Ghodsi et al., NSDI
// 2011. All arguments outlive the order. TurnOf is O(kinds), Before O(1).
std::unique_ptr<QueueOrder> NewDominantShareOrder(const QueueTree& queues,
                                                  const QuotaChecker& quota,
                                                  const Resources& capacity);

}  // namespace muster
