// What the controller remembers of a pod that it schedules.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/kubernetes/controller/node_book.h"
#include "adapters/kubernetes/controller/requests.h"
#include "adapters/kubernetes/controller/role_pool.h"
#include "adapters/kubernetes/model/group.h"
#include "adapters/kubernetes/model/resource_kinds.h"
#include "adapters/kubernetes/model/spread.h"
#include "adapters/kubernetes/model/volumes.h"
#include "muster/gang.h"
#include "muster/ids.h"

namespace muster::kubernetes {

struct PodRecord {
  PodRef ref{};
  GroupRef group{};
  std::string subgroup{};   // SubgroupOf.
  std::string group_uid{};  // Of the group's object; empty: it does not say.
  std::optional<uint32_t> min_pods{};  // MinPodsOf.
  // What it asks for; shared by like pods. Null if it is not to be scheduled:
  // `error` says why.
  std::shared_ptr<const Role> own_role{};
  std::string error{};
  // The same on the nodes that its volumes leave it.
  std::shared_ptr<const Role> role{};
  std::vector<PodClaim> claims{};
  // What its volumes lack before it can have a place; empty: nothing.
  std::string lacks{};
  std::string lacks_told{};  // Of that, what the pod has been told.
  // Why its last binding was refused; empty: none was. It stops nobody then,
  // since it might never be bound.
  std::string refused{};
  PodUsage usage{};     // Of one without a role.
  std::string queue{};  // As the pod says; empty: it does not.
  std::shared_ptr<const api::StringMap> labels{};  // Never null.
  // How it and others of its group spread; null: it does not say.
  std::shared_ptr<const std::vector<PodSpread>> spreads{};
  // Until when its work is saved; none: it does not say.
  std::optional<Time> checkpoint{};
  std::string annotation_error{};  // What is wrong there, and not looked at.
  std::string job{};               // UID of the Job that makes it.
  int64_t priority = 0;
  std::string priority_class{};
  bool may_preempt = true;
  bool unused_spreads = false;  // Asks what UnusedSpreadsOf tells.
  Time created = 0;
  std::optional<Time> started{};
  // Position among the pods of its owner, where that gives them numbers; else
  // what its binding said before.
  std::optional<uint32_t> index{};
  std::string node{};     // Bound to.
  bool gated = false;     // Has scheduling gates.
  bool deleting = false;  // Has a deletionTimestamp.
  bool settled = false;   // Its kubelet has looked at it: IsSettled.
  enum class End : uint8_t { kNone, kSucceeded, kFailed };
  End end = End::kNone;

  // It is there, and has no node yet.
  bool pending() const {
    return node.empty() && !gated && !deleting && end == End::kNone;
  }

  // It waits to be bound.
  bool waits() const { return pending() && role != nullptr && lacks.empty(); }

  // It has a node, and uses room there.
  bool runs() const { return !node.empty() && end == End::kNone; }

  // The same but for `labels` and `spreads`, which it may share.
  friend bool operator==(const PodRecord&, const PodRecord&) = default;
};

PodRecord::End EndOf(const api::Pod& pod);

// Whether the kubelet of a pod's node has taken it, or refused it.
bool IsSettled(const api::Pod& pod);

// What the pod uses of the node that it is bound to. O(resources).
PodUsage UsageOf(const api::Pod& pod, const ResourceKinds& kinds);

// Shares its role with like pods, and its labels and what its volumes say with
// what is `known` of it; null: nothing is. O(size of the pod).
PodRecord ToRecord(const api::Pod& pod, const ResourceKinds& kinds,
                   const PodRecord* known, RolePool* roles);

}  // namespace muster::kubernetes
