// Which pods are shown to be nominated for a node: status.nominatedNodeName.
#pragma once

#include <map>
#include <set>
#include <string>

#include "absl/functional/function_ref.h"
#include "adapters/kubernetes/controller/outbox.h"
#include "adapters/kubernetes/controller/requests.h"

namespace muster::kubernetes {

// By the keys of gangs and the UIDs of pods. A nomination that stands in a
// pod's status when the controller begins is a former leader's: it binds
// nobody, and is taken back unless it is made again. Not synchronised.
class NominationBook {
 public:
  // By UID.
  using Places = std::map<std::string, NominateRequest>;

  // Not owned.
  explicit NominationBook(Outbox* outbox) : outbox_(*outbox) {}

  bool Has(const std::string& gang) const { return gangs_.contains(gang); }
  // Something happened that undoes nominations without a decision.
  void Doubt() { doubted_ = true; }
  // Takes back those of gangs for which `stands` is false, if there is doubt.
  // O(gangs).
  void Check(absl::FunctionRef<bool(const std::string&)> stands);
  // These pods of the gang are nominated, and no others. Asks for what is new.
  // O(pods of the gang x their logarithm).
  void Set(const std::string& gang, const Places& places);
  // These pods of the gang are being bound, after which nobody looks at their
  // nominations; what others have is taken back. O(pods of the gang x their
  // logarithm).
  void Start(const std::string& gang, const std::set<std::string>& pods);
  // What became of that: one that was not bound shows its nomination no more.
  // O(log pods).
  void Bound(const std::string& uid) { starting_.erase(uid); }
  void NotBound(const std::string& uid);
  // The pod is another gang's now: what it has is taken back. O(log pods).
  void Leave(const std::string& gang, const std::string& uid);
  // The pod is not there any more. O(log pods).
  void PodGone(const std::string& gang, const std::string& uid);

  // What the status of a pod says; before the first decision alone it counts.
  void Found(NominateRequest nomination);
  // After it: takes back those found that have not been made again. O(found).
  void DropFound();

 private:
  Outbox& outbox_;
  std::map<std::string, Places> gangs_;
  Places starting_;
  Places found_;
  bool doubted_ = false;
  bool decided_ = false;
};

}  // namespace muster::kubernetes
