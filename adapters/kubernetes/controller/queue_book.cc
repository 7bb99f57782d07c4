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
  result.band = queue.band;
  result.ordering = queue.ordering;
  result.closed = queue.closed;
  result.held = queue.held;
  for (const api::QueueQuota& quota : queue.quotas) {
    result.quotas.push_back(
        {.resource = quota.resource,
         .guarantee = ToAmount(quota.resource, quota.guarantee, kinds),
         .limit = ToAmount(quota.resource, quota.limit, kinds),
         .borrow_limit = ToAmount(quota.resource, quota.borrow_limit, kinds)});
  }
  result.preemption = queue.preemption;
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
  Follow(name);
  return true;
}

void QueueBook::Follow(const std::string& name) {
  if (name != default_queue_) return;
  for (const auto& [ns, limits] : limits_) MakeOwn(ns);
}

bool QueueBook::MakeOwn(const std::string& namespace_name) {
  const std::string name = OwnName(namespace_name);
  const auto limits = limits_.find(namespace_name);
  if (limits == limits_.end()) {
    const bool was = queues_.contains(name);
    Remove(name);
    return was;
  }
  api::ResourceList least;
  for (const auto& [object, amounts] : limits->second) {
    for (const auto& [resource, amount] : amounts) {
      const auto [it, is_new] = least.try_emplace(resource, amount);
      if (!is_new) it->second = std::min(it->second, amount);
    }
  }
  api::Queue own = queues_.at(default_queue_);
  own.meta = {.name = name};
  own.has_namespaces = true;
  own.namespace_names = {namespace_name};
  own.namespace_selector.reset();
  own.quotas.clear();
  for (const auto& [resource, amount] : least) {
    own.quotas.push_back({.resource = resource, .limit = amount});
  }
  return Set(own);
}

bool QueueBook::SetQuota(const std::string& namespace_name,
                         const std::string& object, api::ResourceList limits) {
  if (!limits.empty()) {
    limits_[namespace_name][object] = std::move(limits);
  } else {
    const auto it = limits_.find(namespace_name);
    if (it == limits_.end()) return false;
    it->second.erase(object);
    if (it->second.empty()) limits_.erase(it);
  }
  return MakeOwn(namespace_name);
}

std::string QueueBook::QueueFor(const std::string& namespace_name) const {
  return limits_.contains(namespace_name) ? OwnName(namespace_name)
                                          : default_queue_;
}

void QueueBook::Remove(const std::string& name) {
  if (queues_.erase(name) == 0) return;
  refused_.erase(name);
  changed_.erase(name);
  due_ = true;
  if (name == default_queue_) {
    queues_[name].meta.name = name;
    changed_.insert(name);
    Follow(name);
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

std::string QueueBook::WhyRefused(const std::string& name) const {
  const auto it = refused_.find(name);
  return it == refused_.end() ? "" : it->second.why;
}

std::string QueueBook::WhyNot(const std::string& queue,
                              const std::string& namespace_name) const {
  const auto it = queues_.find(queue);
  if (it == queues_.end()) {
    return absl::StrCat("queue '", queue, "' is not there");
  }
  const auto refused = refused_.find(queue);
  if (refused != refused_.end()) {
    return absl::StrCat("queue '", queue, "': ", refused->second.why);
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

std::vector<std::pair<api::ObjectMeta, std::string>> QueueBook::TakeRefused(
    Time now) {
  constexpr Duration kGrace = 5 * kSecond;
  std::vector<std::pair<api::ObjectMeta, std::string>> refused;
  for (auto& [name, refusal] : refused_) {
    if (!refusal.due) refusal.due = now + kGrace;
    if (refusal.told || *refusal.due > now) continue;
    refusal.told = true;
    refused.emplace_back(queues_.at(name).meta, refusal.why);
  }
  return refused;
}

Time QueueBook::next_refused() const {
  Time next = kForever;
  for (const auto& [name, refusal] : refused_) {
    if (!refusal.told) next = std::min(next, refusal.due.value_or(0));
  }
  return next;
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
        Refusal& refusal = refused_[name];
        if (refusal.why != status.message()) {
          refusal = {.why = std::string(status.message())};
        }
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
