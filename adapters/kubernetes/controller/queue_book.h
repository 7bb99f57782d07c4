// The queues, and whose pods they take.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "adapters/kubernetes/api/muster_objects.h"
#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/model/resource_kinds.h"
#include "muster/event.h"
#include "muster/ids.h"
#include "muster/queue.h"

namespace muster::kubernetes {

// Not synchronised.
class QueueBook {
 public:
  // The queue of this name is there whether it has an object or not.
  explicit QueueBook(std::string default_queue);

  // True: it is not as it was, its metadata aside. O(log queues + size).
  bool Set(const api::Queue& queue);
  void Remove(const std::string& name);
  // For the selectors of queues. True: it is not as it was. O(labels).
  bool SetNamespace(const std::string& name, api::StringMap labels);
  void RemoveNamespace(const std::string& name) { namespaces_.erase(name); }

  // The most that pods of the namespace may ask for together, as this object of
  // it says; nothing: it says nothing, or is gone. True: what QueueFor says may
  // be another queue, or one with other limits. O(quotas of the namespace).
  bool SetQuota(const std::string& namespace_name, const std::string& object,
                api::ResourceList limits);
  // The queue of pods of the namespace that name none: its own where it has
  // quotas, beside the default queue (with its parent and settings), whose name
  // no pod can say, else the default one. O(log queues).
  std::string QueueFor(const std::string& namespace_name) const;
  // Null: it is not there. O(log queues).
  const api::Queue* Find(const std::string& name) const;
  const std::map<std::string, api::Queue>& all() const { return queues_; }
  // Why the scheduler does not take it; "": it does. O(log queues).
  std::string WhyRefused(const std::string& name) const;

  // What is wrong with a pod of this namespace in this queue; "": nothing.
  // O(names and requirements of the queue).
  std::string WhyNot(const std::string& queue,
                     const std::string& namespace_name) const;

  // Something has changed that Tell has not told.
  bool due() const { return due_; }
  // Tells queues that came, changed or went, parents first; one that cannot be
  // told yet (its parent is not there, gangs are in it) is told when that has
  // changed and due() is true again: `tell` is called with it anyway. Whether
  // one was told. O(queues to be told, squared).
  bool Tell(const ResourceKinds& kinds,
            absl::FunctionRef<absl::Status(EventBody)> tell);
  // Queues that have been refused for some seconds, which is more than another
  // one that comes with them takes, and why: once for each reason. O(refused).
  std::vector<std::pair<api::ObjectMeta, std::string>> TakeRefused(Time now);
  // When TakeRefused has more to say; kForever: never. O(refused).
  Time next_refused() const;
  // A gang left a queue: one that is to go may go now, another may have
  // children.
  void Retry() { due_ |= !going_.empty() || !changed_.empty(); }

 private:
  struct Refusal {
    std::string why{};
    std::optional<Time> due{};  // When it is to be told.
    bool told = false;
  };
  using Limits = std::map<std::string, api::ResourceList>;  // By object.

  static Queue ToQueue(const api::Queue& queue, const ResourceKinds& kinds);
  std::string OwnName(const std::string& namespace_name) const {
    return default_queue_ + "/" + namespace_name;
  }
  // Makes the namespace's own queue what its quotas and the default queue say.
  bool MakeOwn(const std::string& namespace_name);
  // It is the default queue: the namespaces' own follow it.
  void Follow(const std::string& name);

  const std::string default_queue_;
  std::map<std::string, api::Queue> queues_;
  std::map<std::string, api::StringMap> namespaces_;
  std::map<std::string, Limits> limits_;  // By namespace.
  std::set<std::string> changed_;
  std::set<std::string> going_;
  std::map<std::string, Refusal> refused_;
  bool due_ = true;
};

}  // namespace muster::kubernetes
