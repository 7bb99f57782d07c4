#include "adapters/kubernetes/controller/queue_tally.h"

#include <utility>

namespace muster::kubernetes {

void QueueTally::Count(const GangCounts& counts, int64_t times) {
  if (counts.pending_pods + counts.running_pods == 0) return;
  QueueCounts& queue = queues_[counts.queue];
  (counts.running_pods > 0 ? queue.running_groups : queue.pending_groups) +=
      times;
  queue.pending_pods += times * counts.pending_pods;
  queue.running_pods += times * counts.running_pods;
  news_.Touch(counts.queue);
}

void QueueTally::Set(const GroupRef& ref, GangCounts counts) {
  const bool counted = counts.pending_pods + counts.running_pods > 0;
  const auto it = counted ? gangs_.try_emplace(ref).first : gangs_.find(ref);
  if (it == gangs_.end() || it->second == counts) return;
  Count(it->second, -1);
  Count(counts, 1);
  if (counted) {
    it->second = std::move(counts);
  } else {
    gangs_.erase(it);
  }
}

QueueCounts QueueTally::Of(const std::string& queue) const {
  const auto it = queues_.find(queue);
  return it == queues_.end() ? QueueCounts{} : it->second;
}

GangCounts QueueTally::Of(const GroupRef& ref) const {
  const auto it = gangs_.find(ref);
  return it == gangs_.end() ? GangCounts{} : it->second;
}

void QueueTally::Forget(const std::string& queue) {
  const auto it = queues_.find(queue);
  if (it != queues_.end() && it->second == QueueCounts{}) queues_.erase(it);
}

}  // namespace muster::kubernetes
