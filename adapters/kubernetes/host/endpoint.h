// Endpoint: what a replica tells over HTTP.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/client/clock.h"
#include "adapters/kubernetes/client/transport.h"
#include "adapters/kubernetes/host/access_review.h"
#include "adapters/kubernetes/host/host.h"
#include "adapters/serve/http_server.h"
#include "adapters/serve/mailbox.h"

namespace muster::kubernetes {

struct EndpointOptions {
  std::vector<serve::Address> addresses{};
  serve::HttpLimits limits{};
  // /healthz: the loop has turned within this time. It polls for a second.
  client::Millis longest_turn = 30'000;
  size_t most_questions = 64;          // That wait for the loop.
  client::Millis what_if_every = 500;  // One in so much time.
  AccessReviewOptions reviews{};
  double start = 0;  // Of the process, in seconds since 1970.
};

// /healthz, /readyz and /metrics for everybody; over loopback, for those who
// show a token:
//   GET  /apis/muster/v1/queues               who may list queues.muster.dev
//   GET  /apis/muster/v1/gangs?namespace=     who may list pods there
//   GET  /apis/muster/v1/explain?namespace=&group= or &pod=
//                                             who may get pods there
//   POST /apis/muster/v1/what-if              who may list pods everywhere
// The server's thread answers what needs no look at the host; everything else
// is asked of the host's thread, by which the functions are called.
class Endpoint {
 public:
  // Transport and host are not owned and outlive it. Errors as HttpServer.
  static absl::StatusOr<std::unique_ptr<Endpoint>> Start(
      EndpointOptions options, client::Transport* transport, Host* host);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // To be called in each turn of the loop: answers what was asked, and returns
  // when to call again at the latest.
  client::Millis Advance(client::Millis now);

  const std::vector<uint16_t>& ports() const { return server_->ports(); }

 private:
  Endpoint(EndpointOptions options, client::Transport* transport, Host* host);

  // On the server's thread.
  void Handle(serve::HttpRequest request, const serve::Reply& reply);
  serve::HttpResponse Health(client::Millis now) const;
  serve::HttpResponse Readiness(client::Millis now) const;
  void Put(serve::Mailbox::Question question, const serve::Reply& reply);

  // On the host's.
  void Ask(const serve::HttpRequest& request, const serve::Reply& reply);
  serve::HttpResponse WhatIf(const WhatIfQuestion& question);

  const EndpointOptions options_;
  Host& host_;
  AccessReview reviews_;
  serve::Mailbox mailbox_;
  std::atomic<client::Millis> last_turn_;
  std::atomic<bool> ready_ = false;
  client::Millis next_what_if_ = 0;
  std::unique_ptr<serve::HttpServer> server_;  // Last: it ends first.
};

}  // namespace muster::kubernetes
