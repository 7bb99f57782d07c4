#include "lib/queue/queue_order.h"

namespace muster {
namespace {

class DominantShareOrder final : public QueueOrder {
 public:
  DominantShareOrder(const QueueTree& queues, const QuotaChecker& quota,
                     const Resources& capacity)
      : queues_(queues), quota_(quota), capacity_(capacity) {}

  Turn TurnOf(QueueIndex q, const Claim& claim) const override {
    const QueueTree::Entry& e = queues_.at(q);
    Turn turn{.queue = q, .position = claim.position};
    turn.within = quota_.Within(q, *claim.demand);
    for (ResourceKind k = 0; k < capacity_.size(); ++k) {
      if (capacity_[k] <= 0) continue;
      const Fraction share{e.used[k], Wide{capacity_[k]} * e.queue.weight};
      if (Compare(share, turn.share) > 0) turn.share = share;
    }
    return turn;
  }

  bool Before(const Turn& a, const Turn& b) const override {
    if (a.within != b.within) return a.within;
    if (a.position.priority != b.position.priority) {
      return a.position.priority > b.position.priority;
    }
    const auto shares = Compare(a.share, b.share);
    return shares != 0 ? shares < 0 : a.position < b.position;
  }

 private:
  const QueueTree& queues_;
  const QuotaChecker& quota_;
  const Resources& capacity_;
};

}  // namespace

std::unique_ptr<QueueOrder> NewDominantShareOrder(const QueueTree& queues,
                                                  const QuotaChecker& quota,
                                                  const Resources& capacity) {
  return std::make_unique<DominantShareOrder>(queues, quota, capacity);
}

}  // namespace muster
