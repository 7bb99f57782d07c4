#include "adapters/kubernetes/controller/claim_requests.h"

#include <algorithm>

namespace muster::kubernetes {

const ClaimRequest* ClaimRequests::Find(const ClaimKey& claim) const {
  const auto it = requests_.find(claim);
  return it == requests_.end() ? nullptr : &it->second;
}

uint64_t ClaimRequests::Add(const ClaimKey& claim, ClaimRequest request) {
  Erase(claim);
  if (!request.volume.empty()) given_[request.volume] = claim;
  request.number = ++number_;
  requests_[claim] = std::move(request);
  return number_;
}

void ClaimRequests::Erase(const ClaimKey& claim) {
  const auto it = requests_.find(claim);
  if (it == requests_.end()) return;
  if (!it->second.volume.empty()) given_.erase(it->second.volume);
  requests_.erase(it);
}

const ClaimKey* ClaimRequests::ClaimOf(const std::string& volume) const {
  const auto it = given_.find(volume);
  return it == given_.end() ? nullptr : &it->second;
}

void ClaimRequests::Answer(const ClaimKey& claim, uint64_t number,
                           const ApiAnswer& answer) {
  const auto it = requests_.find(claim);
  if (it == requests_.end() || it->second.number != number) return;
  ClaimRequest& request = it->second;
  using enum ClaimRequest::Stage;
  switch (answer.outcome) {
    case ApiOutcome::kDone:
      request.stage = kDone;
      return;
    case ApiOutcome::kNotFound:
    case ApiOutcome::kConflict:
      request.stage = kStale;
      return;
    case ApiOutcome::kUnknown:
      // Asked again: a version that is there no more is no precondition.
      Erase(claim);
      return;
    case ApiOutcome::kRefused:
    case ApiOutcome::kTooManyRequests:
      request.stage = kRefused;
      request.message = answer.message;
      return;
  }
}

bool ClaimRequests::Refuses(const ClaimKey& claim, const std::string& node,
                            Time now) const {
  const auto nodes = refused_.find(claim);
  if (nodes == refused_.end()) return false;
  const auto until = nodes->second.find(node);
  return until != nodes->second.end() && now < until->second;
}

std::vector<std::string> ClaimRequests::RefusedNodes(const ClaimKey& claim,
                                                     Time now, Time* next) {
  std::vector<std::string> names;
  const auto nodes = refused_.find(claim);
  if (nodes == refused_.end()) return names;
  std::erase_if(nodes->second,
                [&](const auto& node) { return node.second <= now; });
  for (const auto& [name, until] : nodes->second) {
    names.push_back(name);
    *next = std::min(*next, until);
  }
  if (names.empty()) refused_.erase(nodes);
  return names;
}

}  // namespace muster::kubernetes
