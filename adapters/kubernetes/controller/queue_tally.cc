#include "adapters/kubernetes/controller/queue_tally.h"

#include <utility>

namespace muster::kubernetes {

void QueueTally::Count(const GangCounts& counts, int64_t times) {
  if (counts.empty()) return;
  QueueCounts& queue = queues_[counts.queue];
  (counts.running_pods > 0 ? queue.running_groups : queue.pending_groups) +=
      times;
  queue.pending_pods += times * counts.pending_pods;
  queue.running_pods += times * counts.running_pods;
  news_.Touch(counts.queue);
}

void QueueTally::Set(GangCounts* counted, GangCounts counts) {
  if (counts.empty()) counts = {};
  if (*counted == counts) return;
  groups_ += counts.empty() ? 0 : 1;
  groups_ -= counted->empty() ? 0 : 1;
  Count(*counted, -1);
  Count(counts, 1);
  *counted = std::move(counts);
}

QueueCounts QueueTally::Of(const std::string& queue) const {
  const auto it = queues_.find(queue);
  return it == queues_.end() ? QueueCounts{} : it->second;
}

void QueueTally::Forget(const std::string& queue) {
  const auto it = queues_.find(queue);
  if (it != queues_.end() && it->second == QueueCounts{}) queues_.erase(it);
}

}  // namespace muster::kubernetes
