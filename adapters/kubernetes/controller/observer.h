// Observer: what the API server tells, as records.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "adapters/kubernetes/api/muster_objects.h"
#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/api/owner.h"
#include "adapters/kubernetes/api/storage.h"
#include "adapters/kubernetes/controller/composite_book.h"
#include "adapters/kubernetes/controller/copy_book.h"
#include "adapters/kubernetes/controller/role_pool.h"
#include "adapters/kubernetes/controller/state.h"
#include "adapters/kubernetes/model/group.h"

namespace muster::kubernetes {

// Of one object in the order in which the API server tells of it; between
// objects any order is right. Not synchronised.
class Observer {
 public:
  // The state is not owned.
  explicit Observer(ControllerState* state) : s_(*state) {}

  // An object as it is now. O(size of the object), and for pods the logarithm
  // of their number.
  void Observe(const api::Node& node);
  void Observe(const api::Pod& pod);
  // As a request has read it. Watches may have told of it since, even its end:
  // its node alone is taken, which it keeps. O(log pods).
  void PodRead(const api::Pod& pod);
  void Observe(const api::PodGroup& group);
  void Observe(const api::CompositePodGroup& group);
  void Observe(const api::MusterPodGroup& group);
  void Observe(const api::VolcanoPodGroup& group);
  void Observe(const api::CoschedulingPodGroup& group);
  // A kind of OwnerKinds, or a Job of batch/v1: since when its pods have their
  // place.
  void Observe(const api::Owner& owner);
  void Observe(const api::Queue& queue);
  void Observe(const api::Namespace& ns);
  void Observe(const api::PodDisruptionBudget& budget);
  // Passed over unless ControllerOptions::quota_from_namespaces.
  void Observe(const api::ResourceQuota& quota);
  void Observe(const api::PersistentVolumeClaim& claim);
  void Observe(const api::PersistentVolume& volume);
  void Observe(const api::StorageClass& storage_class);

  // Its JSON is no such object, and why; it is readable (again).
  void ObserveBad(const api::ObjectReference& object, const std::string& why);
  void Readable(const api::ObjectReference& object);
  // O(1).
  bool has_warnings() const { return !s_.warnings.empty(); }

  // It is gone.
  void NodeGone(const std::string& name);
  void PodGone(const std::string& uid);
  void GroupGone(const GroupRef& ref);
  void JobGone(const std::string& namespace_name, const std::string& uid);
  void QueueGone(const std::string& name);
  void NamespaceGone(const std::string& name);
  void BudgetGone(const std::string& namespace_name, const std::string& name);
  void QuotaGone(const std::string& namespace_name, const std::string& name);
  void ClaimGone(const std::string& namespace_name, const std::string& name);
  void VolumeGone(const std::string& name);
  void StorageClassGone(const std::string& name);

  size_t roles() const { return roles_.size(); }
  size_t kept() const {
    return composites_.size() + copies_.size() + of_no_kind_.size();
  }

 private:
  using Name = CompositeBook::Name;

  bool Manages(const api::Pod& pod) const;
  // What a pod's status and annotations say beside what is scheduled by.
  void NoteStatus(const api::Pod& pod, const PodRecord& record,
                  const PodRecord* known);
  // Nothing is known of the pod any more, but that it may have no kind.
  void Erase(const std::string& uid);
  // Likewise, since it comes under another group; it is known.
  void Leave(const std::string& uid);
  // A pod keeps its group as long as it has a place there, which others may
  // have been promised. O(log pods).
  bool HasPlace(const PodRecord& pod) const;
  // The pods are of another group now, by its PodGroup's parent. O(pods).
  void MovePods(const GroupRef& from, const std::string& part,
                const GroupRef& to);
  void ObserveJob(const api::Owner& job);
  void SetComposite(const Name& composite);
  // Those of an object's groups alike that pods have named, in order.
  // O(log gangs + groups).
  std::vector<GroupRef> CopiesOf(const GroupRef& owner) const;
  // The group's object is not there any more.
  void SetGone(const GroupRef& ref);
  // Pods that ask for what had no kind are looked at again.
  void LearnedKinds();
  // SpecFromPod, and since when a Job is there.
  std::optional<GroupSpec> SpecOf(const GroupRef& ref,
                                  const api::Pod& pod) const;
  void SetQuota(const std::string& namespace_name, const std::string& name,
                api::ResourceList limits);
  void SetGroup(const GroupRef& ref, GroupSpec spec);
  // False: one of them cannot be.
  bool LearnTopologies(const std::set<std::string>& keys);

  ControllerState& s_;
  RolePool roles_;
  CompositeBook composites_;
  CopyBook copies_;
  // By UID: they ask for a resource that has no kind.
  std::map<std::string, api::Pod> of_no_kind_;
};

}  // namespace muster::kubernetes
