// HTTP to this machine, without TLS.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/client/clock.h"

namespace muster::kubernetes::plugin {

struct LocalCall {
  std::string server{};  // "http://127.0.0.1:8080"
  std::string path{};    // With its query.
  std::string token{};   // Secret.
  std::string body{};    // "": GET; else POST, of JSON.
  client::Millis timeout = 15'000;
};

struct LocalAnswer {
  int status = 0;
  std::string body{};
};

// INVALID_ARGUMENT: the server is not http:// of a loopback address (127.0.0.1,
// [::1]), to which alone the token may go in clear; UNAVAILABLE: nobody answers
// there; RESOURCE_EXHAUSTED: more than 64 MiB. No proxy and no redirect is
// followed. Blocks. Any thread.
absl::StatusOr<LocalAnswer> Call(const LocalCall& call);

}  // namespace muster::kubernetes::plugin
