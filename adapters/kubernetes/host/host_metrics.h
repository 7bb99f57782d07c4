// What a replica counts while it works.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "adapters/kubernetes/client/request_queue.h"
#include "adapters/kubernetes/client/transport.h"
#include "adapters/serve/histogram.h"

namespace muster::kubernetes {

// A kind of request, as metrics tell it.
struct RequestKind {
  std::string verb{};      // "create", "patch", "get", ...
  std::string resource{};  // "pods", "pods/binding", "queues/status".

  friend auto operator<=>(const RequestKind&, const RequestKind&) = default;
};

// By method and path, with nothing of any name. Pure; O(bytes).
RequestKind KindOf(const client::HttpRequest& request);
// The resource of a collection's path, with its group where it has one: "pods",
// "podgroups.scheduling.k8s.io". Pure; O(bytes).
std::string ResourceOf(std::string_view collection_path);
// "done", "refused", ...
std::string_view NameOf(client::OutcomeKind kind);

// Not synchronised.
class HostMetrics {
 public:
  struct RequestEndKind {
    RequestKind kind{};
    client::OutcomeKind outcome{};
    int http_status = 0;  // 0: there was no answer.

    friend auto operator<=>(const RequestEndKind&,
                            const RequestEndKind&) = default;
  };

  void AddPass(double seconds) { passes_.Add(seconds); }
  // From the earliest observation that a decision is made of until what it asks
  // for is with the transport's queue.
  void AddDecision(double seconds) { decisions_.Add(seconds); }
  void AddRequest(const RequestKind& kind, const client::Outcome& outcome) {
    ++requests_[{kind, outcome.kind, outcome.http_status}];
  }

  const serve::Histogram& passes() const { return passes_; }
  const serve::Histogram& decisions() const { return decisions_; }
  const std::map<RequestEndKind, uint64_t>& requests() const {
    return requests_;
  }

 private:
  serve::Histogram passes_{{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                            0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5}};
  serve::Histogram decisions_{{0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025,
                               0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1}};
  std::map<RequestEndKind, uint64_t> requests_;
};

}  // namespace muster::kubernetes
