#include "adapters/kubernetes/controller/queue_book.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/label_selector.h"

namespace muster::kubernetes {
namespace {

std::optional<int64_t> ToAmount(const std::string& resource,
                                const std::optional<int64_t>& thousandths,
                                const ResourceKinds& kinds) {
  if (!thousandths) return std::nullopt;
  const int64_t unit = kinds.InThousandths(resource) ? 1 : 1000;
  return std::clamp<int64_t>(*thousandths / unit, 0, kMaxQuota);
}

}  // namespace

QueueBook::QueueBook(std::string default_queue)
    : default_queue_(std::move(default_queue)), changed_{default_queue_} {
  queues_[default_queue_].meta.name = default_queue_;
}

Queue QueueBook::ToQueue(const api::Queue& queue, const ResourceKinds& kinds) {
  Queue result;
  result.key = queue.meta.name;
  result.parent = queue.parent;
  result.weight = queue.weight;
  result.ordering = queue.ordering;
  result.closed = queue.closed;
  result.held = queue.held;
  for (const api::QueueQuota& quota : queue.quotas) {
    result.quotas.push_back(
        {.resource = quota.resource,
         .guarantee = ToAmount(quota.resource, quota.guarantee, kinds),
         .limit = ToAmount(quota.resource, quota.limit, kinds)});
  }
  return result;
}

bool QueueBook::Set(const api::Queue& queue) {
  const std::string& name = queue.meta.name;
  const auto [it, is_new] = queues_.try_emplace(name);
  api::Queue before = std::exchange(it->second, queue);
  before.meta = queue.meta;
  if (!is_new && before == queue) return false;
  going_.erase(name);
  changed_.insert(name);
  due_ = true;
  return true;
}

void QueueBook::Remove(const std::string& name) {
  if (queues_.erase(name) == 0) return;
  refused_.erase(name);
  changed_.erase(name);
  due_ = true;
  if (name == default_queue_) {
    queues_[name].meta.name = name;
    changed_.insert(name);
  } else {
    going_.insert(name);
  }
}

bool QueueBook::SetNamespace(const std::string& name, api::StringMap labels) {
  const auto [it, is_new] = namespaces_.try_emplace(name);
  const bool changed = is_new || it->second != labels;
  it->second = std::move(labels);
  return changed;
}

const api::Queue* QueueBook::Find(const std::string& name) const {
  const auto it = queues_.find(name);
  return it == queues_.end() ? nullptr : &it->second;
}

std::string QueueBook::Refusal(const std::string& name) const {
  const auto it = refused_.find(name);
  return it == refused_.end() ? "" : it->second;
}

std::string QueueBook::WhyNot(const std::string& queue,
                              const std::string& namespace_name) const {
  const auto it = queues_.find(queue);
  if (it == queues_.end()) {
    return absl::StrCat("queue '", queue, "' is not there");
  }
  const auto refused = refused_.find(queue);
  if (refused != refused_.end()) {
    return absl::StrCat("queue '", queue, "': ", refused->second);
  }
  const api::Queue& q = it->second;
  if (!q.has_namespaces) return "";
  if (std::ranges::find(q.namespace_names, namespace_name) !=
      q.namespace_names.end()) {
    return "";
  }
  const auto labels = namespaces_.find(namespace_name);
  if (q.namespace_selector && labels != namespaces_.end() &&
      Selects(*q.namespace_selector, labels->second)) {
    return "";
  }
  return absl::StrCat("queue '", queue, "' takes no pods of namespace '",
                      namespace_name, "'");
}

bool QueueBook::Tell(const ResourceKinds& kinds,
                     absl::FunctionRef<absl::Status(EventBody)> tell) {
  due_ = false;
  bool told = false;
  // Parents come before children, and children go before parents, in whatever
  // order they are told.
  for (bool more = true; more; told |= more) {
    more = false;
    for (const std::string& name : std::set(changed_)) {
      const api::Queue& queue = queues_.at(name);
      absl::Status status =
          queue.not_understood.empty()
              ? tell(QueueChanged{ToQueue(queue, kinds)})
              : absl::UnimplementedError(
                    absl::StrCat(queue.not_understood[0], " is not supported"));
      if (status.ok()) {
        changed_.erase(name);
        refused_.erase(name);
        more = true;
      } else {
        refused_[name] = std::string(status.message());
      }
    }
    for (const std::string& name : std::set(going_)) {
      const absl::Status status = tell(QueueRemoved{name});
      // NOT_FOUND: it was never told.
      if (!status.ok() && !absl::IsNotFound(status)) continue;
      going_.erase(name);
      more |= status.ok();
    }
  }
  return told;
}

}  // namespace muster::kubernetes
