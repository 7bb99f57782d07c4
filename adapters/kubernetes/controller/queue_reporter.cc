#include "adapters/kubernetes/controller/queue_reporter.h"

#include <algorithm>
#include <set>
#include <utility>

namespace muster::kubernetes {

void QueueReporter::Note(const std::string& queue) {
  // Parents that form a circle are refused by the scheduler, but they are
  // there.
  std::set<std::string> seen;
  const api::Queue* object = s_.queues.Find(queue);
  while (object != nullptr && seen.insert(object->meta.name).second) {
    s_.queue_news.Schedule(object->meta.name, s_.link.now());
    object = s_.queues.Find(object->parent);
  }
}

void QueueReporter::Step() {
  for (const std::string& queue : s_.queue_news.TakeTouched()) {
    if (s_.queues.Find(queue) == nullptr) {
      told_.erase(queue);
      s_.queue_news.Forget(queue);
      s_.tally.Forget(queue);
    } else {
      Note(queue);
    }
  }
  for (const std::string& name : s_.queue_news.TakeDue(s_.link.now())) {
    const api::Queue* queue = s_.queues.Find(name);
    // The default queue may have no object.
    if (queue != nullptr && !queue->meta.uid.empty()) Report(*queue);
  }
}

void QueueReporter::Report(const api::Queue& queue) {
  QueueStatusRequest& told = told_[queue.meta.name];
  if (told.uid != queue.meta.uid) told = {};
  QueueStatusRequest status{.name = queue.meta.name,
                            .uid = queue.meta.uid,
                            .generation = queue.meta.generation,
                            .counts = s_.tally.Of(queue.meta.name),
                            .used = UseOf(queue.meta.name, told)};
  const bool unsent = s_.queue_news.TakeUnsent(queue.meta.name);
  if (status == told && !unsent) return;
  told = status;
  s_.queue_news.Told(queue.meta.name, s_.link.now());
  s_.outbox.Ask(AwaitedRequest{.body = std::move(status)});
}

api::ResourceList QueueReporter::UseOf(const std::string& queue,
                                       const QueueStatusRequest& told) const {
  const Resources used = s_.link.scheduler().QueueUsage(queue);
  const std::vector<std::string>& names = s_.kinds.names();
  api::ResourceList list;
  for (ResourceKind kind = 0; kind < names.size(); ++kind) {
    const int64_t amount = std::max<int64_t>(used[kind], 0);
    // What was written before, perhaps by a former leader, is overwritten.
    const bool was_told = told.uid.empty() || told.used.contains(names[kind]);
    if (amount == 0 && !was_told) continue;
    list[names[kind]] = s_.kinds.ToThousandths(names[kind], amount);
  }
  return list;
}

}  // namespace muster::kubernetes
