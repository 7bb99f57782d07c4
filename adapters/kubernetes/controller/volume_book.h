// Claims of volumes, the volumes, and the pods that use them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "adapters/kubernetes/api/storage.h"
#include "adapters/kubernetes/controller/claim_requests.h"
#include "adapters/kubernetes/model/group.h"
#include "adapters/kubernetes/model/volumes.h"
#include "muster/ids.h"

namespace muster::kubernetes {

// A pod that names claims, whoever schedules it.
struct VolumeUser {
  std::string uid{};
  std::string namespace_name{};
  std::string name{};
  std::vector<PodClaim> claims{};
  // Of a pod that this library schedules: who is looked at when a claim
  // changes.
  std::optional<GroupRef> group{};
  Time created = 0;
  bool runs = false;   // Has a node, and has not ended.
  bool waits = false;  // Is to be given a node.

  friend bool operator==(const VolumeUser&, const VolumeUser&) = default;
};

// What all claims of a pod say of its nodes.
struct VolumeNodes {
  std::string why_not{};  // Why the pod has to wait; "": it need not.
  NodeSelector nodes{};   // Empty: every node.
  // Better nodes among them: where a volume is being made, or where there is a
  // local one that other pods do not look at first.
  std::vector<SelectorTerm> preferred{};
  Time until = kForever;  // From then on there may be more nodes.
};

// Of one object in the order in which the API server tells of it. Not
// synchronised.
class VolumeBook {
 public:
  // An object as it is now, or that it is gone. O(log objects), and the
  // number of its pods.
  void Set(const api::PersistentVolumeClaim& claim);
  void Set(const api::PersistentVolume& volume);
  void Set(const api::StorageClass& storage_class);
  void RemoveClaim(const ClaimKey& claim);
  void RemoveVolume(const std::string& name);
  void RemoveClass(const std::string& name);
  // A pod; one without claims need not be told.
  void SetUser(VolumeUser user);
  void RemoveUser(const std::string& uid);

  // What the claims of this user say. O(claims x free volumes of the class).
  VolumeNodes Judge(const VolumeUser& user, Time now);
  // Of one claim.
  ClaimVerdict Judge(const VolumeUser& user, const PodClaim& claim) const;
  // Null: there is none.
  const VolumeUser* FindUser(const std::string& uid) const;
  const api::PersistentVolumeClaim* FindClaim(const ClaimKey& claim) const;
  const api::PersistentVolume* FindVolume(const std::string& name) const;
  // The smallest volume that suits the claim, is free and can be reached from a
  // node with these labels; null: none. O(free volumes of the class).
  const api::PersistentVolume* Choose(const api::PersistentVolumeClaim& claim,
                                      const Labels& node) const;
  // The volume that the claim was given, which it may not know yet; null: none.
  const api::PersistentVolume* GivenTo(
      const api::PersistentVolumeClaim& claim) const;

  ClaimRequests& requests() { return requests_; }
  const ClaimRequests& requests() const { return requests_; }
  // ClaimRequests::Answer.
  void Answer(const ClaimKey& claim, uint64_t number, const ApiAnswer& answer);

  // Groups whose claims are not as they were.
  bool has_touched() const { return !touched_.empty(); }
  std::set<GroupRef> TakeTouched() { return std::exchange(touched_, {}); }

  size_t users() const { return users_.size(); }

 private:
  void Touch(const ClaimKey& claim);
  // Those that are not bound.
  void TouchClass(const std::string& name);
  void Index(const api::PersistentVolumeClaim& claim, bool is_there);
  void Index(const api::PersistentVolume& volume, bool is_there);
  // It is free no more: a claim that it was to be given to needs another one,
  // if it was not.
  void Lose(const api::PersistentVolume& volume);
  ClaimObjects ObjectsOf(const ClaimKey& key) const;
  std::vector<const api::PersistentVolume*> Candidates(
      const api::PersistentVolumeClaim& claim) const;
  std::vector<SelectorTerm> Preferred(const ClaimKey& key,
                                      ClaimStage stage) const;
  // Another pod that has the claim to itself; null: none.
  const VolumeUser* Rival(const VolumeUser& user, const ClaimKey& claim) const;

  std::map<ClaimKey, api::PersistentVolumeClaim> claims_;
  std::map<std::string, api::PersistentVolume> volumes_;
  std::map<std::string, api::StorageClass> classes_;
  std::map<std::string, VolumeUser> users_;              // By UID.
  std::map<ClaimKey, std::set<std::string>> users_of_;   // To UIDs.
  std::map<std::string, std::set<ClaimKey>> unbound_;    // By class.
  std::map<std::string, std::set<ClaimKey>> of_volume_;  // Claims that name it.
  std::map<std::string, std::set<std::string>> free_;    // By class.
  std::map<ClaimKey, std::set<std::string>> given_;      // By claimRef.
  ClaimRequests requests_;
  std::set<GroupRef> touched_;
};

}  // namespace muster::kubernetes
