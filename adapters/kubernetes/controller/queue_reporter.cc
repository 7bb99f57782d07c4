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
    const std::string& name = object->meta.name;
    const auto told = told_.find(name);
    const Time next =
        told == told_.end()
            ? s_.link.now()
            : std::max(s_.link.now(),
                       told->second.at + s_.options.status_interval);
    due_.emplace(name, next);
    object = s_.queues.Find(object->parent);
  }
}

void QueueReporter::Step() {
  for (const std::string& queue : s_.tally.TakeTouched()) {
    if (s_.queues.Find(queue) == nullptr) {
      told_.erase(queue);
      due_.erase(queue);
      s_.tally.Forget(queue);
    } else {
      Note(queue);
    }
  }
  for (auto it = due_.begin(); it != due_.end();) {
    if (it->second > s_.link.now()) {
      ++it;
      continue;
    }
    const api::Queue* queue = s_.queues.Find(it->first);
    // The default queue may have no object.
    if (queue != nullptr && !queue->meta.uid.empty()) Report(*queue);
    it = due_.erase(it);
  }
}

Time QueueReporter::next_step() const {
  if (s_.tally.touched()) return s_.link.now();
  Time next = kForever;
  for (const auto& [queue, at] : due_) next = std::min(next, at);
  return next;
}

void QueueReporter::Report(const api::Queue& queue) {
  Told& told = told_[queue.meta.name];
  if (told.status.uid != queue.meta.uid) told = {};
  QueueStatusRequest status{.name = queue.meta.name,
                            .uid = queue.meta.uid,
                            .generation = queue.meta.generation,
                            .counts = s_.tally.Of(queue.meta.name),
                            .used = UseOf(queue.meta.name, told)};
  const bool unsent = s_.tally.TakeUnsent(queue.meta.name);
  if (status == told.status && !unsent) return;
  told = {s_.link.now(), status};
  s_.outbox.Ask(AwaitedRequest{.body = std::move(status)});
}

api::ResourceList QueueReporter::UseOf(const std::string& queue,
                                       const Told& told) const {
  const Resources used = s_.link.scheduler().QueueUsage(queue);
  const std::vector<std::string>& names = s_.kinds.names();
  api::ResourceList list;
  for (ResourceKind kind = 0; kind < names.size(); ++kind) {
    const int64_t amount = std::max<int64_t>(used[kind], 0);
    // What was written before, perhaps by a former leader, is overwritten.
    const bool was_told =
        told.status.uid.empty() || told.status.used.contains(names[kind]);
    if (amount == 0 && !was_told) continue;
    list[names[kind]] = s_.kinds.ToThousandths(names[kind], amount);
  }
  return list;
}

}  // namespace muster::kubernetes
