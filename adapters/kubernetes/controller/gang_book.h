// The gangs, their pods, and which gangs are to be looked at.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_map.h"
#include "absl/hash/hash.h"
#include "adapters/kubernetes/controller/gang_list.h"
#include "adapters/kubernetes/controller/gang_order.h"
#include "adapters/kubernetes/controller/gang_record.h"
#include "adapters/kubernetes/controller/pod_record.h"
#include "adapters/kubernetes/model/group.h"
#include "muster/ids.h"

namespace muster::kubernetes {

// Each pod is of one gang. Pointers hold until the gang or the pod is erased.
// Not synchronised.
class GangBook {
 public:
  // Records stay where they are. Nothing depends on their order.
  using Pods = absl::node_hash_map<std::string, PodRecord>;

  // The gang of the group, a new one if there is none. O(1).
  GangRecord& Of(const GroupRef& ref);
  // Null: there is none. O(1).
  GangRecord* Find(const GroupRef& ref);
  // Of a gang that the scheduler knows, by its key there. O(1).
  GangRecord* FindTold(const std::string& key);
  void SetTold(const std::string& key, GangRecord* gang) { told_[key] = gang; }
  void EraseTold(const std::string& key) { told_.erase(key); }
  void Erase(GangRecord* gang);
  // In the order of their groups, until one comes or goes. As GangOrder::Get.
  std::span<GangRecord* const> all() const { return order_.Get(); }
  size_t size() const { return gangs_.size(); }
  // Gangs that come from now on come after those that are there.
  void CountArrivals() { counts_arrivals_ = true; }

  // Null: it is not known. O(1).
  PodRecord* FindPod(const std::string& uid);
  // The gang of a pod that is known.
  GangRecord& GangOf(const PodRecord& pod) { return *Find(pod.group); }
  // The pod is new, or is another one than before: its gang, if it has a spec,
  // is to be looked at. Returns that gang. One that is known stays in its gang:
  // ErasePod comes before it is another's.
  GangRecord& SetPod(PodRecord&& pod);
  void ErasePod(const std::string& uid);
  const Pods& pods() const { return pods_; }

  // The gang, if there is one, is to be looked at; TakeTouched gives it once.
  // O(1).
  void Touch(GangRecord* gang) { touched_.Add(gang); }
  void Touch(const GroupRef& ref);
  // At that time.
  void TouchAt(Time at, const GroupRef& ref) { timers_.insert({at, ref}); }
  // Those in this queue, and those in this namespace: what they may has
  // changed. O(gangs).
  void TouchAllOf(const std::string& queue, const std::string& namespace_name);
  // Its queue does not take it: TouchOutside touches it. O(log gangs).
  void SetOutside(const GroupRef& ref) { outside_.insert(ref); }
  void TouchOutside();
  size_t outside() const { return outside_.size(); }
  // Those that are touched now, as they were; none is any more. O(n).
  std::vector<GangRecord*> TakeTouched(Time now);
  // `now` if there are any now; kForever: never.
  Time next_touched(Time now) const;
  void ForgetTouched() { touched_.Clear(); }

  // Its pods may have to be told why they wait. O(1).
  void SetUnreported(GangRecord* gang) { unreported_.Add(gang); }
  bool has_unreported() const { return !unreported_.empty(); }
  // As TakeTouched.
  std::vector<GangRecord*> TakeUnreported() { return unreported_.Take(); }
  void ForgetUnreported() { unreported_.Clear(); }
  void ForgetUnreported(GangRecord* gang) { unreported_.Remove(gang); }

  // The scheduler has lost what had places there. O(tasks).
  void LoseNode(const std::string& name);

 private:
  // By group.
  struct RefHash {
    using is_transparent = void;
    size_t operator()(const GroupRef& ref) const {
      return absl::Hash<GroupRef>()(ref);
    }
    size_t operator()(const std::unique_ptr<GangRecord>& gang) const {
      return (*this)(gang->ref);
    }
  };
  struct RefEqual {
    using is_transparent = void;
    bool operator()(const std::unique_ptr<GangRecord>& a,
                    const std::unique_ptr<GangRecord>& b) const {
      return a == b;
    }
    bool operator()(const std::unique_ptr<GangRecord>& a,
                    const GroupRef& b) const {
      return a->ref == b;
    }
  };

  absl::flat_hash_set<std::unique_ptr<GangRecord>, RefHash, RefEqual> gangs_;
  mutable GangOrder order_;
  absl::flat_hash_map<std::string, GangRecord*> told_;  // By key.
  Pods pods_;
  GangList<&GangRecord::touched_at> touched_;
  GangList<&GangRecord::unreported_at> unreported_;
  std::set<GroupRef> outside_;
  std::set<std::pair<Time, GroupRef>> timers_;
  Duration next_arrival_ = 1;
  bool counts_arrivals_ = false;
};

}  // namespace muster::kubernetes
