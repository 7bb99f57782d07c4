// What was asked of the API server for claims of volumes that are not bound,
// and on which nodes it came to nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "adapters/kubernetes/controller/requests.h"
#include "muster/ids.h"

namespace muster::kubernetes {

// A namespace, and a name in it.
using ClaimKey = std::pair<std::string, std::string>;

// A node was selected for a claim, or a volume was given to it.
struct ClaimRequest {
  enum class Stage : uint8_t {
    kAsked,    // There is no answer yet.
    kDone,     // It was done; the object may not have been seen so.
    kStale,    // Another version of the object is there: it is to be seen.
    kRefused,  // `message` says why.
  };
  Stage stage = Stage::kAsked;
  uint64_t number = 0;  // Of all requests, rising.
  std::string node{};
  std::string volume{};   // That was given; empty: a node was selected.
  std::string version{};  // Of the claim, or the volume, before.
  std::string message{};
};

// Not synchronised.
class ClaimRequests {
 public:
  // Null: nothing is under way. O(log claims).
  const ClaimRequest* Find(const ClaimKey& claim) const;
  // There is at most one a claim. A volume is given to one claim at a time. Its
  // number.
  uint64_t Add(const ClaimKey& claim, ClaimRequest request);
  void Erase(const ClaimKey& claim);
  // The claim that the volume is being given to; null: none. O(log volumes).
  const ClaimKey* ClaimOf(const std::string& volume) const;
  // What became of the request of this number for this claim.
  void Answer(const ClaimKey& claim, uint64_t number, const ApiAnswer& answer);

  // The claim's pods are to keep away from the node until then.
  void Refuse(const ClaimKey& claim, const std::string& node, Time until) {
    refused_[claim][node] = until;
  }
  bool Refuses(const ClaimKey& claim, const std::string& node, Time now) const;
  // Which nodes those are, by name; `next` becomes the time at which the first
  // of them is one no more, if that is earlier. O(nodes).
  std::vector<std::string> RefusedNodes(const ClaimKey& claim, Time now,
                                        Time* next);
  // The claim is bound, or gone.
  void Forget(const ClaimKey& claim) {
    Erase(claim);
    refused_.erase(claim);
  }
  // Claims that something is known of.
  size_t size() const { return requests_.size() + refused_.size(); }

 private:
  std::map<ClaimKey, ClaimRequest> requests_;
  uint64_t number_ = 0;
  std::map<std::string, ClaimKey> given_;  // Volumes.
  std::map<ClaimKey, std::map<std::string, Time>> refused_;
};

}  // namespace muster::kubernetes
