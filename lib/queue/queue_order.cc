#include "lib/queue/queue_order.h"

#include <array>
#include <compare>

namespace muster {
namespace {

constexpr std::array kDefault = {QueueOrderKey::kWithin, QueueOrderKey::kBand,
                                 QueueOrderKey::kPriority,
                                 QueueOrderKey::kShare, QueueOrderKey::kAge};

// Less: a comes before b by this key.
std::strong_ordering CompareBy(QueueOrderKey key, const QueueOrder::Turn& a,
                               const QueueOrder::Turn& b) {
  switch (key) {
    case QueueOrderKey::kWithin:
      return b.within <=> a.within;
    case QueueOrderKey::kBand:
      return b.band <=> a.band;
    case QueueOrderKey::kShare:
      return Compare(a.share, b.share);
    case QueueOrderKey::kPriority:
      return b.position.priority <=> a.position.priority;
    case QueueOrderKey::kAge:
      return a.position.submitted <=> b.position.submitted;
  }
  return std::strong_ordering::equal;
}

}  // namespace

QueueOrder::Turn QueueOrder::TurnOf(QueueIndex q, const Claim& claim) const {
  const QueueTree::Entry& e = queues_.at(q);
  Turn turn{.queue = q, .position = claim.position};
  turn.within = quota_.Within(q, *claim.demand);
  turn.band = e.queue.band;
  for (ResourceKind k = 0; k < capacity_.size(); ++k) {
    if (capacity_[k] <= 0) continue;
    const Fraction share{e.used[k], Wide{capacity_[k]} * e.queue.weight};
    if (Compare(share, turn.share) > 0) turn.share = share;
  }
  return turn;
}

bool QueueOrder::Before(const Turn& a, const Turn& b) const {
  const std::span<const QueueOrderKey> keys =
      keys_.empty() ? std::span<const QueueOrderKey>(kDefault)
                    : std::span<const QueueOrderKey>(keys_);
  for (const QueueOrderKey key : keys) {
    const std::strong_ordering order = CompareBy(key, a, b);
    if (order != 0) return order < 0;
  }
  return a.position < b.position;
}

}  // namespace muster
