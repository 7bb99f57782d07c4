// Requests to the API server, and those whose answers say something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/kubernetes/controller/requests.h"
#include "muster/ids.h"

namespace muster::kubernetes {

// A request whose answer says something to the scheduler.
struct AwaitedRequest {
  RequestBody body{};
  std::string pod{};  // UID.
  // Of a binding; of an eviction its decision; of a claim ClaimRequest::number.
  uint64_t attempt = 0;
  // Of an eviction: it is for no other gang, and is asked for until it is done.
  bool must = false;
};

// Not synchronised.
class Outbox {
 public:
  // Nobody waits for the answer.
  void Ask(RequestBody body);
  void Ask(AwaitedRequest&& request);
  // To be taken by TakeDue from then on. O(1).
  void AskLater(Time at, AwaitedRequest request) {
    later_.emplace_back(at, std::move(request));
  }
  std::vector<AwaitedRequest> TakeDue(Time now);
  // The earliest time of AskLater; kForever: none. O(their number): there are
  // few at a time, if any.
  Time next_due() const;

  // The request that is answered; once. None: nobody waits for it.
  // O(log requests).
  std::optional<AwaitedRequest> TakeAnswered(uint64_t id);

  // Appends what was asked since the last call, in that order.
  void MoveTo(std::vector<ApiRequest>* requests);

  size_t awaited() const { return awaited_.size(); }

 private:
  std::map<uint64_t, AwaitedRequest> awaited_;
  std::vector<std::pair<Time, AwaitedRequest>> later_;
  std::vector<ApiRequest> requests_;
  uint64_t next_id_ = 1;
};

}  // namespace muster::kubernetes
